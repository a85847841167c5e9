"""The values of the past that a service keeps in memory, and its answers to clients that ask for them. No sockets, no clock."""

from __future__ import annotations

import secrets
import struct
from array import array
from bisect import bisect_left
from collections import deque
from typing import Deque, Dict, Iterable, List, NamedTuple, Optional, Tuple

from .elements import Element
from .history import (
    ANSWER,
    ANSWERED,
    BY_POSITION,
    BY_TIME,
    KEPT,
    MAXIMUM_VALUE_BYTES,
    NEWEST,
    NOT_KNOWN,
    POSITION,
    REFUSAL,
    REFUSED,
    REQUEST,
    REQUESTED,
    TOO_MANY,
    UNKNOWN,
    WAITS,
    HistoryLimits,
    HistoryPosition,
    Newest,
    Since,
    Start,
    fnv1a,
)

CANCELS = 2
MAXIMUM_REQUEST_BYTES = REQUEST.size + POSITION.size
MAXIMUM_REQUESTS = 144
"""How many requests of a client may wait: one of each element, and some more."""
FULL_BYTES = 4096
"""The maximum length of an answer's values with their times and lengths, if they are more than one.

An answer is queued only while fewer bytes wait in the client's queue.
"""
MAXIMUM_BYTES = 64 << 20
"""The maximum length of all values that a service keeps."""
OVERHEAD = 16
"""What a value takes beside its bytes."""

_SEGMENT_BYTES = 64 << 10
_OMITTED = 1 << 31
_MILLISECONDS = 1 << 32
_REMEMBERED_CHECKS = 64


class HistoryRequest(NamedTuple):
    """A client's -18."""

    token: int
    element: int
    start: Start
    waits: bool
    """Whether the answer may wait for a value, if the position is that of the newest one."""
    cancels: bool
    """Whether it cancels the request of its token instead."""

    @classmethod
    def decode(cls, data: bytes) -> Optional[HistoryRequest]:
        """None if it is malformed."""
        if len(data) < REQUEST.size:
            return None
        kind, token, element, flags, form = REQUEST.unpack_from(data)
        place = data[REQUEST.size :]
        start: Start
        if form == BY_TIME and len(place) == 8:
            start = Since(*struct.unpack("<q", place))
        elif form == NEWEST and len(place) == 4:
            start = Newest(*struct.unpack("<I", place))
        elif form == BY_POSITION and len(place) == POSITION.size:
            start = HistoryPosition(*POSITION.unpack(place))
        else:
            return None
        if kind != REQUESTED or element > 127:
            return None
        return cls(token, element, start, bool(flags & WAITS), bool(flags & CANCELS))


def refusal(token: int, reason: int) -> bytes:
    return REFUSAL.pack(REFUSED, token, reason)


class HistoryRequests:
    """A client's requests, of which each is due or waits for a value of its element."""

    def __init__(self) -> None:
        self._due: Deque[HistoryRequest] = deque()
        self._waiting: List[HistoryRequest] = []

    @property
    def is_due(self) -> bool:
        return bool(self._due)

    def take(self, request: HistoryRequest) -> Optional[bytes]:
        """Adds a request, or cancels one. Returns a refusal if there are too many."""
        if request.cancels:
            self._due = deque(each for each in self._due if each.token != request.token)
            self._waiting = [each for each in self._waiting if each.token != request.token]
        elif len(self._due) + len(self._waiting) >= MAXIMUM_REQUESTS:
            return refusal(request.token, TOO_MANY)
        else:
            self._due.append(request)
        return None

    def wake(self, element: int) -> bool:
        """The element has a value. Whether a request waited for it."""
        woken = [each for each in self._waiting if each.element == element]
        if woken:
            self._waiting = [each for each in self._waiting if each.element != element]
            self._due.extend(woken)
        return bool(woken)

    def answer(self, histories: Histories, now: int) -> Optional[bytes]:
        """The answer to the next request that is due; None if it waits. `now` is in microseconds."""
        request = self._due.popleft()
        answer = histories.answer(request, now)
        if answer is None:
            self._waiting.append(request)
        return answer


