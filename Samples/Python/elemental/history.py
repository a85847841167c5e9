"""Values of the past that a service keeps: limits, frames, and the iteration over them."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, AsyncIterator, Deque, List, NamedTuple, Optional, Tuple, Union

from .clock import ReceivedTime
from .errors import Disconnected, InvalidElement, InvalidValue, NotAllowed
from .values import Value

if TYPE_CHECKING:
    from .client import Device
    from .client_session import ClientSession
    from .elements import Element

LIMITS = struct.Struct("<3I")
"""A history's limits as a catalogue has them: count, seconds, bytes; 0 for no limit, but not of the bytes."""


@dataclass(frozen=True)
class HistoryLimits:
    """How many of an element's values a service keeps for clients that ask for them later.

    The oldest are dropped first, as soon as one of the limits is exceeded. Raises InvalidElement for a limit that is not from
    1 to 4294967295.
    """

    count: Optional[int] = None
    """The maximum number of values; None for no limit."""
    seconds: Optional[int] = None
    """How long a value is kept, in seconds; None for no limit."""
    byte_count: int = 16 << 20
    """The maximum memory in bytes: a value takes its own length and 16 bytes."""

    def __post_init__(self) -> None:
        for name in ("count", "seconds", "byte_count"):
            limit = getattr(self, name)
            if limit is None and name != "byte_count":
                continue
            if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit < 1 << 32:
                raise InvalidElement(f"{name} is {limit!r}; a limit of a history is an integer from 1 to 4294967295")

    def encode(self) -> bytes:
        return LIMITS.pack(self.count or 0, self.seconds or 0, self.byte_count)

    @classmethod
    def decode(cls, data: bytes) -> Optional[HistoryLimits]:
        """None if the bytes are too few, or have no limit of the bytes. Further bytes are ignored."""
        if len(data) < LIMITS.size:
            return None
        count, seconds, byte_count = LIMITS.unpack_from(data)
        return cls(count or None, seconds or None, byte_count) if byte_count else None


# Frames.

POSITION = struct.Struct("<16sQQ")
REQUEST = struct.Struct("<BQBBB")
ANSWER = struct.Struct("<BQ16s5Q")
REFUSAL = struct.Struct("<BQB")
KEPT = struct.Struct("<qI")
"""What precedes a value in an answer: when it was measured, in microseconds of the service's clock, and its length.

A time of -2^63 means that it is not known; no clock finds that plausible.
"""

MAXIMUM_VALUE_BYTES = 65_536
"""The maximum length of a value that a history keeps."""
MAXIMUM_ANSWER_BYTES = ANSWER.size + KEPT.size + MAXIMUM_VALUE_BYTES
"""The longest answer, with one such value."""
NUMBER_LIMIT = 1 << 62
"""The numbers of values are below this."""
ALL = (1 << 32) - 1
"""So many of the newest values are all of them."""

REQUESTED, ANSWERED, REFUSED = 1, 2, 3
BY_TIME, NEWEST, BY_POSITION = 1, 2, 3
WAITS = 1
NOT_KNOWN = (1 << 64) - 1
UNKNOWN, TOO_MANY = 1, 2
"""The reasons of a refusal."""


