"""Clocks and values with times, without other processes. The bytes are those of the Swift tests."""

import contextlib
import io
import json
import os
import random
import struct
import sys
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "Samples/Python"))

from elemental import Element, InvalidValue, clock, command, frames, machine_time  # noqa: E402
from elemental.clock import CAPACITY, ClockExchange, Exchange, MachineClock, PeerClock, ReceivedTime, microseconds  # noqa: E402
from elemental.frames import ClockFrame  # noqa: E402
from elemental.outbox import Outbox  # noqa: E402

SECOND = 1_000_000_000
ANCHOR = 1_700_000_000 * SECOND
LINKS = {
    "5 ± 3 ms": lambda chance: chance.randint(2_000_000, 8_000_000),
    "100 µs": lambda chance: chance.randint(80_000, 120_000),
    # The queue of one direction is mostly full.
    "queues": lambda chance: 1_000_000 if chance.randrange(4) == 0 else chance.randint(10_000_000, 900_000_000),
}


class Network:
    """Two clocks and a link. The true time is this machine's clock."""

    def __init__(self, seed, delay, drift=0.0):
        self.chance = random.Random(seed)
        self.delay = delay
        self.drift = drift
        self.ahead = 3600 * SECOND

    def offset(self, at):
        return self.ahead + int(self.drift * at)

    def exchange(self, at):
        arrival = at + self.delay(self.chance)
        answer = arrival + self.chance.randint(0, 50_000)
        return Exchange(at, arrival + self.offset(arrival), answer + self.offset(answer), answer + self.delay(self.chance))


class Peer(unittest.TestCase):
    def test_limits(self):
        for name, delay in LINKS.items():
            for seed in range(12):
                # Up to the 500 ppm that clocks may run apart.
                network = Network(seed, delay, (seed % 11 - 5) * 100e-6)
                peer, at = PeerClock(), 0
                for number in range(120):
                    # Eight at once, and then one a second.
                    at += 20_000_000 if number < 8 else SECOND
                    self.assertTrue(peer.add(network.exchange(at)))
                    for distance in (0, network.chance.randint(0, 3 * SECOND), -network.chance.randint(0, 60 * SECOND)):
                        other = at + distance
                        offset, error = peer.offset(other)
                        self.assertLessEqual(abs(offset - network.offset(other)), error, (name, seed, number))
                        own, error = peer.own(other + network.offset(other))
                        self.assertLessEqual(abs(own - other), error, (name, seed, number))
                self.assertLessEqual(len(peer._exchanges), CAPACITY)

    def test_error(self):
        peer = PeerClock()
        self.assertFalse(peer.is_known)
        peer.add(Exchange(0, 7_000_500, 7_000_500, 1000))
        offset, error = peer.offset(1000)
        self.assertEqual(offset, 7_000_000)
        self.assertIn(error, range(500, 505), "half the round trip")
        self.assertIn(peer.offset(1000 + 2 * SECOND)[1] - error, range(999_990, 1_000_010), "0.5 ms a second")
        self.assertIn(peer.own(7_001_000)[0], range(999, 1002))
        # The narrowest of all bounds count, also if they come from different exchanges.
        peer.add(Exchange(2000, 7_002_800, 7_002_800, 2800))
        peer.add(Exchange(3000, 7_003_100, 7_003_100, 4000))
        offset, error = peer.offset(4000)
        self.assertIn(offset, range(7_000_045, 7_000_056))
        self.assertLess(error, 60)

    def test_capacity(self):
        self.assertEqual(CAPACITY, 64)
        peer = PeerClock()
        peer.add(Exchange(0, 10, 10, 20))
        for number in range(1, CAPACITY):
            peer.add(Exchange(number, number + 1000, number, number + 1000))
        self.assertLess(peer.offset(CAPACITY)[1], 20, "the first one, which is the best, counts")
        peer.add(Exchange(CAPACITY, CAPACITY + 1000, CAPACITY, CAPACITY + 1000))
        self.assertGreater(peer.offset(CAPACITY)[1], 400, "it does not count any more")

    def test_contradiction(self):
        network = Network(1, lambda _: 1_000_000)
        peer = PeerClock()
        for number in range(10):
            peer.add(network.exchange(number * SECOND))
        network.ahead += 60 * SECOND
        self.assertTrue(peer.add(network.exchange(10 * SECOND)))
        offset, error = peer.offset(10 * SECOND)
        self.assertLessEqual(abs(offset - network.ahead), error)
        self.assertLess(error, 10_000_000)
        self.assertEqual(len(peer._exchanges), 1)

    def test_impossible(self):
        peer = PeerClock()
        self.assertFalse(peer.add(Exchange(1000, 5000, 9000, 2000)))
        self.assertFalse(peer.is_known)

    def test_extremes(self):
        chance, peer, largest = random.Random(5), PeerClock(), frames.TIME_LIMIT - 1
        for _ in range(500):
            peer.add(Exchange(*(chance.choice([0, largest, chance.randint(0, largest)]) for _ in range(4))))
            for at in (0, largest, chance.randint(0, largest)) if peer.is_known else ():
                self.assertGreaterEqual(peer.offset(at)[1], 0)
                self.assertGreaterEqual(peer.own(at)[1], 0)
        self.assertTrue(peer.is_known)


