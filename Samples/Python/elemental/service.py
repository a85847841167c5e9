"""The service: publishes elements, and serves clients."""

from __future__ import annotations

import asyncio
import logging
import platform
import socket
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, Union

from . import frames
from .client import Key, _call
from .clock import MachineClock, Moment, ReceivedTime, microseconds
from .datagrams import DatagramSocket, plain_address
from .discovery import Publication, check_published, cut
from .elements import Catalogue, Element
from .errors import (
    ClosedHere,
    Disconnected,
    ElementalError,
    InvalidValue,
    MissingExtra,
    NotAChoice,
    NotSupported,
    ProtocolViolation,
    QueueFull,
    Refuse,
    TimedOut,
)
from .frames import ClockFrame, Frame, Hello
from .kept import FULL_BYTES, MAXIMUM_REQUEST_BYTES, Histories, HistoryRequest, HistoryRequests
from .session import IncompleteBytes, Limits, Session, Statistics
from .streams import Stream, Streams
from .values import Value

log = logging.getLogger("elemental")

MAXIMUM_REFUSALS = 16
"""How many connections that were refused may stay until they have read why."""


class Client:
    """A client of a service, as the service sees it."""

    def __init__(self, session: FollowedService) -> None:
        self._session = session
        self.name = ""

    @property
    def address(self) -> str:
        return plain_address(self._session.address[0])

    @property
    def is_connected(self) -> bool:
        return self._session.is_open

    @property
    def has_hello(self) -> bool:
        """Whether it speaks the extensions."""
        return self._session.peer is not None

    @property
    def statistics(self) -> Statistics:
        return self._session.statistics

    def time(self, key: Key) -> Optional[ReceivedTime]:
        """When the newest value received of a timed element was measured; within a handler, the value it was called with.

        None if the client does not say, and before the ends have exchanged times. Raises UnknownElement.
        """
        measured = self._session.times.get(self._session._service.elements.find(key).id)
        return measured.here() if measured is not None else None

    async def ping(self, via: str = "tcp", timeout: float = 5) -> float:
        """The round trip to the client in seconds, over "tcp" or "udp". Raises TimedOut or Disconnected."""
        return await self._session.ping(via, timeout)

    def disconnect(self, reason: str = "") -> None:
        """Ends the connection and tells the client why."""
        self._session.reason = reason
        self._session.end(ClosedHere(reason or "this service ended the connection"))

    def __repr__(self) -> str:
        return f"<Client {self.name!r} at {self.address}>"


class Received(NamedTuple):
    """A value that a client has set."""

    value: Value
    client: Client
    element: Element


