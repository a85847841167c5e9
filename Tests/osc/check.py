#!/usr/bin/env python3
"""`elemental osc` with other implementations of OSC and OSCQuery: python-osc, python-oscquery and liblo.

Usage: check.py --elemental PROGRAM SCENARIO…

Prints "passed NAME" for each scenario. Waits for conditions, never for a time."""

import argparse
import json
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error

import bed as beds
from bed import PATIENCE, Bed, Program, Surface, check, eventually, isolated, message, single
from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
from pythonosc.osc_message import OscMessage
from websockets.sync.client import connect

# Type, values as the service has them in text, tags, and arguments.
TYPES = [
    ("int8", [("-128", "i", [-128]), ("127", "i", [127])]),
    ("uint8", [("0", "i", [0]), ("255", "i", [255])]),
    ("int16", [("-32768", "i", [-32768]), ("32767", "i", [32767])]),
    ("uint16", [("65535", "i", [65535])]),
    ("int32", [("-2147483648", "i", [-(2**31)]), ("2147483647", "i", [2**31 - 1])]),
    ("uint32", [("4294967295", "h", [2**32 - 1])]),
    ("int64", [(str(-(2**63)), "h", [-(2**63)]), (str(2**63 - 1), "h", [2**63 - 1])]),
    ("uint64", [("5", "h", [5]), (str(2**64 - 1), "s", [str(2**64 - 1)])]),
    ("float", [("0.25", "f", [0.25]), ("3.4028235e+38", "f", [single(3.4028234663852886e38)]), ("-inf", "f", [float("-inf")])]),
    ("double", [("1.7976931348623157e+308", "d", [1.7976931348623157e308]), ("5e-324", "d", [5e-324])]),
    ("string", [("", "s", [""]), ("Ü 🎹", "s", ["Ü 🎹"])]),
    ("data", [("", "b", [b""]), ("00ff10", "b", [b"\x00\xff\x10"])]),
    ("bool", [("true", "T", [True]), ("false", "F", [False])]),
    ("float2", [("1.0,-2.0", "ff", [1, -2])]),
    ("float3", [("1.0,2.0,3.0", "fff", [1, 2, 3])]),
    ("float4", [("1.0,2.0,3.0,4.0", "ffff", [1, 2, 3, 4])]),
    ("float4x4", [(",".join(f"{n}.0" for n in range(16)), "f" * 16, list(range(16)))]),
]


