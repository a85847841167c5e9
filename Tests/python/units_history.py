"""Frames and texts of histories without other processes. The bytes are those of the Swift tests."""

import contextlib
import io
import json
import os
import random
import struct
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "Samples/Python"))

from elemental import Element, HistoryGap, InvalidValue, SecurityError, State, command, spec  # noqa: E402
from elemental.history import HistoryAnswer, HistoryPosition, Newest, Since, fnv1a, request  # noqa: E402
from elemental.resume import Positions  # noqa: E402

LIFE = bytes(range(16))
ALL_BITS = (1 << 64) - 1


def answer(first=5, values=(), life=LIFE, following=None, missing=0, at_most=0):
    kept = b"".join(struct.pack("<qI", time, len(data)) + data for time, data in values)
    following = first + len(values) if following is None else following
    return struct.pack("<BQ16s5Q", 2, 7, life, first, following, 9, missing, at_most) + kept


class Frames(unittest.TestCase):
    def test_check(self):
        """The published vectors of FNV-1a with 64 bits."""
        for text, wanted in (("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)):
            self.assertEqual(fnv1a(text.encode()), wanted)
        self.assertEqual(HistoryPosition(LIFE, 0, 0).behind(b"foobar"), (LIFE, 1, 0x85944171F73967E8))

    def test_requests(self):
        place = HistoryPosition(LIFE, 5, 0xCBF29CE484222325)
        for start, waits, rest in (
            (Since(-2), False, b"\5\0\1" + b"\xfe" + b"\xff" * 7), (Newest(258), False, b"\5\0\2" + b"\2\1\0\0"),
            (place, True, b"\5\1\3" + LIFE + struct.pack("<Q", 5) + bytes.fromhex("25232284e49cf2cb")),
        ):
            self.assertEqual(request(258, 5, start, waits), b"\1\2\1\0\0\0\0\0\0" + rest)

    def test_answers(self):
        values = [(7, b"\1\2\3"), (-8, b""), (1 << 62, b"x" * 300)]
        whole = answer(values=values)
        self.assertEqual(HistoryAnswer.decode(whole), (7, 0, LIFE, 5, 8, 9, None, values))
        # Cut behind a value it is whole again.
        ends = {65: 0, 80: 1, 92: 2, 404: 3}
        for count in range(len(whole) + 1):
            found = HistoryAnswer.decode(whole[:count])
            self.assertEqual(None if found is None else len(found.values), ends.get(count), count)
        for first, following in ((0, 0), (0, 5), (1 << 62, None), (ALL_BITS, None), (5, 4), (5, 1 << 62)):
            self.assertIsNone(HistoryAnswer.decode(answer(first, following=following)), f"{first} {following}")
        self.assertIsNone(HistoryAnswer.decode(answer(values=values, following=7)))
        self.assertIsNotNone(HistoryAnswer.decode(answer((1 << 62) - 1)))
        for length in (4, 1 << 31, (1 << 32) - 1):
            self.assertIsNone(HistoryAnswer.decode(answer() + struct.pack("<qI", 7, length) + b"abc"))
        for reason, is_known in ((0, False), (1, True), (2, True), (3, False)):
            found = HistoryAnswer.decode(struct.pack("<BQB", 3, 7, reason))
            self.assertEqual(found and (found.token, found.refusal), (7, reason) if is_known else None)
        for wrong in (b"", b"\3", struct.pack("<BQ", 3, 7), b"\1" + whole[1:], b"\4" + whole[1:]):
            self.assertIsNone(HistoryAnswer.decode(wrong), wrong)
        chance = random.Random(1)
        for _ in range(3000):
            changed = bytearray(whole[: chance.choice([10, 64, 80, len(whole)])])
            for _ in range(chance.randrange(4)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            HistoryAnswer.decode(bytes(changed))

    def test_positions(self):
        place = HistoryPosition(LIFE, 77, (1 << 64) - 5)
        text = str(place)
        self.assertEqual(text, LIFE.hex() + "4d00000000000000" + "fbffffffffffffff")
        self.assertEqual((HistoryPosition.parse(text), HistoryPosition.parse(text.upper())), (place, place))
        for wrong in ("", "00", text + "00", text[:-1], text[:-1] + "g", text[:-2], text[:2] + " " + text[2:], None, 5):
            with self.assertRaises(InvalidValue, msg=wrong):
                HistoryPosition.parse(wrong)

    def test_gaps(self):
        for missing, at_most, wanted in (
            (0, 0, None), (1, 1, HistoryGap(1, 1)), (ALL_BITS, 4, HistoryGap(None, 4)), (0, 4, HistoryGap(0, 4)),
            (ALL_BITS, ALL_BITS, HistoryGap(None, None)), (ALL_BITS - 1, ALL_BITS - 1, HistoryGap(ALL_BITS - 1, ALL_BITS - 1)),
        ):
            self.assertEqual(HistoryAnswer.decode(answer(missing=missing, at_most=at_most)).gap, wanted)


class Resuming(unittest.TestCase):
    ONE, OTHER = (str(HistoryPosition(LIFE, number, 5)) for number in (1, 2))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = State(Path(folder.name) / "new" / "state")
        self.file = self.state.folder / "resume" / "log.json"

    def open(self):
        return Positions(self.state, "log")

    def test_file(self):
        positions = self.open()
        positions.save()
        self.assertFalse(self.file.exists(), "there is nothing to write")
        positions.note("weather/Test/1", self.ONE)
        positions.save()
        self.assertEqual(json.loads(self.file.read_bytes()), {"version": 1, "positions": {"weather/Test/1": self.ONE}})
        self.assertEqual([path.stat().st_mode & 0o7777 for path in (self.file, self.file.parent, self.state.folder)],
                         [0o600, 0o700, 0o700])
        self.assertEqual([path.name for path in self.file.parent.iterdir()], ["log.json"])
        before = self.file.stat().st_ino
        positions.save()
        self.assertEqual(self.file.stat().st_ino, before, "it is as it was")
        positions.note("weather/Test/1", self.OTHER)
        with unittest.mock.patch("os.replace", wraps=os.replace) as replace:
            positions.save()
        self.assertEqual(Path(replace.call_args[0][0]).parent, self.file.parent, "it was written beside")
        self.assertNotEqual(self.file.stat().st_ino, before, "it is replaced")
        self.assertEqual([self.open().find(f"weather/Test/{id}") for id in (1, 2)], [self.OTHER, None])

    def test_two(self):
        """Two programs of one name keep the positions of each other's services."""
        each = [self.open(), self.open()]
        for number, positions in enumerate(each):
            positions.note(f"weather/{number}/1", self.ONE)
            positions.save()
        each[0].note("weather/0/1", self.OTHER)
        each[0].save()
        self.assertEqual([self.open().find(f"weather/{number}/1") for number in (0, 1)], [self.OTHER, self.ONE])

    def test_damaged(self):
        self.file.parent.mkdir(parents=True)
        good = {"version": 1, "positions": {"weather/Test/1": self.ONE}}
        for wrong in ("", "{", "[]", "5", "null", "{}", "\xff", "[" * 100_000, *map(json.dumps, (
            {**good, "version": 2}, {"version": 1}, {"version": 1, "positions": []}, {"version": 1, "positions": {"a": 5}},
            {"version": 1, "positions": {"a": "00"}}, {"version": 1, "positions": {"a": self.ONE[:-1]}},
        ))):
            self.file.write_text(wrong, "latin-1")
            with self.assertRaises(SecurityError, msg=wrong[:50]) as raised:
                self.open()
            for part in (str(self.file), "remove it", "another name"):
                self.assertIn(part, str(raised.exception))
            self.assertEqual(self.file.read_text("latin-1"), wrong, "it is left alone")
        self.file.write_text(json.dumps(good))
        positions = self.open()
        self.assertEqual(positions.find("weather/Test/1"), self.ONE)
        self.file.write_text("{")
        positions.note("weather/Test/2", self.ONE)
        with self.assertRaises(SecurityError):
            positions.save()

    def test_unwritable(self):
        positions = self.open()
        self.state.folder.parent.mkdir()
        self.state.folder.write_text("no folder")
        positions.note("a", self.ONE)
        with self.assertRaisesRegex(SecurityError, "cannot be written"):
            positions.save()
        with self.assertRaisesRegex(SecurityError, "cannot be read"):
            self.open()

    def test_names(self):
        for name in ("a", "A-z_09", "-", "x" * 63):
            self.assertEqual(command.parser().parse_args(["watch", "a", f"--resume={name}"]).resume, name)
        for wrong in ("", "x" * 64, "a/b", "..", "a.b", "a b", "\u00fc", "a\n"):
            with self.assertRaises(SystemExit, msg=wrong), contextlib.redirect_stderr(io.StringIO()):
                command.parser().parse_args(["watch", "a", f"--resume={wrong}"])


class Command(unittest.TestCase):
    def test_lines(self):
        count = Element(1, "Count", "uint8", unit="m")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            command.Output(False).value(count, 5, None, 1_700_000_000.25, "ab")
            command.Output(False).value(count, 5, None, 0)
            command.Output(False).value(count, 5, None, -1, "ab")
            command.Output(True).value(count, 5, None, 0.5, "ab")
            for gap in (HistoryGap(3, 3), HistoryGap(None, 4), HistoryGap(None, None)):
                for is_json in (False, True):
                    command.Output(is_json).gap(count, gap)
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[:3], ["2023-11-14T22:13:20.250000Z Count=5 m", "Count=5 m",
                                     "1970-01-01T00:00:00.000000Z Count=5 m"])
        self.assertEqual((json.loads(lines[3])["position"], json.loads(lines[3])["time"]), ("ab", 0.5))
        self.assertEqual(lines[4::2], ["Count: 3 values are missing here", "Count: at most 4 values are missing here",
                                       "Count: values are missing here"])
        self.assertEqual([(each["event"], each["gap"], each["atMost"]) for each in map(json.loads, lines[5::2])],
                         [("gap", 3, 3), ("gap", None, 4), ("gap", None, None)])

    def test_spans(self):
        self.assertEqual([spec.parse_span(each) for each in ("90s", "1.5m", "2h", "1d")], [90, 90, 7200, 86_400])
        for wrong in ("", "s", "90", "0s", "-1h", "1e9s", "nanh", "infd", "1w", "1_0s", "2H"):
            with self.assertRaises(ValueError, msg=wrong):
                spec.parse_span(wrong)
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                command.parser().parse_args(["watch", "a", f"--since={wrong}"])


if __name__ == "__main__":
    unittest.main()
