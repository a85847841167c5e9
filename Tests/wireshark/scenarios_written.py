"""Scenarios with captures that are written here: the recorded frames of the older implementation, mistakes, attacks."""

import contextlib
import json
import os
import random
import ssl
import struct

from packets import Written, catalogue, component_range, datagram, entry, frame, hello, text
from shark import ROOT, fields, info, measure, messages, tshark
from waits import Failure, is_all

CLIENT, SERVICE = ("10.0.0.1", 40000), ("10.0.0.2", 41000)
UDP_CLIENT = ("10.0.0.1", 50000)
FLOAT, DOUBLE, STRING, DATA, BOOL, UINT8, INT64, FLOAT2 = 9, 10, 11, 12, 13, 2, 7, 14
# With the numbers first, next, check, missing and atMost.
HISTORY_ANSWER = struct.pack("<BQ16s5Q", 2, 1, bytes(range(16)), 3, 9, 4, 5, 2**64 - 1)


def expect(condition, what, *evidence):
    if not condition:
        raise Failure(f"{what}: {' '.join(map(repr, evidence))[:1500]}")


def recorded(folder, _, ok):
    """The frames that were recorded from the older implementation, which sends no catalogue."""
    path = os.path.join(folder, "recorded.pcap")
    with open(os.path.join(ROOT, "Tests", "WireVectors", "vectors.json")) as file:
        vectors = json.load(file)
    echoes = vectors["tcpEchoes"]
    of_datagram = vectors["udpDatagram"]
    with Written(path) as capture:
        connection = capture.connection(CLIENT, SERVICE)
        connection.service(bytes.fromhex(vectors["onAccept"]["serverSends"]))
        connection.client(bytes.fromhex(vectors["clientHello"]["clientSends"]))
        for echo in echoes:
            connection.client(bytes.fromhex(echo["frame"]))
            # One byte at a time: TCP keeps no frames together.
            connection.service(bytes.fromhex(echo["frame"]), size=1)
        capture.datagram(UDP_CLIENT, SERVICE, bytes.fromhex(of_datagram["datagram"]))
        for tolerated in vectors["tolerated"]:
            connection.client(bytes.fromhex(tolerated["sent"]), bytes.fromhex(tolerated["then"]))
            connection.service(bytes.fromhex(tolerated["echoed"]))

    found = messages(path)
    expect(found[0]["udp_identifier"] == "1" and found[1]["client"] == "fake client", "the first frames", found[:2])
    for echo in echoes:
        value = bytes.fromhex(echo["frame"])[5:].hex(":")
        each = [message for message in found if message["id"] == str(echo["id"]) and message.get("undecoded") == value]
        expect({message["from_service"] for message in each} == {"0", "1"}, f"bytes of {echo['type']}, both ways", each)
    ok("recorded frames, without a catalogue as bytes")

    specs = ";".join([f"{echo['id']}:a {echo['type']}:{echo['type']}:unit u{echo['id']}" for echo in echoes]
                     + [f"{of_datagram['id']}:Datagram:{of_datagram['type']}"])
    found = messages(path, options=("-o", f"elemental.elements:{specs}"))
    for echo in echoes + [of_datagram]:
        each = [message for message in found if message["id"] == str(echo["id"]) and message.get("value") == _shown(echo)]
        expect(each, f"{echo['type']} = {_shown(echo)}", [message for message in found if message["id"] == str(echo["id"])])
        if echo is not of_datagram:
            expect({message["from_service"] for message in each} == {"0", "1"} and all(
                message["name"] == f"a {echo['type']}" and message["unit"] == f"u{echo['id']}" for message in each), "name and unit", each)
    expect([message["complaints"] for message in found if message["id"] in ("99", "-4")] == [["unknown"], ["malformed"]],
           "what the older implementation skips", found[-9:])
    ok("recorded frames, with elements from the preference as values")


def _shown(echo):
    value = echo["value"]
    if echo["type"] == "bool":
        return "true" if value else "false"
    return ", ".join(f"{each:g}" for each in value) if isinstance(value, list) else str(value)