def plain(value):
    """A value of the command line's JSON as text as above."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(str(float(number)) for number in value)
    return str(value)


def same(a, b):
    try:
        return [float(part) for part in a.split(",")] == [float(part) for part in b.split(",")]
    except ValueError:
        return a == b


def types():
    elements = [f"{number}:{name}:{name}" for number, (name, _) in enumerate(TYPES)]
    with Bed(*elements, surfaces=1) as bed:
        hearer, sender = bed.surfaces[0], Surface()
        for name, values in TYPES:
            for text, tags, arguments in values:
                # From the service to the surface.
                bed.service.write(f"{name}={text}")
                eventually(
                    f"{name} {text} at the surface, of {hearer.received[-3:]}",
                    lambda: any(a == bed.address(name) and t == tags and p == arguments for a, t, p, _ in list(hearer.received)))
                hearer.received.clear()
        for name, values in TYPES:
            for text, tags, arguments in values:
                # python-osc does not build one.
                if arguments == [b""]:
                    continue
                # From the surface to the service.
                sender.send(bed, name, *arguments, tags=tags)
                eventually(
                    f"{name} {text} at the service, of {bed.service.events[-3:]}",
                    lambda: any(
                        e["event"] == "value" and e.get("element") == name and same(plain(e["value"]), text)
                        for e in list(bed.service.events)))
        # Surfaces send f for everything.
        for name, sent, text in [
            ("int8", 1000.0, "127"), ("uint8", 3.4, "3"), ("bool", 1.0, "true"), ("bool", 0.0, "false"), ("uint32", -1.0, "0"),
            ("double", 0.5, "0.5"), ("string", 0.5, "0.5"),
        ]:
            sender.send(bed, name, sent, tags="f")
            eventually(f"{name} {text} read", lambda: same(plain(bed.get(name)), text))


def surfaces():
    with Bed("1:Cutoff:float:0...1=0.5", "2:Gate:bool=off", surfaces=1) as bed:
        shown, mover, other = bed.surfaces[0], Surface(), Surface()
        # It asks for the value, and is a surface from then on.
        for surface in (mover, other):
            surface.send(bed, "Cutoff")
            eventually("an answer", lambda: surface.of(bed.address("Cutoff")) == [[0.5]])
            surface.received.clear()
        values = [single(number / 100) for number in range(1, 101)]
        for value in values:
            mover.send(bed, "Cutoff", value)
        # Everyone else sees each value in its order.
        eventually("all values at the other surface", lambda: [p[0] for p in other.of(bed.address("Cutoff"))] == values)
        check(mover.of(bed.address("Cutoff")) == [], "the moving surface was told what it sent")
        check(abs(bed.get("Cutoff") - 1) < 1e-6, "the command line reads another value")
        # What was named on the mover's host is told when the finger rests.
        eventually("the value at the named surface", lambda: shown.of(bed.address("Cutoff"))[-1:] == [[1.0]])
        # The command line sets it: all are told, the mover too as soon as it rests.
        subprocess.run([beds.ELEMENTAL, "set", bed.target, "Cutoff=0.25"], check=True, capture_output=True, timeout=PATIENCE)
        for surface in (shown, mover, other):
            eventually("the command line's value", lambda: surface.of(bed.address("Cutoff"))[-1:] == [[0.25]])
        # A moving finger is not fought with, and told the truth afterwards.
        mover.received.clear()
        mover.send(bed, "Cutoff", 0.9)
        eventually("0.9 at the other", lambda: other.of(bed.address("Cutoff"))[-1:] == [[single(0.9)]])
        bed.service.write("Cutoff=0.1")
        eventually("0.1 at the other", lambda: other.of(bed.address("Cutoff"))[-1:] == [[single(0.1)]])
        eventually("0.1 at the mover, once", lambda: mover.of(bed.address("Cutoff")) == [[single(0.1)]])
        # Values outside the range are moved into it, and those that are none are refused.
        mover.send(bed, "Cutoff", 7.0)
        eventually("the range's end", lambda: other.of(bed.address("Cutoff"))[-1:] == [[1.0]])
        mover.send(bed, "Cutoff", "loud")
        bed.bridge.event("notPassed", element="Cutoff", direction="toDevice")
        # A bundle, one within another, and one for later; a pattern.
        inner = OscBundleBuilder(IMMEDIATELY)
        inner.add_content(message(bed.address("Gate"), True))
        outer = OscBundleBuilder(IMMEDIATELY)
        outer.add_content(message(bed.address("Cutoff"), 0.125))
        outer.add_content(inner.build())
        mover.socket.sendto(outer.build().dgram, bed.osc)
        eventually("what the bundle sets", lambda: bed.value("Cutoff") == [0.125] and bed.value("Gate") == [True])
        later = OscBundleBuilder(time.time() + 0.3)
        later.add_content(message(bed.address("Gate"), False))
        due = time.time() + 0.3
        mover.socket.sendto(later.build().dgram, bed.osc)
        eventually("what the later bundle sets", lambda: bed.value("Gate") == [False])
        check(time.time() >= due - 0.01, "a bundle was early")
        mover.socket.sendto(message("/*/{Cutof,Gat}[a-f]", 1.0).dgram, bed.osc)
        eventually("what the pattern sets", lambda: bed.value("Gate") == [True] and bed.value("Cutoff") == [1])


def observe():
    with Bed("1:Cutoff:float:0...1:unit Hz=0.5", options=()) as bed:
        surface = Surface()
        check(bed.listening["control"] is False, "it says that surfaces control")
        surface.send(bed, "Cutoff", 1.0)
        bed.bridge.event("notPassed", element="Cutoff", direction="toDevice")
        # The fader goes back to what the element is.
        eventually("the value", lambda: surface.of(bed.address("Cutoff")) == [[0.5]])
        check(bed.get("Cutoff") == 0.5, "it was set")
        node = bed.query(bed.address("Cutoff"))
        check(node["ACCESS"] == 1 and node["UNIT"] == ["Hz"] and node["RANGE"] == [{"MIN": 0, "MAX": 1}], f"{node}")


def query():
    elements = ["1:Cutoff:float:0...1=0.5", "2:Mode:uint8:choices 0 saw,1 sine=1", "3:Pad:float2=1,2", "4:Level:float:ro=0.5", "5:Kick:bool:wo"]
    with Bed(*elements) as bed:
        host = bed.query("/?HOST_INFO")
        check(host["OSC_PORT"] == bed.osc[1] and host["OSC_TRANSPORT"] == "UDP" and host["EXTENSIONS"]["LISTEN"], f"{host}")
        # python-oscquery reads the tree, and python-osc plays what is in it.
        from pythonoscquery.shared.osc_path_node import OSCPathNode
        eventually("all values", lambda: bed.value("Level") == [0.5] and bed.value("Pad") == [1, 2] and bed.value("Mode") == [1])
        root = OSCPathNode.from_json(bed.query("/"))
        node = root.find_subnode(bed.address("Cutoff"))
        check(node and node.access == 3 and node.value == [0.5], f"{node}")
        access = {e: bed.query(bed.address(e))["ACCESS"] for e in ("Cutoff", "Level", "Kick")}
        check(access == {"Cutoff": 3, "Level": 1, "Kick": 2}, f"{access}")
        check(bed.query(bed.address("Mode"))["RANGE"] == [{"VALS": [0, 1]}], "choices")
        check(bed.query(bed.address("Level") + "?RANGE") is None, "a range that is not there")
        for path, status in [("/nothing", 404), ("/?NOTHING", 400), ("/%zz", 400)]:
            try:
                bed.query(path)
                check(False, f"{path} is answered")
            except urllib.error.HTTPError as error:
                check(error.code == status, f"{path}: {error.code}")
        with connect(f"ws://127.0.0.1:{bed.listening['queryPort']}/") as socket:
            socket.send(json.dumps({"COMMAND": "LISTEN", "DATA": bed.address("Cutoff")}))
            Surface().send(bed, "Cutoff", 0.75)
            heard = OscMessage(socket.recv(timeout=PATIENCE))
            check(heard.address == bed.address("Cutoff") and heard.params == [0.75], f"{heard.params}")
            socket.send(json.dumps({"COMMAND": "IGNORE", "DATA": bed.address("Cutoff")}))
            socket.send(json.dumps({"COMMAND": "LISTEN", "DATA": bed.address("Pad")}))
            # A page of another server's may not listen.
        try:
            with connect(f"ws://127.0.0.1:{bed.listening['queryPort']}/", origin="http://evil.test"):
                check(False, "a foreign page may listen")
        except Exception as error:
            check("403" in str(error), f"{error}")


def found():
    """Runs `foundhere` where zeroconf's responder and avahi-daemon hear each other."""
    missing = isolated("check.py", "--elemental", beds.ELEMENTAL, "foundhere")
    if missing:
        print(f"left out found: {missing}", flush=True)


