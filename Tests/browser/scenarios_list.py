"""The list of services, addresses that can be sent, favourites, and elements that are no switches."""

import os
import re

from playwright.sync_api import expect

from pages import PHONE, card, choose, fingers, live, point
from scenarios_look import looks_well
from waits import Failure, Program, until

LAMP = ["1:Light:bool=on", "2:Brightness:float:0...100:unit %=64", "3:Label:string=hello", "4:Reach:float3:ro=1,2,3"]
ROBOT = ["1:Speed:float:-1...1:unit m/s=0.25", "2:Heading:float:-180...180:unit °", "3:Horn:bool:momentary", "4:Stop:bool:urgent=off",
         "5:Light:bool", "6:Gear:uint8:choices 1 first,2 second", "7:Drive:float2", "8:Note:string", *(f"{id}:More {id}:float=0" for id in range(20, 40))]


def publish(bed, name):
    """Publishes a lamp that Zeroconf finds."""
    words = [word for element in LAMP for word in ("--element", element)]
    process = bed.start("publish", "pagelamp", *words, "--name", name, "--security", "open", "--address", "127.0.0.1", "--stay",
                        "--json", state=name)
    process.event("published")
    return process


def rows(page):
    return page.get_by_role("navigation").get_by_role("listitem")


def services(bed, browser, ok):
    lamps = {name: publish(bed, name) for name in ("Lamp 10", "Porch", "Lamp 2")}
    dashboard = bed.dashboard("pagelamp")
    page = browser.open(dashboard.url, PHONE)
    expect(rows(page).locator(".item-name")).to_have_text(["Lamp 2", "Lamp 10", "Porch"])
    row = rows(page).filter(has_text="Porch")
    expect(row.locator(".fact")).to_have_text(["Light on", "Brightness 64 %", "Label hello"])
    lamps["Porch"].write("Brightness=12.5")
    expect(row.locator(".fact").nth(1)).to_have_text("Brightness 12.5 %")
    # Told again of the same service, the page keeps what it knows.
    kept = page.evaluate("""async () => {
        const { Store } = await import('/store.js');
        const store = new Store({});
        const list = () => store.list({ key: 1, service: 'lamp', name: 'A', seconds: 0, telling: [{ id: 1, name: 'x', type: 'uint8', range: null }] });
        list().takeTelling({ 1: 5 });
        return list().telling.get(1);
    }""")
    if kept != 5:
        raise Failure(f"a service that is told again has the value {kept}")
    ok("the list is in the order of names and numbers, with telling values that change")

    field = page.get_by_role("searchbox", name="Find a service")
    field.fill("lamp 1")
    expect(rows(page)).to_have_count(1)
    field.fill("nowhere")
    expect(page.get_by_text("Nothing found for “nowhere”.")).to_be_visible()
    field.fill("lamp")
    expect(rows(page)).to_have_count(3)
    if not page.url.endswith("#/?find=lamp"):
        raise Failure(f"the search is not in the address: {page.url}")
    rows(page).filter(has_text="Lamp 10").get_by_role("link").tap()
    expect(card(page, "Lamp 10").get_by_role("switch", name="Light")).to_be_enabled()
    expect(page.get_by_role("heading", name="Lamp 10")).to_be_focused()
    expect(field).to_be_hidden()
    page.go_back()
    expect(field).to_have_value("lamp")
    expect(page.get_by_role("link", name="Lamp 10")).to_be_focused()
    page.go_forward()
    expect(card(page, "Lamp 10")).to_be_visible()
    page.get_by_role("button", name="All services").tap()
    expect(field).to_be_visible()
    ok("the search and an open service have addresses, and the way back leads to the list")

    link = f"{dashboard.origin}/#/pagelamp/Porch"
    page.goto(link)
    expect(card(page, "Porch").get_by_role("switch", name="Light")).to_be_enabled()
    page.reload()
    live(page)
    porch = card(page, "Porch")
    expect(porch.get_by_role("switch", name="Light")).to_be_enabled()
    porch.get_by_role("button", name="Favourite").tap()
    page.get_by_role("button", name="All services").tap()
    expect(rows(page).first).to_contain_text("Porch")
    page.reload()
    expect(rows(page).locator(".item-name")).to_have_text(["Porch", "Lamp 2", "Lamp 10"])
    ok("a link opens a service, and favourites stay first")

    row, touch = rows(page).first.get_by_role("link"), fingers(page)
    touched = re.compile(r"\btouched\b")
    touch("touchStart", point(row, 0.5, 0.5))
    expect(row).to_have_class(touched)
    touch("touchMove", point(row, 0.5, -2))
    expect(row).not_to_have_class(touched)
    touch("touchEnd")
    expect(row).to_be_visible()
    ok("a service that a finger touches shows it before it opens, unless the finger scrolls")

    lamps["Lamp 2"].end()
    expect(rows(page).filter(has_text="Lamp 2").locator(".item-place")).to_have_text(re.compile("^Gone since "))
    expect(rows(page).filter(has_text="Lamp 2").locator(".fact").first).to_have_text("Light on")
    page.get_by_role("link", name="1 gone").tap()
    expect(rows(page).locator(".item-name")).to_have_text(["Lamp 2"])
    expect(page.get_by_text("1 of 3")).to_be_visible()
    page.go_back()
    expect(rows(page)).to_have_count(3)
    choose(page, "Porch")
    lamps["Porch"].end()
    expect(porch.get_by_text(re.compile("^Gone since .* It can be used again when it is back.$"))).to_be_visible()
    lamps["Porch"] = publish(bed, "Porch")
    expect(porch.get_by_role("switch", name="Light")).to_be_enabled()
    page.get_by_role("button", name="All services").tap()
    dashboard.end()
    expect(page.get_by_text(re.compile("^The dashboard has not answered since "))).to_be_visible()
    expect(rows(page).first.get_by_role("link")).to_have_attribute("data-state", "stale")
    ok("what has left says since when, and without the dashboard nothing looks alive")