def mistakes(folder, _, ok):
    """What a frame can have wrong, and what is said about it."""
    path = os.path.join(folder, "mistakes.pcap")
    number = struct.pack("<f", 0.5)
    elements = [
        entry(1, FLOAT, "Speed", "m/s", 0b11100, struct.pack("<dd", 0, 1)),
        entry(2, UINT8, "Mode", "", 0b1001100, b"\2\0" + text("off") + b"\1" + text("on")),
        entry(3, STRING, "Gear", "", 0b1001100, b"\2" + text("low") + text("high")),
        entry(4, BOOL, "Light"), entry(5, DOUBLE, "Load", "%", 0b0100), entry(6, DATA, "Key", "", 0b1000),
        entry(7, 99, "Future"), entry(8, STRING, "Text"),
        entry(9, INT64, "Count", "", 0b11100, struct.pack("<dd", -10, 10)),
        entry(10, FLOAT2, "Aim", more=b"\x63\2ab" + component_range(-1, 1) + b"\1"),
        entry(11, FLOAT, "Free", more=component_range(0, 1)),
    ]
    # Each frame, who sends it, and what is complained of.
    cases = [
        (0, frame(1, number), []), (0, frame(1, number + b"x"), ["wrong_length"]), (0, frame(1, b""), ["wrong_length"]),
        (0, frame(1, struct.pack("<f", 1.5)), ["out_of_range"]), (1, frame(1, struct.pack("<f", -1)), ["out_of_range"]),
        (0, frame(1, struct.pack("<f", float("nan"))), ["out_of_range"]),
        (0, frame(9, struct.pack("<q", -(2**63))), ["out_of_range"]), (0, frame(9, struct.pack("<q", -10)), []),
        (0, frame(10, struct.pack("<ff", -1, 1)), []), (0, frame(10, struct.pack("<ff", 0, 1.5)), ["out_of_range"]),
        (0, frame(10, struct.pack("<ff", float("nan"), 0)), ["out_of_range"]), (0, frame(11, struct.pack("<f", 2)), []),
        (0, frame(2, b"\1"), []), (0, frame(2, b"\2"), ["not_a_choice"]),
        (0, frame(3, b"low"), []), (0, frame(3, b"LOW"), ["not_a_choice"]), (0, frame(3, b""), ["not_a_choice"]),
        (0, frame(4, b"\2"), ["malformed"]), (0, frame(8, b"\xff\xfe"), ["malformed"]), (0, frame(8, b""), []),
        (0, frame(5, bytes(8)), ["not_allowed"]), (1, frame(5, bytes(8)), []), (1, frame(6, b"k"), ["not_allowed"]),
        (0, frame(7, b"x"), ["unknown"]), (0, frame(42, b"x"), ["unknown"]), (0, frame(-77, b"x"), ["unknown"]),
        (0, frame(-1, b"\1"), ["unexpected"]), (1, frame(-1, b"\xff"), ["malformed"]), (1, frame(-1, b""), ["wrong_length"]),
        (1, frame(-2, b"name"), ["unexpected"]), (0, frame(-2, b"\xff"), ["malformed"]), (0, frame(-3, b"why"), ["unexpected"]),
        (0, frame(-4, b"\1"), ["malformed"]), (0, frame(-4, bytes(12)), []), (0, frame(-5, b"\1\0"), ["unexpected"]),
        (1, frame(-6, b""), ["malformed"]), (1, frame(-7, bytes(1025)), ["malformed"]), (1, frame(-9, b"abc"), ["wrong_length"]),
        (1, frame(-10, b"x"), ["unexpected"]), (1, frame(-11, b"\1"), ["malformed"]), (0, frame(-11, b"\1\1"), ["refused"]),
        (0, frame(-12, b"x"), ["unknown"]), (0, frame(-13, b"\1\2\0"), ["unexpected"]), (0, frame(-13, b"\1\1\5ab"), ["malformed"]),
        (0, frame(-16, b"\1" + bytes(36)), []), (1, frame(-16, b"\2" + bytes(36)), []), (0, frame(-16, b"\2" + bytes(36)), ["malformed"]),
        (0, frame(-16, b"\3" + bytes(36)), ["malformed"]), (0, frame(-16, b"\1"), ["wrong_length"]),
        (0, frame(-17, b"\1" + bytes(8) + struct.pack("<f", 0.5)), []), (0, frame(-17, b"\1" + bytes(8) + struct.pack("<f", 1.5)), ["out_of_range"]),
        (0, frame(-17, b"\1" + bytes(7)), ["malformed"]), (0, frame(-17, b"\x81" + bytes(8)), []),
        (0, frame(-17, b"\x81" + bytes(9)), ["malformed"]), (0, frame(-17, b"\x2a" + bytes(9)), ["unknown"]),
        (0, frame(-18, b"\1" + bytes(10) + b"\1" + bytes(8)), []), (0, frame(-18, b"\1" + bytes(10) + b"\2" + bytes(4)), []),
        (0, frame(-18, b"\1" + bytes(10) + b"\3" + bytes(32)), []), (0, frame(-18, b"\1" + bytes(10) + b"\4"), ["malformed"]),
        (1, frame(-18, b"\1" + bytes(10) + b"\2" + bytes(4)), ["malformed"]), (0, frame(-18, b"\1" + bytes(10)), ["malformed"]),
        (1, frame(-18, HISTORY_ANSWER), []), (1, frame(-18, HISTORY_ANSWER + bytes(8) + b"\1\0\0\0x"), []),
        (1, frame(-18, HISTORY_ANSWER + bytes(8) + b"\2\0\0\0x"), ["malformed"]), (0, frame(-18, HISTORY_ANSWER), ["malformed"]),
        (1, frame(-18, HISTORY_ANSWER[:-1]), ["malformed"]),
        (1, frame(-18, b"\3" + bytes(8) + b"\1"), []), (1, frame(-18, b"\3" + bytes(8)), ["malformed"]),
        (1, frame(-18, b"\4" + bytes(8)), ["malformed"]), (1, frame(-18, b"\2"), ["malformed"]),
        (1, frame(-14, bytes(33)), ["unexpected"]), (1, frame(-14, bytes(32)), ["wrong_length"]), (0, frame(-128), ["unknown"]),
    ]
    invalid = [
        b"", b"\1", b"\2\0", bytes([1, 129]), b"\1\1", b"\1\1\xff\xff", b"\1\1\0\0",
        *(b"\1\1" + each for each in (
            entry(1, FLOAT, b"\xff"), entry(1, FLOAT, ""), b"\6\0" + bytes([1, FLOAT, 12, 200]) + text("A"),
            entry(-1, FLOAT, "A"), entry(1, FLOAT, "A", flags=0),
            entry(1, FLOAT, "A", flags=0b11100), entry(1, FLOAT, "A", flags=0b11100, more=struct.pack("<dd", 2, 1)),
            entry(1, FLOAT, "A", flags=0b11100, more=struct.pack("<dd", 0, float("inf"))),
            entry(1, STRING, "A", flags=0b11100, more=struct.pack("<dd", 0, 1)),
            entry(1, FLOAT2, "A", flags=0b11100, more=struct.pack("<dd", 0, 1)), entry(1, FLOAT2, "A", more=b"\1\0"),
            entry(1, FLOAT2, "A", more=component_range(1, 0)), entry(1, FLOAT2, "A", more=component_range(0, float("nan"))),
            entry(1, FLOAT, "A", flags=0b101100, more=struct.pack("<d", 0)),
            entry(1, UINT8, "A", flags=0b1001100, more=b"\0"), entry(1, UINT8, "A", flags=0b1001100, more=b"\2\1" + text("a")),
            entry(1, UINT8, "A", flags=0b1001100, more=b"\2\1" + text("a") + b"\1" + text("b")),
            entry(1, STRING, "A", flags=0b1001100, more=b"\2" + text("a") + text("a")))),
        b"\1\2" + entry(1, FLOAT, "A") + entry(1, FLOAT, "B"), b"\1\2" + entry(1, FLOAT, "A") + entry(2, FLOAT, "A"),
    ]
    with Written(path) as capture:
        connection = capture.connection(CLIENT, SERVICE)
        connection.begin(catalogue(*elements))
        first = capture.count
        for side, value, _ in cases:
            (connection.service if side else connection.client)(value)
        for value in invalid:
            connection.service(frame(-5, value))
        # None of them takes the valid one's place.
        connection.client(frame(1, number))
        # Datagrams.
        capture.datagram(UDP_CLIENT, SERVICE, datagram(1, (1, number)))
        capture.datagram(UDP_CLIENT, SERVICE, datagram(7, (1, number)))
        capture.datagram(UDP_CLIENT, SERVICE, datagram(1, (1, number)) + datagram(2, (1, number)))
        capture.datagram(UDP_CLIENT, SERVICE, datagram(1, (1, number))[:-1])
        capture.datagram(UDP_CLIENT, SERVICE, datagram(1, (-3, b"no")))
        capture.datagram(SERVICE, ("10.0.0.7", 7), datagram(1, (-1, b"\1"), (-5, b"\1\0")))
        capture.datagram(UDP_CLIENT, SERVICE, b"\xf4\1" + bytes(10))
        # A length that ends the connection.
        connection.client(struct.pack("<bI", 8, 2**32 - 1) + b"x" * 20)
        connection.client(frame(1, number))
    found = {message["frame"]: message for message in messages(path)}
    for place, (_, value, complaints) in enumerate(cases):
        each = found[first + 1 + place]
        expect(each["complaints"] == complaints, f"complaints of {value[:20].hex()}, {complaints}", each)
    ok(f"{len(cases)} frames, right and wrong")

    answers = fields(path, *(f"elemental.history.{name}" for name in ("number", "next", "check", "missing", "at_most", "value")),
                     filter="elemental.history.value")
    expect(answers == [[["3"], ["9"], ["0x0000000000000004"], ["5"], [str(2**64 - 1)], ["78"]]], "an answer's fields", answers)
    details = tshark(path, "-V", "-Y", "elemental.history.value")
    expect(f"values at most: {2**64 - 1} (not known)" in details and "values: 5\n" in details, "what is missing", details)
    ok("the header of an answer with values of the past")

    place = first + len(cases)
    for value in invalid:
        place += 1
        expect(found[place]["complaints"] == ["malformed"], f"an invalid catalogue, {value[:60].hex()}", found[place])
    expect(found[place + 1]["name"] == "Speed" and not found[place + 1]["complaints"], "the catalogue before", found[place + 1])
    ok(f"{len(invalid)} invalid catalogues")

    lines = [line for line in info(path) if int(line.split()[0]) > place + 1]
    for line, wanted in zip(lines, ["Speed=0.5 m/s", "Speed=0.5 m/s", "Speed=0.5 m/s, Speed=0.5 m/s", "The datagram is cut off",
                                    "shutdown [unexpected]", "UDP identifier [unexpected], catalogue [unexpected]",
                                    "sealed [malformed]", "Element 8 announces 4294967295 bytes",
                                    "after a violation, not decoded"]):
        expect(wanted in line, f"{wanted} in the packet list", line)
    kinds = fields(path, "frame.number", "_ws.expert.message", filter="elemental.expert.identifier || elemental.expert.truncated "
                   "|| elemental.expert.violation")
    expect([int(row[0][0]) - place for row in kinds] == [3, 4, 5, 7, 9], "complaints of datagrams and lengths", kinds)
    ok("datagrams, and a length that ends the connection")


