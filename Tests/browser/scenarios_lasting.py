"""What is lost comes back by itself: services, the dashboard, the network, and a page that was asleep."""

import re
import signal

from playwright.sync_api import expect

from pages import PHONE, SIZES, choose, live, reading
from waits import Failure, lease, until

ELEMENTS = ["1:Light:bool=off", "2:Brightness:float:0...100=10", "3:Power:double:unit W:ro=7.5"]


def restart(bed, browser, ok):
    service = bed.publish("lamp", *ELEMENTS, port=lease())
    place = service.place
    dashboard = bed.dashboard(place, port=lease())
    pages = {size: browser.open(dashboard.url, options) for size, options in SIZES.items()}
    cards = {size: choose(page, place) for size, page in pages.items()}
    for card in cards.values():
        expect(card.get_by_role("switch", name="Light")).to_be_enabled()

    service.end(signal.SIGKILL)
    for card in cards.values():
        expect(card.get_by_text("This page goes on when it is back.")).to_be_visible()
        expect(card.get_by_role("switch", name="Light")).to_be_disabled()
        expect(card.get_by_role("slider", name="Brightness")).to_be_disabled()
        expect(card).to_have_class("panel stale")
        expect(reading(card, "Power")).to_have_text("7.5W")
    ok("a service that was killed: its controls are disabled, its values grey, and text says so")

    service = bed.publish("lamp", *ELEMENTS[:2], "3:Power:double:unit W:ro=9", "4:New:bool=on", port=service.port)
    for card in cards.values():
        expect(card.get_by_role("switch", name="New")).to_be_enabled()
        expect(reading(card, "Power")).to_have_text("9.0W")
        expect(card).to_have_class("panel")
    cards["phone"].get_by_role("switch", name="Light").tap()
    expect(cards["desktop"].get_by_role("switch", name="Light")).to_have_attribute("aria-checked", "true")
    # The pages show it before the service has it.
    until(lambda: bed.get(place, "Light") is True, "the service has the value")
    ok("it comes back with its new catalogue, and is set")

    dashboard.end(signal.SIGKILL)
    for size, page in pages.items():
        expect(page.locator("#link")).to_have_text("Connection lost, trying again…")
        expect(page.get_by_role("status")).to_have_text("Connection to the dashboard lost.")
        expect(cards[size].get_by_role("switch", name="Light")).to_be_disabled()
        expect(page.get_by_text(re.compile("^The dashboard has not answered since .* Values are the last ones."))).to_be_visible()
    ok("the dashboard was killed: text says so, and the last values stay")

    bed.dashboard(place, port=dashboard.port)
    for size, page in pages.items():
        live(page)
        expect(cards[size].get_by_role("switch", name="Light")).to_be_enabled()
        expect(cards[size].get_by_role("switch", name="Light")).to_have_attribute("aria-checked", "true")
    cards["desktop"].get_by_role("switch", name="Light").click()
    expect(cards["phone"].get_by_role("switch", name="Light")).to_have_attribute("aria-checked", "false")
    ok("it was started again on its port: both pages go on without being touched")


def past(bed, browser, ok):
    """Plots of values that the service has kept."""
    service = bed.publish("lamp", "1:Power:float:unit W:ro:timed:history 24h=7.5", "2:Tilt:float2:ro:history 24h=1,-2", "3:Plain:double:ro=1")
    place = service.place
    for value in (1000, -50, *range(100)):
        service.write(f"Power={value}")
    until(lambda: bed.get(place, "Power") == 99, "the service has its last value")
    dashboard = bed.dashboard(place, port=lease())
    page = browser.open(dashboard.url)
    card = choose(page, place)
    plots = {}
    for name in ("Power", "Tilt", "Plain"):
        card.get_by_role("button", name=f"Plot of {name}").click()
        plots[name] = card.get_by_role("group", name=f"Plot of {name}")
    power, tilt = plots["Power"], plots["Tilt"]

    def ranges(plot, least, greatest, time):
        expect(plot.get_by_text(re.compile(f"^Least {least}.*, greatest {greatest}.* in the last {time}$"))).to_be_visible()

    ranges(power, -50, 1000, "day")
    ranges(tilt, -2, 1, "day")
    ranges(plots["Plain"], 1, 1, "minute")
    expect(tilt.get_by_role("option")).to_have_count(4)
    expect(plots["Plain"].get_by_role("option")).to_have_count(2)
    with page.expect_download() as download:
        power.get_by_role("button", name="Save CSV").click()
    values = [line.split(",")[1] for line in open(download.value.path(), newline="").read().split("\r\n")[1:-1]]
    if values[:4] != ["7.5", "1000", "-50", "0"] or values[-1] != "99":
        raise Failure(f"the CSV file has {values}")
    ok("a plot is filled with what the service has kept, and saved")

    service.write("Power=2000")
    ranges(power, -50, 2000, "day")
    time = power.get_by_role("combobox", name="Time shown")
    time.focus()
    page.keyboard.press("ArrowUp")
    expect(time).to_have_value("hour")
    ranges(power, -50, 2000, "hour")
    ok("live values follow those of the past, and the keyboard chooses the time that is shown")

    dashboard.end(signal.SIGKILL)
    expect(page.locator("#link")).to_have_attribute("data-state", "lost")
    for value in (-999, 5):
        service.write(f"Power={value}")
    bed.dashboard(place, port=dashboard.port)
    live(page)
    ranges(power, -999, 2000, "hour")
    ok("what the page missed without a connection is filled in")