def kinds(bed, browser, ok):
    robot = bed.publish("robot", *ROBOT)
    page = browser.open(bed.dashboard(robot.place).url, PHONE)
    panel = choose(page, robot.place)
    for name in ("Light", "Drive"):
        expect(panel.locator(".control", has_text=name).get_by_text("Not set")).to_be_visible()
    for role, name in (("spinbutton", "Heading"), ("textbox", "Note")):
        expect(panel.get_by_role(role, name=name)).to_have_attribute("placeholder", "Not set")
    expect(panel.get_by_role("combobox", name="Gear").locator("option:checked")).to_have_text("Not set")
    expect(panel.get_by_role("slider", name="Heading")).to_have_attribute("aria-valuetext", "not set")
    expect(panel.locator(".unset")).to_have_count(5 + 1)
    panel.get_by_role("switch", name="Light").tap()
    robot.value("Light", lambda value: value is True)
    expect(panel.locator(".control", has_text="Light").get_by_text("Not set")).to_be_hidden()
    ok("what has no value yet says so")

    horn = panel.get_by_role("button", name="Horn")
    horn.scroll_into_view_if_needed()
    frame = horn.bounding_box()
    page.mouse.move(frame["x"] + 20, frame["y"] + 20)
    page.mouse.down()
    robot.value("Horn", lambda value: value is True)
    looks_well(page, "a push button that is held")
    page.mouse.up()
    robot.value("Horn", lambda value: value is False)
    horn.focus()
    page.keyboard.down("Space")
    robot.value("Horn", lambda value: value is True)
    page.evaluate("document.activeElement.blur()")
    robot.value("Horn", lambda value: value is False)
    ok("a push button is on while it is held, by a finger or a key")

    stop = panel.get_by_role("button", name="Stop", exact=True)
    panel.get_by_text("About this service").scroll_into_view_if_needed()
    until(lambda: 0 <= stop.bounding_box()["y"] <= 844 - stop.bounding_box()["height"], "the stop is seen wherever the page is scrolled to")
    page.evaluate("""() => {
        window.places = [];
        new MutationObserver(() => {
            const [on, off] = ['.stop', '.stop + .tool'].map((name) => document.querySelector(name));
            if (!off.hidden) places.push([off.disabled, off.getBoundingClientRect().bottom <= on.getBoundingClientRect().top]);
        }).observe(document.querySelector('.stop-row'), { subtree: true, attributes: true });
    }""")
    before = stop.bounding_box()
    stop.tap()
    robot.value("Stop", lambda value: value is True)
    until(lambda: page.evaluate("places.some(([isDisabled]) => !isDisabled)"), "it can be released")
    if page.evaluate("places[0]") != [True, True] or panel.get_by_role("button", name="Stop is on").bounding_box() != before:
        raise Failure("what releases a stop is where the finger was, or takes a second touch")
    expect(panel.get_by_role("button", name="Stop is on")).to_have_attribute("aria-pressed", "true")
    panel.get_by_role("button", name="Stop is on").tap()
    panel.get_by_role("button", name="Release Stop").tap()
    robot.value("Stop", lambda value: value is False)
    expect(stop).to_have_attribute("aria-pressed", "false")
    if [each["value"] for each in robot.events("value") if each["element"] == "Stop"] != [True, True, False]:
        raise Failure("the stop was not sent once with each touch")
    ok("an emergency stop is always on the screen, sends with the first touch, and is released by another button")


def nothing(bed, browser, ok):
    page = browser.open(bed.dashboard("nosuchlamp").url)
    expect(page.get_by_text("This dashboard was started for nosuchlamp alone.")).to_be_visible()
    ok("a name that is not on the network is waited for, by its name")
    environment = {**bed.environment("blind"), "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={os.path.join(bed.folder, 'nothing')}"}
    process = Program([bed.elemental, "dashboard", "--port", "0", "--json"], environment)
    bed.running.append(process)
    page = browser.open(process.event("serving")["url"])
    expect(page.locator("#link")).to_have_text("No discovery")
    expect(page.locator("#notices")).to_contain_text("sudo systemctl start avahi-daemon")
    expect(page.get_by_text("what to do is said above")).to_be_visible()
    ok("without avahi-daemon the page says so, and what to do")
