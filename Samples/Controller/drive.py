#!/usr/bin/env python3
"""Plays the dashboard's controller in a real chromium with made-up motion; see Samples/try-motion, which starts everything.

Usage: drive.py play --elemental PROGRAM --chromium PROGRAM --folder FOLDER --url URL --synth NAME --robot NAME [--changes N]
       drive.py cross --elemental PROGRAM --chromium PROGRAM --folder FOLDER --near NAMESPACE --address ADDRESS

The first plays a dashboard's synthesizer and robot, and writes FOLDER/sent, which Samples/Synth/Tests/report reads. The second
starts a service at this host's address and a dashboard of it at another host, so that the link between the hosts is in the way
of everything. Each writes its figures to FOLDER/play.json or FOLDER/cross.json.
"""

import argparse
import atexit
import json
import os
import queue
import re
import signal
import struct
import subprocess
import sys
import threading
import time

from playwright.sync_api import expect, sync_playwright

GRAVITY = 9.81
# The page's motion is full at twice the earth's gravity.
FULL = 2 * GRAVITY
# Seconds within which a robot stands still.
LIMIT = 0.3
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
PATIENCE = 60 * max(float(os.environ.get("ELEMENTAL_TEST_PATIENCE", "1")), 1)
expect.set_options(timeout=PATIENCE * 1000)
SENSORS = ("accelerometer", "linear-acceleration", "gyroscope")
# Notes what the page sends, and when an event of the sensor has turned from far to near.
NOTES = """() => {
    window.sent = [];
    window.turns = [];
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) {
        send.call(this, text);
        if (text.includes('"t":"move"')) window.sent.push([performance.timeOrigin + performance.now(), JSON.parse(text).v[0][2]]);
    };
    let wasNear = false;
    window.addEventListener('devicemotion', event => {
        const isNear = event.accelerationIncludingGravity.x > 0;
        if (isNear && !wasNear) window.turns.push(performance.timeOrigin + event.timeStamp);
        wasNear = isNear;
    }, true);
}"""
HIDE = """() => { Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange')); }"""


class Lines:
    """A command of elemental, and the lines of JSON that it prints, each with the time at which it came."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.end)
        self.lines = queue.SimpleQueue()
        self.all = []  # times and lines
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.all.append((time.monotonic(), json.loads(line)))
            self.lines.put(self.all[-1])

    def next(self, wanted, what):
        """The first line from here on that is wanted, and its time."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                when, line = self.lines.get(timeout=max(end - time.monotonic(), 0.001))
            except queue.Empty:
                sys.exit(f"drive.py: {what} did not come")
            if wanted(line):
                return when, line

    def end(self):
        self.process.terminate()
        self.process.wait()


class Hand:
    """A phone-sized chromium whose sensors say what the hand does."""

    def __init__(self, playwright, options, url):
        self.browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        processes = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        self.pid = next(each["id"] for each in processes if each["type"] == "browser")
        context = self.browser.new_context(**PHONE, ignore_https_errors=True)
        context.set_default_timeout(PATIENCE * 1000)
        self.page = context.new_page()
        self.page.add_init_script(f"({NOTES})()")
        self.tools = context.new_cdp_session(self.page)
        self.page.goto(url)
        # Another page would have other sensors.
        for kind in SENSORS:
            self.tools.send("Emulation.setSensorOverrideEnabled",
                            {"enabled": True, "type": kind, "metadata": {"available": True, "maximumFrequency": 100}})
        expect(self.page.get_by_text("Live")).to_be_visible()
        self.page.evaluate("location.hash = '#/controller'")
        self.panel = self.page.get_by_role("article", name="Controller")
        self.offset = self._offset()

    def _offset(self):
        """Seconds from the page's clock to the monotonic one, by the quickest of some answers."""
        def look():
            before = time.monotonic()
            page = self.page.evaluate("performance.timeOrigin + performance.now()") / 1000
            after = time.monotonic()
            return after - before, (before + after) / 2 - page
        return min(look() for _ in range(50))[1]

    def bind(self, service, element, component, components):
        """The motion's first axis moves a component of an element, and nothing moves the others."""
        self.panel.get_by_role("combobox", name="Motion moves", exact=True).select_option(label=service)
        self.panel.get_by_role("combobox", name="Element for Motion", exact=True).select_option(element)
        dead = self.panel.locator("#motion-dead")
        expect(self.panel.get_by_text("Adjust")).to_be_visible()
        # What was adjusted before is open.
        if not dead.is_visible():
            self.panel.get_by_text("Adjust").click()
        for index in range(components):
            self.panel.locator(f"#motion-axis-{index}").select_option("0" if index == component else "-1")
        dead.fill("0")
        dead.press("Enter")
        expect(dead).to_have_value("0")

    def play(self):
        self.panel.get_by_role("button", name="Play").click()
        expect(self.panel.locator(".play-rate")).to_contain_text("skipped")
        expect(self.panel.get_by_role("listitem")).not_to_contain_text("waiting")

    def end(self):
        self.panel.get_by_role("button", name="End").click()

    def replaced(self):
        """How many values the page has not sent, since a newer one came before they could be."""
        return int(re.search(r"(\d+) skipped", self.panel.locator(".play-rate").inner_text())[1])

    def move(self, part):
        # The page is told of motion when all three have said something.
        for kind in SENSORS:
            self.tools.send("Emulation.setSensorOverrideReadings",
                            {"type": kind, "reading": {"xyz": {"x": part * FULL if kind == "accelerometer" else 0, "y": 0, "z": 0}}})

    def until(self, condition, mistake):
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"drive.py: {mistake}")
            self.page.wait_for_timeout(10)

    def stay(self, part, seconds):
        """Says the same 100 times a second."""
        begin = time.monotonic()
        count = 0
        while (now := time.monotonic()) - begin < seconds:
            self.move(part)
            count += 1
            time.sleep(max(begin + count / 100 - now, 0))


