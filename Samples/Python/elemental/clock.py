"""When values were measured: this machine's clock, and what is known of a peer's. No sockets and no timers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Callable, List, NamedTuple, Optional, Tuple, Union

from .errors import InvalidValue
from .frames import CLOCK_ANSWER, CLOCK_REQUEST, TIME_LIMIT, ClockFrame

DRIFT = 2000
"""The clocks of two machines run apart by at most a 2,000th, 500 ppm: 100 each, and the rest for corrections."""
CAPACITY = 64
"""How many exchanges count."""
FIRST_EXCHANGES = 8
"""How many times a client asks after connecting."""
PATIENCE = 10_000_000_000
"""How long an answer may take, in nanoseconds, before a client asks again."""
LEAST_SLEEP = 10
"""How many milliseconds of sleep count: less is an inaccuracy of reading two clocks."""
END_OF_TIME = 4_102_444_800_000_000
"""The year 2100, in microseconds since 1970."""


def _clock(*names: str) -> Callable[[], int]:
    """Reads the first of these clocks that the system has, in nanoseconds."""
    for name in names:
        clock = getattr(time, name, None)
        if clock is not None:
            return lambda: time.clock_gettime_ns(clock)
    return time.monotonic_ns


# macOS has no CLOCK_BOOTTIME; its CLOCK_MONOTONIC includes sleep.
_elapsed = _clock("CLOCK_BOOTTIME", "CLOCK_MONOTONIC")
_awake = _clock("CLOCK_UPTIME_RAW", "CLOCK_MONOTONIC")

_adjtimex: Optional[Callable[[object], int]] = None
try:
    import ctypes

    _adjtimex = ctypes.CDLL(None).adjtimex
except (ImportError, AttributeError, OSError, TypeError):
    pass


def _is_synchronised() -> bool:
    """Whether something such as NTP keeps the time of day right, as Linux knows."""
    # With zeros the call changes nothing. The structure has 208 bytes; 5 is TIME_ERROR.
    return _adjtimex is not None and 0 <= _adjtimex(ctypes.create_string_buffer(512)) < 5


def _slept() -> int:
    """How many milliseconds this machine has slept since its start, modulo 2^32."""
    before = running = 0
    for _ in range(5):
        before, running = _elapsed(), _awake()
        # Otherwise the thread did not run in between.
        if _elapsed() - before < 1_000_000:
            break
    return max(before - running, 0) // 1_000_000 & 0xFFFFFFFF


class MachineClock(NamedTuple):
    """This machine's clocks, read at one moment."""

    time: int
    """Nanoseconds since the machine's start, sleep included. Setting the time of day does not change it."""
    anchor: int
    """Nanoseconds from `time` to those since 1970; 0 if nothing keeps the time of day right."""
    slept: int
    """How many milliseconds the machine has slept since its start, modulo 2^32."""

    @staticmethod
    def now() -> MachineClock:
        return MachineClock(_elapsed(), _day() if _is_synchronised() else 0, _slept())