class FollowedService(Session):
    """A service's end of a connection."""

    def __init__(self, service: Service) -> None:
        super().__init__(service._limits, service._incomplete)
        self._service = service
        self.client = Client(self)
        self.identifier = 0
        self.reason: Optional[str] = None
        self.is_introduced = False
        self.stale: Dict[int, Element] = {}
        self.gathered = frames.Datagrams()
        self._history_requests = HistoryRequests()
        self._history_answer_is_due = False

    def opened(self) -> None:
        why = self._service._arrived(self)
        if why is not None:
            if self._service._refusals >= MAXIMUM_REFUSALS:
                self.abort(ClosedHere(why))
                return
            self._service._refusals += 1
            self.ended.add_done_callback(self._service._refusal_ended)
            self.reason = why
            self.end(ClosedHere(why))
            return
        self.send_frame(frames.UDP_IDENTIFIER, bytes([self.identifier]))
        self.after(self.limits.handshake_timeout, self._check_introduced)

    def _check_introduced(self) -> None:
        if not self.is_introduced:
            self.end(TimedOut("the client sent neither a name nor a value"))

    def _introduce(self) -> None:
        if not self.is_introduced:
            self.is_introduced = True
            self._service._introduced(self)

    def farewell(self, error: Disconnected) -> bytes:
        return frames.frame(frames.SHUTDOWN, cut(self.reason if self.reason is not None else str(error), 1024).encode())

    # What a client sends.

    def element(self, id: int) -> Optional[Element]:
        return self._service.elements.by_id(id)

    def may_receive(self, element: Element) -> bool:
        return element.is_writable

    def received(self, element: Element, value: Value, via: str) -> None:
        self._introduce()
        self._service._received(element, value, self)

    def refused(self, element: Element, error: Optional[InvalidValue]) -> None:
        if error is None:
            self.tell_refusal(element, "read-only")
        else:
            self.tell_refusal(element, "choice" if isinstance(error, NotAChoice) else "range")

    def tell_refusal(self, element: Element, reason: str, text: str = "") -> None:
        """Tells the client, if it wants to know, and what the element's value is instead."""
        if self.peer is None or not self.peer.features & frames.TELLS_REFUSALS:
            return
        value = frames.refusal(element.id, reason, text)
        if self.outbox.has_room(len(value)):
            self.send_frame(frames.REFUSED, value)
            data = self._service._values.get(element.id)
            if data is not None and element.is_readable:
                self._queue(element, data)

    def system_limit(self, id: int) -> int:
        return MAXIMUM_REQUEST_BYTES if id == frames.HISTORY else super().system_limit(id)

    def system_frame(self, frame: Frame) -> bool:
        if frame.id == frames.DEVICE_NAME and not self.client.name:
            self.client.name = frame.value.decode(errors="replace")
            self._introduce()
        elif frame.id == frames.HELLO_ID and self.peer is None:
            self.peer = Hello.decode(frame.value)
            if self.peer is None:
                self.statistics.malformed += 1
                return True
            self._introduce()
            self._answer(self.peer)
        elif frame.id == frames.CLOCK_ID and self.exchanges_times:
            now = MachineClock.now()
            request = ClockFrame.decode(frame, frames.CLOCK_REQUEST)
            if request is None:
                self.statistics.malformed += 1
            elif self.outbox.has_room(frames.CLOCK.size):
                # A client that asks and reads nothing costs no more than a look.
                self.send_frame(frames.CLOCK_ID, self.clock.answer(request, now).encode())
        elif frame.id == frames.HISTORY and self.peer is not None and self.peer.features & frames.KEEPS_HISTORY:
            self._take_history_request(frame)
        else:
            return False
        return True

    def _answer(self, hello: Hello) -> None:
        self.outbox.sends_pieces = bool(hello.features & frames.ACCEPTS_PIECES)
        features = (
            frames.ACCEPTS_EMPTY
            | frames.HAS_CATALOGUE
            | frames.ANSWERS_PINGS
            | frames.ACCEPTS_PIECES
            | frames.TELLS_REFUSALS
            | frames.EXCHANGES_TIMES
            | frames.TAKES_TIMES
            | frames.KEEPS_HISTORY
        )
        self.send_frame(frames.HELLO_ID, Hello(1, features, 0).encode())
        if hello.features & frames.WANTS_CATALOGUE:
            self.send_frame(frames.CATALOGUE, self._service._catalogue_bytes)
        for element in self._service.elements:
            data = self._service._values.get(element.id)
            if data is not None and element.is_readable:
                self._queue(element, data)

    # Values of the past.

    def _take_history_request(self, frame: Frame) -> None:
        request = HistoryRequest.decode(frame.value) if frame.is_whole else None
        if request is None:
            self.statistics.malformed += 1
            return
        assert self._transport is not None
        # Otherwise many answers wait in the transport, and the next live value behind them.
        self._transport.set_write_buffer_limits(high=0)
        refusal = self._history_requests.take(request)
        if refusal is not None and self.outbox.has_room(len(refusal)):
            self.send_frame(frames.HISTORY, refusal)
        self._answer_history_later()

    def wake(self, element: Element) -> None:
        """A value of the element was kept."""
        if self._history_requests.wake(element.id):
            self._answer_history_later()

    def _answer_history_later(self) -> None:
        # One answer in each turn of the loop, so that a client with many requests does not hold up others.
        if self._history_requests.is_due and not self._history_answer_is_due:
            self._history_answer_is_due = True
            self.loop.call_soon(self._answer_history)

    def _answer_history(self) -> None:
        self._history_answer_is_due = False
        # Without room it is tried again when what waits was sent.
        if self.is_open and not self._is_writing_paused and self.outbox.size < FULL_BYTES and self._history_requests.is_due:
            answer = self._history_requests.answer(self._service._histories, microseconds(None))
            if answer is not None:
                self.send_frame(frames.HISTORY, answer)
            self._answer_history_later()

    # What the service sends.

    def send_change(self, element: Element, data: bytes) -> None:
        """Sends a new value to the client, or, if too much waits for it, the newest one later."""
        if not self.is_introduced or not self.is_open:
            return
        id, value = self.in_datagram(element, data, self._service._times.get(element.id))
        if element.is_udp and self.sends_datagrams and len(value) <= frames.DATAGRAM_BYTES - frames.MESSAGE.size:
            if data or self._accepts_empty:
                self.send_datagram(id, value)
        else:
            self._queue(element, data)

    @property
    def _accepts_empty(self) -> bool:
        return self.peer is not None and bool(self.peer.features & frames.ACCEPTS_EMPTY)

    def _queue(self, element: Element, data: bytes) -> None:
        if not data and not self._accepts_empty:
            return
        if element.id in self.stale:
            self.statistics.replaced += 1
            return
        try:
            self.send_value(element, data, self._service._times.get(element.id))
        except QueueFull:
            self.stale[element.id] = element

    def flushed(self) -> None:
        while self.stale:
            id, element = next(iter(self.stale.items()))
            data = self._service._values[id]
            if not self.can_queue(element, len(data)):
                break
            del self.stale[id]
            self._queue(element, data)
        datagram = self.gathered.take()
        if datagram is not None:
            self._send(datagram)
        self._answer_history_later()

    def _schedule_flush(self) -> None:
        # Datagrams leave even where the stream has to wait.
        if not self._flush_is_due:
            self._flush_is_due = True
            self.loop.call_soon(self._flush)

    @property
    def sends_datagrams(self) -> bool:
        return bool(self.identifier and self.peer is not None and self.peer.udp_port)

    def send_datagram(self, id: int, value: bytes) -> bool:
        if not self.sends_datagrams or not self.is_open:
            return False
        full = self.gathered.add(frames.message(id, value, self.identifier))
        if full is not None:
            self._send(full)
        self._schedule_flush()
        return True

    def _send(self, datagram: bytes) -> None:
        udp, port = self._service._udp, self.peer.udp_port if self.peer is not None else 0
        assert self._transport is not None
        peer = self._transport.get_extra_info("peername")
        if udp is None or not peer or not udp.send(datagram, (peer[0], port, *peer[2:])):
            self.statistics.dropped += 1
            return
        self.statistics.messages_sent += 1
        self.statistics.bytes_sent += len(datagram)
        self._sent_at = self.loop.time()

    def take_message(self, id: int, value: bytes) -> None:
        """A message of a datagram from this client."""
        self.statistics.messages_received += 1
        self._received_at = self.loop.time()
        if id == frames.PING:
            self.take_ping(value[:1024], len(value), "udp")
        elif id == frames.PONG:
            self.take_pong(value)
        elif id < 0 and (id != frames.TIMED_VALUE or self.peer is None):
            self.statistics.unknown += 1
        else:
            try:
                if id < 0:
                    self.take_timed(value, len(value), "udp")
                else:
                    self.take_value(id, value, len(value), "udp")
            except ProtocolViolation as error:
                self.end(error)

    def has_ended(self, error: Disconnected) -> None:
        self._service._left(self, error)


