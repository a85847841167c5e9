"""What a service keeps, drops and answers, without sockets and without a clock."""

import os
import random
import struct
import sys
import tracemalloc
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "Samples/Python"))

from elemental import Element, HistoryGap, HistoryLimits  # noqa: E402
from elemental.history import (ALL, KEPT, TOO_MANY, UNKNOWN, HistoryAnswer, HistoryPosition, Newest, Since, fnv1a,  # noqa: E402
                               request)
from elemental.kept import (FULL_BYTES, MAXIMUM_BYTES, MAXIMUM_REQUESTS, Histories, HistoryLog, HistoryRequest,  # noqa: E402
                            HistoryRequests)

SECOND = 1_000_000
LONGEST = 65_536


def number(count):
    return struct.pack("<Q", count)


def asked(start, waits=False, token=7, element=1):
    return HistoryRequest.decode(request(token, element, start, waits))


def answered(log, start, waits=False, now=0):
    """The answer, or None if it waits."""
    answer = log.answer(asked(start, waits), now)
    return None if answer is None else HistoryAnswer.decode(answer)


def behind(answer):
    """The position behind an answer's values."""
    check = fnv1a(answer.values[-1][1]) if answer.values else answer.check
    return HistoryPosition(answer.life, answer.first + len(answer.values) - 1, check)


def everything(log, start=Newest(ALL), now=0):
    """Numbers and values from a start on, by as many answers as that takes, the gaps, and the position behind them."""
    items, gaps = [], []
    while True:
        answer = answered(log, start, now=now)
        gaps += [] if answer.gap is None else [answer.gap]
        start = behind(answer)
        if not answer.values:
            return items, gaps, start
        size = sum(KEPT.size + len(data) for _, data in answer.values)
        assert size <= FULL_BYTES or len(answer.values) == 1, size
        items += [(answer.first + index, data) for index, (_, data) in enumerate(answer.values)]


def filled(count, limits=HistoryLimits(), data=number):
    """A log with values that were measured at 10, 20, …"""
    log = HistoryLog(limits)
    for each in range(1, count + 1):
        log.append(data(each), each * 10, 0)
    return log


class Requests(unittest.TestCase):
    def test_frames(self):
        place = HistoryPosition(bytes(range(16)), 5, 6)
        for start in (Since(-(1 << 63)), Since(5), Newest(0), Newest(ALL), place):
            for waits in (False, True):
                data = request(1 << 63, 127, start, waits)
                self.assertEqual(HistoryRequest.decode(data), (1 << 63, 127, start, waits, False))
                self.assertEqual(HistoryRequest.decode(data[:10] + b"\xfe" + data[11:]), (1 << 63, 127, start, False, True))
                for count in range(len(data)):
                    self.assertIsNone(HistoryRequest.decode(data[:count]), f"{start}: {count}")
                for wrong in (data + b"\0", b"\0" + data[1:], b"\2" + data[1:], data[:9] + b"\x80" + data[10:],
                              data[:11] + b"\0" + data[12:], data[:11] + b"\4" + data[12:]):
                    self.assertIsNone(HistoryRequest.decode(wrong), wrong)
        self.assertIsNone(HistoryRequest.decode(request(1, 1, place, False)[:11] + b"\1" + bytes(32)))

    def test_queue(self):
        histories = Histories([Element(1, "A", "uint64", history=HistoryLimits()), Element(2, "B", "uint64"),
                               Element(3, "C", "uint64", access="wo", history=HistoryLimits()),
                               Element(4, "D", "uint64", history=HistoryLimits())])

        def answers():
            """The tokens and refusals of what is due."""
            given = []
            while requests.is_due:
                answer = requests.answer(histories, 0)
                if answer is not None:
                    found = HistoryAnswer.decode(answer)
                    given.append((found.token, found.refusal))
            return given

        def end(element):
            return behind(HistoryAnswer.decode(histories.answer(asked(Newest(0), element=element), 0)))

        requests = HistoryRequests()
        for element in (1, 2, 3, 5, 127):
            self.assertIsNone(requests.take(asked(Newest(1), token=element, element=element)))
        self.assertEqual(answers(), [(1, 0), (2, UNKNOWN), (3, UNKNOWN), (5, UNKNOWN), (127, UNKNOWN)])
        self.assertIsNone(requests.take(asked(end(1), waits=False, token=10)))
        for token in range(MAXIMUM_REQUESTS):
            self.assertEqual(answers(), [(10, 0)] if not token else [])
            self.assertIsNone(requests.take(asked(end(1), waits=True, token=token)), token)
        wanted = struct.pack("<BQB", 3, 999, TOO_MANY)
        for _ in range(2):
            # Also while they wait.
            self.assertEqual(requests.take(asked(Newest(1), token=999)), wanted)
            self.assertEqual(answers(), [])
        cancel = asked(Newest(1), token=5)._replace(cancels=True)
        self.assertIsNone(requests.take(cancel))
        self.assertIsNone(requests.take(asked(Newest(1), token=999)))
        self.assertIsNone(requests.take(cancel._replace(token=999)), "one that is due")
        self.assertIsNone(requests.take(cancel._replace(token=123_456)), "one that there is not")
        self.assertIsNone(requests.take(asked(end(4), waits=True, token=5, element=4)))
        self.assertEqual(answers(), [])
        histories.append(2, b"", 0, 0)
        histories.append(4, number(1), 0, 0)
        self.assertFalse(requests.wake(2))
        self.assertTrue(requests.wake(4))
        self.assertFalse(requests.wake(4), "once")
        self.assertEqual(answers(), [(5, 0)])
        histories.append(1, number(1), 0, 0)
        self.assertTrue(requests.wake(1))
        self.assertEqual(answers(), [(each, 0) for each in range(MAXIMUM_REQUESTS) if each != 5])