def fnv1a(data: bytes) -> int:
    """The FNV-1a hash of 64 bits."""
    check = 0xCBF29CE484222325
    for byte in data:
        check = (check ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return check


class HistoryPosition(NamedTuple):
    """A place in an element's history: behind one of its values."""

    life: bytes
    """16 random bytes, which change when the service's program starts."""
    number: int
    """The value's number in that life, from 1; 0 for the place in front of all values."""
    check: int
    """The FNV-1a hash of that value's bytes; 0 if it is not known."""

    @classmethod
    def parse(cls, text: str) -> HistoryPosition:
        """Reads what `str` wrote. Raises InvalidValue."""
        try:
            data = bytes.fromhex(text)
        except (TypeError, ValueError):
            data = b""
        if len(data) != POSITION.size or len(text) != 2 * POSITION.size:
            raise InvalidValue(f"{text!r} is not a position in a history; give the `position` of a value")
        return cls(*POSITION.unpack(data))

    def __str__(self) -> str:
        return POSITION.pack(*self).hex()

    def behind(self, data: bytes) -> HistoryPosition:
        """The position behind the value that follows."""
        return HistoryPosition(self.life, self.number + 1, fnv1a(data))


class Since(NamedTuple):
    """The first value that was measured at this time or later, in microseconds."""

    time: int


class Newest(NamedTuple):
    """So many values before the newest."""

    number: int


Start = Union[HistoryPosition, Since, Newest]
"""Where values begin."""


def request(token: int, element: int, start: Start, waits: bool) -> bytes:
    """A client's -18. The answer waits for a value, if it is to, when the position is that of the newest one."""
    if isinstance(start, Since):
        form, place = BY_TIME, struct.pack("<q", start.time)
    elif isinstance(start, Newest):
        form, place = NEWEST, struct.pack("<I", start.number)
    else:
        form, place = BY_POSITION, POSITION.pack(*start)
    return REQUEST.pack(REQUESTED, token, element, WAITS if waits else 0, form) + place


@dataclass(frozen=True)
class HistoryGap:
    """Values that are missing: dropped by the limits, lost when the service's program ended, or too long to be kept."""

    count: Optional[int]
    """How many; None if that is not known."""
    at_most: Optional[int]
    """The maximum; None if that is not known either, because the service does not know the position."""

    @classmethod
    def decode(cls, missing: int, at_most: int) -> Optional[HistoryGap]:
        """The gap of an answer, in which all bits set stand for a number that is not known. None if nothing is missing."""
        if missing == at_most == 0:
            return None
        return cls(*(None if each == NOT_KNOWN else each for each in (missing, at_most)))


class HistoryAnswer(NamedTuple):
    """A service's -18."""

    token: int
    refusal: int
    """Why there are no values; 0 if the request was not refused."""
    life: bytes
    first: int
    """The number of the first value; if there is none, of the next one."""
    next: int
    """The number of the next value that comes."""
    check: int
    """Without values the check of the newest one; 0 if it is not known."""
    gap: Optional[HistoryGap]
    """What is missing between what was asked for and the first value."""
    values: List[Tuple[int, bytes]]

    @classmethod
    def decode(cls, data: bytes) -> Optional[HistoryAnswer]:
        """None if it is malformed."""
        if data[:1] == bytes([REFUSED]) and len(data) >= REFUSAL.size:
            _, token, reason = REFUSAL.unpack_from(data)
            return cls(token, reason, b"", 0, 0, 0, None, []) if reason in (UNKNOWN, TOO_MANY) else None
        if data[:1] != bytes([ANSWERED]) or len(data) < ANSWER.size:
            return None
        _, token, life, first, next, check, missing, at_most = ANSWER.unpack_from(data)
        if not 0 < first <= next < NUMBER_LIMIT:
            return None
        values, place = [], ANSWER.size
        while place < len(data):
            if len(data) - place < KEPT.size:
                return None
            time, length = KEPT.unpack_from(data, place)
            place += KEPT.size
            if len(data) - place < length:
                return None
            values.append((time, data[place : place + length]))
            place += length
        if len(values) > next - first:
            return None
        return cls(token, 0, life, first, next, check, HistoryGap.decode(missing, at_most), values)


# The iteration.


@dataclass(frozen=True)
class HistoryValue:
    """A value of an element's history."""

    value: Value
    time: Optional[ReceivedTime]
    """When it was measured; None if the two clocks are not compared, or if the service's machine was started since and did
    not know the time of day."""
    is_past: bool
    """Whether it was there when the history was asked for. Afterwards values come when they are sent."""
    position: str
    """Where to continue later, behind this value."""


HistoryItem = Union[HistoryValue, HistoryGap]


class History(AsyncIterator[HistoryItem]):
    """The values of an element's history in order and those that follow, each once: see `Device.history`.

    It asks for more when those before are consumed, so a slow reader makes only the history wait.
    """

    def __init__(self, device: Device, element: Element, start: Start, follows: bool) -> None:
        self._device = device
        self._element = element
        self._start = start
        self._follows = follows
        self._items: Deque[HistoryItem] = deque()
        self._asked: Optional[Tuple[ClientSession, asyncio.Future[HistoryAnswer]]] = None
        # The past ends before this number: with what there was when the history was asked for first.
        self._past_end: Optional[int] = None
        self._is_past = True
        self._is_over = False
        self._is_read = False

    def __aiter__(self) -> History:
        return self

    async def __anext__(self) -> HistoryItem:
        while not self._items:
            if self._is_over:
                raise StopAsyncIteration
            if self._is_read:
                raise RuntimeError("two tasks read one history; ask for one each")
            self._is_read = True
            try:
                await self._ask()
            except Disconnected:
                if not (self._follows and self._device._is_closing):
                    raise
                self._is_over = True
            finally:
                self._is_read = False
        return self._items.popleft()

    async def _ask(self) -> None:
        while True:
            session = await self._device._ready_session()
            try:
                if self._asked is None or self._asked[0] is not session:
                    self._asked = None
                    start = await self._start_at(session)
                    waits = self._follows and not self._is_past
                    self._asked = session, session.ask_history(self._element.id, start, waits)
                # A read that is cancelled, by a timeout for example, leaves its request to the next one.
                answer = await asyncio.shield(self._asked[1])
            except Disconnected:
                if session.is_open:
                    raise
            else:
                self._asked = None
                self._take(session, answer)
                return

    async def _start_at(self, session: ClientSession) -> Start:
        """The start as the service knows it."""
        if not session.keeps_history:
            raise NotAllowed(f"{self._device.name} keeps no values; ask it for the newest one only")
        if isinstance(self._start, Since):
            return Since(await session.peer_time(self._start.time))
        return self._start

    def _take(self, session: ClientSession, answer: HistoryAnswer) -> None:
        if answer.refusal == TOO_MANY:
            raise NotAllowed(f"{self._device.name} has too many requests of this client")
        if answer.refusal:
            raise NotAllowed(f"{self._device.name} keeps no values of {self._element.name!r} for this client")
        if answer.gap is not None:
            self._items.append(answer.gap)
        # Numbers of a position that the service does not know are those of another history.
        if self._past_end is None or answer.gap == HistoryGap(None, None):
            self._past_end = answer.next
        end = self._past_end
        position = HistoryPosition(answer.life, answer.first - 1, answer.check)
        for time, data in answer.values:
            is_past = position.number + 1 < end
            if not (is_past or self._follows):
                break
            position = position.behind(data)
            try:
                value = self._element.value_type.decode(data)
            except InvalidValue:
                self._items.append(HistoryGap(1, 1))
                continue
            self._items.append(HistoryValue(value, session.clock.received(time), is_past, str(position)))
        self._is_past = position.number + 1 < end
        self._is_over = not (self._is_past or self._follows)
        self._start = position
