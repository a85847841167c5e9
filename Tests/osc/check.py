#!/usr/bin/env python3
"""`elemental osc` with other implementations of OSC and OSCQuery: python-osc, python-oscquery and liblo.

Usage: check.py --elemental PROGRAM SCENARIO…

Prints "passed NAME" for each scenario. The status is 0 if all went well, otherwise 1 after a sentence that says what failed
and all that the processes and surfaces have said."""

import json
import os
import shutil
import struct
import subprocess
import time
import urllib.error

# The first import puts the folder of the others on the path.
from bed import Bridged, Surface, check, isolated, message, patience, single, until
import scenarios
from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
from pythonosc.osc_message import OscMessage
from waits import Bed, lease
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


def types(bed, ok):
    elements = [f"{number}:{name}:{name}" for number, (name, _) in enumerate(TYPES)]
    bridged = Bridged(bed, *elements, surfaces=1)
    hearer, sender = bridged.surfaces[0], Surface()
    for name, values in TYPES:
        for text, tags, arguments in values:
            bridged.service.write(f"{name}={text}")
            hearer.hears(bridged.address(name), arguments, tags)
    ok("each type from the service to a surface")
    for name, values in TYPES:
        for text, tags, arguments in values:
            # python-osc does not build one.
            if arguments == [b""]:
                continue
            sender.send(bridged, name, *arguments, tags=tags)
            bridged.service.value(name, lambda value: same(plain(value), text))
    ok("each type from a surface to the service")
    # Surfaces send f for everything.
    for name, sent, text in [
        ("int8", 1000.0, "127"), ("uint8", 3.4, "3"), ("bool", 1.0, "true"), ("bool", 0.0, "false"), ("uint32", -1.0, "0"),
        ("double", 0.5, "0.5"), ("string", 0.5, "0.5"),
    ]:
        sender.send(bridged, name, sent, tags="f")
        until(lambda: same(plain(bridged.get(name)), text), f"{name} {text} read")
    bridged.end()


