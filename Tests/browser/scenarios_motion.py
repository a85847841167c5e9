"""The page as a controller: pads, sliders, buttons and sensors move elements, and let go of them when the page is gone."""

import re
import signal

from playwright.sync_api import expect

from pages import PHONE, fingers, point
from waits import lease, until

ELEMENTS = ["1:Drive:float2:-1...1:udp:latest=0,0", "2:Speed:float:0...2:unit m/s=0", "3:Horn:bool:momentary", "4:Hand:float3:udp:latest=0,0,0",
            "5:Mode:uint8:choices a,b", "6:Stop:bool:urgent=off"]


# Tells the page that it is hidden, or seen.
SEEN = """state => { Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange')); }"""


# Counts what the page sends to move something.
COUNT_MOVES = """() => { window.moves = 0; const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) { send.call(this, text); if (text.includes('"t":"move"')) window.moves += 1; }; }"""


def near(*wanted, within=0.02):
    return lambda value: all(abs(float(each) - other) < within for each, other in zip(value if isinstance(value, list) else [value], wanted))


def controller(page):
    page.get_by_role("link", name="All services").or_(page.get_by_role("button", name="All services")).or_(
        page.get_by_role("link", name="Use this device as a controller")).first.wait_for()
    if not page.get_by_role("link", name="Use this device as a controller").is_visible():
        page.get_by_role("button", name="All services").click()
    page.get_by_role("link", name="Use this device as a controller").click()
    return page.get_by_role("article", name="Controller")


def bind(panel, source, place, element):
    panel.get_by_role("combobox", name=f"{source} moves", exact=True).select_option(label=place)
    panel.get_by_role("combobox", name=f"Element for {source}", exact=True).select_option(element)
    expect(panel.get_by_role("combobox", name=f"Element for {source}", exact=True)).to_have_value(element)


def hand(bed, browser, ok):
    robot = bed.publish("robot", *ELEMENTS)
    dashboard = bed.dashboard(robot.place)
    page = browser.open(dashboard.url, PHONE)
    panel = controller(page)
    bind(panel, "Touch pad", robot.place, "Drive")
    bind(panel, "Slider 1", robot.place, "Speed")
    bind(panel, "Button 1", robot.place, "Horn")
    expect(panel.get_by_role("combobox", name="Element for Button 1").locator("option")).to_have_text(["Choose an element", "Horn", "Stop"])
    page.reload()
    expect(panel.get_by_role("combobox", name="Element for Slider 1")).to_have_value("Speed")
    ok("sources are bound to elements that fit, and stay bound")

    panel.get_by_role("button", name="Play").tap()
    pad = panel.get_by_role("img", name="Touch pad", exact=True)
    touch = fingers(page)
    touch("touchStart", point(pad, 0.5, 0.5))
    touch("touchMove", point(pad, 0.75, 0.25))
    robot.value("Drive", near(0.47, 0.47, within=0.06))
    expect(panel.get_by_role("listitem").filter(has_text="Touch pad → ")).to_be_visible()
    expect(panel.locator(".play-rate")).to_contain_text("a second")
    touch("touchEnd")
    robot.value("Drive", near(0, 0))
    panel.get_by_role("slider").fill("0.5")
    robot.value("Speed", near(1))
    horn = panel.get_by_role("button", name=f"{robot.place} Horn · hold")
    page.mouse.move(*point(horn, 0.5, 0.5))
    page.mouse.down()
    robot.value("Horn", lambda value: value is True)
    page.mouse.up()
    robot.value("Horn", lambda value: value is False)
    ok("a finger on the pad, a slider and a button move what they are bound to, and the page tells how fast")
    panel.get_by_role("button", name="Stop", exact=True).tap()
    robot.value("Stop", lambda value: value is True)
    panel.get_by_role("button", name="Release Stop").tap()
    robot.value("Stop", lambda value: value is False)
    ok("the emergency stop of what is moved is at hand")

    other = browser.open(dashboard.url, context=page.context)
    there = controller(other)
    there.get_by_role("button", name="Play").tap()
    rows = panel.get_by_role("listitem").filter(has_text="another controller has taken it")
    expect(rows).to_have_count(3)
    rows.filter(has_text="Touch pad").get_by_role("button", name="Take it back").tap()
    expect(rows).to_have_count(2)
    expect(there.get_by_role("listitem").filter(has_text="another controller has taken it")).to_have_count(1)
    other.close()
    ok("another controller takes what it moves, and both are told")

    touch("touchStart", point(pad, 0.9, 0.5))
    robot.value("Drive", near(0.8, 0, within=0.1))
    # The page does nothing for three times as long as it may.
    page.evaluate("() => { const end = performance.now() + 900; while (performance.now() < end); }")
    robot.value("Drive", near(0, 0))
    robot.value("Drive", near(0.8, 0, within=0.1))
    page.evaluate(SEEN, "hidden")
    robot.value("Drive", near(0, 0))
    page.evaluate(SEEN, "visible")
    robot.value("Drive", near(0.8, 0, within=0.1))
    page.close()
    robot.value("Drive", near(0, 0))
    ok("a page that falls silent, is hidden or is closed has let go: what it moved rests")

    sensors(bed, browser, dashboard, robot, ok)
    again(bed, browser, ok)
    stalled(bed, browser, ok)