def asleep(bed, browser, ok):
    service = bed.publish("lamp", *ELEMENTS)
    place = service.place
    dashboard = bed.dashboard(place, port=lease())

    # A frozen page, as a phone's browser in the background: it comes back with the newest value.
    page = browser.open(dashboard.url, PHONE)
    card = choose(page, place)
    expect(reading(card, "Power")).to_have_text("7.5W")
    tools = page.context.new_cdp_session(page)
    tools.send("Page.setWebLifecycleState", {"state": "frozen"})
    for value in range(1, 200):
        service.write(f"Power={value}")
    until(lambda: bed.get(place, "Power") == 199, "the service has its last value")
    tools.send("Page.setWebLifecycleState", {"state": "active"})
    expect(reading(card, "Power")).to_have_text("199.0W")
    ok("a frozen page wakes up with the newest value")

    # The socket is cut while the page sleeps, by a dashboard that goes and comes.
    tools.send("Page.setWebLifecycleState", {"state": "frozen"})
    dashboard.end(signal.SIGKILL)
    service.write("Power=5")
    dashboard = bed.dashboard(place, port=dashboard.port)
    tools.send("Page.setWebLifecycleState", {"state": "active"})
    live(page)
    expect(reading(card, "Power")).to_have_text("5.0W")
    expect(card.get_by_role("switch", name="Light")).to_be_enabled()
    ok("a page whose socket was cut while it slept connects again")
    page.context.close()

    silence(browser, dashboard, place, ok)
    backoff(bed, browser, dashboard, place, ok)


def silence(browser, dashboard, place, ok):
    """A connection that is silent, as after Wi-Fi has changed, is given up; the page's clock is put forward."""
    context = browser.context()
    counted = []

    def through(route):
        server = route.connect_to_server()
        counted.append(server)
        number = len(counted)
        route.on_message(lambda message: None if number == 1 and silent else server.send(message))
        server.on_message(lambda message: None if number == 1 and silent else route.send(message))

    silent = False
    context.route_web_socket("**/live", through)
    context.clock.install()
    page = browser.open(dashboard.url, context=context)
    card = choose(page, place)
    expect(card.get_by_role("switch", name="Light")).to_be_enabled()
    silent = True
    page.clock.fast_forward(5_100)
    page.clock.fast_forward(4_100)
    until(lambda: page.evaluate("1") and len(counted) > 1, "the page has connected anew")
    page.clock.run_for(500)
    live(page)
    expect(card.get_by_role("switch", name="Light")).to_be_enabled()
    ok("a silent connection is given up after nine seconds, and another is made")
    context.close()


def backoff(bed, browser, dashboard, place, ok):
    """Without a dashboard a page tries ever more rarely; being looked at, it tries at once."""
    context = browser.context()
    context.clock.install()
    page = browser.open(dashboard.url, context=context)
    card = choose(page, place)
    expect(card.get_by_role("switch", name="Light")).to_be_enabled()
    dashboard.end(signal.SIGKILL)
    expect(page.locator("#link")).to_have_attribute("data-state", "lost")
    attempts, failed = [], []

    def attempted(socket):
        attempts.append(socket)
        socket.on("close", lambda each: failed.append(each))

    page.on("websocket", attempted)
    for _ in range(8):
        before = len(attempts)
        page.clock.fast_forward(6_500)
        until(lambda: page.evaluate("1") and len(attempts) > before, "another attempt")
    # From now on no time passes for the page: it makes no attempt by itself.
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)
    until(lambda: page.evaluate("1") and len(failed) == len(attempts), "all attempts have failed")
    bed.dashboard(place, port=dashboard.port)
    before = len(attempts)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    until(lambda: page.evaluate("1") and len(attempts) > before, "an attempt at once")
    page.clock.resume()
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    expect(card.get_by_role("switch", name="Light")).to_be_enabled()
    ok("a page that has tried for a minute connects at once when the network is back")
    context.close()