def surfaces(bed, ok):
    bridged = Bridged(bed, "1:Cutoff:float:0...1=0.5", "2:Gate:bool=off", surfaces=1)
    cutoff, gate = bridged.address("Cutoff"), bridged.address("Gate")
    shown, mover, other = bridged.surfaces[0], Surface(), Surface()
    # It asks for the value, and is a surface from then on.
    for surface in (mover, other):
        surface.send(bridged, "Cutoff")
        surface.hears(cutoff, [0.5])
    values = [single(number / 100) for number in range(1, 101)]
    for value in values:
        mover.send(bridged, "Cutoff", value)
    for value in values:
        other.hears(cutoff, [value])
    check([each[0] for each in other.of(cutoff)] == [0.5] + values, "another order at the other surface")
    # Within 400 ms after a value the surface that sent it is told of none: that is tested with a clock. However slow this
    # machine is, it is told of few, and what was named on its host is told in the end.
    check(len(mover.of(cutoff)) < len(values) // 2, f"the moving surface was told what it sent: {mover.of(cutoff)}")
    check(abs(bridged.get("Cutoff") - 1) < 1e-6, "the command line reads another value")
    shown.hears(cutoff, [1.0])
    ok("everyone else sees each value in its order")
    # The command line sets it: all are told, the mover too as soon as it rests.
    bed.set(bridged.service.place, "Cutoff=0.25")
    for surface in (shown, mover, other):
        surface.hears(cutoff, [0.25])
    # A moving finger is told the truth afterwards.
    begin = len(mover.of(cutoff))
    mover.send(bridged, "Cutoff", 0.9)
    other.hears(cutoff, [single(0.9)])
    bridged.service.write("Cutoff=0.1")
    other.hears(cutoff, [single(0.1)])
    mover.hears(cutoff, [single(0.1)])
    check(mover.of(cutoff)[begin:] == [[single(0.1)]], f"the mover was told {mover.of(cutoff)[begin:]}")
    ok("a surface that moves an element is told when it rests")
    # Values outside the range are moved into it, and those that are none are refused.
    mover.send(bridged, "Cutoff", 7.0)
    other.hears(cutoff, [1.0])
    mover.send(bridged, "Cutoff", "loud")
    bridged.bridge.event("notPassed", element="Cutoff", direction="toDevice")
    # A bundle, one within another, and one for later; a pattern.
    inner = OscBundleBuilder(IMMEDIATELY)
    inner.add_content(message(gate, True))
    outer = OscBundleBuilder(IMMEDIATELY)
    outer.add_content(message(cutoff, 0.125))
    outer.add_content(inner.build())
    mover.socket.sendto(outer.build().dgram, bridged.osc)
    until(lambda: bridged.value("Cutoff") == [0.125] and bridged.value("Gate") == [True], "what the bundle sets")
    # One that is not due when a value that came behind it has passed, and one that is soon.
    for delay in (50, 0.3):
        later = OscBundleBuilder(time.time() + delay)
        later.add_content(message(gate, False))
        mover.socket.sendto(later.build().dgram, bridged.osc)
        mover.send(bridged, "Cutoff", delay / 100)
        other.hears(cutoff, [single(delay / 100)])
        check(delay < 50 or bridged.value("Gate") == [True], "a bundle was early")
    until(lambda: bridged.value("Gate") == [False], "what the later bundle sets")
    # Senders that count from elsewhere mean at once: from 1900, from boot, from 1970, from 2001.
    for number, seconds in enumerate((0, 12_345, int(time.time()), int(time.time()) - 978_307_200)):
        unknown = b"/x\0\0,x\0\0\0\0\0\0"
        sent = message(cutoff, number / 8).dgram
        packets = b"".join(struct.pack(">I", len(packet)) + packet for packet in (unknown, sent, unknown))
        mover.socket.sendto(b"#bundle\0" + struct.pack(">II", seconds, 0) + packets, bridged.osc)
        other.hears(cutoff, [number / 8])
    bridged.bridge.event("invalid")
    ok("a bundle counts from anywhere, and types that are not known spoil one of its messages alone")
    mover.send_to(bridged.osc, "/*/{Cutof,Gat}[a-f]", 1.0)
    until(lambda: bridged.value("Gate") == [True] and bridged.value("Cutoff") == [1], "what the pattern sets")
    bridged.end()


def observe(bed, ok):
    bridged = Bridged(bed, "1:Cutoff:float:0...1:unit Hz=0.5", options=())
    surface = Surface()
    check(bridged.listening["control"] is False, "it says that surfaces control")
    surface.send(bridged, "Cutoff", 1.0)
    bridged.bridge.event("notPassed", element="Cutoff", direction="toDevice")
    # The fader goes back to what the element is.
    surface.hears(bridged.address("Cutoff"), [0.5])
    check(surface.of(bridged.address("Cutoff")) == [[0.5]], "something else was told")
    check(bridged.get("Cutoff") == 0.5, "it was set")
    node = bridged.query(bridged.address("Cutoff"))
    check(node["ACCESS"] == 1 and node["UNIT"] == ["Hz"] and node["RANGE"] == [{"MIN": 0, "MAX": 1}], f"{node}")
    bridged.end()


def query(bed, ok):
    elements = ["1:Cutoff:float:0...1=0.5", "2:Mode:uint8:choices 0 saw,1 sine=1", "3:Pad:float2=1,2", "4:Level:float:ro=0.5", "5:Kick:bool:wo"]
    bridged = Bridged(bed, *elements)
    host = bridged.query("/?HOST_INFO")
    check(host["OSC_PORT"] == bridged.osc[1] and host["OSC_TRANSPORT"] == "UDP" and host["EXTENSIONS"]["LISTEN"], f"{host}")
    # python-oscquery reads the tree, and python-osc plays what is in it.
    from pythonoscquery.shared.osc_path_node import OSCPathNode
    until(lambda: bridged.value("Level") == [0.5] and bridged.value("Pad") == [1, 2] and bridged.value("Mode") == [1], "all values")
    root = OSCPathNode.from_json(bridged.query("/"))
    node = root.find_subnode(bridged.address("Cutoff"))
    check(node and node.access == 3 and node.value == [0.5], f"{node}")
    access = {each: bridged.query(bridged.address(each))["ACCESS"] for each in ("Cutoff", "Level", "Kick")}
    check(access == {"Cutoff": 3, "Level": 1, "Kick": 2}, f"{access}")
    check(bridged.query(bridged.address("Mode"))["RANGE"] == [{"VALS": [0, 1]}], "choices")
    check(bridged.query(bridged.address("Level") + "?RANGE") is None, "a range that is not there")
    check(bridged.query(bridged.address("Pad") + "/?VALUE=") == {"VALUE": [1, 2]}, "slashes and equals signs")
    check(bridged.query("//?HOST_INFO=")["OSC_PORT"] == bridged.osc[1], "the host with slashes and equals signs")
    for path, status in [("/nothing", 404), ("/?NOTHING", 400), ("/%zz", 400)]:
        try:
            bridged.query(path)
            check(False, f"{path} is answered")
        except urllib.error.HTTPError as error:
            check(error.code == status, f"{path}: {error.code}")
    page = f"ws://127.0.0.1:{bridged.listening['queryPort']}/"
    with connect(page, open_timeout=patience()) as socket:
        # What others speak is left alone.
        for other in ("hello", "5", "[1]", '{"COMMAND": 1}', '{"COMMAND": "LISTEN", "DATA": ["/a", "/b"]}',
                      '{"COMMAND": "START_OSC_STREAMING", "DATA": {"LOCAL_SERVER_PORT": 4321}}', '{"COMMAND": "RENAMED"}',
                      message(bridged.address("Cutoff"), 0.25).dgram, [b"#bund", b"le\0"]):
            socket.send(other)
        socket.send(json.dumps({"COMMAND": "LISTEN", "DATA": bridged.address("Cutoff") + "/"}))
        # The answer follows what came before it: a datagram may overtake what comes over TCP.
        check(socket.ping().wait(patience()), "an answer to a ping")
        Surface().send(bridged, "Cutoff", 0.75)
        heard = OscMessage(socket.recv(timeout=patience()))
        check(heard.address == bridged.address("Cutoff") and heard.params == [0.75], f"{heard.params}")
        socket.send(json.dumps({"COMMAND": "IGNORE", "DATA": bridged.address("Cutoff")}))
        socket.send(json.dumps({"COMMAND": "LISTEN", "DATA": bridged.address("Pad")}))
    # A page of another server's may not listen.
    try:
        with connect(page, origin="http://evil.test", open_timeout=patience()):
            check(False, "a foreign page may listen")
    except Exception as error:
        check("403" in str(error), f"{error}")
    bridged.end()


def found(bed, ok):
    """Runs `foundhere` where zeroconf's responder and avahi-daemon hear each other."""
    missing = isolated("check.py", "--elemental", bed.elemental, "foundhere")
    if missing:
        print(f"left out found: {missing}", flush=True)


def foundhere(bed, ok):
    """By Zeroconf, as the clients find it; and a service that goes and comes back."""
    from pythonoscquery.osc_query_browser import OSCQueryBrowser
    from pythonoscquery.osc_query_client import OSCQueryClient
    bridge = bed.start("osc", "tester", "--control", "--port", "0", "--json", state="bridge")
    listening = bridge.event("listening")
    bridge.event("announced")
    with connect(f"ws://127.0.0.1:{listening['queryPort']}/", open_timeout=patience()) as socket:
        for _ in range(2):
            service = bed.start("publish", "tester", "--name", "Left arm", "--security", "open", "--element",
                                "1:Turn:float:-1...1=0.5", "--stay", "--json", state="service")
            told = json.loads(socket.recv(timeout=patience()))
            check(told == {"COMMAND": "PATH_ADDED", "DATA": "/Left_arm"}, f"{told}")
            browser = OSCQueryBrowser()
            info = until(browser.get_discovered_oscquery, "the bridge by Zeroconf")
            client = OSCQueryClient(info[0])
            until(lambda: client.query_node("/Left_arm/Turn"), "the element")
            until(lambda: client.query_node("/Left_arm/Turn").value == [0.5], "its value")
            port = client.get_host_info().osc_port
            Surface().send_to(("127.0.0.1", port), "/Left_arm/Turn", -0.25)
            until(lambda: client.query_node("/Left_arm/Turn").value == [-0.25], "the new value")
            service.end()
            told = json.loads(socket.recv(timeout=patience()))
            check(told == {"COMMAND": "PATH_REMOVED", "DATA": "/Left_arm"}, f"{told}")


def liblo(bed, ok):
    if not shutil.which("oscsend"):
        print("left out liblo: liblo-tools are not installed")
        return
    # Held for the whole scenario: nobody else gets it before oscdump listens there.
    port = lease()
    dump = bed.program("oscdump", "-L", str(port), state="dump")
    elements = ["1:Cutoff:float:0...1=0.5", "2:Count:int32", "3:Label:string", "4:Gate:bool", "5:Wide:int64", "6:Fine:double"]
    bridged = Bridged(bed, *elements, options=("--control", "--feedback", f"127.0.0.1:{port}"))
    for element, tag, text, value in [
        ("Cutoff", "f", "0.75", 0.75), ("Count", "i", "-7", -7), ("Label", "s", "a b", "a b"), ("Gate", "T", None, True),
        ("Wide", "h", "9223372036854775807", 2**63 - 1), ("Fine", "d", "0.125", 0.125),
    ]:
        subprocess.run(["oscsend", *map(str, bridged.osc), bridged.address(element), tag, *([text] if text else [])], check=True,
                       timeout=patience())
        bridged.service.value(element, lambda each: each == value)
        dump.output.next(f"{element} in the dump", lambda line: f"{bridged.address(element)} {tag}" in line)
    bridged.end()


def hostile(bed, ok):
    """A flood of what is no OSC, of patterns that stand for everything, and of bundles for later."""
    elements = [f"{number}:Fader {number}:float=0" for number in range(100)]
    bridged = Bridged(bed, *elements)
    sender = Surface()
    wild = message("/*/" + "*a" * 120, 1.0).dgram
    every = message("/*/*", 0.5).dgram
    later = OscBundleBuilder(time.time() + 50)
    for _ in range(100):
        later.add_content(message(bridged.address("Fader_1"), 1.0))
    later = later.build().dgram
    ahead = OscBundleBuilder(time.time() + 5000)
    ahead.add_content(message(bridged.address("Fader_1"), 1.0))
    ahead = ahead.build().dgram
    deep = b"#bundle\0" + b"\0" * 7 + b"\1"
    for _ in range(300):
        deep = b"#bundle\0" + b"\0" * 7 + b"\1" + struct.pack(">I", len(deep)) + deep
    for _ in range(300):
        for packet in (wild, every, later, ahead, b"/", b"\xff" * 1000, b"/a\0\0,b\0\0\xff\xff\xff\xff", deep):
            sender.socket.sendto(packet, bridged.osc)
    bridged.bridge.event("overloaded")
    # It still works, for others too.
    other = Surface()
    until(lambda: other.send(bridged, "Fader_7", 0.25) or abs(bridged.value("Fader_7")[0] - 0.25) < 1e-6, "a value after the flood")
    with open(f"/proc/{bridged.bridge.process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    # The address sanitizer keeps what was freed.
    check(peak < 300_000 or "ASAN_OPTIONS" in os.environ, f"{peak} kB")
    bridged.end()


def motion(bed, ok):
    """Thousands of values of a fader: each arrives, in order. `Benchmarks/osc` measures how late, at 1,000 a second."""
    bridged = Bridged(bed, "1:Fader:float=0")
    fader = bridged.address("Fader")
    mover, other = Surface(), Surface()
    other.send(bridged, "Fader")
    other.hears(fader, [0.0])
    # No more are under way than every socket holds, so that none may be lost.
    count, window = 3000, 32
    for number in range(1, count + 1):
        mover.send(bridged, "Fader", float(number))
        if number > window:
            other.hears(fader, [float(number - window)])
    other.hears(fader, [float(count)])
    check([each[0] for each in other.of(fader)] == list(range(count + 1)), "values were lost, or out of order")
    bridged.end()


SCENARIOS = {each.__name__: each for each in (types, surfaces, observe, query, found, foundhere, liblo, hostile, motion)}


def run(scenario, arguments, ok):
    with Bed(arguments.elemental) as bed:
        scenario(bed, ok)


if __name__ == "__main__":
    scenarios.main(__doc__, SCENARIOS, run, not_all=["foundhere"])
