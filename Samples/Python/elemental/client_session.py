"""A client's end of a connection: what it says first, and what it does with the frames of a service."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from . import frames
from .admission import MAXIMUM_BYTES, MAXIMUM_FRAME, ClientAdmission
from .clock import FIRST_EXCHANGES, MachineClock
from .datagrams import DatagramSocket
from .discovery import Place
from .elements import Catalogue, Element
from .errors import (
    ClosedHere,
    Disconnected,
    ElementalError,
    InvalidCatalogue,
    InvalidValue,
    ProtocolViolation,
    ShutDown,
    TimedOut,
    ValueRefused,
)
from .frames import ClockFrame, Frame, Hello
from .history import MAXIMUM_ANSWER_BYTES, HistoryAnswer, Start, request
from .session import Session
from .values import Value

if TYPE_CHECKING:
    from .client import Device

OLDER_SERVICE_DELAY = 0.5
"""How long a client waits for the hello of a service of which it does not know whether it sends one, in seconds."""
CLOCK_INTERVAL = 1.0
"""How long a client waits before it asks for the time again while values carry times, in seconds."""


class ClientSession(Session):
    """A client's end of a connection."""

    def __init__(self, device: Device, place: Place, admission: Optional[ClientAdmission]) -> None:
        super().__init__(device._limits)
        self._device = device
        self._place = place
        self._admission = admission
        self.ready: asyncio.Future[None] = self.loop.create_future()
        self.identifier: Optional[int] = None
        self.catalogue: Optional[Catalogue] = None
        self.udp: Optional[DatagramSocket] = None
        self.gathered = frames.Datagrams()
        self._is_checking = False
        self._bytes_before = 0
        self._clock_is_started = False
        self._clock_timer: Optional[asyncio.TimerHandle] = None
        self._history_requests: Dict[int, asyncio.Future[HistoryAnswer]] = {}
        self._next_token = 0

    # Before the session.

    def opened(self) -> None:
        pass

    def begin(self) -> None:
        """Says who this is; the datagrams' socket is there, if there is one."""
        if self._admission is not None:
            self.send_frame(frames.ADMISSION, self._admission.begin())
        else:
            self._introduce()

    def _introduce(self) -> None:
        features = (
            frames.ACCEPTS_EMPTY
            | frames.ANSWERS_PINGS
            | frames.WANTS_CATALOGUE
            | frames.ACCEPTS_PIECES
            | frames.TELLS_REFUSALS
            | frames.EXCHANGES_TIMES
            | frames.TAKES_TIMES
            | frames.KEEPS_HISTORY
        )
        self.send_frame(frames.DEVICE_NAME, self._device._own_name.encode()[:1024])
        if self._admission is not None and self.udp is not None:
            self.send_frame(frames.DATAGRAM_SECRET, b"\x01" + self._admission.client_secret)
        self.send_frame(frames.HELLO_ID, Hello(1, features, self.udp.port if self.udp else 0).encode())

    def _admit(self, admission: ClientAdmission, value: bytes) -> None:
        try:
            admission.take(value)
        except ElementalError as error:
            self._fail(error)
        else:
            self._introduce()

    def _fail(self, error: ElementalError) -> None:
        if not self.ready.done():
            self.ready.set_exception(error)
        self.end(error if isinstance(error, Disconnected) else ClosedHere(str(error)))

    def _progress(self) -> None:
        """Looks whether all is there that the first frames bring."""
        if self.ready.done() or self._is_checking or self.identifier is None:
            return
        if self.peer is None:
            if self._place.says_hello is False:
                self.catalogue = None
                self._become_ready()
            elif self._place.says_hello is None:
                self._is_checking = True
                self.after(OLDER_SERVICE_DELAY, self._is_older)
            return
        if self.peer.features & frames.HAS_CATALOGUE and self.catalogue is None:
            return
        self._is_checking = True
        self._become_ready()

    def _is_older(self) -> None:
        if self.peer is None:
            self._become_ready()

    def _become_ready(self) -> None:
        if self.ready.done():
            return
        try:
            self._device._check_catalogue(self.catalogue)
        except ElementalError as error:
            self._fail(error)
            return
        # Its answer comes before that to the ping: when the device is ready, it knows the times of the current values.
        self._start_clock()
        if not self.peer_answers_pings:
            self.ready.set_result(None)
            return
        # The current values come right behind the catalogue; the answer to a ping comes behind them.
        waiting: asyncio.Future[float] = self.loop.create_future()
        self._pings[b"ready"] = waiting
        waiting.add_done_callback(self._has_values)
        self.send_frame(frames.PING, b"ready")

    def _has_values(self, waiting: asyncio.Future[float]) -> None:
        if not self.ready.done() and not waiting.cancelled() and waiting.exception() is None:
            self.ready.set_result(None)

    # The frames of a service.

    def element(self, id: int) -> Optional[Element]:
        return self._device._element(id, self.catalogue)

    def may_receive(self, element: Element) -> bool:
        return element.is_readable

    def received(self, element: Element, value: Value, via: str) -> None:
        self._device._received(element, value, self.times.get(element.id))

    def refused(self, element: Element, error: Optional[InvalidValue]) -> None:
        pass

    def system_limit(self, id: int) -> int:
        return {frames.CATALOGUE: 1 << 20, frames.HISTORY: MAXIMUM_ANSWER_BYTES}.get(id) or super().system_limit(id)

    def _keep(self, id: int, length: int) -> int:
        if self._is_before_session and id not in (frames.ADMISSION, frames.SHUTDOWN):
            raise ProtocolViolation(f"the other end sent {id} before it admitted this client")
        if self._is_before_session:
            self._bytes_before += length + frames.FRAME.size
            if length + frames.FRAME.size > MAXIMUM_FRAME or self._bytes_before > MAXIMUM_BYTES:
                raise ProtocolViolation("the other end sent too much before it admitted this client")
        return super()._keep(id, length)

    @property
    def _is_before_session(self) -> bool:
        return self._admission is not None and not self._admission.is_done

    def system_frame(self, frame: Frame) -> bool:
        id, value = frame.id, frame.value
        if id == frames.ADMISSION and self._admission is not None and not self._admission.is_done:
            self._admit(self._admission, value)
        elif id == frames.UDP_IDENTIFIER and self.identifier is None:
            if frame.length != 1:
                self.statistics.malformed += 1
                return True
            self.identifier = value[0]
            self._progress()
        elif id == frames.SHUTDOWN:
            error = ShutDown(value.decode(errors="replace"))
            if not self.ready.done():
                self.ready.set_exception(error)
            self.end(error)
        elif id == frames.HELLO_ID and self.peer is None:
            self.peer = Hello.decode(value)
            if self.peer is None:
                self.statistics.malformed += 1
                return True
            self._is_checking = False
            self.outbox.sends_pieces = bool(self.peer.features & frames.ACCEPTS_PIECES)
            self._progress()
            if self.ready.done():
                self._start_clock()
        elif id == frames.CATALOGUE and self.peer is not None and self.catalogue is None:
            self._take_catalogue(frame)
        elif id == frames.REFUSED and self.peer is not None:
            self._take_refusal(value)
        elif id == frames.DATAGRAM_SECRET and self._admission is not None and self.peer is None:
            if frame.length != 33 or value[0] != 1 or not self._admission.seal(value[1:], self.identifier or 0):
                raise ProtocolViolation("the other end sent a wrong secret of datagrams")
        elif id == frames.CLOCK_ID and self.exchanges_times:
            return self._take_time(frame)
        elif id == frames.HISTORY and self.keeps_history:
            self._take_history(frame)
        else:
            return False
        return True

    def _take_catalogue(self, frame: Frame) -> None:
        try:
            if not frame.is_whole:
                raise InvalidCatalogue(f"the catalogue has {frame.length} bytes")
            self.catalogue = Catalogue.decode(frame.value)
        except InvalidCatalogue as error:
            self.statistics.malformed += 1
            if self._device._own_elements is None:
                self._fail(error)
                return
            # With elements of its own a client goes on without it.
            self.catalogue = Catalogue()
            self._device._ignores_catalogue = True
        self._progress()

    def _take_refusal(self, value: bytes) -> None:
        if len(value) < 2:
            self.statistics.malformed += 1
            return
        element = self.element(int.from_bytes(value[:1], "little", signed=True))
        if element is None:
            self.statistics.malformed += 1
            return
        reason = frames.REASONS.get(value[1], "service")
        self._device._refused(element, ValueRefused(element.name, reason, value[2:].decode(errors="replace")))

    # The service's clock.

    def _start_clock(self) -> None:
        if self.exchanges_times and self.is_open and not self._clock_is_started:
            self._clock_is_started = True
            self._ask_for_time()

    def _ask_for_time(self) -> None:
        if not self.is_open:
            return
        # Nobody needs the answer if there is no room for it, and while nothing is read it would come late.
        if not self._holders and self.outbox.has_room(frames.CLOCK.size):
            request = self.clock.request(MachineClock.now(), secrets.randbits(64))
            if request is not None:
                self.send_frame(frames.CLOCK_ID, request.encode())
        if self._clock_timer is None and self._wants_times:
            self._clock_timer = self.loop.call_later(CLOCK_INTERVAL, self._ask_again)

    def _ask_again(self) -> None:
        self._clock_timer = None
        self._ask_for_time()

    @property
    def _wants_times(self) -> bool:
        return self.clock.count < FIRST_EXCHANGES or self._device._uses_times(self.catalogue)

    def _take_time(self, frame: Frame) -> bool:
        now = MachineClock.now()
        answer = ClockFrame.decode(frame, frames.CLOCK_ANSWER)
        if answer is None:
            self.statistics.malformed += 1
            return True
        if not self.clock.take(answer, now):
            return False
        if self.clock.count < FIRST_EXCHANGES:
            self._ask_for_time()
        if not self._wants_times:
            self._stop_clock()
        return True

    def _stop_clock(self) -> None:
        if self._clock_timer is not None:
            self._clock_timer.cancel()
            self._clock_timer = None

    async def peer_time(self, own: int) -> int:
        """Microseconds of this machine's clock by the service's. Raises TimedOut or Disconnected."""
        if not self.clock.is_known and self.exchanges_times:
            # The answer comes before that to a ping that follows.
            self._ask_for_time()
            await self.ping("tcp", self._device._timeout)
        time = self.clock.peer_time(own)
        if time is None:
            raise TimedOut(f"{self._device.name} has not told the time of its clock, so no time can be asked for")
        return time

    # Values of the past.

    @property
    def keeps_history(self) -> bool:
        """Whether the service answers requests for values of the past."""
        return self.peer is not None and bool(self.peer.features & frames.KEEPS_HISTORY)

    def ask_history(self, element: int, start: Start, waits: bool) -> asyncio.Future[HistoryAnswer]:
        """Asks for values of the past. The answer may be a refusal; Disconnected if the connection ends before."""
        if not self.is_open:
            raise self.why_not_open()
        answer: asyncio.Future[HistoryAnswer] = self.loop.create_future()
        self._next_token += 1
        self._history_requests[self._next_token] = answer
        self.send_frame(frames.HISTORY, request(self._next_token, element, start, waits))
        return answer

    def _take_history(self, frame: Frame) -> None:
        answer = HistoryAnswer.decode(frame.value) if frame.is_whole else None
        if answer is None:
            self.statistics.malformed += 1
            return
        waiting = self._history_requests.pop(answer.token, None)
        if waiting is None:
            self.statistics.unknown += 1
        else:
            waiting.set_result(answer)

    # Datagrams.

    def take_datagram(self, data: bytes, _: Tuple[Any, ...]) -> None:
        statistics = self.statistics
        statistics.bytes_received += len(data)
        if self.identifier is None or self.peer is None or not self.is_open:
            return
        newest = True
        if self._admission is not None:
            opened = self._admission.open_datagram(data)
            if opened is None:
                statistics.malformed += 1
                return
            data, newest = opened
        messages, is_whole = frames.split_datagram(data)
        if self._admission is None and not is_whole:
            statistics.malformed += 1
        if self._admission is not None and (not is_whole or any(each[1] != self.identifier for each in messages)):
            statistics.malformed += 1
            return
        for id, identifier, value in messages:
            statistics.messages_received += 1
            if identifier != self.identifier:
                statistics.malformed += 1
            elif id == frames.PING:
                self.take_ping(value[:1024], len(value), "udp")
            elif id == frames.PONG:
                self.take_pong(value)
            elif id < 0 and id != frames.TIMED_VALUE:
                statistics.unknown += 1
            else:
                element = self.element(value[0] if id < 0 and value else id)
                if element is not None and element.latest and not newest:
                    statistics.dropped += 1
                    continue
                try:
                    if id < 0:
                        self.take_timed(value, len(value), "udp")
                    else:
                        self.take_value(id, value, len(value), "udp")
                except ProtocolViolation as error:
                    self.end(error)
                    return

    @property
    def has_datagrams(self) -> bool:
        """Whether this end can send datagrams."""
        if not self.identifier or self.udp is None:
            return False
        return self._admission is None or self._admission.can_seal

    @property
    def maximum_datagram_value(self) -> int:
        return frames.DATAGRAM_BYTES - frames.MESSAGE.size - (24 if self._admission is not None else 0)

    def send_datagram(self, id: int, value: bytes) -> bool:
        if not self.has_datagrams or not self.is_open:
            return False
        full = self.gathered.add(frames.message(id, value, self.identifier or 0))
        if full is not None:
            self._send_sealed(full)
        self._schedule_flush()
        return True

    def flushed(self) -> None:
        datagram = self.gathered.take()
        if datagram is not None:
            self._send_sealed(datagram)

    def _schedule_flush(self) -> None:
        # Datagrams leave even where the stream has to wait.
        if not self._flush_is_due:
            self._flush_is_due = True
            self.loop.call_soon(self._flush)

    def _send_sealed(self, datagram: bytes) -> None:
        if self._admission is not None:
            datagram = self._admission.seal_datagram(datagram)
        if self.udp is None or not self.udp.send(datagram):
            self.statistics.dropped += 1
        else:
            self.statistics.messages_sent += 1
            self.statistics.bytes_sent += len(datagram)
            self._sent_at = self.loop.time()

    # The end.

    def has_ended(self, error: Disconnected) -> None:
        self._stop_clock()
        if self.udp is not None:
            self.udp.close()
        if not self.ready.done():
            self.ready.set_exception(error)
        if not self.ready.cancelled():
            self.ready.exception()
        for waiting in self._history_requests.values():
            waiting.set_exception(error)
            waiting.exception()
        self._history_requests.clear()
        self._device._wake_watchers()
