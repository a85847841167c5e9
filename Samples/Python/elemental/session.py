"""One TCP connection of either end: frames, pieces, heartbeat, and what waits to be sent."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from dataclasses import dataclass
from typing import Deque, Dict, Iterator, List, Optional, Tuple, cast

from . import frames
from .clock import ClockExchange, Measured
from .elements import Element
from .errors import (
    ClosedByPeer,
    ClosedHere,
    Disconnected,
    InvalidValue,
    ProtocolViolation,
    QueueFull,
    TimedOut,
    closing_error,
)
from .frames import Frame, FrameDecoder, Hello
from .outbox import Outbox
from .values import Value


@dataclass(frozen=True)
class Limits:
    """The bounds of a connection. Sizes are in bytes, times in seconds."""

    value_bytes: int = 128 << 20
    """The longest value that is accepted. A service that expects small values should lower it."""
    queue_bytes: int = 8 << 20
    """How much may wait to be sent. One value may, however long it is."""
    handshake_timeout: float = 10
    """How long the other end has to introduce itself."""
    ping_interval: float = 20
    """After so long without receiving or sending anything, the other end is pinged."""
    silence_timeout: float = 90
    """After so long without hearing of the other end, the connection has timed out."""
    close_timeout: float = 1
    """How long a connection that is closed may still send what waits."""
    unknown_in_a_row: int = 1_000_000
    """How many values of unknown elements may follow one another."""


@dataclass
class Statistics:
    """What a connection has counted."""

    messages_sent: int = 0
    bytes_sent: int = 0
    messages_received: int = 0
    bytes_received: int = 0
    unknown: int = 0
    """Values of identifiers that this end does not know, and of the system's that do not belong there."""
    malformed: int = 0
    """Values of a wrong length or form, and datagrams."""
    rejected: int = 0
    """Values outside a range or the choices, and those that the other end may not send."""
    times_rejected: int = 0
    """Times of measurement before 1970 or after 2100. Their values were taken without."""
    replaced: int = 0
    """Values that were not sent, because a newer one had come."""
    dropped: int = 0
    """Datagrams that the system did not take, and values that a reader of this program was too slow for."""