def played(hand, options):
    """Turns the synthesizer's tone from silent to loud by the hand, and notes when the page was told."""
    hand.bind(options.synth, "Motion", 2, 3)
    hand.stay(-1, 0.1)
    hand.play()
    hand.stay(-1, 0.5)
    with open(os.path.join(options.folder, "sent"), "w") as sent:
        print(time.monotonic_ns(), "melody", file=sent)
        for number in range(options.changes):
            hand.stay(1, 0.06)
            # At all times between two events of the page, in turn.
            hand.stay(-1, 0.06 + number * 7 % 17 / 1000)
        for turn in hand.page.evaluate("window.turns"):
            print(round((turn / 1000 + hand.offset) * 1e9), "udp", file=sent)
        print(time.monotonic_ns(), "end", file=sent)
    hand.end()


def start_counter(options, kind, address, security, *more):
    return Lines(options.elemental, "publish", "counter", "--name", "Counter", "--element", f"1:Count:float:-1...1:{kind}=0", "--security", security,
                 "--address", address, "--json", "--state", os.path.join(options.folder, "counter"), *more)


def pair(options, target):
    """The dashboard's user with the counter, by the code."""
    def run(*arguments, state, text=None):
        command = [options.elemental, *arguments, "--state", os.path.join(options.folder, state)]
        return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout

    opened = [json.loads(line) for line in run("open-pairing", target, "--json", state="counter").splitlines()]
    run("pair", target, state="far", text=next(line["code"] for line in opened if line["event"] == "pairing"))


def counted(hand, counter, name, prepare=lambda: None):
    """Moves an element steadily: what the page sent of it, and what the service got until the page was at rest."""
    hand.bind(name, "Count", 0, 1)
    hand.move(-1)
    hand.page.evaluate("window.sent.length = 0")
    hand.play()
    prepare()
    begin = time.monotonic()
    for step in range(500):
        hand.move(step / 250 - 1)
        time.sleep(max(begin + step / 100 - time.monotonic(), 0))
    # The browser rounds readings, for privacy.
    is_last = lambda line: line["event"] == "value" and line["value"] > 0.98
    hand.move(1)
    stood = time.monotonic()
    last, _ = counter.next(is_last, "the last value")
    replaced = hand.replaced()
    hand.end()
    # The element's value of rest.
    counter.next(lambda line: line["event"] == "value" and line["value"] == 0, "the value of rest")
    counter.end()
    # The element's value of rest comes between these whenever the page was silent for long.
    single = lambda value: struct.unpack("f", struct.pack("f", value))[0]
    sent = [(time / 1000 + hand.offset, single(value)) for time, value in hand.page.evaluate("window.sent") if value != 0]
    received = [(time, single(line["value"])) for time, line in counter.all if line["event"] == "value" and line["value"] != 0]
    if [value for _, value in received] != sorted(value for _, value in received):
        sys.exit("drive.py: values came out of order")
    return sent, received, {"sent": len(sent), "received": len(received), "replaced": replaced, "newest": last - stood}


