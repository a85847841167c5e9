"""Parts of the package without other processes, against the recorded frames of the older implementation among others."""

import asyncio
import contextlib
import io
import json
import math
import os
import random
import struct
import sys
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "Samples/Python"))

from elemental import *  # noqa: E402, F403
from elemental import command, frames, sealing, spec, state  # noqa: E402
from elemental.cpace import elligator2, generator, lv, x25519  # noqa: E402
from elemental.datagrams import plain_address  # noqa: E402
from elemental.discovery import parse_target  # noqa: E402
from elemental.outbox import Outbox  # noqa: E402
from elemental.values import TYPES  # noqa: E402

with open(os.path.join(ROOT, "Tests/WireVectors/vectors.json")) as file:
    VECTORS = json.load(file)
with open(os.path.join(ROOT, "Tests/Core/ElementalSecurity/pairing-vectors.json")) as file:
    PAIRINGS = json.load(file)


class Recorded(unittest.TestCase):
    """Frames of the implementation of 2019-2021."""

    def test_values(self):
        types = set()
        for each in VECTORS["tcpEchoes"]:
            kind = TYPES[each["type"]]
            types.add(each["type"])
            decoder = frames.FrameDecoder(lambda _, length: length)
            [found] = decoder.feed(bytes.fromhex(each["frame"]))
            self.assertEqual(found.id, each["id"])
            wanted = each["value"]
            if kind.is_integer:
                wanted = int(wanted)
            elif kind.name == "data":
                wanted = bytes.fromhex(wanted)
            elif kind.components:
                wanted = tuple(float(number) for number in wanted)
            self.assertEqual(kind.decode(found.value), wanted)
            self.assertEqual(frames.frame(each["id"], kind.encode(wanted)).hex(), each["frame"])
        self.assertEqual(len(types), len(VECTORS["tcpEchoes"]))

    def test_system(self):
        self.assertEqual(frames.frame(frames.UDP_IDENTIFIER, b"\1").hex(), VECTORS["onAccept"]["serverSends"])
        self.assertEqual(frames.frame(frames.DEVICE_NAME, b"fake client").hex(), VECTORS["clientHello"]["clientSends"])
        udp = VECTORS["udpDatagram"]
        self.assertEqual(
            frames.message(udp["id"], TYPES[udp["type"]].encode(udp["value"]), udp["udpIdentifier"]).hex(), udp["datagram"])
        self.assertEqual(
            frames.split_datagram(bytes.fromhex(udp["datagram"])),
            ([(udp["id"], udp["udpIdentifier"], struct.pack("<d", udp["value"]))], True))


class Numbers(unittest.TestCase):
    """Numbers are those of the Swift command, whatever else Python takes for one."""

    def test_of_elements(self):
        double, whole, pair = (Element(1, "A", kind) for kind in ("double", "int32", "float2"))
        for element, text, wanted in (
            (double, "1e308", 1e308), (double, " -.5 ", -0.5), (double, "5.", 5.0), (double, "INF", math.inf),
            (whole, "-0x10", -16), (whole, "+7", 7), (pair, "1, -2e1", (1.0, -20.0)),
        ):
            self.assertEqual(spec.parse_value(element, text), wanted)
        for text in ("1e309", "-1e309", "1_000", "\u0661\u0662", "\uff11", "1e1_0", "", "0x1p3", "in", "nan()"):
            for element in (double, pair):
                with self.assertRaises(InvalidValue, msg=text):
                    spec.parse_value(element, f"{text},1" if element is pair else text)
        for text in ("1_000", "\u0661", "\uff11", "0x_1", "0x", "1.0", "\u00b2", "--1"):
            with self.assertRaises(InvalidValue, msg=text):
                spec.parse_value(whole, text)

    def test_of_specifications(self):
        for text in ("\u0661:A:float", "\u00b2:A:float", "1_0:A:float", "1:A:float:0...1e309", "1:A:float:0...1_0", "1:A:float:step \u0661"):
            with self.assertRaises(InvalidElement, msg=text):
                spec.parse_element(text)
        with self.assertRaises(ValueError):
            parse_target("pi:\u0665\u0660\u0660\u0660")
        for words in (["get", "a", "B", "--timeout", "1_0"], ["get", "a", "B", "--timeout", "1e309"], ["get", "a", "B", "--timeout", "nan"],
                      ["watch", "a", "--count", "\u0663"]):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                command.parser().parse_args(words)


