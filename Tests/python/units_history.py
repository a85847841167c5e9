"""Frames and texts of histories without other processes. The bytes are those of the Swift tests."""

import contextlib
import io
import json
import os
import random
import struct
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "Samples/Python"))

from elemental import Element, HistoryGap, InvalidValue, command, spec  # noqa: E402
from elemental.history import (HistoryAnswer, HistoryPosition, Newest, Since, _gap, fnv1a,  # noqa: E402
                               request)

LIFE = bytes(range(16))


def answer(first=5, oldest=1, values=(), life=LIFE, following=None):
    kept = b"".join(struct.pack("<qI", time, len(data)) + data for time, data in values)
    following = first + len(values) if following is None else following
    return struct.pack("<BQ16sQQQQ", 2, 7, life, oldest, first, following, 9) + kept


class Frames(unittest.TestCase):
    def test_check(self):
        """The published vectors of FNV-1a with 64 bits."""
        for text, wanted in (("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)):
            self.assertEqual(fnv1a(text.encode()), wanted)
        first = HistoryPosition(LIFE, 0, 0).behind(-5, b"abc")
        self.assertEqual(first, (LIFE, 1, fnv1a(struct.pack("<q", -5) + b"\3\0\0\0abc")))

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
        self.assertEqual(HistoryAnswer.decode(whole), (7, 0, LIFE, 1, 5, 8, 9, values))
        # Cut behind a value it is whole again.
        ends = {57: 0, 72: 1, 84: 2, 396: 3}
        for count in range(len(whole) + 1):
            found = HistoryAnswer.decode(whole[:count])
            self.assertEqual(None if found is None else len(found.values), ends.get(count), count)
        for oldest, first, following in (
            (0, 5, None), (6, 5, None), (1, 0, None), (1, 1 << 62, None), (1, (1 << 64) - 1, None), (1, 5, 4), (1, 5, 1 << 62),
        ):
            self.assertIsNone(HistoryAnswer.decode(answer(first, oldest, following=following)), f"{oldest} {first}")
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
        place = HistoryPosition(LIFE, 5, 1)
        for start, first, oldest, wanted in (
            (place, 6, 1, None), (place, 7, 7, (1, 1)), (place, 900, 900, (894, 894)), (place, 5, 1, (None, None)),
            (place, 1, 1, (None, None)), (place._replace(life=bytes(16)), 6, 1, (None, None)),
            (Since(5), 1, 1, None), (Since(5), 9, 9, (None, 8)), (Since(5), 9, 8, None), (Newest(5), 9, 9, None),
        ):
            found = _gap(start, HistoryAnswer.decode(answer(first, oldest)))
            self.assertEqual(found, None if wanted is None else HistoryGap(*wanted), f"{start} {first} {oldest}")


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
