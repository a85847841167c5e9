"""What is lost comes back by itself: services, the dashboard, the network, and a page that was asleep."""

import re
import signal

from playwright.sync_api import expect

from pages import PHONE, SIZES, choose, live, reading
from waits import lease, until

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
