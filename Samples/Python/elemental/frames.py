"""Frames and datagrams as bytes, without sockets."""

from __future__ import annotations

import struct
from typing import Callable, Iterator, List, NamedTuple, Optional, Tuple

FRAME = struct.Struct("<bI")
MESSAGE = struct.Struct("<bIB")
PIECE = struct.Struct("<bII")
HELLO = struct.Struct("<BIH")
CLOCK = struct.Struct("<BQqqqI")
TIMED = struct.Struct("<Bq")

# The system's elements.
UDP_IDENTIFIER = -1
DEVICE_NAME = -2
SHUTDOWN = -3
HELLO_ID = -4
CATALOGUE = -5
PING = -6
PONG = -7
PIECE_ID = -8
PIECES_TAKEN = -9
REFUSED = -11
ADMISSION = -13
DATAGRAM_SECRET = -14
CLOCK_ID = -16
TIMED_VALUE = -17
HISTORY = -18

# What a hello announces.
ACCEPTS_EMPTY = 1 << 0
HAS_CATALOGUE = 1 << 1
ANSWERS_PINGS = 1 << 2
WANTS_CATALOGUE = 1 << 3
ACCEPTS_PIECES = 1 << 4
TELLS_REFUSALS = 1 << 5
EXCHANGES_TIMES = 1 << 6
TAKES_TIMES = 1 << 7
KEEPS_HISTORY = 1 << 8

PIECE_BYTES = 65_536
"""What a piece of a large value holds at most."""
WHOLE_BYTES = 131_072
"""Longer values are sent in pieces."""
WINDOW_BYTES = 262_144
"""How much of values in pieces may be on its way without having been acknowledged."""
SHARED_DATAGRAM_BYTES = 1_400
"""Values that are sent together share a datagram of at most this size."""
DATAGRAM_BYTES = 65_507
"""The longest datagram."""

CLOCK_REQUEST, CLOCK_ANSWER = 1, 2
TIME_LIMIT = 1 << 62
"""Times of clocks are below this, in nanoseconds."""
TIME_AHEAD = 0x80
"""In the element of a time: its value comes later."""

REASONS = {1: "range", 2: "choice", 3: "read-only", 4: "role", 5: "service"}
REASON_CODES = {name: code for code, name in REASONS.items()}


class Hello(NamedTuple):
    """The value of -4."""

    version: int
    features: int
    udp_port: int

    def encode(self) -> bytes:
        return HELLO.pack(*self)

    @classmethod
    def decode(cls, data: bytes) -> Optional[Hello]:
        """None if it is too short, or of the version 0. Further bytes are ignored."""
        return cls(*HELLO.unpack_from(data)) if len(data) >= HELLO.size and data[0] else None


class ClockFrame(NamedTuple):
    """The value of -16. Times are in nanoseconds of the sender's clock, which has run since its machine's start."""

    kind: int
    nonce: int
    first: int
    """Of a request when the client sent its previous one, otherwise when the service received it; 0 in the first request."""
    second: int
    """Of a request when the client received the previous answer, otherwise when the service sent it."""
    anchor: int
    """What to add for nanoseconds since 1970; 0 if nothing keeps the time of day right."""
    slept: int
    """How many milliseconds the machine has slept since its start, modulo 2^32."""

    def encode(self) -> bytes:
        return CLOCK.pack(*self)

    @classmethod
    def decode(cls, frame: Frame, kind: int) -> Optional[ClockFrame]:
        """None if it is malformed, or of another kind."""
        if not frame.is_whole or frame.length != CLOCK.size or frame.value[0] != kind:
            return None
        made = cls(*CLOCK.unpack(frame.value))
        return made if 0 <= made.first < TIME_LIMIT and 0 <= made.second < TIME_LIMIT else None


def timed(element: int, time: int, is_ahead: bool = False) -> bytes:
    """What precedes the value in -17, or all of it if the value comes later. The time is in microseconds."""
    return TIMED.pack(element | (TIME_AHEAD if is_ahead else 0), time)


