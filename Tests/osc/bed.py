"""Programs of elemental's and surfaces of python-osc's, for the scenarios of check.py and remote.py."""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, ".."))

from pythonosc.osc_message import OscMessage  # noqa: E402
from pythonosc.osc_message_builder import OscMessageBuilder  # noqa: E402
from waits import Log, check, patience, until  # noqa: E402


class Bridged:
    """A service on a bed, a bridge to it, and surfaces that the bridge is told of."""

    def __init__(self, bed, *elements, options=("--control",), surfaces=0):
        self.bed = bed
        self.service = bed.publish("synth", *elements, name="Synth")
        self.surfaces = [Surface() for _ in range(surfaces)]
        feedback = [part for surface in self.surfaces for part in ("--feedback", f"127.0.0.1:{surface.port}")]
        self.bridge = bed.start("osc", self.service.place, "--port", "0", *feedback, *options, "--json", state="bridge")
        self.listening = self.bridge.event("listening")
        self.osc = ("127.0.0.1", self.listening["port"])
        self.prefix = self.bridge.event("shown")["prefix"]

    def address(self, element):
        return self.prefix + element

    def query(self, path):
        with urllib.request.urlopen(self.listening["url"].rstrip("/") + path, timeout=patience()) as answer:
            return json.load(answer) if answer.status == 200 else None

    def value(self, element):
        return self.query(self.address(element) + "?VALUE")["VALUE"]

    def get(self, element):
        """What the command line reads."""
        return self.bed.get(self.service.place, element)

    def end(self):
        check(self.bridge.end() == 0, "the bridge did not end well")


class Surface:
    """A socket that sends and receives with python-osc's messages. Its log has addresses, tags and arguments."""

    def __init__(self, address="127.0.0.1"):
        self.socket = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        self.socket.bind((address, 0))
        self.port = self.socket.getsockname()[1]
        self.log = Log(f"surface {self.port}")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            data, _ = self.socket.recvfrom(65536)
            message = OscMessage(data)
            tags = data[data.index(b",") + 1:].split(b"\0")[0].decode()
            self.log.add((message.address, tags, list(message.params)))

    def send(self, bridged, element, *arguments, tags=None):
        self.send_to(bridged.osc, bridged.address(element), *arguments, tags=tags)

    def send_to(self, place, address, *arguments, tags=None):
        self.socket.sendto(message(address, *arguments, tags=tags).dgram, place)

    def hears(self, address, arguments, tags=None):
        """Takes the first message with these arguments, and perhaps tags."""
        return self.log.next(f"{address} {tags or ''} {arguments}",
                             lambda each: each[0] == address and each[2] == arguments and tags in (None, each[1]))

    def of(self, address):
        """The arguments of all messages so far."""
        return [arguments for found, _, arguments in self.log.all if found == address]


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
    done = subprocess.run(
        [*inside, os.path.join(HERE, "../../Samples/private-avahi"), "--same-network", "--", sys.executable, "-B",
         os.path.join(HERE, script), *arguments], capture_output=True, text=True)
    check(done.returncode == 0, done.stdout + done.stderr)
    return None