class Logs(unittest.TestCase):
    def test_random(self):
        """Values come back in order, whatever their length, and by the limits the newest ones. A gap is exact."""
        for seed in range(8):
            chance = random.Random(seed)
            limits = HistoryLimits(chance.choice([None, chance.randint(1, 300)]), chance.choice([None, chance.randint(1, 200)]),
                                   chance.randint(100, 300_000))
            log, given, kept = HistoryLog(limits), {}, []
            for count in range(1, 301):
                now = count * SECOND
                length = chance.choice([LONGEST + 1, LONGEST] + [chance.randrange(9000)] * 6 + [chance.randrange(40)] * 72)
                given[count] = bytes([count % 256]) * length
                log.append(given[count], count, now)
                kept.append((count, 16 + (length if length <= LONGEST else 0)))
                while (sum(size for _, size in kept) > limits.byte_count or len(kept) > (limits.count or ALL)
                       or kept and kept[0][0] + (limits.seconds or ALL) < count):
                    del kept[0]
                self.assertEqual(log.byte_count, sum(size for _, size in kept), f"{seed}, {count}")
                if count % 37:
                    continue
                wanted = [(each, given[each]) for each, _ in kept if len(given[each]) <= LONGEST]
                items, _, end = everything(log, now=now)
                self.assertEqual(items, wanted, seed)
                self.assertEqual(end.number, count)
                for place in (0, *chance.sample(range(1, count + 1), 5), count):
                    position = HistoryPosition(log.life, place, fnv1a(given[place]) if place else 0)
                    items, gaps, end = everything(log, position, now=now)
                    self.assertEqual(items, [each for each in wanted if each[0] > place], f"{seed}: behind {place}")
                    self.assertTrue(all(each.count == each.at_most > 0 for each in gaps))
                    self.assertEqual(len(items) + sum(each.count for each in gaps), count - place, f"{seed}: behind {place}")

    def test_starts(self):
        log = filled(10_000)
        for start, first in ((Since(-(1 << 63)), 1), (Since(10), 1), (Since(11), 2), (Since(55_555), 5556),
                             (Since(100_000), 10_000), (Since(100_001), 10_001), (Since((1 << 63) - 1), 10_001), (Newest(0), 10_001), (Newest(1), 10_000),
                             (Newest(10_000), 1), (Newest(ALL), 1)):
            answer = answered(log, start)
            self.assertEqual((answer.first, answer.next, answer.gap), (first, 10_001, None), start)
            self.assertEqual(answer.check, 0 if answer.values else fnv1a(number(10_000)), start)
        # Values need not come in the order of their times.
        log = HistoryLog(HistoryLimits())
        for time in (50, 20, 40, 30):
            log.append(b"", time, 0)
        self.assertEqual([answered(log, Since(time)).first for time in (20, 41, 51)], [1, 1, 5])
        log = filled(10_000, HistoryLimits(count=100))
        for start, first, gap in ((Since(5), 9901, (None, 9900)), (Since(99_010), 9901, (None, 9900)), (Since(99_011), 9902, None),
                                  (Since(100_001), 10_001, None), (Newest(ALL), 9901, None), (Newest(100), 9901, None),
                                  (Newest(99), 9902, None)):
            answer = answered(log, start)
            self.assertEqual((answer.first, answer.gap), (first, gap and HistoryGap(*gap)), start)

    def test_bytes(self):
        log = HistoryLog(HistoryLimits())
        for time, data in ((-5, b"a"), (6, b"")):
            log.append(data, time, 0)
        head = b"\2" + struct.pack("<Q", 7) + log.life
        values = struct.pack("<qI", -5, 1) + b"a" + struct.pack("<qI", 6, 0)
        self.assertEqual(log.answer(asked(Newest(5)), 0), head + struct.pack("<5Q", 1, 3, 0, 0, 0) + values)
        self.assertEqual(log.answer(asked(Newest(0)), 0), head + struct.pack("<5Q", 3, 3, 0xCBF29CE484222325, 0, 0))
        lives = {HistoryLog(HistoryLimits()).life for _ in range(8)}
        self.assertEqual((len(lives), {len(each) for each in lives}), (8, {16}))

    def test_answers(self):
        """An answer has up to 4 KiB, or a single longer value."""
        for lengths, count in (([4072, 0], 2), ([4073, 0], 1), ([0, 4072], 2), ([0, 4073], 1), ([4084], 1), ([LONGEST, 0], 1),
                               ([0, LONGEST], 1), ([0] * 342, 341), ([8] * 300, 204)):
            log = HistoryLog(HistoryLimits())
            for length in lengths:
                log.append(bytes(length), 0, 0)
            self.assertEqual(len(answered(log, Newest(ALL)).values), count, f"{lengths[:3]}")

    def test_positions(self):
        log = filled(10_000, HistoryLimits(count=100))
        end = everything(log)[2]
        self.assertEqual(end, (log.life, 10_000, fnv1a(number(10_000))))
        unknown = HistoryGap(None, None)
        for position, first, gap in (
            (end, 10_001, None), (end._replace(check=0), 10_001, None), (end._replace(life=bytes(16)), 9901, unknown),
            (end._replace(check=end.check ^ 1), 9901, unknown), (HistoryPosition(log.life, 9950, 1), 9901, unknown),
            (HistoryPosition(log.life, 9950, fnv1a(number(9950))), 9951, None), (HistoryPosition(log.life, 9950, 0), 9951, None),
            (HistoryPosition(log.life, 10_001, 0), 9901, unknown), (HistoryPosition(log.life, (1 << 64) - 1, 0), 9901, unknown),
            # Of what was dropped the check is not known.
            (HistoryPosition(log.life, 5, 1), 9901, HistoryGap(9895, 9895)),
            (HistoryPosition(log.life, 0, 1), 9901, HistoryGap(9900, 9900)),
            (HistoryPosition(log.life, 9900, 1), 9901, None), (HistoryPosition(log.life, 9899, 1), 9901, HistoryGap(1, 1)),
        ):
            answer = answered(log, position)
            self.assertEqual((answer.first, answer.gap), (first, gap), position)
            # Only that of the newest value waits.
            self.assertEqual(answered(log, position, waits=True) is None, first == 10_001, position)
        for start in (Newest(0), Since(1 << 60)):
            self.assertIsNotNone(answered(log, start, waits=True))
        empty = HistoryLog(HistoryLimits())
        answer = answered(empty, Newest(ALL))
        self.assertEqual((answer.first, answer.next, answer.check, answer.gap), (1, 1, 0, None))
        self.assertIsNone(answered(empty, behind(answer), waits=True))

    def test_checks(self):
        """The check of a position is that of its value, whatever was asked for before."""
        log = filled(200)
        for each in random.Random(1).sample(range(1, 201), 200) * 2:
            self.assertEqual(answered(log, HistoryPosition(log.life, each, fnv1a(number(each)))).first, each + 1)
            self.assertEqual(answered(log, HistoryPosition(log.life, each, fnv1a(number(each + 1)))).first, 1)

    def test_too_long(self):
        """Values of more than 64 KiB are missing, wherever one begins."""
        log = filled(6, data=lambda each: bytes(LONGEST + (each in (1, 3, 4, 6))))
        self.assertEqual(log.byte_count, 2 * LONGEST + 6 * 16)
        one, two = HistoryGap(1, 1), HistoryGap(2, 2)
        for start, first, gap in ((Newest(ALL), 2, one), (Newest(4), 5, two), (Newest(3), 5, one), (Newest(2), 5, None),
                                  (Newest(1), 7, one), (Since(0), 2, one), (Since(20), 2, None), (Since(21), 5, two),
                                  (Since(60), 7, one), (Since(61), 7, None),
                                  (HistoryPosition(log.life, 0, 0), 2, one), (HistoryPosition(log.life, 2, 0), 5, two),
                                  (HistoryPosition(log.life, 3, 5), 5, one), (HistoryPosition(log.life, 5, 0), 7, one),
                                  (HistoryPosition(log.life, 6, 5), 7, None)):
            answer = answered(log, start)
            self.assertEqual((answer.first, answer.gap, len(answer.values)), (first, gap, int(first < 7)), start)
        answer = answered(log, Newest(0))
        self.assertEqual((answer.first, answer.check), (7, 0))
        self.assertIsNone(answered(log, behind(answer), waits=True))
        log.append(b"", 0, 0)
        self.assertEqual((answered(log, behind(answer), waits=True).first), 7)
        # One that is kept, but for which the limit has no room.
        log = filled(3, HistoryLimits(byte_count=15))
        self.assertEqual((log.byte_count, everything(log, HistoryPosition(log.life, 1, 0))[1]), (0, [two]))
        # Of a time it is not known whether those that were dropped belong to it.
        log = filled(3, HistoryLimits(count=2), data=lambda each: bytes(LONGEST + (each == 2)))
        self.assertEqual((answered(log, Since(0)).first, answered(log, Since(0)).gap), (3, HistoryGap(None, 2)))

    def test_seconds(self):
        log = HistoryLog(HistoryLimits(seconds=60))
        for each in range(1, 101):
            log.append(number(each), 0, each * SECOND)
        for now, first in ((100, 40), (100.999, 41), (101, 41), (110, 50), (159, 99), (160, 100), (161, 101), (10_000, 101)):
            items, gaps, _ = everything(log, HistoryPosition(log.life, 0, 0), now=int(now * SECOND))
            self.assertEqual([each[0] for each in items], list(range(first, 101)), now)
            self.assertEqual(gaps, [HistoryGap(first - 1, first - 1)], now)
        self.assertEqual(log.byte_count, 0)
        end = HistoryPosition(log.life, 100, fnv1a(number(100)))
        self.assertIsNone(answered(log, end, waits=True, now=10_000 * SECOND), "the newest one was dropped, and none is missing")
        log.append(number(101), 0, 10_000 * SECOND)
        answer = answered(log, end, waits=True, now=10_000 * SECOND)
        self.assertEqual((answer.first, answer.gap, len(answer.values)), (101, None, 1))
        # Longer than the milliseconds of a segment.
        log = HistoryLog(HistoryLimits(seconds=(1 << 32) - 1))
        for each in range(3):
            log.append(b"", 0, each * (1 << 32) * 1000 * 2)
        self.assertEqual(everything(log)[0], [(each, b"") for each in (1, 2, 3)])


class Services(unittest.TestCase):
    def test_bytes(self):
        """All histories share a maximum, and the memory is what is counted."""
        histories = Histories([Element(each, f"E{each}", "data", history=HistoryLimits(byte_count=ALL)) for each in range(3)])
        self.assertEqual(MAXIMUM_BYTES, 64 << 20)
        for data, count in ((b"", 40_000), (b"x" * 60_000, 1300)):
            tracemalloc.start()
            for each in range(count):
                histories.append(each % 2 + 1, data, 0, 0)
                self.assertLessEqual(histories.byte_count, MAXIMUM_BYTES)
            held, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            # Lists have room for more.
            self.assertLess(held, histories.byte_count * 1.2 + 400_000, f"{len(data)}")
        self.assertGreater(histories.byte_count, MAXIMUM_BYTES - 200_000)
        sizes = [each.byte_count for each in histories._logs.values()]
        self.assertEqual(sizes[0], 0)
        self.assertLess(abs(sizes[1] - sizes[2]), 200_000, "the longest one is shortened")
        histories.append(0, b"new", 0, 0)
        self.assertEqual(len(everything(histories._logs[0])[0]), 1)


if __name__ == "__main__":
    unittest.main()
