"""Whether everybody can use the page: axe, the keyboard alone, narrow and wide screens, dark and light."""

import json

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from pages import choose
from waits import Failure, is_all

ELEMENTS = [
    "1:Light:bool=off", "2:Brightness:float:0...100:unit %:latest=10", "3:Gain:double=0.5",
    "4:Mode:uint8:choices 0 steady,1 candle,2 a mode whose name is much too long for the narrowest of phones=0", "5:Label:string=hello", "6:Drive:float2:udp=0,0", "7:Colour:float3=0,0,0",
    "8:Power with a name that is rather long for a phone:double:unit W:ro:history 24h=7.5", "9:Pose:float4x4:ro=1,0,0,0,0,1,0,0,0,0,1,0,0.5,0.25,0,1",
    "10:Tilt:float4:ro=1,2,3,4", "11:Blob:data:ro=00112233", "12:Ticks:int64=-9223372036854775808",
    "13:Horn:bool:momentary", "14:Stop:bool:urgent=off", "15:Heading:float:-180...180:unit °",
]


def accessibility(bed, browser, ok):
    lamp = bed.publish("lamp", *ELEMENTS, state="lamp")
    vault = bed.publish("vault", *ELEMENTS[:2], security="paired", state="vault")
    gone = bed.publish("gone", *ELEMENTS[:3], state="gone")
    dashboard = bed.dashboard(lamp.place, vault.place, gone.place)
    # What is cut off depends on the width, and what is legible on the colours: the gate looks at each once.
    for width, height, schemes in ((320, 640, ["dark", "light"]), (3840, 2160, ["light", "dark"]), (1280, 800, ["dark", "light"])):
        for scheme in schemes if is_all() else schemes[:1]:
            page = browser.open(dashboard.url, {"viewport": {"width": width, "height": height}}, color_scheme=scheme,
                                reduced_motion="reduce")
            where = f"{width} pixels, {scheme}"
            for telling in ("Power with a name", "Brightness"):
                expect(page.get_by_role("navigation").get_by_text(telling)).to_be_visible()
            looks_well(page, f"{where}, the list")
            choose(page, vault.place)
            looks_well(page, f"{where}, a service that needs pairing")
            panel = choose(page, lamp.place)
            panel.get_by_role("button", name="Plot of Power").click()
            panel.get_by_text("About this service").click()
            looks_well(page, f"{where}, a service")
            page.evaluate("document.documentElement.style.fontSize = '150%'")
            looks_well(page, f"{where}, a service, large text")
            if width < 1000:
                page.get_by_role("button", name="All services").click()
            looks_well(page, f"{where}, the list, large text")
            page.evaluate("document.documentElement.style.fontSize = ''")
            controller(page, lamp, where)
            page.context.close()
        ok(f"{width} pixels: axe finds nothing, nothing is cut off, targets are large")
    page = browser.open(dashboard.url)
    panel = choose(page, gone.place)
    expect(panel.get_by_role("switch", name="Light")).to_be_visible()
    gone.end()
    expect(panel.get_by_role("switch", name="Light")).to_be_disabled()
    looks_well(page, "with a service that has gone")
    ok("what is away is still readable")
    keyboard(page, lamp, ok)


def controller(page, lamp, where):
    """What a phone in a hand moves: chosen, and played."""
    page.get_by_role("link", name="Use this device as a controller").click()
    panel = page.get_by_role("article", name="Controller")
    for source, element in (("Touch pad", "Drive"), ("Slider 1", "Brightness"), ("Button 1", "Horn")):
        panel.get_by_role("combobox", name=f"{source} moves", exact=True).select_option(label=lamp.place)
        panel.get_by_role("combobox", name=f"Element for {source}", exact=True).select_option(element)
    panel.get_by_text("Adjust").first.click()
    expect(panel.get_by_label("Dead zone, %").first).to_be_visible()
    looks_well(page, f"{where}, the controller's form")
    panel.get_by_role("button", name="Play").click()
    expect(panel.get_by_role("button", name="Stop", exact=True)).to_be_enabled()
    looks_well(page, f"{where}, the controller")
    horn = panel.locator(".play-button")
    horn.hover()
    page.mouse.down()
    expect(horn).to_have_attribute("aria-pressed", "true")
    looks_well(page, f"{where}, the controller's button that is held")
    page.mouse.up()
    panel.get_by_role("button", name="End").click()


def looks_well(page, where):
    violations = Axe().run(page).response["violations"]
    if violations:
        short = [{"rule": each["id"], "nodes": [node["html"][:160] for node in each["nodes"][:3]]} for each in violations]
        raise Failure(f"axe, {where}: {json.dumps(short, indent=1)}")
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if over > 0:
        raise Failure(f"{where}: {over} pixels are beyond the right edge")
    small = page.evaluate("""() => [...document.querySelectorAll('button, input, select, .pad')]
        .filter(node => node.checkVisibility()).map(node => [node.outerHTML.slice(0, 90), (node.closest('label') ?? node).getBoundingClientRect()])
        .filter(([, frame]) => frame.height < 43.5 || frame.width < 43.5).map(([html]) => html)""")
    if small:
        raise Failure(f"{where}: smaller than 44 pixels: {small}")


def keyboard(page, lamp, ok):
    """Finds and opens a service and sets its elements with keys alone, following the focus."""
    def focused():
        return page.evaluate("""() => { const node = document.activeElement;
            return (node.getAttribute('aria-label') ?? node.textContent) + '/' + (node.getAttribute('role') ?? node.localName); }""")

    def go_to(name):
        for _ in range(80):
            page.keyboard.press("Tab")
            if focused().startswith(name):
                return
        raise Failure(f"the tabulator does not lead to {name}")

    page.locator("body").press("/")
    page.keyboard.type(lamp.place)
    expect(page.get_by_role("navigation").get_by_role("listitem")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    if not focused().startswith(lamp.place):
        raise Failure(f"the arrow leads to {focused()}")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name=lamp.place).get_by_role("switch", name="Light")).to_be_enabled()
    for name, key, element, matches in (
            ("Stop/button", "Enter", "Stop", lambda value: value is True),
            ("Light/switch", "Space", "Light", lambda value: value is True),
            ("Brightness/spinbutton", "ArrowUp", "Brightness", lambda value: value != 100),
            ("Brightness/input", "End", "Brightness", lambda value: value == 100),
            ("Mode/select", "ArrowDown", "Mode", bool), ("Drive/slider", "ArrowUp", "Drive", bool)):
        go_to(name)
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        if outline == "none":
            raise Failure(f"{name} does not show the focus")
        page.keyboard.press(key)
        lamp.value(element, matches)
    ok("services are opened and elements set by the keyboard alone, and the focus is seen")