def middle(folder, _, ok):
    """A capture that begins in the middle of a connection."""
    path = os.path.join(folder, "middle.pcap")
    number = struct.pack("<f", 0.5)
    with Written(path) as capture:
        connection = capture.connection(CLIENT, SERVICE, handshake=False)
        connection.service(frame(1, number))
        connection.client(b"the rest of a frame")
        connection.client(frame(1, number))
        capture.datagram(UDP_CLIENT, SERVICE, datagram(1, (1, number)))
        other = capture.connection(("10.0.0.3", 40000), SERVICE)
        other.begin(catalogue(entry(1, FLOAT, "Speed", "m/s")), identifier=2)
        connection.service(frame(1, number))
        capture.datagram(SERVICE, UDP_CLIENT, datagram(1, (1, number)))
        # The same ports once more: another connection, of a service that was started again with other elements.
        again = capture.connection(("10.0.0.3", 40000), SERVICE)
        again.numbers = [900000, 800000]
        again.begin(catalogue(entry(1, FLOAT, "Tempo", "kn")), identifier=2)
        again.service(frame(1, number))
        capture.datagram(("10.0.0.3", 50001), SERVICE, datagram(2, (1, number)))
        # Nothing of ours.
        capture.datagram(("10.0.0.9", 4), ("10.0.0.8", 5), datagram(1, (1, number)))
        capture.connection(("10.0.0.9", 6000), ("10.0.0.8", 6001)).client(b"\xfe\x05\0\0\0ab\0cd", b"GET / HTTP/1.1\r\n")

    def named(options=()):
        lines = [line for line in info(path, options=options) if "0.5" in line or "element 1" in line]
        return [line.split("ELEMENTAL ")[1].split(" ", 1)[1] for line in lines]

    expect(named() == ["Speed=0.5 m/s", "Speed=0.5 m/s", "Tempo=0.5 kn", "Tempo=0.5 kn"], "without the preference", named())
    options = ("-o", f"elemental.ports:{SERVICE[1]}")
    early = ["element 1 (4 bytes)"] * 3
    expect(named(options) == early + named(), "with the preference", named(options))
    twice = (*options, "-2", "-R", "frame")
    expect(named(twice) == ["Speed=0.5 m/s"] * 5 + named()[2:], "with two passes", named(twice))
    rows = fields(path, "elemental.from_service", filter="elemental.value || elemental.undecoded", options=options)
    kinds = [row[0][0] for row in rows if row[0]]
    expect(kinds[:3] == ["1", "0", "0"], "who is the service", kinds)
    expect(not fields(path, "frame.number", filter="ip.addr == 10.0.0.9 && elemental"), "other protocols are left alone", "")
    ok("a capture that begins in the middle, the preference for ports, a service that comes again with other elements")