def _day() -> int:
    """Nanoseconds from `_elapsed` to those since 1970, by a time of day that need not be right."""
    reads = []
    for _ in range(5):
        before, day, after = _elapsed(), time.time_ns(), _elapsed()
        reads.append((after - before, day - (before + after) // 2))
        # Otherwise the thread may not have run in between.
        if after - before < 10_000:
            break
    return min(reads)[1]


def machine_time(since_1970: Optional[float] = None) -> float:
    """Seconds since this machine's start, sleep included: of this moment, or of a time of day that it shows now."""
    return _elapsed() / 1e9 if since_1970 is None else since_1970 - _day() / 1e9


@dataclass(frozen=True)
class ReceivedTime:
    """When a received value was measured. It is what the peer says: nothing that has to be safe may depend on it."""

    time: float
    """Seconds of this machine's clock, as `machine_time`."""
    error: float
    """The maximum error of `time` in seconds, if the peer is honest."""
    seconds_since_1970: Optional[float]
    """The time of day; None if nothing keeps either machine's right."""

    @property
    def seconds_here(self) -> float:
        """Seconds since 1970, by this machine's time of day if nothing keeps any right."""
        if self.seconds_since_1970 is not None:
            return self.seconds_since_1970
        return round(self.time + _day() / 1e9, 6)


Moment = Union[float, ReceivedTime]
"""When a value was measured: seconds of this machine's clock, as `machine_time`, or the time of a received value."""


def microseconds(at: Optional[Moment]) -> int:
    """A moment as it is sent; None is this moment. Raises InvalidValue."""
    if at is None:
        return _elapsed() // 1000
    seconds = at.time if isinstance(at, ReceivedTime) else at
    if not (math.isfinite(seconds) and abs(seconds) < TIME_LIMIT / 1e9):
        raise InvalidValue(f"{seconds!r} is not a time of this machine's clock in seconds")
    return round(seconds * 1e6)


class Exchange(NamedTuple):
    """The four times of an exchange, each in nanoseconds of the clock of the end that observed it."""

    sent: int
    """When this end sent a message."""
    received: int
    """When the peer received it."""
    answered: int
    """When the peer sent a message."""
    returned: int
    """When this end received it."""


class PeerClock:
    """By how much a peer's clock is ahead of this machine's, in nanoseconds.

    A message arrives after it was sent, so each exchange gives a lower and an upper bound. They widen with the distance in
    time by the drift; all of them hold on any network if the peer is honest. The estimate is in the middle.
    """

    def __init__(self) -> None:
        self._exchanges: List[Exchange] = []
        # The bounds at a time of this machine's clock.
        self._lower = self._upper = self._at = 0

    @property
    def is_known(self) -> bool:
        return bool(self._exchanges)

    def add(self, exchange: Exchange) -> bool:
        """Takes an exchange. False if it cannot be true: the answer took less than no time."""
        if exchange.received - exchange.sent < exchange.answered - exchange.returned:
            return False
        self._exchanges = [*self._exchanges[1 - CAPACITY :], exchange]
        self._at = max(exchange.sent, exchange.returned)
        self._lower, self._upper = self._bounds()
        if self._lower > self._upper:
            # It contradicts the earlier ones: a clock has jumped, or the peer is not honest.
            self._exchanges = [exchange]
            self._lower, self._upper = self._bounds()
        return True

    def _bounds(self) -> Tuple[int, int]:
        return (
            max(each.answered - each.returned - _drift(self._at - each.returned) for each in self._exchanges),
            min(each.received - each.sent + _drift(self._at - each.sent) for each in self._exchanges),
        )

    def offset(self, at: int) -> Tuple[int, int]:
        """By how much the peer's clock is ahead when this machine's shows `at`, and the maximum error."""
        drift = _drift(at - self._at)
        lower, upper = self._lower - drift, self._upper + drift
        middle = (lower + upper) // 2
        return middle, max(abs(upper - middle), abs(middle - lower)) + 1

    def own(self, peer_time: int) -> Tuple[int, int]:
        """This machine's time when the peer's clock shows `peer_time`, and the maximum error."""
        ahead, doubt = self.offset(self._at)
        about = peer_time - ahead
        offset, error = self.offset(about)
        # That is the offset at `about`, which may be wrong by this.
        doubt += _drift(about - self._at)
        return peer_time - offset, error + _drift(doubt + doubt // 1000)


def _drift(duration: int) -> int:
    return abs(duration) // DRIFT + 1


class ClockExchange:
    """One end's part in exchanging times over one connection."""

    def __init__(self) -> None:
        self.peer = PeerClock()
        self.count = 0
        """How many requests were answered."""
        self._asked: Optional[Tuple[int, int]] = None
        self._told: Optional[Tuple[int, int]] = None
        self._answered: Optional[int] = None
        self._own: Optional[MachineClock] = None
        self._peer_anchor = 0
        self._peer_slept: Optional[int] = None

    def request(self, now: MachineClock, nonce: int) -> Optional[ClockFrame]:
        """A client's next request; None while it waits for an answer."""
        if self._asked is not None and now.time - self._asked[1] < PATIENCE:
            return None
        self._note(now)
        self._asked = (nonce, now.time)
        # The times of the previous exchange, once: the service takes them for those of its last answer.
        first, second = self._told or (0, 0)
        self._told = None
        return ClockFrame(CLOCK_REQUEST, nonce, first, second, now.anchor, now.slept)

    def answer(self, request: ClockFrame, now: MachineClock) -> ClockFrame:
        """Takes a client's request and returns the answer."""
        self._note(now, request)
        if self._answered is not None and request.second:
            # This end received the previous request and answered it at one time.
            self.peer.add(Exchange(self._answered, request.second, request.first, self._answered))
        self._answered = now.time
        return ClockFrame(CLOCK_ANSWER, request.nonce, now.time, now.time, now.anchor, now.slept)

    def take(self, answer: ClockFrame, now: MachineClock) -> bool:
        """Takes a service's answer. False if it does not answer the last request, or cannot be true."""
        if self._asked is None or self._asked[0] != answer.nonce:
            return False
        sent, self._asked = self._asked[1], None
        self.count += 1
        if self._note(now, answer):
            return True  # The request's time is one of before the sleep.
        if not self.peer.add(Exchange(sent, answer.first, answer.second, now.time)):
            return False
        self._told = (sent, now.time)
        return True

    def _note(self, now: MachineClock, frame: Optional[ClockFrame] = None) -> bool:
        """Remembers what both clocks show. Starts anew, and returns True, if one of the machines has slept."""
        has_slept = self._own is not None and _differs(self._own.slept, now.slept)
        self._own = now
        if frame is not None:
            has_slept = has_slept or (self._peer_slept is not None and _differs(self._peer_slept, frame.slept))
            self._peer_anchor, self._peer_slept = frame.anchor, frame.slept
        if has_slept:
            # The machine's clock was kept by another oscillator meanwhile.
            self.peer, self._told, self._answered = PeerClock(), None, None
        return has_slept

    @property
    def is_known(self) -> bool:
        """Whether the peer's clock is known, and this machine has not slept since."""
        return self.peer.is_known and self._own is not None and not _differs(self._own.slept, _slept())

    def is_plausible(self, peer_time: int) -> bool:
        """Whether microseconds of the peer's clock lie between 1970 and 2100, as far as that can be told."""
        if abs(peer_time) > TIME_LIMIT // 1000:
            return False
        if not self.is_known:
            return True
        ago = _elapsed() - self.peer.own(peer_time * 1000)[0]
        return 0 <= (time.time_ns() - ago) // 1000 < END_OF_TIME

    def peer_time(self, own: int) -> Optional[int]:
        """Microseconds of this machine's clock by the peer's; None if that is not known."""
        return own + self.peer.offset(_elapsed())[0] // 1000 if self.is_known else None

    def received(self, peer_time: int) -> Optional[ReceivedTime]:
        """Microseconds of the peer's clock by this machine's; None if that is not known or not plausible."""
        if self._own is None or not self.is_known or not self.is_plausible(peer_time):
            return None
        own, error = self.peer.own(peer_time * 1000)
        anchor = self._own.anchor
        if not anchor and self._peer_anchor:
            anchor = self._peer_anchor + self.peer.offset(self._own.time)[0]
        # Both ends leave out what is less than a microsecond.
        return ReceivedTime(own // 1000 / 1e6, (error + 2000) / 1e9, (own + anchor) // 1000 / 1e6 if anchor else None)


def _differs(before: int, now: int) -> bool:
    """Whether the milliseconds of sleep differ, which wrap around at 2^32."""
    difference = (now - before) & 0xFFFFFFFF
    return LEAST_SLEEP <= difference <= (1 << 32) - LEAST_SLEEP


class Measured(NamedTuple):
    """A time of a peer's clock. What it is by this machine's may be known only later."""

    clock: ClockExchange
    peer_time: int

    def here(self) -> Optional[ReceivedTime]:
        return self.clock.received(self.peer_time)