class _Segment:
    """Values with consecutive numbers. Each takes its bytes and 16 more, which objects would not."""

    def __init__(self, first: int, began: int) -> None:
        self.first = first
        """The number of its first value."""
        self.began = began
        """When it was begun, in milliseconds."""
        self.data = bytearray()
        self.times = array("q")
        """When each was measured, in microseconds."""
        self.latest = -1 << 63
        """The latest of these times."""
        self.kept = array("I")
        """When each was kept, in milliseconds since the beginning."""
        self.ends = array("I")
        """Where the bytes of each end; bit 31 marks a value that was too long."""

    @property
    def end(self) -> int:
        """The number behind its last value."""
        return self.first + len(self.times)

    def has_room(self, count: int, now: int) -> bool:
        return (
            len(self.data) + len(self.times) * OVERHEAD + count <= _SEGMENT_BYTES and now - self.began < _MILLISECONDS
        )

    def append(self, data: Optional[bytes], time: int, now: int) -> None:
        """Adds a value; None is one that is too long."""
        self.data += data or b""
        self.times.append(time)
        self.latest = max(self.latest, time)
        self.kept.append(now - self.began)
        self.ends.append(len(self.data) | (_OMITTED if data is None else 0))

    def _place(self, number: int) -> int:
        """Where the bytes of this number begin."""
        return self.ends[number - self.first - 1] & ~_OMITTED if number > self.first else 0

    def value(self, number: int) -> Optional[bytes]:
        """The bytes of a value; None if they were too long."""
        end = self.ends[number - self.first]
        return None if end & _OMITTED else bytes(self.data[self._place(number) : end])

    def size(self, first: int, end: int) -> int:
        """What the values from one number up to another take."""
        return self._place(end) - self._place(first) + (end - first) * OVERHEAD

    def since(self, time: int, first: int) -> Optional[int]:
        """The first value from a number on that was measured at this time or later."""
        if self.latest < time:
            return None
        numbers = range(max(self.first, first), self.end)
        return next((each for each in numbers if self.times[each - self.first] >= time), None)

    def kept_since(self, time: int) -> int:
        """The number of the first value that was kept at this time, in milliseconds, or later."""
        return self.first + bisect_left(self.kept, time - self.began)


