"""Every control sets its element and shows what others set."""

import base64
import os
import subprocess

from playwright.sync_api import expect

from pages import PHONE, SIZES, choose, fingers, point, reading
from waits import Failure, until

ELEMENTS = [
    "1:Light:bool=off", "2:Brightness:float:0...100:unit %:latest=10", "3:Gain:double=0.5", "4:Gear:int8:-1...5=1",
    "5:Mode:uint8:choices 0 steady,1 candle,2 sunrise=0", "6:Label:string=hello", "7:Drive:float2:udp=0,0",
    "8:Colour:float3=0,0,0", "9:Arm:float4=0,0,0,0", "10:Ticks:int64=9007199254740993", "11:Total:uint64=18446744073709551615",
    "12:Power:double:unit W:ro:udp=7.5", "13:Pose:float4x4:ro=1,0,0,0,0,1,0,0,0,0,1,0,0.5,0.25,0,1", "14:State:string:ro=ready",
    "15:Speed:string:choices slow,fast=slow", "16:Charging:bool:ro=on", "17:Tilt:float3:ro=1,2,3",
    "20:Reach:float3",
]
# The colour of a picture's upper left corner, within five of what it should be in each part.
CORNER = """image => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    canvas.getContext('2d').drawImage(image, 0, 0);
    return [...canvas.getContext('2d').getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGNoqPiPFTEMLQkA/LN/gbz1l6AAAAAASUVORK5CYII=")


def drag(page, locator, x, y):
    """Moves a finger, or the mouse where there is no touch screen, over a control to a part of its width and height, and
    holds it there. Returns what takes it away."""
    locator.scroll_into_view_if_needed()
    centre, goal = point(locator, 0.5, 0.5), point(locator, x, y)
    if not page.evaluate("navigator.maxTouchPoints"):
        page.mouse.move(*centre)
        page.mouse.down()
        page.mouse.move(*goal, steps=8)
        return page.mouse.up
    touch = fingers(page)
    touch("touchStart", centre)
    for step in range(1, 9):
        touch("touchMove", tuple(begin + (end - begin) * step / 8 for begin, end in zip(centre, goal)))
    return lambda: touch("touchEnd")


def controls(bed, browser, ok):
    picture = os.path.join(bed.folder, "picture.png")
    with open(picture, "wb") as file:
        file.write(PIXEL)
    service = bed.publish("lamp", *ELEMENTS, f"18:Camera:data:ro=@{picture}", "19:Bytes:data:ro=0102ff")
    dashboard = bed.dashboard(service.place)
    for size, options in SIZES.items():
        page = browser.open(dashboard.url, options)
        card = choose(page, service.place)
        check = lambda text: ok(f"{size}: {text}")
        sets_every_element(page, card, bed, service, check)
        shows_what_others_set(page, card, bed, service, check)
        if size == "desktop":
            sets_a_vector_of_which_nothing_is_known(card, service, check)
            shows_readings(page, card, service, check)
            sends_at_a_measured_pace(page, card, bed, service, check)
            bed.set(service.place, "Gear=2")
            expect(card.get_by_role("spinbutton", name="Gear")).to_have_value("2")
            refusals(page, card, bed, service, check)
        page.context.close()
        bed.set(service.place, "Light=off", "Brightness=10", "Gear=1", "Mode=steady", "Label=hello", "Speed=slow", "Drive=0,0",
                "Colour=0,0,0", "Arm=0,0,0,0", "Ticks=9007199254740993", "Gain=0.5")


def near(*wanted):
    def matches(value):
        values = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else [value]
        return all(abs(float(each) - other) < 1e-3 for each, other in zip(values, wanted))
    return matches


def sets_every_element(page, card, bed, service, ok):
    card.get_by_role("switch", name="Light").click()
    service.value("Light", lambda value: value is True)
    ok("a switch sets a bool")

    slider = card.get_by_role("slider", name="Brightness")
    release = drag(page, slider, 0.75, 0.5)
    before = slider.input_value()
    bed.set(service.place, "Brightness=20")
    until(lambda: reading_of_field(card, "Brightness") == before and bed.get(service.place, "Brightness") == 20,
          "an echo does not move a slider that is held")
    release()
    service.value("Brightness", near(20))
    expect(slider).to_have_value("20")
    ok("a slider that is held is not moved by what others set, and shows it afterwards")
    release = drag(page, slider, 0.6, 0.5)
    last = float(slider.input_value())
    release()
    # On its way there it has set others.
    assert 50 < last < 70, last
    service.value("Brightness", near(last))
    expect(slider).to_have_value(f"{last:g}")
    ok("a slider sets a range, and ends with its last value")

    field = card.get_by_role("spinbutton", name="Gain")
    field.fill("1.25")
    field.press("Enter")
    service.value("Gain", near(1.25))
    field.press("ArrowUp")
    service.value("Gain", near(1.35))
    card.get_by_role("spinbutton", name="Gear").fill("4")
    card.get_by_role("spinbutton", name="Gear").press("Tab")
    service.value("Gear", lambda each: each == 4)
    ok("fields set a double and an integer")

    card.get_by_role("combobox", name="Mode").select_option("candle")
    service.value("Mode", lambda each: each in (1, "candle"))
    card.get_by_role("combobox", name="Speed").select_option("fast")
    service.value("Speed", lambda each: each == "fast")
    ok("choices set a number and a text")

    card.get_by_role("textbox", name="Label").fill("Grüße <b>")
    card.get_by_role("button", name="Set Label").click()
    service.value("Label", lambda each: each == "Grüße <b>")
    ok("a text field sets a string")

    pad = card.get_by_role("slider", name="Drive", exact=True)
    release = drag(page, pad, 0.75, 0.25)
    held = service.value("Drive", lambda each: near(0.5, 0.5)([round(float(part), 1) for part in each]))
    release()
    pad.press("ArrowLeft")
    service.value("Drive", lambda each: float(each[0]) < float(held[0]) - 0.001)
    ok("a pad sets two components, by the pointer and by the keys")

    drag(page, card.get_by_role("slider", name="Colour y"), 1, 0.5)()
    service.value("Colour", near(0, 1, 0))
    card.get_by_role("spinbutton", name="Arm w").fill("-45")
    card.get_by_role("spinbutton", name="Arm w").press("Enter")
    service.value("Arm", near(0, 0, 0, -45))
    ok("faders set three and four components")

    ticks = card.get_by_role("spinbutton", name="Ticks")
    expect(ticks).to_have_value("9007199254740993")
    ticks.fill("-9007199254740995")
    ticks.press("Enter")
    service.value("Ticks", lambda each: str(each) == "-9007199254740995")
    expect(card.get_by_role("spinbutton", name="Total")).to_have_value("18446744073709551615")
    ok("64 bits are set and shown to the last digit")


def reading_of_field(card, name):
    return card.get_by_role("spinbutton", name=name, exact=True).input_value()


def shows_what_others_set(page, card, bed, service, ok):
    bed.set(service.place, "Light=off", "Brightness=25", "Gain=-2.5", "Gear=2", "Mode=sunrise", "Label=other", "Speed=slow",
            "Drive=0.25,-0.5", "Colour=0.1,0.2,0.3", "Arm=1,2,3,4", "Ticks=12")
    expect(card.get_by_role("switch", name="Light")).to_have_attribute("aria-checked", "false")
    expect(card.get_by_role("slider", name="Brightness")).to_have_value("25")
    expect(card.get_by_role("slider", name="Brightness")).to_have_attribute("aria-valuetext", "25.00 %")
    expect(card.get_by_role("spinbutton", name="Gain")).to_have_value("-2.5")
    expect(card.get_by_role("slider", name="Gear")).to_have_value("2")
    expect(card.get_by_role("combobox", name="Mode").locator("option:checked")).to_have_text("sunrise")
    expect(card.get_by_role("textbox", name="Label")).to_have_value("other")
    expect(card.get_by_role("combobox", name="Speed").locator("option:checked")).to_have_text("slow")
    expect(card.get_by_role("spinbutton", name="Drive y")).to_have_value("-0.5")
    expect(card.get_by_role("slider", name="Drive", exact=True)).to_have_attribute("aria-valuetext", "x 0.250, y -0.500")
    expect(card.get_by_role("spinbutton", name="Colour z")).to_have_value("0.3")
    expect(card.get_by_role("spinbutton", name="Arm w")).to_have_value("4")
    expect(card.get_by_role("spinbutton", name="Ticks")).to_have_value("12")
    ok("every control shows what `elemental set` sets")


def shows_readings(page, card, service, ok):
    expect(reading(card, "Power")).to_have_text("7.5W")
    service.write("Power=8.25")
    expect(reading(card, "Power")).to_have_text("8.25W")
    expect(card.get_by_role("img", name="Power, plot: 8.25 W")).to_be_visible()
    expect(reading(card, "State")).to_have_text("ready")
    expect(reading(card, "Charging")).to_have_text("On")
    expect(reading(card, "Tilt")).to_have_text("x1y2z3")
    expect(card.get_by_role("table", name="Pose").get_by_role("cell").nth(12)).to_have_text("0.50")
    card.get_by_text("About this service").click()
    expect(card.get_by_role("row", name="12 Power double UDP read")).to_be_visible()
    card.get_by_text("About this service").click()
    until(lambda: card.get_by_role("img", name="Camera: a picture").evaluate("image => image.naturalWidth") == 8, "the picture is drawn")
    expect(card.get_by_text("3 bytes: 01 02 ff")).to_be_visible()
    ok("what is only read is shown: numbers, a matrix, a picture, bytes")

    card.get_by_role("button", name="Plot of Power").click()
    plot = card.get_by_role("group", name="Plot of Power")
    expect(plot.get_by_text("Least 7.50 W, greatest 8.25 W in the last minute")).to_be_visible()
    with page.expect_download() as download:
        plot.get_by_role("button", name="Save CSV").click()
    lines = open(download.value.path(), newline="").read().split("\r\n")
    if lines[0] != "time,Power (W)" or not lines[1].endswith(",7.5") or not lines[2].endswith(",8.25"):
        raise Failure(f"the CSV file is {lines}")
    with page.expect_download() as download:
        plot.get_by_role("button", name="Save PNG").click()
    if open(download.value.path(), "rb").read(4) != b"\x89PNG" or download.value.suggested_filename != "Power.png":
        raise Failure("Save PNG saves no PNG")
    plot.get_by_role("button", name="Pause").click()
    service.write("Power=100")
    expect(reading(card, "Power")).to_have_text("100.0W")
    expect(plot.get_by_text("greatest 8.3 W")).to_be_visible()
    plot.get_by_role("button", name="Pause").click()
    plot.get_by_role("combobox", name="Time shown").select_option("Last 10 minutes")
    expect(plot.get_by_text("greatest 100.0 W in the last 10 minutes")).to_be_visible()
    ok("a plot is paused, shows another time, and is saved as CSV and PNG")


def sends_at_a_measured_pace(page, card, bed, service, ok):
    """Two controls that are moved without a pause, many times a frame: the connection stays, and the last values arrive."""
    page.evaluate("""() => new Promise(done => {
        const [slider, other] = ['Brightness', 'Gear'].map(name => document.querySelector(`.slider[aria-label="${name}"]`));
        const begin = performance.now();
        let count = 0;
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
            count += 1;
            const isOver = performance.now() - begin > 1500;
            slider.value = isOver ? 77 : count % 70;
            other.value = isOver ? 3 : count % 3;
            for (const each of [slider, other]) each.dispatchEvent(new Event('input'));
            if (isOver) done(); else channel.port2.postMessage(0);
        };
        channel.port2.postMessage(0);
    })""")
    service.value("Brightness", near(77))
    service.value("Gear", near(3))
    expect(page.locator("#link")).to_have_text("Live")
    ok("controls that are moved quickly send at a measured pace, and end with the last value")


def refusals(page, card, bed, service, ok):
    gear = card.get_by_role("spinbutton", name="Gear")
    gear.fill("9")
    gear.press("Enter")
    expect(card.get_by_text("Not a number from -1 to 5.")).to_be_visible()
    expect(gear).to_have_value("2")
    expect(page.get_by_role("status")).to_have_text("")
    # What the page would not send itself: the dashboard refuses it, and says so to who looks.
    page.evaluate("""() => {
        const original = WebSocket.prototype.send;
        WebSocket.prototype.send = function (text) {
            original.call(this, text.includes('"t":"set"') ? text.replace(/"value":[^,]*/, '"value":77') : text);
        };
    }""")
    card.get_by_role("slider", name="Gear").press("ArrowRight")
    expect(page.get_by_role("status")).to_contain_text("Gear: ")
    expect(card.locator(".control", has_text="Gear").locator(".refusal")).to_be_visible()
    expect(gear).to_have_value("2")
    if bed.get(service.place, "Gear") != 2:
        raise Failure("the service took a value beyond its range")
    ok("a value that is refused is told at its control, which goes back")


def sets_a_vector_of_which_nothing_is_known(card, service, ok):
    for axis, number in (("y", 2), ("z", 3), ("x", 1)):
        field = card.get_by_role("spinbutton", name=f"Reach {axis}")
        field.fill(str(number))
        field.press("Enter")
        if axis != "x":
            expect(card.get_by_text("Set the other components too")).to_be_visible()
    service.value("Reach", near(1, 2, 3))
    if len([each for each in service.events("value") if each["element"] == "Reach"]) != 1:
        raise Failure("components that were not set were sent too")
    ok("a vector is sent as soon as all its components are known")


def together(bed, browser, ok):
    service = bed.publish("lamp", "1:Light:bool=off", "2:Brightness:float:0...100:unit %=10", "3:Label:string=one")
    dashboard = bed.dashboard(service.place)
    phone = browser.open(dashboard.url, PHONE)
    desktop = browser.open(dashboard.url)
    here, there = choose(phone, service.place), choose(desktop, service.place)
    watch = bed.start("watch", service.place, "Brightness", "Light", "--json", state="watcher")
    watch.value("Brightness", near(10))

    here.get_by_role("switch", name="Light").tap()
    expect(there.get_by_role("switch", name="Light")).to_have_attribute("aria-checked", "true")
    watch.value("Light", lambda value: value is True)
    ok("the phone sets: the desktop and the command line see it")

    slider = there.get_by_role("slider", name="Brightness")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    last = float(slider.input_value())
    expect(here.get_by_role("slider", name="Brightness")).to_have_value(f"{last:g}")
    watch.value("Brightness", near(last))
    ok("the desktop moves a slider: all see its last value")

    bed.set(service.place, "Brightness=66", "Label=all")
    for card in (here, there):
        expect(card.get_by_role("slider", name="Brightness")).to_have_value("66")
        expect(card.get_by_role("textbox", name="Label")).to_have_value("all")
    ok("the command line sets: both browsers see it")

    there.get_by_role("textbox", name="Label").fill("being typed")
    bed.set(service.place, "Label=meanwhile")
    expect(here.get_by_role("textbox", name="Label")).to_have_value("meanwhile")
    expect(there.get_by_role("textbox", name="Label")).to_have_value("being typed")
    there.get_by_role("textbox", name="Label").press("Enter")
    expect(here.get_by_role("textbox", name="Label")).to_have_value("being typed")
    ok("what is being typed stays until it is sent")

    phone.reload()
    expect(here.get_by_role("slider", name="Brightness")).to_have_value("66")
    ok("a page that is loaded again has its service open")


def joystick(bed, browser, ok):
    """A machine that sends its picture and takes a joystick."""
    picture = os.path.join(bed.folder, "screen.png")
    with open(picture, "wb") as file:
        file.write(PIXEL)
    machine = bed.publish("commodore", "1:border:uint8:0...15=1", "2:background:uint8:0...15=2", "3:print:string:wo",
                          "5:joystick1:uint8:0...31=0", f"6:screen:data:ro=@{picture}", state="machine")
    page = browser.open(bed.dashboard(machine.place, state="other").url, PHONE)
    card = choose(page, machine.place)
    until(lambda: card.get_by_role("img", name="screen: a picture").evaluate("image => image.naturalWidth") == 8, "the screen is drawn")
    release = drag(page, card.get_by_role("button", name="joystick1 left"), 0.5, 0.5)
    machine.value("joystick1", lambda value: value == 4)
    release()
    machine.value("joystick1", lambda value: value == 0)
    fire = card.get_by_role("button", name="joystick1 fire")
    fire.focus()
    page.keyboard.down("Space")
    page.keyboard.down("ArrowUp")
    machine.value("joystick1", lambda value: value == 17)
    page.keyboard.up("Space")
    page.keyboard.up("ArrowUp")
    machine.value("joystick1", lambda value: value == 0)
    expect(fire).to_have_attribute("aria-pressed", "false")
    ok("a picture is its screen, and a joystick is moved by a finger and by the keys")


def printed(bed, browser, ok):
    """A machine on a line, which sends no picture: what is printed and typed is shown in its colours."""
    machine = bed.publish("commodore", "1:border:uint8:0...15=1", "2:background:uint8:0...15=2", "3:print:string:wo",
                          "4:line:string:ro", "5:joystick1:uint8:0...31:ro=9", state="printing")
    page = browser.open(bed.dashboard(machine.place, state="printed").url)
    card = choose(page, machine.place)
    bed.set(machine.place, "border=5")
    expect(card.locator(".c64-screen")).to_have_css("border-top-color", "rgb(88, 141, 67)")
    card.get_by_role("textbox", name="print").fill("hello commodore")
    card.get_by_role("textbox", name="print").press("Enter")
    machine.value("print", lambda value: value == "hello commodore")
    machine.write("line=hello network")
    expect(card.get_by_role("log")).to_contain_text("hello commodore> hello network")
    expect(card.get_by_role("textbox", name="print")).to_have_value("")
    expect(card.get_by_role("img", name="joystick1 right: on")).to_be_visible()
    expect(card.get_by_role("img", name="joystick1 fire: off")).to_be_visible()
    ok("without a picture, what is printed and typed is shown in the machine's colours")


def commodore(bed, browser, ok):
    joystick(bed, browser, ok)
    printed(bed, browser, ok)
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    program = os.path.join(root, "Samples/Commodore/build/commodore.prg")
    if not os.path.exists(program):
        made = subprocess.run(["make", "-C", os.path.join(root, "Samples/Commodore")], capture_output=True, text=True)
        if made.returncode:
            ok("left out: the 6502 program cannot be assembled (cc65 and make are needed)")
            return
    gateway = bed.start("c64", "gateway", "--virtual", program, "--name", "Den", "--address", "127.0.0.1", "--unlisted",
                        "--security", "open", "--json", state="service")
    place = f"127.0.0.1:{gateway.event('listening')['port']}"
    page = browser.open(bed.dashboard(place).url, PHONE)
    card = choose(page, place)
    expect(reading(card, "program")).to_have_text("commodore")
    screen = card.get_by_role("img", name="screen: a picture")
    until(lambda: screen.evaluate("image => image.naturalWidth") == 384, "the screen is drawn")
    expect(card.get_by_role("combobox", name="background").locator("option:checked")).to_have_text("Not set")
    ok("the machine's program has connected, and its screen is shown")

    card.get_by_role("combobox", name="border").select_option("green")
    until(lambda: screen.evaluate(CORNER) == [88, 141, 67], "the border on the screen is green")
    ok("a colour is chosen, and seen on the screen")

    for name, text in (("print", "hello commodore"), ("keys", "hello network")):
        card.get_by_role("textbox", name=name).fill(text)
        card.get_by_role("textbox", name=name).press("Enter")
        expect(card.get_by_role("textbox", name=name)).to_have_value("")
    expect(reading(card, "line")).to_have_text("hello network")
    ok("a line is typed on its keyboard, and read by its program")

    release = drag(page, card.get_by_role("button", name="joystick2 fire"), 0.5, 0.5)
    until(lambda: bed.get(place, "joystick2") == 16, "the joystick's button is pressed for others")
    release()
    until(lambda: bed.get(place, "joystick2") == 0, "the joystick's button is released for others")
    ok("its joystick is moved by a finger")