def again(bed, browser, ok):
    """The dashboard is killed and comes back at its port while the controller is played."""
    robot = bed.publish("robot", *ELEMENTS, state="again")
    other = bed.publish("crane", *ELEMENTS[:5], "7:Halt:bool:urgent=off", name="Crane", state="crane")
    dashboard = bed.dashboard(robot.place, other.place, port=lease(), state="kept")
    page = browser.open(dashboard.url, PHONE)
    panel = controller(page)
    bind(panel, "Touch pad", robot.place, "Drive")
    bind(panel, "Slider 1", other.place, "Speed")
    panel.get_by_role("button", name="Play").tap()
    pad, touch = panel.get_by_role("img", name="Touch pad", exact=True), fingers(page)
    touch("touchStart", point(pad, 0.9, 0.5))
    robot.value("Drive", near(0.8, 0, within=0.1))
    dashboard.end(signal.SIGKILL)
    stops = {name: (panel.get_by_role("button", name=name, exact=True), service) for name, service in (("Stop", robot), ("Halt", other))}
    for stop, _ in stops.values():
        expect(stop).to_be_disabled()
    expect(panel.get_by_role("listitem").first).to_contain_text("not connected")
    # Each has the number that the other had.
    dashboard = bed.dashboard(other.place, robot.place, port=dashboard.port, state="kept")
    robot.value("Drive", near(0.8, 0, within=0.1))
    for name, (stop, service) in stops.items():
        expect(stop).to_be_enabled()
        stop.tap()
        service.value(name, lambda value: value is True)
    panel.get_by_role("slider").fill("0.5")
    other.value("Speed", near(1))
    expect(panel.locator(".play-pad")).to_have_count(1)
    ok("after the dashboard has come back the controller moves again, and its stop works")


