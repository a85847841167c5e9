"""Programs of elemental's and surfaces of python-osc's, for the scenarios of check.py and remote.py."""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from pythonosc.osc_message import OscMessage
from pythonosc.osc_message_builder import OscMessageBuilder

PATIENCE = 30
ELEMENTAL = ""  # The program's path; set by who runs the scenarios.


class Failure(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def eventually(what, condition):
    """Waits until the condition returns something that is true, and returns that."""
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Failure(f"not within {PATIENCE} s: {what}")
        time.sleep(0.005)


class Program:
    """A command of elemental's, with the events that it prints."""

    def __init__(self, *arguments):
        self.events = []
        self.process = subprocess.Popen(
            [ELEMENTAL, *arguments, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            try:
                self.events.append(json.loads(line))
            except ValueError:
                self.events.append({"event": "text", "text": line})

    def event(self, name, **members):
        return eventually(
            f"event {name} {members} among {self.events[-5:]}",
            lambda: next(
                (e for e in list(self.events) if e["event"] == name and all(e.get(k) == v for k, v in members.items())), None))

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(PATIENCE)
        self.process.stdin.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def service(*elements, name="Synth", port=0):
    specs = [part for element in elements for part in ("--element", element)]
    return Program(
        "publish", "synth", "--name", name, "--unlisted", "--address", "127.0.0.1", "--port", str(port), "--stay", *specs)


class Bed:
    """A service, and a bridge to it."""

    def __init__(self, *elements, options=("--control",), surfaces=0):
        self.service = service(*elements)
        self.surfaces = [Surface() for _ in range(surfaces)]
        port = self.service.event("listening")["port"]
        self.target = f"127.0.0.1:{port}"
        self.port = port
        self.state = tempfile.mkdtemp()
        feedback = [part for surface in self.surfaces for part in ("--feedback", f"127.0.0.1:{surface.port}")]
        self.bridge = Program("osc", self.target, "--port", "0", "--state", self.state, *feedback, *options)
        self.listening = self.bridge.event("listening")
        self.osc = ("127.0.0.1", self.listening["port"])
        self.prefix = self.bridge.event("shown")["prefix"]

    def address(self, element):
        return self.prefix + element

    def query(self, path):
        with urllib.request.urlopen(self.listening["url"].rstrip("/") + path) as answer:
            return json.load(answer) if answer.status == 200 else None

    def value(self, element):
        return self.query(self.address(element) + "?VALUE")["VALUE"]

    def get(self, element):
        """What the command line reads."""
        text = subprocess.run(
            [ELEMENTAL, "get", self.target, element, "--json"], capture_output=True, text=True, timeout=PATIENCE).stdout
        return next(json.loads(line)["value"] for line in text.splitlines() if '"value"' in line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        check(self.bridge.end() == 0, "the bridge did not end well")
        self.service.end()
        for surface in self.surfaces:
            surface.socket.close()
        shutil.rmtree(self.state)


class Surface:
    """A socket that sends and receives with python-osc's messages."""

    def __init__(self, address="127.0.0.1"):
        self.socket = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        self.socket.bind((address, 0))
        self.port = self.socket.getsockname()[1]
        self.received = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data, _ = self.socket.recvfrom(65536)
            except OSError:
                return
            message = OscMessage(data)
            tags = data[data.index(b",") + 1:].split(b"\0")[0].decode()
            self.received.append((message.address, tags, list(message.params), time.monotonic_ns()))

    def send(self, bed, element, *arguments, tags=None):
        self.socket.sendto(message(bed.address(element), *arguments, tags=tags).dgram, bed.osc)

    def of(self, address):
        return [params for found, _, params, _ in list(self.received) if found == address]


def message(address, *arguments, tags=None):
    builder = OscMessageBuilder(address)
    for position, argument in enumerate(arguments):
        builder.add_arg(argument, tags[position] if tags else None)
    return builder.build()


def single(number):
    return struct.unpack(">f", struct.pack(">f", number))[0]


def isolated(script, *arguments):
    """Runs one of this folder's scripts in a network namespace in which zeroconf's responder and avahi-daemon hear each other.

    Returns why that is not possible here, or None."""
    inside = ["unshare", "--net", "sh", "-c", "PATH=$PATH:/sbin:/usr/sbin; ip link set lo up multicast on && "
              'ip route add 224.0.0.0/4 dev lo && exec "$@"', "sh"]
    if os.geteuid() != 0 or not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode:
        return "not root, or no network namespaces here"
    folder = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(
        [*inside, os.path.join(folder, "../../Samples/private-avahi"), "--same-network", "--", sys.executable, "-B",
         os.path.join(folder, script), *arguments], capture_output=True, text=True)
    check(done.returncode == 0, done.stdout + done.stderr)
    return None