class Service:
    """Publishes elements and serves clients: `async with Service("robot", elements, name="Rover") as service:`.

    - service: the kind of service, 2 to 15 letters, digits, hyphens or underscores
    - elements: what clients see, a list of Element
    - name: the instance's, the host's by default; at most 63 bytes
    - port: for TCP and UDP; 0 for one that the system chooses
    - address: to listen on one local address only
    - udp: whether to use datagrams
    - publish: whether it can be found by Zeroconf; None means if the package `zeroconf` is installed
    - txt: what browsers show beside the name
    - adopt: whether a value that a client sets becomes the element's value, and all clients are told of it
    - maximum_clients, maximum_clients_per_address: further ones are refused, and told why
    - security: "open", the only one that this package has: an encrypted service has to ask clients for certificates that
      nobody has signed, and Python's ssl cannot do that. A service that has to be encrypted is `elemental publish` or one in
      Swift; this package is an encrypted client.

    Raises InvalidElement, InvalidCatalogue or NotSupported.
    """

    def __init__(
        self,
        service: str,
        elements: Union[Catalogue, Sequence[Element]],
        *,
        name: Optional[str] = None,
        port: int = 0,
        address: Optional[str] = None,
        udp: bool = True,
        publish: Optional[bool] = None,
        txt: Optional[Mapping[str, str]] = None,
        adopt: bool = True,
        limits: Limits = Limits(),
        maximum_clients: int = 256,
        maximum_clients_per_address: int = 64,
        maximum_incomplete_bytes: int = 256 << 20,
        security: str = "open",
    ) -> None:
        if security != "open":
            raise NotSupported(
                "a service of this package cannot be encrypted: Python's ssl cannot take the certificate of a client that"
                " it does not know. Use a network that you trust, or publish with the Swift command `elemental publish`"
            )
        self.service = service
        self.elements = elements if isinstance(elements, Catalogue) else Catalogue(list(elements))
        self.name = name if name is not None else cut(platform.node().partition(".")[0] or "Python", 63)
        self._txt = dict(txt or {})
        check_published(service, self.name, self._txt, publish is not False)
        self._wanted_port = port
        self._address = address
        self._uses_udp = udp
        self._publishes = publish
        self._adopts = adopt
        self._limits = limits
        self._maximum_clients = maximum_clients
        self._maximum_per_address = maximum_clients_per_address
        self._incomplete = IncompleteBytes(maximum_incomplete_bytes)
        self._catalogue_bytes = self.elements.encode()
        self._histories = Histories(self.elements)
        self._values: Dict[int, bytes] = {}
        self._times: Dict[int, int] = {}
        self._sessions: Dict[FollowedService, None] = {}
        self._by_identifier: Dict[int, FollowedService] = {}
        self._next_identifier = 1
        self._refusals = 0
        self._handlers: Dict[int, List[Callable[[Value, Client], None]]] = {}
        self._client_handlers: List[Callable[[Client, bool], None]] = []
        self._streams: Streams[Received] = Streams(self._streams_changed)
        self._server: Optional[asyncio.AbstractServer] = None
        self._udp: Optional[DatagramSocket] = None
        self._publishing: Optional[asyncio.Task[None]] = None
        self._publication: Optional[Publication] = None
        self._published: Optional[asyncio.Future[str]] = None
        self._is_stopping = False
        self.port = 0
        """Where it listens, once it is started."""

    # Running.

    async def start(self) -> None:
        """Listens, and publishes in the background. Raises OSError or MissingExtra."""
        if self._publishes is None or self._publishes:
            try:
                import zeroconf  # noqa: F401
            except ImportError:
                if self._publishes:
                    raise MissingExtra("publishing a service", "zeroconf") from None
                log.warning("the package zeroconf is not installed: clients reach the service by host and port only")
                self._publishes = False
            else:
                self._publishes = True
        loop = asyncio.get_running_loop()
        listener, datagrams = bind(self._address, self._wanted_port, self._uses_udp)
        self.port = listener.getsockname()[1]
        try:
            if datagrams is not None:
                self._udp = await DatagramSocket.open(datagrams, self._take_datagram)
            self._server = await loop.create_server(lambda: FollowedService(self), sock=listener)
        except BaseException:
            listener.close()
            if self._udp is not None:
                self._udp.close()
            raise
        self._published = loop.create_future()
        if self._publishes:
            self._publishing = loop.create_task(self._publish())

    async def _publish(self) -> None:
        delay = 1.0
        while True:
            self._publication = Publication(
                self.service, self.name, self.port, self._address, self._txt, self._is_published
            )
            try:
                await self._publication.publish()
                return
            except ElementalError as error:
                log.warning("%s; trying again in %g s", error, delay)
                await asyncio.sleep(delay)
                delay = min(60, delay * 2)

    def _is_published(self, name: str) -> None:
        self.name = name
        if self._published is not None and not self._published.done():
            self._published.set_result(name)

    async def published(self) -> str:
        """Waits until the service can be found, and returns the name that it got."""
        if self._published is None or not self._publishes:
            raise NotSupported("this service is not published")
        return await asyncio.shield(self._published)

    async def stop(self, reason: str = "the service was stopped") -> None:
        """Withdraws the service, tells its clients, and closes their connections."""
        if self._is_stopping:
            return
        self._is_stopping = True
        if self._publishing is not None:
            self._publishing.cancel()
            await asyncio.gather(self._publishing, return_exceptions=True)
        if self._server is not None:
            self._server.close()
        sessions = list(self._sessions)
        for session in sessions:
            session.reason = reason
            session.end(ClosedHere(reason))
        if sessions:
            await asyncio.wait([each.ended for each in sessions], timeout=self._limits.close_timeout + 5)
        if self._udp is not None:
            self._udp.close()
        if self._publication is not None:
            await self._publication.withdraw()
        self._streams.finish(None)

    async def run(self) -> None:
        """Serves until it is cancelled."""
        async with self:
            await asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Service:
        await self.start()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.stop()

    # Values.

    def set(self, key: Key, value: object, *, at: Optional[Moment] = None) -> None:
        """Gives an element a value and tells all clients; never waits.

        A client that is too slow gets the newest value of each element once it has caught up. `at` is when the value of an
        element that is timed, or has a history, was measured: seconds of `machine_time()`, or the time of a received value;
        None is this moment. Raises UnknownElement, InvalidValue, OutOfRange or NotAChoice.
        """
        element = self.elements.find(key)
        data = element.encode(value)
        if element.timed or element.history is not None:
            measured = microseconds(at)
            if element.timed:
                self._times[element.id] = measured
            self._histories.append(element.id, data, measured, microseconds(None))
        self._values[element.id] = data
        if element.is_readable:
            for session in list(self._sessions):
                session.send_change(element, data)
                if element.history is not None:
                    session.wake(element)

    def __setitem__(self, key: Key, value: object) -> None:
        """Gives an element a value, as `set`."""
        self.set(key, value)

    def __getitem__(self, key: Key) -> Optional[Value]:
        """The value of an element; None before there is one. Raises UnknownElement."""
        element = self.elements.find(key)
        data = self._values.get(element.id)
        return None if data is None else element.value_type.decode(data)

    def on_value(self, key: Key, handler: Callable[[Any, Client], None]) -> Callable[[], None]:
        """Calls a handler with each value that a client sets, and the client, on the event loop. Returns what removes it.

        A handler that raises Refuse("why") refuses the value: the client is told. It must not block.
        """
        if asyncio.iscoroutinefunction(handler):
            raise TypeError("a handler is a plain function; for coroutines use `async for … in service.values(…)`")
        handlers = self._handlers.setdefault(self.elements.find(key).id, [])
        handlers.append(handler)
        return lambda: handlers.remove(handler) if handler in handlers else None

    def values(self, key: Optional[Key] = None, *, newest: bool = False, limit: int = 1024) -> Stream[Received]:
        """The values that clients set, of an element or of all, for `async for value, client, element in …`.

        Once `limit` wait, the service stops reading from its clients; with `newest` only the newest one is kept.
        """
        return self._streams.add(None if key is None else self.elements.find(key).id, limit, newest)

    def on_client(self, handler: Callable[[Client, bool], None]) -> None:
        """Calls a handler when a client has come (True) or gone (False)."""
        self._client_handlers.append(handler)

    @property
    def clients(self) -> List[Client]:
        """Those that are connected and have said who they are."""
        return [each.client for each in self._sessions if each.is_introduced and each.is_open]

    # Of the sessions.

    def _arrived(self, session: FollowedService) -> Optional[str]:
        """Takes a connection, or says why not."""
        if self._is_stopping:
            return "the service is being stopped"
        if len(self._sessions) >= self._maximum_clients:
            return f"the service has as many clients as it takes, {self._maximum_clients}"
        same = sum(1 for each in self._sessions if each.address[0] == session.address[0])
        if same >= self._maximum_per_address:
            return f"the service has as many clients of one address as it takes, {self._maximum_per_address}"
        self._sessions[session] = None
        if self._udp is not None and len(self._by_identifier) < 254:
            # In a circle, so that late datagrams of one that has gone do not reach the next one.
            while self._next_identifier in self._by_identifier:
                self._next_identifier = self._next_identifier % 254 + 1
            session.identifier = self._next_identifier
            self._next_identifier = self._next_identifier % 254 + 1
            self._by_identifier[session.identifier] = session
        return None

    def _refusal_ended(self, _: object) -> None:
        self._refusals -= 1

    def _introduced(self, session: FollowedService) -> None:
        for handler in list(self._client_handlers):
            _call(handler, session.client, True)

    def _left(self, session: FollowedService, error: Disconnected) -> None:
        if session not in self._sessions:
            return
        del self._sessions[session]
        if session.identifier:
            self._by_identifier.pop(session.identifier, None)
        if session.is_introduced:
            for handler in list(self._client_handlers):
                _call(handler, session.client, False)

    def _received(self, element: Element, value: Value, session: FollowedService) -> None:
        for handler in list(self._handlers.get(element.id, ())):
            try:
                handler(value, session.client)
            except Refuse as refusal:
                session.statistics.rejected += 1
                session.tell_refusal(element, "service", str(refusal))
                return
            except Exception as error:
                asyncio.get_running_loop().call_exception_handler(
                    {"message": f"a handler of {element.name!r} raised", "exception": error}
                )
                session.tell_refusal(element, "service", "the service failed to handle it")
                return
        measured = session.times.get(element.id)
        if self._adopts:
            self.set(element, value, at=measured.here() if measured is not None else None)
        before = self._streams.dropped
        self._streams.put(element.id, Received(value, session.client, element), measured)
        session.statistics.dropped += self._streams.dropped - before

    def _streams_changed(self) -> None:
        is_full = self._streams.is_full
        for session in self._sessions:
            if is_full:
                session.hold(self)
            else:
                session.let_go(self)

    def _take_datagram(self, data: bytes, address: Tuple[Any, ...]) -> None:
        messages, is_whole = frames.split_datagram(data)
        origin = plain_address(str(address[0]))
        for id, identifier, value in messages:
            session = self._by_identifier.get(identifier)
            if session is not None and session.is_open and plain_address(session.address[0]) == origin:
                session.statistics.bytes_received += frames.MESSAGE.size + len(value)
                session.take_message(id, value)
                if not is_whole:
                    session.statistics.malformed += 1
                    is_whole = True


def bind(address: Optional[str], port: int, udp: bool) -> Tuple[socket.socket, Optional[socket.socket]]:
    """A socket for TCP, and one for UDP at the same port. Raises OSError."""
    family, place = socket.AF_INET6, "::"
    if address is not None:
        family, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        place = str(where[0])
    elif not socket.has_dualstack_ipv6():
        family, place = socket.AF_INET, "0.0.0.0"
    for attempt in range(16):
        tcp = socket.socket(family, socket.SOCK_STREAM)
        datagrams = socket.socket(family, socket.SOCK_DGRAM) if udp else None
        try:
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            for each in (tcp, datagrams):
                if each is not None and family == socket.AF_INET6:
                    each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if address is None else 1)
            tcp.bind((place, port))
            if datagrams is not None:
                datagrams.bind((place, tcp.getsockname()[1]))
            tcp.setblocking(False)
            return tcp, datagrams
        except OSError:
            tcp.close()
            if datagrams is not None:
                datagrams.close()
            # A port that TCP has got may be taken for UDP.
            if port or attempt == 15:
                raise
    raise AssertionError