def stalled(bed, browser, ok):
    """The dashboard stands still, as a network that stalls looks to the page."""
    robot = bed.publish("robot", *ELEMENTS, state="stalled")
    dashboard = bed.dashboard(robot.place)
    page = browser.open(dashboard.url, PHONE)
    panel = controller(page)
    bind(panel, "Touch pad", robot.place, "Drive")
    page.evaluate(COUNT_MOVES)
    panel.get_by_role("button", name="Play").tap()
    pad, touch = panel.get_by_role("img", name="Touch pad", exact=True), fingers(page)
    touch("touchStart", point(pad, 0.9, 0.5))
    robot.value("Drive", near(0.8, 0, within=0.1))
    dashboard.process.send_signal(signal.SIGSTOP)
    try:
        expect(panel.locator(".play-rate")).to_contain_text(re.compile(r"[3-9]\d\d ms|\d{4,} ms"))
        before = page.evaluate("moves")
        for number in range(50):
            touch("touchMove", point(pad, 0.9 - 0.008 * number, 0.5))
        touch("touchMove", point(pad, 0.5, 0.1))
        assert page.evaluate("moves") == before, "the page goes on sending"
    finally:
        dashboard.process.send_signal(signal.SIGCONT)
    robot.value("Drive", near(0, 0.8, within=0.1))
    ok("what cannot arrive now is not sent, and the newest follows as soon as it can")


def sensors(bed, browser, dashboard, robot, ok):
    page = browser.open(dashboard.url, PHONE)
    tools = page.context.new_cdp_session(page)
    for kind in ("accelerometer", "linear-acceleration", "gyroscope", "relative-orientation", "absolute-orientation"):
        tools.send("Emulation.setSensorOverrideEnabled", {"enabled": True, "type": kind, "metadata": {"available": True, "maximumFrequency": 120}})
    panel = controller(page)
    bind(panel, "Motion", robot.place, "Hand")
    panel.get_by_role("button", name="Play").tap()

    def moved(x, y, z):
        for kind in ("accelerometer", "linear-acceleration", "gyroscope"):
            tools.send("Emulation.setSensorOverrideReadings", {"type": kind, "reading": {"xyz": {"x": x, "y": y, "z": z}}})

    moved(9.81, 0, -4.905)
    # What is within the dead zone is nothing, and what is beyond it counts from its edge.
    last = [float(part) for part in robot.value("Hand", lambda value: abs(abs(float(value[0])) - 0.4737) < 0.02 and abs(float(value[1])) < 0.02)]
    for number in range(50):
        moved(9.81 * number / 50, 0, 0)
    until(lambda: "a second" in panel.locator(".play-rate").inner_text(), "the rate is told")
    moved(9.81, 0, -4.905)
    # From where to where each bar is drawn, as parts of its field.
    drawn = """() => [...document.querySelectorAll('.fill')].map((bar) => {
        const { left, right } = bar.getBoundingClientRect();
        const field = bar.parentNode.getBoundingClientRect();
        return [left, right].map((edge) => (edge - field.left) / field.width);
    })"""
    # One has been told the reading with the other sign.
    sign = 1 if last[0] > 0 else -1
    expected = [sorted([0.5, 0.5 + sign * 0.25]), [0.5, 0.5], sorted([0.5, 0.5 - sign * 0.125])]
    until(lambda: all(abs(part - other) < 0.01 for bar, others in zip(page.evaluate(drawn), expected) for part, other in zip(bar, others)),
          f"the page shows what the hand does, {expected}")
    stop = panel.get_by_role("button", name="Stop", exact=True)
    at = "([x, y]) => document.elementFromPoint(x, y).className"
    middle = point(stop, 0.5, 0.5)
    assert page.evaluate(at, middle) == "stop", "something is before the stop"
    page.touchscreen.tap(*middle)
    robot.value("Stop", lambda value: value is True)
    release = panel.get_by_role("button", name="Release Stop")
    expect(release).to_be_enabled()
    assert page.evaluate(at, middle) == "stop", "the stop has moved"
    release.tap()
    robot.value("Stop", lambda value: value is False)
    panel.get_by_role("button", name="End").tap()
    expect(panel.get_by_role("button", name="Play")).to_be_visible()
    panel.get_by_role("button", name="Play").tap()
    moved(9.81, 0, 0)
    robot.value("Hand", lambda value: abs(abs(float(value[0])) - 0.4737) < 0.02)
    page.close()
    robot.value("Hand", near(0, 0, 0))
    ok("the motion of the phone moves an element, and rests when the page is closed")
