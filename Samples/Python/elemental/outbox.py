"""What waits to be sent over one TCP connection, without sockets."""

from __future__ import annotations

from collections import deque
from typing import Deque, Dict, Optional

from .frames import FRAME, PIECE, PIECE_BYTES, PIECE_ID, TIMED_VALUE, WHOLE_BYTES, WINDOW_BYTES, frame, timed


class _Entry:
    __slots__ = ("id", "value", "time", "offset")

    def __init__(self, id: int, value: bytes, time: Optional[int]) -> None:
        self.id = id
        self.value = value
        self.time = time
        self.offset = 0

    @property
    def time_ahead(self) -> bytes:
        """The frame that tells the value's time ahead of it."""
        return b"" if self.time is None else frame(TIMED_VALUE, timed(self.id, self.time, True))

    def frames(self) -> bytes:
        """The value in one frame, with its time."""
        if self.time is None or len(self.value) > WHOLE_BYTES:
            return self.time_ahead + frame(self.id, self.value)
        return frame(TIMED_VALUE, timed(self.id, self.time) + self.value)


class Outbox:
    """Values in the order in which they are sent, with a bound.

    Large values go in pieces, one at a time and behind everything else, if the other end accepts that; a later value of
    the same element waits for them. Of an element marked `latest` only the newest unsent value is kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._frames: Deque[_Entry] = deque()
        self._large: Deque[_Entry] = deque()
        self._newest: Dict[int, _Entry] = {}
        self._large_ids: Dict[int, int] = {}
        self.sends_pieces = False
        self.has_window = True
        """Whether the other end's acknowledgements are heard; otherwise TCP alone holds pieces back."""
        self.size = 0
        """The bytes that wait."""
        self.replaced = 0
        """How many values of `latest` elements made way for newer ones."""
        self._pieces_sent = 0
        self._acknowledged = 0

    def has_room(self, count: int) -> bool:
        """Whether a value of so many bytes may be added. One value always may, however long it is."""
        return self.size == 0 or self.size + count + FRAME.size <= self._limit

    @property
    def is_empty(self) -> bool:
        return not self._frames and not self._large

    @property
    def has_large(self) -> bool:
        """Whether a value in pieces is on its way, or not acknowledged."""
        return bool(self._large) or self._pieces_sent != self._acknowledged

    def holds(self, id: int) -> bool:
        """Whether an unsent value of a `latest` element is there, which the next one replaces."""
        return id in self._newest

    def add(self, id: int, value: bytes, latest: bool = False, time: Optional[int] = None) -> None:
        """Adds a value, of a peer that takes times with its time in microseconds; the caller has asked for room."""
        if latest:
            entry = self._newest.get(id)
            if entry is not None:
                self.size += len(value) - len(entry.value)
                self.replaced += 1
                was_large = self._is_large(entry.value)
                entry.value, entry.time = value, time
                # One that has grown beyond a frame changes its place, so that it goes in pieces.
                if self._is_large(value) and not was_large and entry in self._frames:
                    self._frames.remove(entry)
                    self._add_large(entry)
                return
        entry = _Entry(id, value, time)
        self.size += len(value) + FRAME.size
        if latest:
            self._newest[id] = entry
        if self._is_large(value) or id in self._large_ids:
            self._add_large(entry)
        else:
            self._frames.append(entry)

    def _is_large(self, value: bytes) -> bool:
        return self.sends_pieces and len(value) > WHOLE_BYTES

    def _add_large(self, entry: _Entry) -> None:
        self._large.append(entry)
        self._large_ids[entry.id] = self._large_ids.get(entry.id, 0) + 1

    def acknowledge(self, count: int) -> bool:
        """Takes the value of -9. False if it cannot be true."""
        unacknowledged = (self._pieces_sent - self._acknowledged) & 0xFFFFFFFF
        if (count - self._acknowledged) & 0xFFFFFFFF > unacknowledged:
            return False
        self._acknowledged = count
        return True

    def next(self) -> Optional[bytes]:
        """The next frame to send, or None if nothing may be sent at the moment."""
        if self._frames:
            entry = self._frames.popleft()
            self._forget(entry)
            self.size -= len(entry.value) + FRAME.size
            return entry.frames()
        if not self._large:
            return None
        entry = self._large[0]
        total = len(entry.value)
        if not entry.offset and not self._is_large(entry.value):
            self._end_large(entry)
            self.size -= total + FRAME.size
            return entry.frames()
        count = min(PIECE_BYTES, total - entry.offset)
        unacknowledged = (self._pieces_sent - self._acknowledged) & 0xFFFFFFFF
        if self.has_window and unacknowledged + count > WINDOW_BYTES:
            return None
        # What has been begun is not replaced any more.
        self._forget(entry)
        part = entry.value[entry.offset : entry.offset + count]
        made = b"" if entry.offset else entry.time_ahead
        made += frame(PIECE_ID, PIECE.pack(entry.id, total, entry.offset) + part)
        entry.offset += count
        self._pieces_sent = (self._pieces_sent + count) & 0xFFFFFFFF
        self.size -= count
        if entry.offset == total:
            self._end_large(entry)
            self.size -= FRAME.size
        return made

    def _end_large(self, entry: _Entry) -> None:
        self._large.popleft()
        self._forget(entry)
        left = self._large_ids[entry.id] - 1
        if left:
            self._large_ids[entry.id] = left
        else:
            del self._large_ids[entry.id]

    def _forget(self, entry: _Entry) -> None:
        if self._newest.get(entry.id) is entry:
            del self._newest[entry.id]