def split_timed(data: bytes) -> Optional[Tuple[int, int, Optional[bytes]]]:
    """The element, time and value of -17, without a value if that comes later. None if it is malformed."""
    if len(data) < TIMED.size:
        return None
    element, time = TIMED.unpack_from(data)
    if element & TIME_AHEAD:
        return (element & ~TIME_AHEAD, time, None) if len(data) == TIMED.size else None
    return element, time, data[TIMED.size :]


def frame(id: int, value: bytes = b"") -> bytes:
    """A value in its envelope over TCP."""
    return FRAME.pack(id, len(value)) + value


def message(id: int, value: bytes, udp_identifier: int) -> bytes:
    """A value in its envelope over UDP."""
    return MESSAGE.pack(id, len(value), udp_identifier) + value


def refusal(element: int, reason: str, text: str) -> bytes:
    """The value of -11, whose text is cut at 1,024 bytes."""
    cut = text.encode(errors="replace")[:1024].decode(errors="ignore").encode()
    return struct.pack("<bB", element, REASON_CODES[reason]) + cut


def split_datagram(data: bytes) -> Tuple[List[Tuple[int, int, bytes]], bool]:
    """The messages of a datagram as identifier, UDP identifier and value; and whether it is whole."""
    found: List[Tuple[int, int, bytes]] = []
    place = 0
    while place < len(data):
        if len(data) - place < MESSAGE.size:
            return found, False
        id, length, identifier = MESSAGE.unpack_from(data, place)
        place += MESSAGE.size
        if len(data) - place < length:
            return found, False
        found.append((id, identifier, data[place : place + length]))
        place += length
    return found, True


class Frame(NamedTuple):
    """A frame as it was received: of its value only what was to be kept."""

    id: int
    length: int
    value: bytes

    @property
    def is_whole(self) -> bool:
        return len(self.value) == self.length


class FrameDecoder:
    """Cuts a stream of bytes into frames.

    `keep(id, length)` is asked once per frame, as soon as its envelope is there: how many bytes of its value are to be
    kept; it raises to end the connection. Memory grows with what has arrived, never with what a length announces.
    """

    def __init__(self, keep: Callable[[int, int], int]) -> None:
        self._keep = keep
        self._header = b""
        self._id = 0
        self._length: Optional[int] = None
        self._kept = 0
        self._arrived = 0
        self._value = bytearray()

    @property
    def buffered(self) -> int:
        """The bytes of an incomplete value."""
        return len(self._value)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete. To be used up before the next call."""
        place, end = 0, len(data)
        while True:
            if self._length is None:
                if self._header:
                    missing = FRAME.size - len(self._header)
                    self._header += data[place : place + missing]
                    place = min(end, place + missing)
                    if len(self._header) < FRAME.size:
                        return
                    self._id, self._length = FRAME.unpack(self._header)
                    self._header = b""
                elif end - place < FRAME.size:
                    self._header = bytes(data[place:])
                    return
                else:
                    self._id, self._length = FRAME.unpack_from(data, place)
                    place += FRAME.size
                self._kept = min(self._length, self._keep(self._id, self._length))
                self._arrived = 0
            rest = self._length - self._arrived
            if not self._arrived and end - place >= rest:
                # The usual case: all of the value is there, and is copied once.
                value = bytes(data[place : place + self._kept])
                place += rest
                done = Frame(self._id, self._length, value)
                self._length = None
                yield done
                continue
            taken = min(rest, end - place)
            wanted = min(taken, self._kept - len(self._value))
            if wanted > 0:
                self._value += data[place : place + wanted]
            place += taken
            self._arrived += taken
            if self._arrived < self._length:
                return
            done = Frame(self._id, self._length, bytes(self._value))
            self._value = bytearray()
            self._length = None
            yield done


class Datagrams:
    """Gathers messages into datagrams."""

    def __init__(self, room: int = SHARED_DATAGRAM_BYTES) -> None:
        self._room = room
        self._parts: List[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> Optional[bytes]:
        """Takes a message, and gives a datagram that is full by now."""
        full = None
        if self._parts and self._size + len(part) > self._room:
            full = self.take()
        self._parts.append(part)
        self._size += len(part)
        return full

    def take(self) -> Optional[bytes]:
        """The datagram of what was gathered."""
        if not self._parts:
            return None
        made = b"".join(self._parts)
        self._parts, self._size = [], 0
        return made