def foundhere():
    """By Zeroconf, as the clients find it; and a service that goes and comes back."""
    from pythonoscquery.osc_query_browser import OSCQueryBrowser
    from pythonoscquery.osc_query_client import OSCQueryClient
    state = tempfile.mkdtemp()
    with Program("osc", "tester", "--control", "--port", "0", "--state", state) as bridge:
        listening = bridge.event("listening")
        bridge.event("announced")
        with connect(f"ws://127.0.0.1:{listening['queryPort']}/") as socket:
            for _ in range(2):
                with Program("publish", "tester", "--name", "Left arm", "--security", "open", "--element", "1:Turn:float:-1...1=0.5"):
                    told = json.loads(socket.recv(timeout=PATIENCE))
                    check(told == {"COMMAND": "PATH_ADDED", "DATA": "/Left_arm"}, f"{told}")
                    browser = OSCQueryBrowser()
                    info = eventually("the bridge by Zeroconf", lambda: browser.get_discovered_oscquery())
                    client = OSCQueryClient(info[0])
                    node = eventually("the element", lambda: client.query_node("/Left_arm/Turn"))
                    eventually("its value", lambda: client.query_node("/Left_arm/Turn").value == [0.5])
                    surface = Surface()
                    port = client.get_host_info().osc_port
                    surface.socket.sendto(message("/Left_arm/Turn", -0.25).dgram, ("127.0.0.1", port))
                    eventually("the new value", lambda: client.query_node("/Left_arm/Turn").value == [-0.25])
                told = json.loads(socket.recv(timeout=PATIENCE))
                check(told == {"COMMAND": "PATH_REMOVED", "DATA": "/Left_arm"}, f"{told}")
    shutil.rmtree(state)


