"""Pairing from the page, a changed key, and what a page of somebody else may not do."""

import contextlib
import json
import os
import shutil
import signal
import socket
import threading
import http.server

from playwright.sync_api import expect

from pages import PHONE, choose, reading
from waits import Failure, lease, patience, until

ELEMENTS = ["1:Light:bool=off", "2:Power:double:unit W:ro=7.5"]


def code_of(service):
    """The code that a service shows while its window is open."""
    return service.event("pairing")["code"]


def pairing(bed, browser, ok):
    observed = bed.publish("lamp", *ELEMENTS, security="paired-to-control", state="lamp")
    closed = bed.publish("vault", *ELEMENTS, security="paired", state="vault")
    dashboard = bed.dashboard(observed.place, closed.place)
    page = browser.open(dashboard.url, PHONE)

    card = choose(page, observed.place)
    expect(reading(card, "Light")).to_have_text("Off")
    expect(card.get_by_role("switch", name="Light")).to_have_count(0)
    ok("a service that is controlled by paired devices is shown, without controls")

    card.get_by_role("button", name="Pair…").tap()
    expect(card.get_by_text("everybody who opens this page can set the service then")).to_be_visible()
    card.get_by_text("It shows no code?").tap()
    expect(card.get_by_text("elemental open-pairing")).to_be_visible()
    field = card.get_by_role("textbox", name="Code")
    for name, value in (("inputmode", "numeric"), ("autocomplete", "one-time-code")):
        expect(field).to_have_attribute(name, value)
    field.fill("12")
    field.press("Enter")
    expect(card.get_by_text("The code has six digits.")).to_be_visible()
    code = code_of(observed)
    field.fill(f"{(int(code) + 1) % 1_000_000:06d}")
    field.press("Enter")
    expect(card.get_by_text("This is not the code that the service shows.")).to_be_visible()
    ok("a wrong code is told")

    field.fill(code)
    card.get_by_role("button", name="Pair", exact=True).tap()
    light = card.get_by_role("switch", name="Light")
    expect(light).to_be_enabled()
    light.tap()
    observed.value("Light", lambda value: value is True)
    expect(card.get_by_text("This dashboard is paired")).to_be_visible()
    expect(card.locator(".pairing")).to_be_hidden()
    ok("the code pairs, and the controls appear")

    # Another client takes the dashboard's name there.
    bed.run("pair", closed.place, "--code", code_of(closed), "--name", observed.event("paired")["client"])

    def new_code():
        return json.loads(bed.run("open-pairing", closed.place, "--json", state="vault"))["code"]

    card = choose(page, closed.place)
    expect(card.get_by_text("If this service answers paired devices only, pair with it.")).to_be_visible()
    expect(card.get_by_text("Power")).to_have_count(0)
    card.get_by_role("button", name="Pair…").tap()
    field, name = card.get_by_role("textbox", name="Code"), card.get_by_role("textbox", name="Another name")
    expect(name).to_be_hidden()
    field.fill(new_code())
    field.press("Enter")
    expect(name).to_be_focused()
    expect(card.get_by_text("The code is used up")).to_be_visible()
    name.fill("The hall's page")
    field.fill(new_code())
    field.press("Enter")
    closed.event("paired", client="The hall's page")
    expect(reading(card, "Power")).to_have_text("7.5W")
    expect(card.get_by_role("switch", name="Light")).to_be_enabled()
    ok("a service for paired devices alone is paired from the page, under another name where the first is taken")


def read_only(bed, browser, ok):
    service = bed.publish("lamp", *ELEMENTS)
    guarded = bed.publish("vault", *ELEMENTS, security="paired", state="vault")
    dashboard = bed.dashboard(service.place, guarded.place, "--read-only")
    page = browser.open(dashboard.url, PHONE)
    card = choose(page, service.place)
    expect(reading(card, "Power")).to_have_text("7.5W")
    expect(page.locator("#notices .box")).to_have_count(1)
    for switch in card.get_by_role("switch").all():
        expect(switch).to_be_disabled()
    expect(choose(page, guarded.place).get_by_role("textbox", name="Code")).to_have_count(0)
    ok("a dashboard that only reads says why, sets nothing and pairs nothing")