def ages(sent, received):
    """The seconds from when the page sent a value first to when the service got it first, sorted."""
    sent, received = ({value: time for time, value in reversed(each)} for each in (sent, received))
    return sorted(received[value] - sent[value] for value in received)


def stopped(hand, options, how):
    """How long the robot goes on after the page is hidden or killed: until its pose changes no more, in seconds."""
    poses = Lines(options.elemental, "watch", f"robot/{options.robot}", "Pose", "--json", "--state", os.path.join(options.folder, "watcher"))
    hand.bind(options.robot, "Motion", 0, 3)
    hand.play()
    pose = lambda line: {key: line["value"][key] for key in ("x", "y", "heading")}
    is_pose = lambda line: line["event"] == "value" and line["element"] == "Pose"
    decoded = lambda line: {**line, "value": json.loads(bytes.fromhex(line["value"]))} if isinstance(line["value"], str) else line
    _, first = poses.next(is_pose, "a pose")
    start = pose(decoded(first))
    hand.stay(0.5, 1)
    poses.next(lambda line: is_pose(line) and pose(decoded(line)) != start, "the robot's first move")
    begin = time.monotonic()
    if how == "hidden":
        hand.page.evaluate(HIDE)
    else:
        os.kill(hand.pid, signal.SIGKILL)
    last = None
    while True:
        when, line = poses.next(is_pose, "a pose")
        now = pose(decoded(line))
        if last is None or now != last[1]:
            last = (when, now)
        elif when - last[0] > 1:
            break
    poses.end()
    return last[0] - begin


def play(playwright, options):
    """The synthesizer, a service and the robot, all of this host, by one hand."""
    hand = Hand(playwright, options, options.url)
    played(hand, options)
    print(f"{options.changes} changes by the hand", flush=True)
    # Of a `latest` element the dashboard replaces a value that it could not send before the next one came.
    sent, received, figures = counted(hand, start_counter(options, "udp", "127.0.0.1", "open"), "Counter")
    print("{sent} values were sent steadily, {received} received, in order".format(**figures), flush=True)
    stops = {}
    for how in ("hidden", "killed"):
        if how == "killed":
            hand.browser.close()
            hand = Hand(playwright, options, options.url)
        seconds = stops[how] = stopped(hand, options, how)
        print(f"the page was {how}: {max(seconds, 0) * 1000:.0f} ms later the robot stood still", flush=True)
    if [value for _, value in sent] != [value for _, value in received]:
        sys.exit("drive.py: what was received is not what was sent")
    slow = [how for how in stops if stops[how] > LIMIT]
    if slow:
        sys.exit(f"drive.py: the robot went on for more than {LIMIT * 1000:.0f} ms")
    return {"link": figures, **stops}


def cross(playwright, options):
    """A service of this host, by a dashboard at the other one."""
    counter = start_counter(options, "udp:latest", options.address, "paired", "--unlisted")
    _, listening = counter.next(lambda line: line["event"] == "listening", "the counter's port")
    # The dashboard knows it by that alone.
    target = "{}:{}".format(options.address, listening["port"])
    # Only sealed datagrams have an order.
    pair(options, target)
    dashboard = Lines("ip", "netns", "exec", options.near, options.elemental, "dashboard", target, "--control",
                      "--lan", "--port", "0", "--json", "--state", os.path.join(options.folder, "far"))
    _, serving = dashboard.next(lambda line: line["event"] == "serving", "the dashboard")
    hand = Hand(playwright, options, serving["url"])
    def spoil():
        print("plays", flush=True)
        hand.until(lambda: os.path.exists(os.path.join(options.folder, "bad")), "the link was not made bad")

    sent, received, figures = counted(hand, counter, target, spoil)
    dashboard.end()
    old = ages(sent, received)
    figures.update({"p50": old[len(old) // 2], "p90": old[len(old) * 9 // 10], "max": old[-1]})
    print("{sent} values were sent, {replaced} were replaced by newer ones before, {received} were received, in order".format(**figures))
    print("from the page to the service: p50 {p50:.3f} s, p90 {p90:.3f}, at most {max:.3f}; the newest {newest:.3f} s after the hand stood still".format(**figures))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("play", "cross"))
    for name in ("elemental", "chromium", "folder"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("url", "synth", "robot", "near", "address"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--changes", type=int, default=100)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        figures = (play if options.what == "play" else cross)(playwright, options)
    with open(os.path.join(options.folder, f"{options.what}.json"), "w") as file:
        json.dump(figures, file)


main()