def pieces(folder, _, ok):
    path = os.path.join(folder, "pieces.pcap")
    value = random.Random(1).randbytes(200_000)
    other = bytes(range(256)) * 600

    def piece(element, bytes, offset, total=None, count=65536):
        return frame(-8, struct.pack("<bII", element, total or len(bytes), offset) + bytes[offset:offset + count])

    with Written(path) as capture:
        connection = capture.connection(CLIENT, SERVICE)
        connection.begin(catalogue(entry(4, DATA, "Picture"), entry(5, STRING, "Log"), entry(1, FLOAT, "Speed")))
        # Values between the pieces, and the other direction at the same time, in segments as TCP cuts them.
        for offset in range(0, 200_000, 65536):
            connection.client(piece(4, value, offset), frame(1, struct.pack("<f", offset)), size=1448)
            if offset < len(other):
                connection.service(piece(4, other, offset), size=9000)
        connection.client(piece(5, "日本語".encode() * 30_000, 0, count=65536))
        connection.client(piece(5, "日本語".encode() * 30_000, 131072))
        connection.client(piece(5, "日本語".encode() * 30_000, 65536))
        log = "日本語".encode() * 30_000
        for offset in range(0, len(log), 50_000):
            connection.client(piece(5, log, offset, count=50_000))
        connection.client(frame(-8, struct.pack("<bII", 4, 10, 0)), frame(-8, struct.pack("<bII", -3, 10, 0) + b"x"))
        connection.client(frame(-8, struct.pack("<bII", 4, 2**32 - 1, 0) + b"x"), frame(-8, struct.pack("<bII", 4, 3, 0) + b"abcd"))
    for options in ((), ("-2", "-R", "frame")):
        found = messages(path, options=options)
        whole = [message for message in found if "reassembled" in message]
        expect([(message["name"], message["from_service"]) for message in whole] == [("Picture", "1"), ("Picture", "0"), ("Log", "0")],
               "reassembled values", [message["id"] for message in whole])
        expect(bytes.fromhex(whole[0]["value.data"].replace(":", "")) == other, "what the service sent", "")
        expect(bytes.fromhex(whole[1]["value.data"].replace(":", "")) == value, "what the client sent", "")
        expect(whole[2]["value"].startswith("日本語") and len(whole[2]["value"]) < 300, "a long text is cut for display", whole[2]["value"])
        expect(fields(path, "frame.number", filter='elemental.value.string contains "語日"', options=options), "a filter for a long text", "")
        expect([message["complaints"] for message in found if message["complaints"]] == [
            ["violation"], ["reassembly"], ["violation"], ["violation"], ["violation"], ["violation"]], "wrong pieces",
            [message["complaints"] for message in found])
    ok("pieces in segments, in both directions, with values between them, and wrong ones")