def liblo():
    if not shutil.which("oscsend"):
        print("left out liblo: liblo-tools are not installed")
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    dump = subprocess.Popen(["oscdump", "-L", str(port)], stdout=subprocess.PIPE, text=True)
    try:
        lines = []
        threading.Thread(target=lambda: [lines.append(line) for line in dump.stdout], daemon=True).start()
        elements = ["1:Cutoff:float:0...1=0.5", "2:Count:int32", "3:Label:string", "4:Gate:bool", "5:Wide:int64", "6:Fine:double"]
        with Bed(*elements, options=("--control", "--feedback", f"127.0.0.1:{port}")) as bed:
            for element, tag, text, value in [
                ("Cutoff", "f", "0.75", 0.75), ("Count", "i", "-7", -7), ("Label", "s", "a b", "a b"), ("Gate", "T", None, True),
                ("Wide", "h", "9223372036854775807", 2**63 - 1), ("Fine", "d", "0.125", 0.125),
            ]:
                subprocess.run(
                    ["oscsend", *map(str, bed.osc), bed.address(element), tag, *([text] if text else [])], check=True, timeout=PATIENCE)
                eventually(f"{element} at the service", lambda: bed.get(element) == value)
                eventually(f"{element} in the dump {lines[-3:]}", lambda: any(f"{bed.address(element)} {tag}" in line for line in lines))
    finally:
        dump.terminate()
        dump.wait()


def hostile():
    """A flood of what is no OSC, of patterns that stand for everything, and of bundles for later."""
    elements = [f"{number}:Fader {number}:float=0" for number in range(100)]
    with Bed(*elements) as bed:
        sender = Surface()
        wild = message("/*/" + "*a" * 120, 1.0).dgram
        every = message("/*/*", 0.5).dgram
        later = OscBundleBuilder(time.time() + 50)
        for _ in range(100):
            later.add_content(message(bed.address("Fader_1"), 1.0))
        later = later.build().dgram
        ahead = OscBundleBuilder(time.time() + 5000)
        ahead.add_content(message(bed.address("Fader_1"), 1.0))
        ahead = ahead.build().dgram
        deep = b"#bundle\0" + b"\0" * 7 + b"\1"
        for _ in range(300):
            deep = b"#bundle\0" + b"\0" * 7 + b"\1" + struct.pack(">I", len(deep)) + deep
        for _ in range(300):
            for packet in (wild, every, later, ahead, b"/", b"\xff" * 1000, b"/a\0\0,b\0\0\xff\xff\xff\xff", deep):
                sender.socket.sendto(packet, bed.osc)
        bed.bridge.event("overloaded")
        # It still works, for others too.
        other = Surface()
        eventually("a value after the flood", lambda: other.send(bed, "Fader_7", 0.25) or abs(bed.value("Fader_7")[0] - 0.25) < 1e-6)
        with open(f"/proc/{bed.bridge.process.pid}/status") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        check(peak < 300_000, f"{peak} kB")


def motion():
    """1,000 values a second: each arrives, and how much later than without the bridge is told."""
    with Bed("1:Fader:float=0", "2:Back:float=0") as bed:
        mover, other = Surface(), Surface()
        other.send(bed, "Fader")
        eventually("an answer", lambda: other.of(bed.address("Fader")))
        other.received.clear()

        def run(destination):
            count, sent = 3000, []
            start = time.monotonic()
            for number in range(count):
                while time.monotonic() < start + number / 1000:
                    time.sleep(0.0002)
                sent.append(time.monotonic_ns())
                mover.socket.sendto(message(bed.address("Fader"), float(number + 1)).dgram, destination)
            eventually("all values", lambda: len(other.of(bed.address("Fader"))) >= count)
            arrived = [(p[0], t) for a, _, p, t in other.received if a == bed.address("Fader")]
            check([value for value, _ in arrived] == [float(n + 1) for n in range(count)], "values were lost, or out of order")
            other.received.clear()
            delays = sorted((time - sent[position]) / 1e6 for position, (_, time) in enumerate(arrived))
            return f"p50 {delays[count // 2]:.3f} ms p99 {delays[count * 99 // 100]:.3f} ms"

        direct = run(("127.0.0.1", other.port))
        print(f"figures motion: {run(bed.osc)}; from socket to socket without bridge and service: {direct}")


SCENARIOS = {f.__name__: f for f in (types, surfaces, observe, query, found, foundhere, liblo, hostile, motion)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--elemental", required=True)
    parser.add_argument("scenarios", nargs="+", choices=list(SCENARIOS))
    arguments = parser.parse_args()
    beds.ELEMENTAL = arguments.elemental
    failed = False
    for name in arguments.scenarios:
        try:
            SCENARIOS[name]()
            print(f"passed {name}", flush=True)
        except Exception as error:
            failed = True
            print(f"failed {name}: {error!r}", flush=True)
    sys.exit(1 if failed else 0)


main()