class Frames(unittest.TestCase):
    def test_any_division(self):
        chance = random.Random(1)
        sent = [(chance.randrange(-128, 128), chance.randbytes(chance.choice([0, 1, 4, 300]))) for _ in range(300)]
        stream = b"".join(frames.frame(*each) for each in sent)
        for most in (1, 2, 5, 7, 64, 10_000):
            decoder = frames.FrameDecoder(lambda _, length: length)
            found, place = [], 0
            while place < len(stream):
                count = chance.randint(1, most)
                found += [(each.id, each.value) for each in decoder.feed(stream[place : place + count])]
                place += count
            self.assertEqual(found, sent)
            self.assertEqual(decoder.buffered, 0)

    def test_only_what_is_kept(self):
        for size in (1, 3, 1000):
            decoder = frames.FrameDecoder(lambda id, length: min(length, 10))
            stream = frames.frame(1, bytes(range(200))) + frames.frame(2, b"abc")
            found = [each for place in range(0, len(stream), size) for each in decoder.feed(stream[place : place + size])]
            self.assertEqual([(each.id, each.length, each.value) for each in found], [(1, 200, bytes(range(10))), (2, 3, b"abc")])

    def test_datagrams_are_shared(self):
        gathered = frames.Datagrams()
        full = [each for each in (gathered.add(bytes(500)) for _ in range(5)) if each]
        self.assertEqual([len(each) for each in full], [1000, 1000])
        self.assertEqual(len(gathered.take()), 500)
        self.assertIsNone(gathered.take())
        gathered.add(bytes(60_000))
        self.assertEqual(len(gathered.take()), 60_000)


class Queue(unittest.TestCase):
    def drain(self, outbox):
        return [frames.FRAME.unpack_from(each)[0] for each in iter(outbox.next, None)]

    def test_bound(self):
        outbox = Outbox(1000)
        self.assertTrue(outbox.has_room(5000))
        outbox.add(1, bytes(5000))
        self.assertFalse(outbox.has_room(1))
        outbox.next()
        self.assertEqual(outbox.size, 0)
        self.assertTrue(outbox.has_room(1))

    def test_latest(self):
        outbox = Outbox(1 << 20)
        outbox.add(1, b"a", True)
        outbox.add(2, b"b")
        outbox.add(1, b"cc", True)
        self.assertEqual(outbox.next(), frames.frame(1, b"cc"))
        self.assertEqual(outbox.next(), frames.frame(2, b"b"))
        self.assertEqual((outbox.next(), outbox.size, outbox.replaced), (None, 0, 1))

    def test_pieces(self):
        outbox = Outbox(8 << 20)
        outbox.sends_pieces = True
        outbox.add(1, bytes(600_000))
        outbox.add(1, b"later")
        outbox.add(2, b"other")
        self.assertEqual(self.drain(outbox), [2, -8, -8, -8, -8], "the window is 262,144 bytes")
        self.assertFalse(outbox.acknowledge(300_000))
        self.assertTrue(outbox.acknowledge(262_144))
        self.assertEqual(self.drain(outbox), [-8, -8, -8, -8])
        outbox.add(3, b"between")
        self.assertTrue(outbox.acknowledge(524_288))
        self.assertEqual(self.drain(outbox), [3, -8, -8, 1])
        self.assertTrue(outbox.has_large)
        self.assertTrue(outbox.acknowledge(600_000))
        self.assertEqual((outbox.has_large, outbox.size), (False, 0))

    def test_latest_in_pieces(self):
        outbox = Outbox(8 << 20)
        outbox.sends_pieces = True
        outbox.add(1, bytes(200_000), True)
        outbox.add(1, b"x" * 300_000, True)
        first = outbox.next()
        self.assertEqual(frames.PIECE.unpack_from(first, 5), (1, 300_000, 0))
        outbox.add(1, b"y", True)
        outbox.acknowledge(65_536)
        rest = self.drain(outbox)
        self.assertEqual(rest, [-8] * 4 + [1], "what has been begun is not replaced")
        outbox.add(2, b"small", True)
        outbox.add(2, bytes(200_000), True)
        outbox.acknowledge(300_000)
        self.assertEqual(set(self.drain(outbox)), {-8})
        self.assertEqual(outbox.size, 0)

    def test_acknowledgement_wraps(self):
        outbox = Outbox(1 << 30)
        outbox.sends_pieces = True
        outbox._pieces_sent = outbox._acknowledged = 0xFFFFFFFF - 65_535
        outbox.add(1, bytes(200_000))
        self.assertEqual(len(self.drain(outbox)), 4)
        self.assertTrue(outbox.acknowledge((0xFFFFFFFF - 65_535 + 200_000) & 0xFFFFFFFF))
        self.assertFalse(outbox.has_large)