def hostile(folder, _, ok):
    """Captures that somebody made to break the script, or to write to the terminal."""
    path = os.path.join(folder, "hostile.pcap")
    seed = int(os.environ.get("ELEMENTAL_SEED", "1"))
    generator = random.Random(seed)
    nasty = "\x1b]0;own\x07\u202egpj\u2028\u200b\x7f\x9b31m"
    good = [
        frame(-1, b"\1"), frame(-2, nasty.encode()), frame(-3, nasty.encode()), hello(),
        frame(-6, b"12345678"), frame(-7, b"12345678"),
        catalogue(entry(1, FLOAT, nasty, nasty, 0b11100, struct.pack("<dd", 0, 1)),
                  entry(2, STRING, "%s%n\\n", "", 0b1001100, b"\1" + text(nasty)),
                  entry(3, UINT8, "Mode", "", 0b1001100, b"\2\0" + text("off") + b"\1" + text("on")), entry(4, DATA, "Data"),
                  entry(5, 17, "Matrix"), entry(6, STRING, "Text")),
        frame(1, struct.pack("<f", 0.5)), frame(2, nasty.encode()), frame(3, b"\1"),
        frame(4, generator.randbytes(30)), frame(5, generator.randbytes(64)),
        frame(6, nasty.encode()), frame(-8, struct.pack("<bII", 4, 20, 0) + bytes(20)),
        frame(-8, struct.pack("<bII", 6, 20, 0) + bytes(5)),
        frame(-8, struct.pack("<bII", 6, 20, 5) + bytes(15)), frame(-9, bytes(4)), frame(-11, b"\1\1" + nasty.encode()),
        frame(-13, b"\1\1" + text(nasty) + b"\2" + text("x")), frame(-13, b"\1\xff\4" + text(nasty)),
        frame(-13, b"\1\x13\1\0" + bytes(32) + text("a") + bytes(32) + text("b")), frame(-14, bytes(33)),
    ]

    def mutated(value):
        value = bytearray(value)
        for _ in range(generator.choice((0, 1, 1, 2, 8))):
            kind, at = generator.randrange(4), generator.randrange(len(value)) if value else 0
            if kind == 0 and value:
                value[at] = generator.randrange(256)
            elif kind == 1 and value:
                value[at] ^= 1 << generator.randrange(8)
            elif kind == 2:
                del value[at:at + generator.randrange(8)]
            else:
                value[at:at] = bytes(generator.choice((0, 1, 255)) for _ in range(generator.randrange(8)))
        return bytes(value)

    with Written(path) as capture:
        for number in range(int(os.environ.get("ELEMENTAL_ATTACKS", "80"))):
            # Each connection is begun rightly by somebody; otherwise none would be recognised.
            port = 20000 + number
            capture.cut = None
            connection = capture.connection(("10.0.0.1", port), ("10.0.0.2", 41000 + number % 3))
            connection.begin(good[6] if number % 2 else mutated(good[6]), identifier=1 + number % 254, port=port)
            for _ in range(12):
                kind = generator.randrange(6)
                capture.cut = generator.randrange(54, 120) if generator.randrange(12) == 0 else None
                value = b"".join(mutated(generator.choice(good)) for _ in range(generator.randrange(1, 6)))
                if kind == 0:
                    capture.datagram(("10.0.0.1", port), ("10.0.0.2", 41000 + number % 3), mutated(
                        datagram(1 + number % 254, (1, bytes(4)), (6, nasty.encode()), (-6, b"x"))))
                elif kind == 1:
                    capture.datagram(("10.0.0.2", 41000 + number % 3), ("10.0.0.1", port), mutated(b"\xf4" + bytes(40)))
                elif kind == 2:
                    capture.datagram(("10.0.0.2", 41000 + number % 3), ("10.0.0.1", port), b"".join(
                        mutated(each[:5] + bytes([1 + number % 254]) + each[5:]) for each in generator.sample(good, 2)))
                else:
                    (connection.client if kind < 5 else connection.service)(value, size=generator.choice((7, 100, 32768)))
        # TLS that is none.
        capture.cut = None
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context()
        context.set_alpn_protocols(["elemental/1"])
        with contextlib.suppress(ssl.SSLWantReadError):
            context.wrap_bio(incoming, outgoing, server_hostname="x").do_handshake()
        client_hello = outgoing.read()
        for number in range(20):
            connection = capture.connection(("10.0.0.1", 19000 + number), ("10.0.0.2", 42000))
            connection.client(client_hello if number % 2 else mutated(client_hello))
            for _ in range(6):
                kind, version, size = generator.choice((20, 21, 22, 23)), generator.choice((1, 3, 4)), generator.randrange(200)
                record = bytes([kind, 3, version]) + struct.pack(">H", size) + generator.randbytes(size)
                (connection.client if generator.randrange(2) else connection.service)(mutated(record), size=generator.choice((7, 32768)))
        # As many messages as fit, and all of them wrong.
        connection = capture.connection(("10.0.0.1", 19999), ("10.0.0.2", 41000))
        connection.begin(good[6])
        connection.client(frame(1) * 6000)
        connection.client(frame(-8, struct.pack("<bII", 4, 2**31, 0) + b"x") * 2000)
        capture.datagram(("10.0.0.1", 19999), ("10.0.0.2", 41000), datagram(1, *[(9, b"")] * 10_000))
        # 255 choices in each of 128 elements, again and again; the gate has 16 elements.
        choices = b"\xff" + b"".join(struct.pack("<Q", choice) + text(str(choice)) for choice in range(255))
        many = catalogue(*(entry(id, 8, f"E{id}", "", 0b1001100, choices) for id in range(128 if is_all() else 16)))
        for _ in range(3):
            connection.service(many)
    whole = tshark(path, "-V")
    # The packet list, as it is when Wireshark has come back to each frame.
    lines = tshark(path, "-2", "-R", "elemental", "-T", "fields", "-e", "_ws.col.Info", "-e", "_ws.expert.message").split("\n")
    for output in (whole.split("\n"), lines):
        wrong = [line for line in output if any(word in line for word in ("Lua Error", "_ws.lua.error", "bug, protocol ELEMENTAL"))]
        expect(not wrong, f"no error of Lua, seed {seed}", wrong[:3])
    expect(whole.count("Elemental, ") > 500, "most is decoded", whole.count("Elemental, "))
    for character in "\x1b\x07\u202e\u2028\u200b\x7f\x9b\udc9b":
        # The line separator is the one of them that Wireshark shows in a field as it is.
        for output in (whole if character != "\u2028" else "", "\n".join(line.split("\t")[0] for line in lines)):
            expect(character not in output, f"{character!r} is shown", [line for line in output.split("\n") if character in line][:2])
    ok(f"{len(lines)} packets of hostile captures, read twice, leave the script and the terminal alone")


