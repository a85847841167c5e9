"""The page in chromium, for the tests."""

import contextlib
import mimetypes
import os

from playwright.sync_api import Error, TimeoutError, expect, sync_playwright

from waits import Log, patience, until

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
SIZES = {"phone": PHONE, "desktop": DESKTOP}
# Playwright's own limit is 5 s.
LIMIT = patience() * 1000
expect.set_options(timeout=LIMIT)


class Browser:
    """Chromium, and the pages that are open in it; a page's errors are kept."""

    def __init__(self, files=None):
        self.files = files
        # `evil.test` is this machine: the name's owner has changed its address.
        self.arguments = ["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1"]
        if files:
            # Files that the test gives come from no address, and chromium keeps those from this machine's sockets.
            self.arguments.append("--disable-features=LocalNetworkAccessChecks")
        self.errors = []
        self.log = Log("page")

    def __enter__(self):
        self.playwright = sync_playwright().start()
        try:
            self.browser = self.playwright.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=self.arguments)
        except BaseException:
            self.playwright.stop()
            raise
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.playwright.stop()

    @contextlib.contextmanager
    def session(self):
        """For one scenario: with a log and errors of its own, and without its pages afterwards."""
        self.errors = []
        self.log = Log("page")
        try:
            yield self
        finally:
            for context in self.browser.contexts:
                context.close()

    def context(self, size=None, **options):
        context = self.browser.new_context(**(size or DESKTOP), **options)
        context.set_default_timeout(LIMIT)
        return context

    def open(self, url, size=None, context=None, **options):
        """Opens the page and waits until it is live."""
        page = (context or self.context(size, **options)).new_page()
        if self.files:
            page.route("**/*", self._from_folder)
        self._follow(page)
        page.goto(url)
        live(page)
        return page

    def _follow(self, page):
        """Notes what happens in a page."""
        def failed(text):
            self.errors.append(text)
            self.log.add(f"error: {text}")

        def opened(socket):
            self.log.add("a socket opens")
            socket.on("framesent", lambda data: self.log.add(f"> {data[:300]!r}"))
            socket.on("framereceived", lambda data: self.log.add(f"< {data[:300]!r}"))
            socket.on("close", lambda _: self.log.add("a socket closes"))

        page.on("pageerror", lambda error: failed(str(error)))
        def said(message):
            # The browser fetches the icon when it likes, perhaps after the dashboard has ended.
            if message.type == "error" and "WebSocket" not in message.text and not message.location["url"].endswith("/icon.svg"):
                failed(message.text)

        page.on("console", said)
        page.on("websocket", opened)

    def _from_folder(self, route):
        """Files of the page from a folder instead of from the dashboard; everything else comes from there."""
        name = route.request.url.split("#")[0].rsplit("/", 1)[1] or "index.html"
        path = os.path.join(self.files, name)
        if not os.path.isfile(path):
            route.continue_()
            return
        try:
            answer = route.fetch()
        except Error:
            # The dashboard has ended.
            route.abort()
            return
        if answer.status not in (200, 404):
            route.fulfill(response=answer)
            return
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        route.fulfill(status=200, body=open(path, "rb").read(), headers={**answer.headers, "content-type": kind})


def live(page):
    expect(page.locator("#link")).to_have_attribute("data-state", "open")


def card(page, name):
    """The open service's panel."""
    return page.get_by_role("article", name=name, exact=True)


def choose(page, name):
    """Opens a service by its link in the list, if it is not open, and returns its panel. On a phone the list is a screen of
    its own, and a page with one service opens that by itself: what is there now is taken, until the panel is."""
    panel = card(page, name)
    link = page.get_by_role("navigation").get_by_role("link", name=name)
    back = page.get_by_role("button", name="All services")

    def is_open():
        for each in (panel, link, back):
            if each.first.is_visible():
                with contextlib.suppress(TimeoutError):
                    if each is not panel:
                        each.first.click(timeout=1000)
                break
        return panel.is_visible()

    until(is_open, f"the panel of {name}")
    return panel


def fingers(page):
    """Returns what moves fingers: touch(kind, point…)."""
    tools = page.context.new_cdp_session(page)
    return lambda kind, *points: tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
        {"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]})


def point(locator, x, y):
    frame = locator.bounding_box()
    return frame["x"] + frame["width"] * x, frame["y"] + frame["height"] * y


def reading(card, name):
    """The text of a value that is only shown."""
    return card.locator(".reading", has=card.page.get_by_text(name, exact=True)).locator(".amount")