class Values(unittest.TestCase):
    def test_refused(self):
        for kind, value in (("uint8", -1), ("int64", 2**63), ("int8", 1.0), ("int8", True), ("float", "1"), ("float", 1e39),
                            ("double", 10**400), ("string", b"x"), ("string", "\ud800"), ("data", "x"), ("bool", 1),
                            ("float2", (1,)), ("float3", "abc"), ("float4x4", 5)):
            with self.assertRaises(InvalidValue, msg=f"{kind} {value!r}"):
                TYPES[kind].encode(value)
        for kind, data in (("bool", b"\2"), ("string", b"\xff"), ("int16", b"x"), ("float4x4", bytes(63))):
            with self.assertRaises(InvalidValue):
                TYPES[kind].decode(data)

    def test_definitions(self):
        for wrong in ({"id": 128}, {"id": -1}, {"name": ""}, {"name": "x" * 256}, {"type": "half"}, {"transport": "sctp"},
                      {"access": "no"}, {"range": (1, 0)}, {"range": (0, math.inf)}, {"range": (math.nan, 1)}, {"step": 0},
                      {"step": math.inf}, {"type": "bool", "range": (0, 1)}, {"type": "data", "step": 1}, {"choices": ["a"]},
                      {"type": "uint8", "choices": {"a": 256}}, {"type": "uint8", "choices": ["a", "a"]},
                      {"type": "uint8", "choices": ["x" * 255] * 20}, {"type": "uint8", "choices": ["a", "b"], "range": (0, 0)},
                      {"type": "string", "choices": [""]}, {"kind": "urgent"}, {"type": "bool", "kind": "other"}):
            with self.assertRaises(InvalidElement, msg=f"{wrong}"):
                Element(**{"id": 1, "name": "Speed", "type": "float", **wrong})
        one, two = Element(1, "Caf\u00e9", "bool"), Element(2, "Cafe\u0301", "bool")
        for pair_of in ((one, two), (one, Element(1, "Other", "bool"))):
            with self.assertRaises(InvalidElement):
                Catalogue(pair_of)

    def test_longest_catalogue(self):
        choices = [Choice(number, f"{number:03}" + "x" * 4) for number in range(255)]
        every = [Element(id, f"{id:03}" + "n" * 252, "int64", unit="u" * 255, range=(0, 255), step=1, choices=choices)
                 for id in range(128)]
        data = Catalogue(every).encode()
        self.assertLessEqual(len(data), 595_458)
        self.assertEqual(list(Catalogue.decode(data)), every)

    def test_later_versions(self):
        entry = struct.pack("<bBB", 1, 9, 0b10001100) + b"\1S\0" + b"more"
        strange = struct.pack("<bBB", 2, 99, 0b00011100) + b"\1T\0"
        flagged = struct.pack("<bBB", 3, 9, 0b01001100) + b"\1U\0\1\2\3"
        data = b"\1\3" + b"".join(struct.pack("<H", len(each)) + each for each in (entry, strange, flagged))
        self.assertEqual([each.name for each in Catalogue.decode(data)], ["S", "U"])

    def test_kinds(self):
        entry = struct.pack("<bBB", 1, 13, 0b1100) + b"\1S\0"

        def read(rest):
            return list(Catalogue.decode(b"\1\1" + struct.pack("<H", len(entry + rest)) + entry + rest))

        stop = Element(1, "S", "bool", kind="urgent")
        self.assertEqual(Catalogue([stop]).encode(), b"\1\1\x09\0" + entry + b"\2\1\2")
        self.assertEqual(read(b"\2\1\2"), [stop])
        for rest, kind in ((b"\2\1\1", "momentary"), (b"\2\2\2\7", "urgent"), (b"\2\1\3", "state"), (b"\2\0", "state"), (b"\2\1", "state")):
            self.assertEqual(read(rest)[0].kind, kind, rest)

    def test_histories(self):
        entry = struct.pack("<bBB", 1, 1, 0b1000100) + b"\1S\0" + b"\1\0\1a"

        def read(rest, entry=entry):
            return list(Catalogue.decode(b"\1\1" + struct.pack("<H", len(entry + rest)) + entry + rest))

        plain = Element(1, "S", "int8", access="ro", choices=["a"])
        for limits, data in ((HistoryLimits(), (0, 0, 16 << 20)), (HistoryLimits(5, 2**32 - 1, 1), (5, 2**32 - 1, 1))):
            kept = Element(1, "S", "int8", access="ro", choices=["a"], history=limits)
            whole = b"\3\x0c" + struct.pack("<3I", *data)
            size = struct.pack("<H", len(entry + whole))
            self.assertEqual(Catalogue([kept]).encode(), b"\1\1" + size + entry + whole)
            self.assertEqual(Service("robot", [kept], publish=False)._catalogue_bytes, Catalogue([kept]).encode())
            for rest in (whole, b"\x09\2ab" + whole, b"\3\0" + whole, whole + b"\3", b"\3\x0d" + whole[2:] + b"x"):
                self.assertEqual(read(rest), [kept], rest)
            for rest in (b"", b"\3", whole[:-1], b"\3\x0b" + whole[2:-1], b"\3\x0c" + bytes(12), whole + b"\3\0"):
                self.assertEqual(read(rest), [plain], rest)
        stop = Element(1, "S", "bool", kind="urgent", history=HistoryLimits(1))
        self.assertEqual(Catalogue([stop]).encode()[-17:], b"\2\1\2" + b"\3\x0c" + struct.pack("<3I", 1, 0, 16 << 20))
        for wrong in ((0,), (2**32,), (-1,), (1.5,), (True,), (None, 0), (None, None, 0), (None, None, None)):
            with self.assertRaises(InvalidElement, msg=wrong):
                HistoryLimits(*wrong)
        with self.assertRaises(InvalidElement):
            Element(1, "S", "int8", history=5)
        for text, limits in (("history", HistoryLimits()), ("history 24h", HistoryLimits(seconds=86_400)),
                             ("history 1000 4MB", HistoryLimits(1000, None, 4_000_000)),
                             ("history  2kB 1.5m 7", HistoryLimits(7, 90, 2000))):
            wanted = Element(1, "A", "float", timed=True, history=limits)
            self.assertEqual(spec.parse_element(f"1:A:float:{text}:timed=3")[0], wanted)
        for wrong in ("0", "-1", "4294967296", "0.5s", "1h 2h", "1 2", "5TB", "1.5MB", "h", "nanh", "infh", "4295MB", "x"):
            with self.assertRaises(InvalidElement, msg=wrong):
                spec.parse_element(f"1:A:float:history {wrong}")

    def test_ranges_of_vectors(self):
        pad = Element(1, "P", "float2", range=(0, 0.5))
        bounds = struct.pack("<dd", 0, 0.5)
        entry = struct.pack("<bBB", 1, 14, 0b1100) + b"\1P\0"

        def read(rest, entry=entry):
            return list(Catalogue.decode(b"\1\1" + struct.pack("<H", len(entry + rest)) + entry + rest))

        whole = b"\1\x10" + bounds
        self.assertEqual(Catalogue([pad]).encode(), b"\1\1" + struct.pack("<H", 24) + entry + whole)
        for rest in (whole, b"\x09\2ab" + whole + b"\x07", whole + b"\x09\x05ab", b"\x09\0" + whole):
            self.assertEqual(read(rest), [pad], rest)
        for rest in (b"", b"\1", whole[:-1], b"\x09\x20" + whole):
            self.assertEqual(read(rest), [Element(1, "P", "float2")], rest)
        for rest in (b"\1\0", b"\1\x11" + bounds + b"x", b"\1\x10" + struct.pack("<dd", 1, 0),
                     b"\1\x10" + struct.pack("<dd", 0, math.nan), b"\1\x10" + struct.pack("<dd", -math.inf, 0)):
            with self.assertRaises(InvalidCatalogue, msg=rest):
                read(rest)
        with self.assertRaises(InvalidCatalogue):
            read(bounds, struct.pack("<bBB", 1, 14, 0b11100) + b"\1P\0")
        # Other types ignore it, and where unknown choices end is not known.
        for code, flags in ((9, 0b1100), (17, 0b1100), (14, 0b1001100)):
            self.assertIsNone(read(whole, struct.pack("<bBB", 1, code, flags) + b"\1P\0")[0].range)
        self.assertEqual(pad.check((0, 0.5)), (0, 0.5))
        for wrong in ((0.6, 0), (0, -1), (0, math.nan)):
            with self.assertRaises(OutOfRange):
                pad.check(wrong)
        with self.assertRaisesRegex(OutOfRange, r"\(0\.1, 0\.9\) is not within 0\.\.\.0\.5"):
            pad.check((0.1, 0.9))
        self.assertEqual(spec.parse_element("1:P:float2:0...0.5")[0], pad)
        for wrong in ({"step": 1, "type": "float2"}, {"type": "float4x4", "range": (0, 1)}):
            with self.assertRaises(InvalidElement):
                Element(1, "P", **wrong)

    def test_specs(self):
        element, initial = spec.parse_element(r"1:A=b c:uint8:0...9:step 2:unit m\:s\=\,\\:ro:udp:latest:timed=5:=")
        self.assertEqual(element, Element(1, "A=b c", "uint8", range=(0, 9), step=2, unit="m:s=,\\", access="ro",
                                          transport="udp", latest=True, timed=True))
        self.assertEqual(initial, "5:=")
        element, initial = spec.parse_element(r"2:M:int8:choices -1 off,on,5 far out,a\,b=off")
        self.assertEqual([(each.value, each.name) for each in element.choices],
                         [(-1, "off"), (0, "on"), (5, "far out"), (6, "a,b")])
        self.assertEqual(spec.parse_value(element, "FAR out"), 5)
        self.assertEqual(spec.parse_value(element, "-1"), -1)
        for wrong in ("", "1", "1:A", "x:A:bool", "1:A:half", "1:A:bool:what", "1:A:float:a...b", "1:A:float:step x"):
            with self.assertRaises(InvalidElement):
                spec.parse_element(wrong)
        number = Element(1, "N", "int32")
        self.assertEqual([spec.parse_value(number, each) for each in ("0x1F", "-0x1f", " 7 ")], [31, -31, 7])
        self.assertEqual(spec.format_value(Element(1, "F", "float"), TYPES["float"].check(0.1)), "0.1")
        self.assertEqual(spec.printable("a\x1b\u202e\n"), "a\\u{1B}\\u{202E}\\u{A}")
        self.assertEqual(json.loads(spec.json_line("x", value="a\x1b\u202e\U000e0001"))["value"], "a\x1b\u202e\U000e0001")

    def test_targets(self):
        for text, wanted in (("robot", ("robot", None, "", 0)), ("robot/A/b:5", ("robot", "A/b:5", "", 0)),
                             ("pi.local:5000", (None, None, "pi.local", 5000)), ("[fe80::1%eth0]:1", (None, None, "fe80::1%eth0", 1))):
            found = parse_target(text)
            self.assertEqual((found.service, found.instance, found.host, found.port), wanted)
        for text in ("", "a", "robot/", "x" * 16, "pi:0", "pi:70000", "a b", "::1"):
            with self.assertRaises(ValueError, msg=text):
                parse_target(text)
        self.assertEqual([plain_address(each) for each in ("::ffff:1.2.3.4", "fe80::1%eth0", "1.2.3.4", "::ffff:0:1")],
                         ["1.2.3.4", "fe80::1", "1.2.3.4", "::ffff:0:1"])