def speed(folder, _, ok):
    """What the script costs on 100,000 packets, compared with tshark alone. Not one of the tests."""
    path = os.path.join(folder, "speed.pcap")
    with Written(path) as capture:
        connections = [capture.connection(("10.0.0.1", 40000 + number), SERVICE) for number in range(10)]
        for number, connection in enumerate(connections):
            connection.begin(catalogue(entry(1, FLOAT, "Speed", "m/s", 0b11100, struct.pack("<dd", 0, 1)), entry(2, 15, "Arm", "m"),
                                       entry(3, UINT8, "Mode", "", 0b1001100, b"\2\0" + text("off") + b"\1" + text("on")),
                                       entry(4, STRING, "Text")), identifier=number + 1, port=50000 + number)
        while capture.count < 100_000:
            number = capture.count % 10
            value = struct.pack("<f", number / 10)
            if capture.count % 4 == 0:
                capture.datagram(SERVICE, ("10.0.0.1", 50000 + number), datagram(number + 1, (1, value), (2, value * 3)))
            else:
                (connections[number].client if capture.count % 3 else connections[number].service)(
                    frame(1, value), frame(3, bytes([number % 2])), frame(4, b"some text"))
    for what, options, script in (
        ("tshark alone, packet list", (), False), ("with the script, packet list", (), True),
        ("tshark alone, two passes and details", ("-2", "-R", "frame", "-V"), False),
        ("with the script, two passes and details", ("-2", "-R", "frame", "-V"), True),
        ("with the script, a filter", ("-Y", 'elemental.name == "Speed" && elemental.value.float > 0.5'), True),
        ("with the script, three fields", ("-T", "fields", "-e", "elemental.name", "-e", "elemental.value", "-e", "elemental.unit"), True),
    ):
        seconds, memory = measure(path, *options, script=script)
        ok(f"{what}: {seconds:.1f} s of processor, {memory:.0f} MiB")