def key_changed(bed, browser, ok):
    service = bed.publish("lamp", *ELEMENTS, security="paired", state="lamp", port=lease())
    dashboard = bed.dashboard(service.place)
    page = browser.open(dashboard.url)
    card = choose(page, service.place)
    card.get_by_role("button", name="Pair…").click()
    field = card.get_by_role("textbox", name="Code")
    field.fill(code_of(service))
    field.press("Enter")
    expect(reading(card, "Power")).to_have_text("7.5W")
    # It may have connected as an observer first.
    expect(card.get_by_role("switch", name="Light")).to_be_enabled()

    service.end(signal.SIGKILL)
    expect(card.get_by_role("switch", name="Light")).to_be_disabled()
    shutil.rmtree(os.path.join(bed.folder, "lamp"))
    bed.publish("lamp", *ELEMENTS, security="paired", state="lamp", port=service.port)
    expect(card.get_by_role("heading", name="Key changed")).to_be_visible()
    expect(card.get_by_text("Another device answers under the name")).to_be_visible()
    for hidden in (card.get_by_text("7.5"), card.get_by_role("switch", name="Light"), card.get_by_role("textbox", name="Code")):
        expect(hidden.first).to_be_hidden()
    expect(page.get_by_role("navigation").get_by_text("Key changed")).to_be_visible()
    ok("another device under the same name is shown as that: no values, no pairing")


def status_of(port, request, receive=1):
    """Sends a request as bytes and returns the answer's status."""
    with socket.create_connection(("127.0.0.1", port), patience()) as connection:
        connection.sendall(request)
        answer = connection.recv(4096).split(b"\r\n", 1)[0].decode()
    return int(answer.split()[1]) if answer else 0


def has_room(port, count=16):
    """Whether as many connections as a page opens, and more, are served beside each other."""
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        try:
            connections = [stack.enter_context(socket.create_connection(("127.0.0.1", port), patience())) for _ in range(count)]
            for each in connections:
                each.sendall(request)
            return all(each.recv(4096).startswith(b"HTTP/1.1 200 ") for each in connections)
        except OSError:
            return False


