"""Values as they arrive, for `async for`."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import AsyncIterator, Callable, Deque, Generic, List, Optional, Tuple, TypeVar
from weakref import ref

from .clock import Measured, ReceivedTime
from .errors import ElementalError

T = TypeVar("T")


class Stream(AsyncIterator[T], Generic[T]):
    """An asynchronous iterator over what arrives, with a bound. It ends when it is dropped: leave the loop, that is all.

    With `newest` it keeps one thing, the newest, and never holds anything up. Otherwise its source stops reading from the
    network when `limit` wait; what cannot wait, a datagram, takes the place of the oldest.
    """

    def __init__(self, limit: int, newest: bool) -> None:
        self._limit = 1 if newest else max(1, limit)
        self._newest = newest
        self._items: Deque[Tuple[T, float, Optional[Measured]]] = deque()
        self._measured: Optional[Measured] = None
        self._waiting: Optional[asyncio.Future[None]] = None
        self._is_finished = False
        self._error: Optional[ElementalError] = None
        self._has_room: Callable[[], None] = lambda: None
        self.dropped = 0
        """How many made way for newer ones."""
        self.arrived = 0.0
        """When the value that came last out of the iteration had arrived, in seconds since 1970."""

    @property
    def time(self) -> Optional[ReceivedTime]:
        """When the value that came last out of the iteration was measured, of a timed element.

        None if the peer does not say, and before the ends have exchanged times.
        """
        return self._measured.here() if self._measured is not None else None

    def __aiter__(self) -> Stream[T]:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._is_finished:
                if self._error is not None:
                    raise self._error
                raise StopAsyncIteration
            if self._waiting is not None:
                raise RuntimeError("two tasks read one stream; ask for one each")
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        was_full = self.is_full
        item, self.arrived, self._measured = self._items.popleft()
        if was_full and not self.is_full:
            self._has_room()
        return item

    @property
    def is_full(self) -> bool:
        """Whether its source is to wait."""
        return not self._newest and len(self._items) >= self._limit

    def _put(self, item: T, measured: Optional[Measured] = None, arrived: Optional[float] = None) -> None:
        if self._is_finished:
            return
        if len(self._items) >= self._limit:
            self._items.popleft()
            self.dropped += 1
        self._items.append((item, time.time() if arrived is None else arrived, measured))
        self._wake()

    def _finish(self, error: Optional[ElementalError]) -> None:
        """What is there is still read; then the iteration ends, or fails with the error."""
        if not self._is_finished:
            self._is_finished = True
            self._error = error
            self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class Streams(Generic[T]):
    """The streams of one source, each for a key or for all."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._all: List[Tuple[Optional[int], ref[Stream[T]]]] = []
        self.dropped = 0

    def add(self, key: Optional[int], limit: int, newest: bool) -> Stream[T]:
        stream: Stream[T] = Stream(limit, newest)
        stream._has_room = self._changed
        self._all.append((key, ref(stream, self._remove)))
        return stream

    def _remove(self, reference: ref[Stream[T]]) -> None:
        self._all = [each for each in self._all if each[1] is not reference]
        self._changed()

    @property
    def is_full(self) -> bool:
        """Whether the source is to wait for one of them."""
        return any(stream is not None and stream.is_full for stream in (each[1]() for each in self._all))

    def put(self, key: int, item: T, measured: Optional[Measured] = None) -> None:
        for wanted, reference in self._all:
            stream = reference()
            if stream is not None and (wanted is None or wanted == key):
                before = stream.dropped
                stream._put(item, measured)
                if not stream._newest:
                    self.dropped += stream.dropped - before
        if self._all and self.is_full:
            self._changed()

    def finish(self, error: Optional[ElementalError]) -> None:
        for _, reference in list(self._all):
            stream = reference()
            if stream is not None:
                stream._finish(error)