class Exchanging(unittest.TestCase):
    def setUp(self):
        # What the real clocks of this machine show does not matter here.
        for name, value in (("_slept", lambda: 0), ("_elapsed", lambda: 5_000_000_000)):
            patch = unittest.mock.patch.object(clock, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.client, self.service = ClockExchange(), ClockExchange()

    @staticmethod
    def at(time, slept=0, anchor=ANCHOR):
        return MachineClock(time, anchor, slept)

    def test_both_learn(self):
        for number in range(3):
            sent = 1000 + number * 1_000_000
            request = self.client.request(self.at(sent), number)
            # The service's clock is 5000 ahead, and a message takes 100.
            answer = self.service.answer(request, self.at(sent + 5100))
            self.assertEqual((answer.nonce, answer.kind), (number, 2))
            self.assertTrue(self.client.take(answer, self.at(sent + 200)))
            self.assertEqual(self.client.peer.offset(sent + 200)[0], 5000)
            # The service knows the times of all exchanges but the last.
            self.assertEqual(self.service.is_known, number > 0)
            if number:
                self.assertEqual(self.service.peer.offset(sent + 5100)[0], -5000)
        self.assertEqual(self.client.count, 3)

    def test_nonces(self):
        # The second request waits for the answer to the first, but not for ever.
        later = 10_000_001_000
        requests = [self.client.request(self.at(each), each) for each in (1000, later - 1, later)]
        self.assertIsNone(requests[1])
        first, second = self.service.answer(requests[0], self.at(1100)), self.service.answer(requests[2], self.at(later + 100))
        taken = [self.client.take(each, self.at(later + 200)) for each in (first, second, second)]
        self.assertEqual(taken, [False, True, False])
        self.assertEqual(self.client.count, 1)

    def test_lost_answers(self):
        for number in range(6):
            sent = 1000 + number * 10_000_000_000
            answer = self.service.answer(self.client.request(self.at(sent), number), self.at(sent + 5100))
            if number % 2 == 0:
                self.assertTrue(self.client.take(answer, self.at(sent + 200)))
            if number:
                offset, error = self.service.peer.offset(sent + 5100)
                self.assertLessEqual(abs(offset + 5000), error)
                self.assertLess(error, 20_000_000)

    def test_sleep(self):
        for is_client in (True, False):
            self.client, self.service = ClockExchange(), ClockExchange()

            def exchange(time, ahead, slept):
                own, other = (slept, 0) if is_client else (0, slept)
                answer = self.service.answer(self.client.request(self.at(time, own), 1), self.at(time + ahead + 50, other))
                return self.client.take(answer, self.at(time + 100, own))

            self.assertTrue(exchange(1000, 7000, 0xFFFFFFFE))
            # Less than ten milliseconds are an inaccuracy of reading two clocks.
            self.assertTrue(exchange(2000, 7000, 7))
            self.assertEqual(len(self.client.peer._exchanges), 2)
            exchange(3000, 900_000, 30_009)
            self.assertLessEqual(len(self.client.peer._exchanges), 1)
            self.assertTrue(exchange(4000, 900_000, 30_009))
            self.assertEqual(self.client.peer.offset(4000)[0], 900_000)
            self.assertTrue(exchange(5000, 900_000, 30_009))
            self.assertEqual(self.service.peer.offset(4000)[0], -900_000)

    def test_own_sleep_before_the_next_exchange(self):
        answer = self.service.answer(self.client.request(self.at(1000), 1), self.at(6100))
        self.client.take(answer, self.at(1200))
        self.assertIsNotNone(self.client.received(6))
        with unittest.mock.patch.object(clock, "_slept", lambda: 10):
            self.assertFalse(self.client.is_known)
            self.assertIsNone(self.client.received(6))

    def test_received(self):
        def known(anchor, peer_anchor):
            made = ClockExchange()
            request = made.request(self.at(SECOND, anchor=anchor), 1)
            made.take(ClockFrame(2, request.nonce, 8 * SECOND, 8 * SECOND, peer_anchor, 0), self.at(SECOND, anchor=anchor))
            return made.received(7_500_000)

        # The peer's clock is 7 s ahead: 7.5 s there are 0.5 s here.
        for anchor, peer_anchor, day in ((ANCHOR, 0, 1_700_000_000.5), (0, ANCHOR, 1_700_000_007.5), (0, 0, None),
                                         (ANCHOR, 5, 1_700_000_000.5)):
            found = known(anchor, peer_anchor)
            self.assertAlmostEqual(found.time, 0.5, 5)
            self.assertLess(found.error, 0.001)
            if day is None:
                self.assertIsNone(found.seconds_since_1970)
            else:
                self.assertAlmostEqual(found.seconds_since_1970, day, 5)
        self.assertEqual(ReceivedTime(1, 0, 12.5).seconds_here, 12.5)

    def test_plausible(self):
        exchange = ClockExchange()
        limit = frames.TIME_LIMIT // 1000
        self.assertTrue(all(exchange.is_plausible(each) for each in (0, limit, -limit)))
        self.assertFalse(any(exchange.is_plausible(each) for each in (limit + 1, -limit - 1)))
        with unittest.mock.patch.object(clock.time, "time_ns", lambda: ANCHOR + 5 * SECOND):
            exchange.take(ClockFrame(2, exchange.request(self.at(SECOND), 1).nonce, SECOND, SECOND, 0, 0), self.at(SECOND))
            first, last = -ANCHOR // 1000, (4_102_444_800 * SECOND - ANCHOR) // 1000
            for edge in (first, last):
                self.assertEqual([exchange.is_plausible(edge + each) for each in (-10, 10)], [edge == last, edge == first])
            self.assertIsNone(exchange.received(first - 10))


class Moments(unittest.TestCase):
    def test_moments(self):
        before = machine_time()
        self.assertLessEqual(before, microseconds(None) / 1e6 + 1e-6)
        self.assertEqual(microseconds(1.5), 1_500_000)
        self.assertEqual(microseconds(-2), -2_000_000)
        self.assertEqual(microseconds(ReceivedTime(0.25, 1, None)), 250_000)
        for wrong in (float("nan"), float("inf"), 1e30, -1e30):
            with self.assertRaises(InvalidValue):
                microseconds(wrong)
        with unittest.mock.patch.object(clock, "_elapsed", lambda: 50 * SECOND), \
                unittest.mock.patch.object(clock.time, "time_ns", lambda: ANCHOR):
            self.assertEqual(machine_time(), 50)
            self.assertEqual(machine_time(ANCHOR // SECOND - 3600), 50 - 3600)

    def test_machine(self):
        now = MachineClock.now()
        self.assertLessEqual(now.time, clock._elapsed())
        if clock._is_synchronised():
            self.assertLess(abs(now.time + now.anchor - clock.time.time_ns()), SECOND)
        else:
            self.assertEqual(now.anchor, 0)
        for answer, anchor in ((0, True), (4, True), (5, False), (-1, False)):
            with unittest.mock.patch.object(clock, "_adjtimex", lambda _: answer):
                self.assertEqual(MachineClock.now().anchor != 0, anchor)
        with unittest.mock.patch.object(clock, "_adjtimex", None):
            self.assertEqual(MachineClock.now().anchor, 0)
        with unittest.mock.patch.object(clock, "_elapsed", lambda: 90 * SECOND), \
                unittest.mock.patch.object(clock, "_awake", lambda: 60 * SECOND):
            self.assertEqual(clock._slept(), 30_000)


class Events(unittest.TestCase):
    def test_times(self):
        pose = Element(1, "Pose", "float", timed=True)
        for measured, wanted in ((ReceivedTime(5, 0.0001231, 12.5), {"time": 12.5, "timeError": 0.000124}),
                                 (None, {"time": 7.25})):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                command.Output(True).value(pose, 0.5, measured, 7.25, service="robot")
            told = json.loads(output.getvalue())
            self.assertEqual({each: told[each] for each in told if each.startswith("time")}, wanted)
            self.assertEqual((told["service"], told["value"]), ("robot", 0.5))


class Bytes(unittest.TestCase):
    """The same bytes as in Tests/Core/Elemental/Clock."""

    def test_clock_frames(self):
        made = ClockFrame(2, 0x0807060504030201, 9, 10, -1, 11)
        data = bytes([2, *range(1, 9), 9, *bytes(7), 10, *bytes(7), *[255] * 8, 11, 0, 0, 0])
        self.assertEqual(made.encode(), data)

        def read(data, length=None):
            return ClockFrame.decode(frames.Frame(frames.CLOCK_ID, length or len(data), bytes(data)), 2)

        self.assertEqual(read(data), made)
        for wrong in (b"", data[:-1], data + b"\0", b"\3" + data[1:], b"\0" + data[1:], b"\1" + data[1:]):
            self.assertIsNone(read(wrong))
        self.assertIsNone(read(data, 38), "of a longer one the rest was not kept")
        # Times below 0 and of 2^62.
        for place, byte in ((16, 0x80), (16, 0x40), (24, 0xFF)):
            wrong = bytearray(data)
            wrong[place] = byte
            self.assertIsNone(read(wrong))

    def test_timed_values(self):
        data = b"\1" + struct.pack("<q", 258) + b"\0\0\x80\x3f"
        self.assertEqual(frames.timed(1, 258) + b"\0\0\x80\x3f", data)
        self.assertEqual(frames.split_timed(data), (1, 258, b"\0\0\x80\x3f"))
        self.assertEqual(frames.split_timed(frames.timed(1, -5)), (1, -5, b""))
        ahead = frames.timed(127, -2, True)
        self.assertEqual(ahead, b"\xff\xfe" + b"\xff" * 7)
        self.assertEqual(frames.split_timed(ahead), (127, -2, None))
        for wrong in (b"", data[:8], ahead + b"\0"):
            self.assertIsNone(frames.split_timed(wrong))

    def sent(self, outbox):
        decoder = frames.FrameDecoder(lambda _, length: length)
        return [(each.id, each.value) for part in iter(outbox.next, None) for each in decoder.feed(part)]

    def test_queue(self):
        whole, large = bytes(frames.WHOLE_BYTES), bytes(frames.WHOLE_BYTES + 1)
        for pieces in (False, True):
            outbox = Outbox(1 << 30)
            outbox.sends_pieces = pieces
            for number, value in enumerate((b"a", whole, large, b"b")):
                outbox.add(1, value, time=number)
            outbox.add(2, b"c")
            found = self.sent(outbox)
            if pieces:
                # The small one behind a large one of its element waits for it.
                self.assertEqual(found[2], (2, b"c"))
                found = found[:2] + found[3:] + found[2:3]
                parts = [each[1][frames.PIECE.size :] for each in found[3:-2]]
                self.assertEqual({each[0] for each in found[3:-2]}, {frames.PIECE_ID})
                self.assertEqual(b"".join(parts), large)
                found[3:-2] = [(1, large)]
            self.assertEqual(found, [
                (frames.TIMED_VALUE, frames.timed(1, 0) + b"a"), (frames.TIMED_VALUE, frames.timed(1, 1) + whole),
                (frames.TIMED_VALUE, frames.timed(1, 2, True)), (1, large), (frames.TIMED_VALUE, frames.timed(1, 3) + b"b"),
                (2, b"c")])
            self.assertEqual((outbox.size, outbox.is_empty), (0, True))

    def test_newest(self):
        outbox = Outbox(1 << 20)
        outbox.add(1, b"a", True, 5)
        outbox.add(1, b"b", True, 6)
        self.assertEqual(self.sent(outbox), [(frames.TIMED_VALUE, frames.timed(1, 6) + b"b")])


if __name__ == "__main__":
    unittest.main()