def foreign_page():
    """A page on another port, which a person may have been lured to."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<!doctype html><title>foreign</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


SOCKET = """address => new Promise(done => {
    const socket = new WebSocket(address);
    socket.onopen = () => { socket.send('{"t":"hello"}'); };
    socket.onmessage = event => done('told ' + event.data);
    socket.onclose = event => done('closed');
})"""


def attacks(bed, browser, ok):
    service = bed.publish("lamp", *ELEMENTS)
    dashboard = bed.dashboard(service.place)
    port = dashboard.port

    server = foreign_page()
    page = browser.context().new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    if (answer := page.evaluate(SOCKET, f"ws://127.0.0.1:{port}/live")) != "closed":
        raise Failure(f"a foreign page's socket was {answer}")
    ok("a foreign page gets no socket")
    post = """address => fetch(address, {method: 'POST', body: '{}', mode: 'no-cors'}).then(() => 'sent', () => 'failed')"""
    read = """address => fetch(address).then(answer => answer.text()).then(text => 'read', () => 'failed')"""
    page.evaluate(post, f"http://127.0.0.1:{port}/live")
    for path in ("/", "/metrics", "/main.js"):
        if (answer := page.evaluate(read, f"http://127.0.0.1:{port}{path}")) != "failed":
            raise Failure(f"a foreign page has {answer} {path}")
    ok("a foreign page reads nothing")
    page.context.close()

    # `evil.test` is this machine for the browser: the name's owner has changed its address.
    page = browser.context().new_page()
    answer = page.goto(f"http://evil.test:{port}/")
    if answer.status != 421:
        raise Failure(f"under a foreign name the page was answered with {answer.status}")
    if (answer := page.evaluate(SOCKET, f"ws://evil.test:{port}/live")) != "closed":
        raise Failure(f"under a foreign name a socket was {answer}")
    page.goto(f"http://evil.test:{server.server_port}/")
    if (answer := page.evaluate(SOCKET, f"ws://evil.test:{port}/live")) != "closed":
        raise Failure(f"after rebinding a socket was {answer}")
    ok("a name that was bound to this machine gets 421")
    page.context.close()
    server.shutdown()

    head = f"Host: 127.0.0.1:{port}\r\n\r\n".encode()
    for request, wanted in ((b"POST / HTTP/1.1\r\n" + head, 405), (b"GET /../../etc/passwd HTTP/1.1\r\n" + head, 404),
                            (b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", 421), (b"GET /nothing HTTP/1.1\r\n" + head, 404)):
        if (status := status_of(port, request)) not in (wanted, 400 if wanted == 404 else wanted):
            raise Failure(f"{request[:30]} was answered with {status}, not {wanted}")
    ok("other methods and paths are refused")

    wrong_token(bed, browser, service, ok)

    # A flood of sockets that say nothing: they are refused in number, and a page that is open stays live.
    page = browser.open(dashboard.url)
    card = choose(page, service.place)
    expect(reading(card, "Power")).to_have_text("7.5W")
    flood = []
    try:
        for _ in range(600):
            flood.append(socket.create_connection(("127.0.0.1", port), patience()))
    except OSError:
        pass
    service.write("Power=3")
    expect(reading(card, "Power")).to_have_text("3.0W")
    card.get_by_role("switch", name="Light").click()
    service.value("Light", lambda value: value is True)
    for each in flood:
        each.close()
    # A page that came before the dashboard has noticed all that would be one connection too many.
    until(lambda: has_room(port), "the dashboard has room again")
    opened = browser.open(dashboard.url)
    expect(choose(opened, service.place).get_by_role("switch", name="Light")).to_be_enabled()
    ok(f"a flood of {len(flood)} connections: the page stays live, and another opens afterwards")

    script = """count => { window.flood = Array.from({length: count}, () => new WebSocket(`ws://${location.host}/live`));
        return Promise.all(window.flood.map(socket => new Promise(done => { socket.onopen = socket.onclose = done; }))); }"""
    opened.evaluate(script, 8)
    opened.evaluate("window.flood.forEach(socket => { try { for (let i = 0; i < 300; i++) socket.send('x'.repeat(2000)); } catch {} })")
    service.write("Power=4")
    expect(reading(card, "Power")).to_have_text("4.0W")
    ok("sockets that send nonsense cost nobody anything")


def wrong_token(bed, browser, service, ok):
    path = os.path.join(bed.folder, "token")
    with open(path, "w") as file:
        file.write("a-token-of-the-tests\n")
    os.chmod(path, 0o600)
    guarded = bed.dashboard(service.place, "--token", f"@{path}", state="guarded")
    page = browser.context().new_page()
    page.goto(f"{guarded.origin}/#token=another-token-altogether")
    expect(page.get_by_text("This dashboard wants its token.").first).to_be_visible()
    expect(page.get_by_text(service.place)).to_have_count(0)
    expect(page.get_by_text("Power")).to_have_count(0)
    page.get_by_label("Token").fill("a-token-of-the-tests")
    page.get_by_role("button", name="Enter").click()
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    page.context.close()
    page = browser.open(f"{guarded.origin}/#token=a-token-of-the-tests")
    if "token" in page.url:
        raise Failure("the token stays in the address bar")
    page.reload()
    expect(page.locator("#link")).to_have_attribute("data-state", "open")
    page.context.close()
    ok("a wrong token shows nothing; the right one is kept out of the address bar")
    guarded.end()
