#!/usr/bin/env python3
"""Plays the dashboard's controller in a real chromium with made-up motion; see Samples/try-motion, which starts everything.

Usage: drive.py --elemental PROGRAM --chromium PROGRAM --folder FOLDER --url URL --synth NAME --robot NAME [--changes N]

Writes FOLDER/sent, which Samples/Synth/Tests/report reads, and FOLDER/figures.json.
"""

import argparse
import json
import os
import queue
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
        if (text.includes('"t":"move"')) window.sent.push(JSON.parse(text).v[0][2]);
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
        self.lines = queue.SimpleQueue()
        self.all = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.all.append(json.loads(line))
            self.lines.put((time.monotonic(), self.all[-1]))

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

    def __init__(self, playwright, options):
        self.browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        processes = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        self.pid = next(each["id"] for each in processes if each["type"] == "browser")
        context = self.browser.new_context(**PHONE)
        context.set_default_timeout(PATIENCE * 1000)
        self.page = context.new_page()
        self.page.add_init_script(f"({NOTES})()")
        self.tools = context.new_cdp_session(self.page)
        self.page.goto(options.url)
        # Another page would have other sensors.
        for kind in SENSORS:
            self.tools.send("Emulation.setSensorOverrideEnabled",
                            {"enabled": True, "type": kind, "metadata": {"available": True, "maximumFrequency": 100}})
        self.page.get_by_role("link", name="Use this device as a controller").click()
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
        expect(self.panel.get_by_role("listitem")).to_contain_text("skipped")

    def end(self):
        self.panel.get_by_role("button", name="End").click()

    def move(self, part):
        # The page is told of motion when all three have said something.
        for kind in SENSORS:
            self.tools.send("Emulation.setSensorOverrideReadings",
                            {"type": kind, "reading": {"xyz": {"x": part * FULL if kind == "accelerometer" else 0, "y": 0, "z": 0}}})

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


def counted(hand, options):
    """Moves an element steadily, and compares what a service got with what the page sent."""
    counter = Lines(options.elemental, "publish", "counter", "--name", "Counter", "--element", "1:Count:float:-1...1:udp=0", "--security", "open",
                    "--address", "127.0.0.1", "--json", "--state", os.path.join(options.folder, "counter"))
    counter.next(lambda line: line["event"] == "published", "the counter")
    hand.bind("Counter", "Count", 0, 1)
    hand.move(-1)
    hand.page.evaluate("window.sent.length = 0")
    hand.play()
    begin = time.monotonic()
    for step in range(500):
        hand.move(step / 250 - 1)
        time.sleep(max(begin + step / 100 - time.monotonic(), 0))
    hand.move(1)
    # The browser rounds readings, for privacy.
    counter.next(lambda line: line["event"] == "value" and line["value"] > 0.98, "the last value")
    hand.end()
    # The element's value of rest.
    counter.next(lambda line: line["event"] == "value" and line["value"] == 0, "the value of rest")
    counter.end()
    single = lambda value: struct.unpack("f", struct.pack("f", value))[0]
    sent = [single(each) for each in hand.page.evaluate("window.sent")]
    received = [single(line["value"]) for line in counter.all if line["event"] == "value"][:-1]
    if received != sorted(received):
        sys.exit("drive.py: values came out of order")
    return {"sent": len(sent), "received": len(received), "lost": len(sent) - len(received), "differ": sent != received}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("elemental", "chromium", "folder", "url", "synth", "robot"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--changes", type=int, default=100)
    options = parser.parse_args()
    figures = {}
    with sync_playwright() as playwright:
        hand = Hand(playwright, options)
        played(hand, options)
        print(f"{options.changes} changes by the hand", flush=True)
        figures["link"] = counted(hand, options)
        print("{sent} values were sent steadily, {received} received, in order".format(**figures["link"]), flush=True)
        for how in ("hidden", "killed"):
            if how == "killed":
                hand.browser.close()
                hand = Hand(playwright, options)
            seconds = figures[how] = stopped(hand, options, how)
            print(f"the page was {how}: {max(seconds, 0) * 1000:.0f} ms later the robot stood still", flush=True)
    with open(os.path.join(options.folder, "figures.json"), "w") as file:
        json.dump(figures, file)
    if figures["link"]["differ"]:
        sys.exit("drive.py: what was received is not what was sent")
    slow = [how for how in ("hidden", "killed") if figures[how] > LIMIT]
    if slow:
        sys.exit(f"drive.py: the robot went on for more than {LIMIT * 1000:.0f} ms")


main()