class HistoryLog:
    """The values of one element, oldest first, with numbers from 1 on.

    A value is added without copying others, and found without looking at more than a segment of 64 KiB. Times are in
    microseconds of the machine's clock.
    """

    def __init__(self, limits: HistoryLimits) -> None:
        self.life = secrets.token_bytes(16)
        self.next = 1
        """The number of the next value."""
        self.oldest = 1
        """That of the oldest value that is kept; `next` if there is none."""
        self.byte_count = 0
        """What the values take."""
        self._limits = limits
        self._segments: Deque[_Segment] = deque()
        self._checks: Dict[int, int] = {}

    # Adding and dropping.

    def append(self, data: bytes, time: int, now: int) -> None:
        """Adds a value that was measured at a time. One that is too long gets a number and is not kept."""
        kept = data if len(data) <= MAXIMUM_VALUE_BYTES else None
        size = OVERHEAD + len(kept or b"")
        if not self._segments or not self._segments[-1].has_room(size, now // 1000):
            self._segments.append(_Segment(self.next, now // 1000))
        self._segments[-1].append(kept, time, now // 1000)
        self.next += 1
        self.byte_count += size
        self.trim(now)

    def trim(self, now: int) -> None:
        """Drops the oldest values while a limit is exceeded."""
        limits = self._limits
        if limits.seconds is not None:
            before = now // 1000 - limits.seconds * 1000
            while self._segments and (number := self._segments[0].kept_since(before)) > self.oldest:
                self._drop_before(number)
        if limits.count is not None:
            self._drop_before(self.next - limits.count)
        self.drop(self.byte_count - limits.byte_count)

    def drop(self, count: int) -> None:
        """Drops the oldest values until at least so many bytes are free."""
        left = max(0, self.byte_count - max(0, count))
        while self.byte_count > left:
            self._drop_before(self.oldest + 1)

    def _drop_before(self, number: int) -> None:
        while self.oldest < number:
            segment = self._segments[0]
            end = min(number, segment.end)
            self.byte_count -= segment.size(self.oldest, end)
            self.oldest = end
            if end == segment.end:
                self._segments.popleft()

    # Reading.

    def answer(self, request: HistoryRequest, now: int) -> Optional[bytes]:
        """The answer to a request; None if it waits for a value."""
        self.trim(now)
        start = request.start
        is_known = True
        if isinstance(start, HistoryPosition):
            is_known = self._knows(start)
            if is_known and request.waits and start.number == self.next - 1:
                return None
            # Another history's position gets all that there is.
            number = start.number + 1 if is_known else self.oldest
        elif isinstance(start, Newest):
            number = max(self.oldest, self.next - start.number)
        else:
            found = (each.since(start.time, self.oldest) for each in self._segments)
            number = next((each for each in found if each is not None), self.next)
        first, values = self._values(max(number, self.oldest))
        missing = at_most = first - number
        if not is_known:
            missing = at_most = NOT_KNOWN
        elif isinstance(start, Since) and number == self.oldest > 1:
            # Those that were dropped may have been measured before or after.
            missing, at_most = NOT_KNOWN, first - 1
        check = 0 if values else self._check(self.next - 1)
        return ANSWER.pack(ANSWERED, request.token, self.life, first, self.next, check, missing, at_most) + values

    def _knows(self, position: HistoryPosition) -> bool:
        if position.life != self.life or position.number >= self.next:
            return False
        # A check of 0 is not known.
        return position.check == 0 or self._check(position.number) in (0, position.check)

    def _check(self, number: int) -> int:
        """The check of a value; 0 if it is not kept."""
        if number < self.oldest:
            return 0
        if number not in self._checks:
            segment = next(each for each in self._segments if number < each.end)
            data = segment.value(number)
            # Of a long value it takes milliseconds, and each of its readers asks for it.
            if len(self._checks) >= _REMEMBERED_CHECKS:
                self._checks.clear()
            self._checks[number] = 0 if data is None else fnv1a(data)
        return self._checks[number]

    def _values(self, start: int) -> Tuple[int, bytes]:
        """The values from a number on that an answer has room for, and the number of the first one."""
        first, values = self.next, bytearray()
        for segment in self._segments:
            for number in range(max(start, segment.first), segment.end):
                data = segment.value(number)
                # One that was too long is in front of the answer, or ends it.
                if values and (data is None or len(values) + KEPT.size + len(data) > FULL_BYTES):
                    return first, bytes(values)
                if data is not None:
                    first = min(first, number)
                    values += KEPT.pack(segment.times[number - segment.first], len(data)) + data
        return first, bytes(values)


class Histories:
    """The histories of a service's elements."""

    def __init__(self, elements: Iterable[Element]) -> None:
        self._logs = {
            each.id: HistoryLog(each.history) for each in elements if each.history is not None and each.is_readable
        }

    @property
    def byte_count(self) -> int:
        return sum(each.byte_count for each in self._logs.values())

    def append(self, element: int, data: bytes, time: int, now: int) -> None:
        """Keeps a value of an element, if that has a history."""
        log = self._logs.get(element)
        if log is None:
            return
        log.append(data, time, now)
        excess = self.byte_count - MAXIMUM_BYTES
        if excess > 0:
            # The longest one is longer than a single value by far.
            max(self._logs.values(), key=lambda each: each.byte_count).drop(excess)

    def answer(self, request: HistoryRequest, now: int) -> Optional[bytes]:
        """The answer to a request; None if it waits for a value."""
        log = self._logs.get(request.element)
        return refusal(request.token, UNKNOWN) if log is None else log.answer(request, now)