class Digits(unittest.TestCase):
    """Numbers with the digits that their type needs."""

    def test_bounds_and_values(self):
        single = struct.unpack("<f", struct.pack("<f", 0.05))[0]
        self.assertEqual(TYPES["float"].bound(single), 0.05)
        self.assertEqual(repr(TYPES["uint8"].bound(1.0)), "1")
        self.assertEqual(repr(TYPES["double"].bound(0.1 + 0.2)), "0.30000000000000004")
        element = Element(1, "Speed", "float", range=(0, 0.7), step=0.05)
        self.assertEqual(spec.json_value(element, single), 0.05)
        self.assertEqual(spec.json_value(Element(1, "Aim", "float2"), (single, 1.0)), [0.05, 1.0])
        with self.assertRaisesRegex(OutOfRange, r"0\.9 is not within 0\.\.\.0\.7"):
            element.check(0.9)


class Sealed(unittest.TestCase):
    def setUp(self):
        secrets = b"c" * 32, b"s" * 32, b"C" * 32, b"S" * 32
        self.client = sealing.Sealing(*secrets, 7)
        self.service = sealing.Sealing(*secrets, 7, is_service=True)

    def test_window(self):
        sent = [self.client.seal(b"%d" % number) for number in range(2000)]
        self.assertEqual(self.service.open(sent[1000]), (b"1000", True))
        self.assertIsNone(self.service.open(sent[1000]))
        self.assertEqual(self.service.open(sent[999]), (b"999", False))
        self.assertEqual(self.service.open(sent[1000 - 959]), (b"41", False))
        self.assertIsNone(self.service.open(sent[1000 - 960]))
        self.assertIsNone(self.service.open(sent[1000 - 959]))
        self.assertEqual(self.service.open(sent[1999]), (b"1999", True))
        self.assertEqual(self.service.open(sent[1998]), (b"1998", False))
        self.assertIsNone(self.service.open(sent[1000]))

    def test_every_bit_counts(self):
        sent = self.client.seal(b"value")
        for bit in range(8 * len(sent)):
            changed = bytearray(sent)
            changed[bit // 8] ^= 1 << bit % 8
            self.assertIsNone(self.service.open(bytes(changed)))
        self.assertIsNone(self.client.open(sent), "what comes back was not sealed by the other end")
        for cut in range(len(sent)):
            self.assertIsNone(self.service.open(sent[:cut]))
        self.assertEqual(self.service.open(sent), (b"value", True))

    def test_tries_are_bounded(self):
        forged = bytes([0xF4, 7]) + struct.pack("<Q", 5)[:6] + bytes(30)
        with contextlib.ExitStack() as stack:
            stack.enter_context(unittest.mock.patch("time.monotonic", lambda: 1.0))
            for far in (0, 1 << 47):
                self.service.open(forged[:2] + struct.pack("<Q", far)[:6] + forged[8:])
            self.assertIsNotNone(self.service.open(self.client.seal(b"x")))
            for _ in range(sealing.BYTES_IN_A_SECOND // (len(forged) + sealing.COST)):
                self.service.open(forged)
            self.assertIsNone(self.service.open(self.client.seal(b"x")))
        self.assertIsNotNone(self.service.open(self.client.seal(b"x")))


class Pairing(unittest.TestCase):
    def test_recorded(self):
        """The pairings of the vectors that the Swift tests use; they were printed by the very module, so it has not changed."""
        from elemental.admission import ClientPairing, Offer, WrongCode
        for each in PAIRINGS:
            values = [bytes.fromhex(frame)[5:] for frame in each["frames"]]
            offer = Offer.decode(values[1])
            self.assertEqual(offer.service, each["serviceName"])
            nonces = [bytes.fromhex(each["clientScalar"]), bytes.fromhex(each["clientNonce"])]
            with unittest.mock.patch("os.urandom", lambda _: nonces.pop(0)):
                pairing = ClientPairing(bytes.fromhex(each["client"]), bytes.fromhex(each["service"]), offer,
                                        bytes.fromhex(each["secret"]), state.ROLES[each["wantedRole"] - 1], each["name"])
            self.assertEqual(pairing.initiation().hex(), values[2].hex())
            stored = []
            self.assertEqual(pairing.confirm(values[3], stored.append).hex(), values[4].hex())
            self.assertEqual(stored, [state.ROLES[each["grantedRole"] - 1]])
            changed = bytearray(values[3])
            changed[-1] ^= 1
            with self.assertRaises(WrongCode):
                pairing.confirm(bytes(changed), stored.append)

    def test_official_vectors(self):
        """RFC 7748, section 5.2; and CPace's generator, which the Swift tests check against the draft's."""
        self.assertEqual(x25519(
            bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
            bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")).hex(),
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")
        self.assertEqual(lv(b"1234", b"5", b"", b"6" * 128)[:9], b"\x041234\x015\x00\x80")
        self.assertEqual(len(generator(b"Password", b"", b"")), 32)
        self.assertLess(elligator2(bytes(range(32))), 2**255 - 19)

    def test_fingerprints(self):
        self.assertEqual(state.show_fingerprint("f8" * 32)[:9], "7d4p-r6hy")
        self.assertEqual(len(state.show_fingerprint(bytes(32)).split("-")), 13)
        self.assertEqual(len(state.short_fingerprint("00" * 32)), 16)


class Streams(unittest.IsolatedAsyncioTestCase):
    async def test_streams(self):
        from elemental.streams import Streams
        changes = []
        streams = Streams(lambda: changes.append(streams.is_full))
        every, newest, one = streams.add(None, 2, False), streams.add(1, 9, True), streams.add(2, 9, False)
        for number in range(3):
            streams.put(1, number)
        self.assertTrue(streams.is_full)
        self.assertEqual((streams.dropped, every.dropped, newest.dropped), (1, 1, 2))
        self.assertEqual([await every.__anext__(), await every.__anext__(), await newest.__anext__()], [1, 2, 2])
        self.assertFalse(changes[-1])
        waiting = asyncio.ensure_future(every.__anext__())
        await asyncio.sleep(0)
        with self.assertRaises(RuntimeError):
            await every.__anext__()
        streams.put(2, 7)
        self.assertEqual((await waiting, await one.__anext__()), (7, 7))
        streams.finish(TimedOut("gone"))
        with self.assertRaises(TimedOut):
            await every.__anext__()
        del newest, one, every
        self.assertEqual(streams._all, [])


if __name__ == "__main__":
    unittest.main()