class IncompleteBytes:
    """What all connections of an end hold of incomplete values, with a bound."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.count = 0


class _Large:
    """A value of which the pieces arrive."""

    def __init__(self, id: int, total: int, is_kept: bool) -> None:
        self.id = id
        self.total = total
        self.is_kept = is_kept
        self.arrived = 0
        self.value = bytearray()


MAXIMUM_PINGS = 64
"""How many pings of this end may be unanswered."""


class Session(asyncio.Protocol):
    """What both ends of a connection have in common. A subclass says what its end does with each value."""

    def __init__(self, limits: Limits, incomplete: Optional[IncompleteBytes] = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.limits = limits
        self.statistics = Statistics()
        self.outbox = Outbox(limits.queue_bytes)
        self.peer: Optional[Hello] = None
        """The other end's hello."""
        self.ended: asyncio.Future[Disconnected] = self.loop.create_future()
        """Done, with how it ended, once the connection is gone."""
        self.address: Tuple[str, int] = ("", 0)
        """The other end's."""
        self._transport: Optional[asyncio.Transport] = None
        self._decoder = FrameDecoder(self._keep)
        self._frames: Optional[Iterator[Frame]] = None
        self._unread: Deque[bytes] = deque()
        self._holders: set[object] = set()
        self._large: Optional[_Large] = None
        self.clock = ClockExchange()
        """What is known of the other end's clock."""
        self.times: Dict[int, Measured] = {}
        """When the newest values received of timed elements were measured."""
        self._times_ahead: Dict[int, int] = {}
        self._taken = 0
        self._incomplete = incomplete or IncompleteBytes(limits.value_bytes * 2 + (1 << 20))
        self._incomplete_here = 0
        self._unknown_in_a_row = 0
        self._is_writing_paused = False
        self._flush_is_due = False
        self._waiting: List[asyncio.Future[None]] = []
        self._cause: Optional[Disconnected] = None
        self._is_closing = False
        self._has_ended_output = False
        self._pings: Dict[bytes, asyncio.Future[float]] = {}
        self._next_ping = 0
        now = self.loop.time()
        self._received_at = now
        self._sent_at = now
        self._pinged_at = now
        self._timers: List[asyncio.TimerHandle] = []
        self._heartbeat: Optional[asyncio.TimerHandle] = None

    # What a subclass decides.

    def opened(self) -> None:
        """The connection stands."""
        raise NotImplementedError

    def element(self, id: int) -> Optional[Element]:
        """The element of this identifier."""
        raise NotImplementedError

    def may_receive(self, element: Element) -> bool:
        """Whether the other end may send values of it."""
        raise NotImplementedError

    def received(self, element: Element, value: Value, via: str) -> None:
        """A value that may be had."""
        raise NotImplementedError

    def refused(self, element: Element, error: Optional[InvalidValue]) -> None:
        """A value outside what the element may have, or, without an error, one that the other end may not send."""
        raise NotImplementedError

    def system_frame(self, frame: Frame) -> bool:
        """Takes an element of the system that is not the same at both ends. False if it does not belong there."""
        raise NotImplementedError

    def system_limit(self, id: int) -> int:
        """How much is buffered of an element of the system."""
        return {
            frames.DEVICE_NAME: 1024,
            frames.SHUTDOWN: 1024,
            frames.HELLO_ID: 1024,
            frames.UDP_IDENTIFIER: 1,
            frames.PING: 1024,
            frames.PONG: 1024,
            frames.PIECES_TAKEN: 4,
            frames.REFUSED: 1026,
            frames.ADMISSION: 1024,
            frames.DATAGRAM_SECRET: 33,
            frames.PIECE_ID: frames.PIECE.size + frames.PIECE_BYTES,
            frames.CLOCK_ID: frames.CLOCK.size,
            frames.TIMED_VALUE: frames.TIMED.size + frames.WHOLE_BYTES,
        }.get(id, 0)

    def flushed(self) -> None:
        """There is room again in what waits to be sent."""

    def farewell(self, error: Disconnected) -> bytes:
        """What is said last to the other end when this one ends the connection."""
        return b""

    def has_ended(self, error: Disconnected) -> None:
        """The connection is gone."""

    # The transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        if peer:
            self.address = (str(peer[0]), int(peer[1]))
        configure_socket(transport.get_extra_info("socket"), self.limits)
        self.opened()
        self._schedule_heartbeat()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        for timer in self._timers:
            timer.cancel()
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        error = self._cause or closing_error(exc)
        self._is_closing = True
        self._account(0)
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        for ping in self._pings.values():
            if not ping.done():
                ping.set_exception(error)
                ping.exception()
        self._pings.clear()
        if not self.ended.done():
            self.ended.set_result(error)
        self.has_ended(error)

    def eof_received(self) -> bool:
        if self._cause is None:
            self._cause = ClosedByPeer("the other end closed the connection")
        return False

    def pause_writing(self) -> None:
        self._is_writing_paused = True

    def resume_writing(self) -> None:
        self._is_writing_paused = False
        self._flush()

    # Ending.

    @property
    def is_open(self) -> bool:
        """Whether values can be sent."""
        return self._transport is not None and not self._is_closing

    def end(self, error: Disconnected) -> None:
        """Ends the connection: what waits is sent, and the farewell, for at most the close timeout."""
        if self._is_closing:
            return
        self._is_closing = True
        if self._cause is None:
            self._cause = error
        if self._transport is None:
            return
        self._timers.append(self.loop.call_later(self.limits.close_timeout, self._transport.abort))
        # What arrives from now on is read, so that the other end can finish, and dropped: nobody hears how much of a value
        # in pieces was taken.
        self.outbox.has_window = False
        self._unread.clear()
        self._frames = None
        self._transport.resume_reading()
        self._flush()

    def abort(self, error: Disconnected) -> None:
        """Ends the connection at once."""
        if self._cause is None:
            self._cause = error
        self._is_closing = True
        if self._transport is not None:
            self._transport.abort()

    def violation(self, what: str) -> None:
        """Ends the connection because the other end broke the rules."""
        self.end(ProtocolViolation(f"the other end broke the rules of the wire: {what}"))

    def _end_output(self) -> None:
        """All has been handed over: the other end reads it, and closes."""
        if self._has_ended_output or self._transport is None:
            return
        self._has_ended_output = True
        farewell = self.farewell(self._cause) if self._cause is not None else b""
        if farewell:
            self._transport.write(farewell)
        # To close while bytes of the other end are unread would reset the connection, and what it has not read yet
        # would be lost.
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()

    def after(self, delay: float, action: object) -> None:
        """Calls something later, unless the connection has ended."""
        self._timers.append(self.loop.call_later(delay, action))  # type: ignore[arg-type]

    # Receiving.

    def hold(self, holder: object) -> None:
        """Stops reading until the holder lets go: it has more than it can take."""
        self._holders.add(holder)
        if self._transport is not None and not self._is_closing:
            self._transport.pause_reading()

    def let_go(self, holder: object) -> None:
        self._holders.discard(holder)
        if self._holders or self._transport is None or self._is_closing:
            return
        self._received_at = self.loop.time()
        self.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        while not self._holders and not self._is_closing:
            if self._frames is not None:
                self._handle()
            elif self._unread:
                self._frames = self._decoder.feed(self._unread.popleft())
            else:
                if self._transport is not None:
                    self._transport.resume_reading()
                return

    def data_received(self, data: bytes) -> None:
        self._received_at = self.loop.time()
        self.statistics.bytes_received += len(data)
        if self._is_closing:
            return
        if self._frames is not None or self._holders:
            self._unread.append(data)
            return
        self._frames = self._decoder.feed(data)
        self._handle()

    def _handle(self) -> None:
        """Handles frames until there are no more, or somebody cannot take more."""
        iterator = self._frames
        if iterator is None:
            return
        try:
            for frame in iterator:
                self._frame(frame)
                if self._frames is not iterator:
                    return
                if self._holders:
                    return
        except ProtocolViolation as error:
            self.end(error)
            return
        if self._frames is iterator:
            self._frames = None
        self._account(self._decoder.buffered + (len(self._large.value) if self._large else 0))

    def _account(self, incomplete: int) -> None:
        self._incomplete.count += incomplete - self._incomplete_here
        self._incomplete_here = incomplete
        if incomplete > self.limits.value_bytes + frames.WHOLE_BYTES:
            self.violation("its incomplete values are too long together")
        elif incomplete and self._incomplete.count > self._incomplete.limit:
            self.violation("the incomplete values of all connections are too long together")

    def _keep(self, id: int, length: int) -> int:
        limit = self.limits.value_bytes
        if id < 0:
            if length > limit + (1 << 20):
                raise ProtocolViolation(f"the other end announced {length} bytes of the system's element {id}")
            return self.system_limit(id)
        if length > limit:
            raise ProtocolViolation(f"the other end announced a value of {length} bytes; {limit} are accepted")
        return length if self._is_kept(id, length) else 0

    def _is_kept(self, id: int, length: int) -> bool:
        element = self.element(id)
        if element is None or not self.may_receive(element):
            return False
        size = element.value_type.size
        return size is None or size == length

    def _frame(self, frame: Frame) -> None:
        self.statistics.messages_received += 1
        if frame.id >= 0:
            self.take_value(frame.id, frame.value, frame.length, "tcp")
        elif frame.id == frames.PIECES_TAKEN:
            if frame.length != 4 or not self.outbox.acknowledge(int.from_bytes(frame.value, "little")):
                self.statistics.malformed += 1
            self._flush()
        elif frame.id == frames.PING:
            self.take_ping(frame.value, frame.length, "tcp")
        elif frame.id == frames.PONG:
            self.take_pong(frame.value)
        elif frame.id == frames.PIECE_ID and self.peer is not None:
            self._piece(frame)
        elif frame.id == frames.TIMED_VALUE and self.peer is not None:
            self.take_timed(frame.value, frame.length, "tcp")
        elif not self.system_frame(frame):
            self._unknown()

    def _unknown(self) -> None:
        self.statistics.unknown += 1
        self._unknown_in_a_row += 1
        if self._unknown_in_a_row > self.limits.unknown_in_a_row:
            raise ProtocolViolation("the other end sent nothing but values of unknown elements")

    def take_timed(self, data: bytes, length: int, via: str) -> None:
        """The value of -17. A peer that has sent a hello sends it."""
        found = frames.split_timed(data)
        if found is None or len(data) != length:
            self.statistics.malformed += 1
            return
        id, time, value = found
        if value is None:
            element = self.element(id)
            if via != "tcp":
                self.statistics.malformed += 1
            elif element is None or not element.timed:
                self._unknown()
            else:
                self._times_ahead[id] = time
        elif len(value) <= self.limits.value_bytes:
            self.take_value(id, value, len(value), via, time)
        elif via == "tcp":
            raise ProtocolViolation(f"the other end sent a value of {len(value)} bytes; {self.limits.value_bytes} are accepted")
        else:
            self.statistics.malformed += 1

    def take_value(self, id: int, data: bytes, length: int, via: str, time: Optional[int] = None) -> None:
        """A value of a user's element, of which `data` may have been left out if it cannot be accepted.

        The time is that of its measurement, in microseconds of the other end's clock.
        """
        ahead = self._times_ahead.pop(id, None) if via == "tcp" else None
        element = self.element(id)
        if element is None:
            self._unknown()
            return
        self._unknown_in_a_row = 0
        size = element.value_type.size
        if size is not None and length != size:
            self.statistics.malformed += 1
            return
        if not self.may_receive(element):
            self.statistics.rejected += 1
            self.refused(element, None)
            return
        if len(data) != length or (not length and self.peer is None):
            self.statistics.malformed += 1
            return
        try:
            value = element.value_type.decode(data)
        except InvalidValue:
            self.statistics.malformed += 1
            return
        try:
            element.check(value)
        except InvalidValue as error:
            self.statistics.rejected += 1
            self.refused(element, error)
            return
        if element.timed:
            self._note_time(id, ahead if time is None else time)
        self.received(element, value, via)

    def _note_time(self, id: int, time: Optional[int]) -> None:
        if time is not None and not self.clock.is_plausible(time):
            self.statistics.times_rejected += 1
            time = None
        if time is None:
            self.times.pop(id, None)
        else:
            self.times[id] = Measured(self.clock, time)

    def _piece(self, frame: Frame) -> None:
        if not frame.is_whole or frame.length <= frames.PIECE.size:
            raise ProtocolViolation("the other end sent a piece of a wrong size")
        id, total, offset = frames.PIECE.unpack_from(frame.value)
        count = frame.length - frames.PIECE.size
        large = self._large
        if large is None:
            if id < 0 or total > self.limits.value_bytes or offset or count > total:
                raise ProtocolViolation("the other end sent a piece that is not the first one of a value")
            large = self._large = _Large(id, total, self._is_kept(id, total))
        elif id != large.id or total != large.total or offset != large.arrived or offset + count > total:
            raise ProtocolViolation("the other end sent a piece that does not follow the previous one")
        if large.is_kept:
            large.value += memoryview(frame.value)[frames.PIECE.size :]
        large.arrived += count
        self._taken = (self._taken + count) & 0xFFFFFFFF
        self.send_frame(frames.PIECES_TAKEN, struct.pack("<I", self._taken))
        if large.arrived == total:
            self._large = None
            self.take_value(id, bytes(large.value), total, "tcp")

    # Pings.

    def take_ping(self, value: bytes, length: int, via: str) -> None:
        if not self.peer or length != len(value) or not length:
            self.statistics.malformed += 1
        elif via == "udp":
            self.send_datagram(frames.PONG, value)
        elif self.outbox.has_room(length):
            self.send_frame(frames.PONG, value)

    def take_pong(self, value: bytes) -> None:
        waiting = self._pings.pop(value, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(self.loop.time())

    def send_datagram(self, id: int, value: bytes) -> bool:
        """Sends a value in a datagram, if the other end can have any."""
        raise NotImplementedError

    async def ping(self, via: str = "tcp", timeout: float = 5) -> float:
        """Pings the other end and returns the round trip in seconds. Raises TimedOut, QueueFull or Disconnected."""
        if not self.is_open:
            raise self.why_not_open()
        if len(self._pings) >= MAXIMUM_PINGS:
            raise QueueFull(f"{MAXIMUM_PINGS} pings are unanswered")
        self._next_ping += 1
        data = struct.pack("<Q", self._next_ping)
        answer: asyncio.Future[float] = self.loop.create_future()
        self._pings[data] = answer
        begin = self.loop.time()
        if via == "udp":
            self.send_datagram(frames.PING, data)
        else:
            self.send_frame(frames.PING, data)
        try:
            return await asyncio.wait_for(answer, timeout) - begin
        except asyncio.TimeoutError:
            raise TimedOut(f"no answer to a ping within {timeout:g} s") from None
        finally:
            self._pings.pop(data, None)

    @property
    def peer_answers_pings(self) -> bool:
        return self.peer is not None and bool(self.peer.features & frames.ANSWERS_PINGS)

    def _schedule_heartbeat(self) -> None:
        pause = max(0.01, min(self.limits.ping_interval, self.limits.silence_timeout) / 4)
        self._heartbeat = self.loop.call_later(pause, self._beat)

    def _beat(self) -> None:
        if self._is_closing:
            return
        self._schedule_heartbeat()
        # An older end is not pinged: the system probes it (`configure_socket`). An end that does not read hears nothing.
        if not self.peer_answers_pings or self._holders:
            return
        now = self.loop.time()
        if now - self._received_at >= self.limits.silence_timeout:
            self.abort(TimedOut(f"nothing was heard of the other end for {self.limits.silence_timeout:g} s"))
        elif min(now - self._pinged_at, now - min(self._received_at, self._sent_at)) >= self.limits.ping_interval:
            self._pinged_at = now
            self.send_frame(frames.PING, b"\0")

    # Sending.

    def why_not_open(self) -> Disconnected:
        """The error of what needs a connection when there is none."""
        return self._cause or ClosedHere("the connection is closed")

    def send_frame(self, id: int, value: bytes) -> None:
        """Sends an element of the system, whatever waits."""
        if self.is_open:
            self.outbox.add(id, value)
            self._schedule_flush()

    @property
    def takes_times(self) -> bool:
        """Whether the other end takes values with times."""
        return self.peer is not None and bool(self.peer.features & frames.TAKES_TIMES)

    @property
    def exchanges_times(self) -> bool:
        """Whether the other end tells the times of its clock."""
        return self.peer is not None and bool(self.peer.features & frames.EXCHANGES_TIMES)

    def in_datagram(self, element: Element, data: bytes, time: Optional[int]) -> Tuple[int, bytes]:
        """The identifier and the value of a message, with the time of its measurement if the other end takes it."""
        if time is None or not self.takes_times:
            return element.id, data
        return frames.TIMED_VALUE, frames.timed(element.id, time) + data

    def send_value(self, element: Element, data: bytes, time: Optional[int] = None) -> None:
        """Queues a value over TCP, of a timed element with the microseconds of its measurement.

        Raises QueueFull or Disconnected.
        """
        if not self.is_open:
            raise self.why_not_open()
        if not data and not (self.peer and self.peer.features & frames.ACCEPTS_EMPTY):
            raise InvalidValue(f"{element.name}: the other end, an older one, does not take empty values")
        if not self.can_queue(element, len(data)):
            raise QueueFull(f"{self.outbox.size} bytes wait for the other end, which is slower")
        self.outbox.add(element.id, data, element.latest, time if self.takes_times else None)
        self.statistics.replaced = self.outbox.replaced
        self._schedule_flush()

    def can_queue(self, element: Element, count: int) -> bool:
        return self.outbox.has_room(count) or (element.latest and self.outbox.holds(element.id))

    async def room(self, element: Element, count: int) -> None:
        """Waits until a value of so many bytes can be queued. Raises Disconnected."""
        while True:
            if not self.is_open:
                raise self.why_not_open()
            if self.can_queue(element, count):
                return
            await self._change()

    async def drained(self) -> None:
        """Waits until all that was queued is with the system, and pieces are acknowledged. Raises Disconnected."""
        while not self.outbox.is_empty or self.outbox.has_large:
            if not self.is_open:
                raise self.why_not_open()
            await self._change()

    async def _change(self) -> None:
        waiting: asyncio.Future[None] = self.loop.create_future()
        self._waiting.append(waiting)
        try:
            await waiting
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    def _schedule_flush(self) -> None:
        # What is sent in one turn of the loop leaves in one write.
        if not self._flush_is_due and not self._is_writing_paused:
            self._flush_is_due = True
            self.loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_is_due = False
        transport = self._transport
        if transport is None or transport.is_closing() or self._has_ended_output:
            return
        while not self._is_writing_paused:
            parts, size = [], 0
            while size < frames.PIECE_BYTES:
                part = self.outbox.next()
                if part is None:
                    break
                parts.append(part)
                size += len(part)
            if not parts:
                break
            self.statistics.messages_sent += len(parts)
            self.statistics.bytes_sent += size
            self._sent_at = self.loop.time()
            transport.write(b"".join(parts))
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)
        if not self._is_closing:
            self.flushed()
        elif self.outbox.is_empty:
            self._end_output()


def configure_socket(sock: Optional[socket.socket], limits: Limits) -> None:
    """No gathering of small segments; probes for an end that does not answer pings."""
    if sock is None:
        return
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        interval = max(1, round(limits.ping_interval))
        for option in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
            if hasattr(socket, option):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), interval)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(limits.silence_timeout * 1000)))
    except OSError:
        pass  # The connection has gone already, which is noticed at once.
