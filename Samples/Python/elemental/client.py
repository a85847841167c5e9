"""The client: `connect` and the device that it gives."""

from __future__ import annotations

import asyncio
import platform
import socket
import ssl
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Awaitable, Callable, Dict, Generator, List, Optional, Sequence, Set, Tuple, Type, TypeVar, Union

from . import frames
from .admission import ClientAdmission
from .client_session import ClientSession
from .clock import Measured, Moment, ReceivedTime, microseconds
from .datagrams import DatagramSocket, client_socket
from .discovery import Place, parse_target, resolve
from .elements import Catalogue, Element
from .errors import (
    CatalogueMismatch,
    ClosedHere,
    ConnectionFailed,
    Disconnected,
    ElementalError,
    IdentityChanged,
    InvalidValue,
    NotAllowed,
    ShutDown,
    TimedOut,
    Unconfirmed,
    UnknownElement,
    ValueRefused,
)
from .history import ALL, History, HistoryPosition, Newest, Since, Start
from .session import Limits, Session, Statistics
from .state import ROLES, Pin, State
from .streams import Stream, Streams
from .values import Value

_Connection = TypeVar("_Connection")

Key = Union[Element, str, int]
"""How an element is named: by itself, its name or its identifier."""

@dataclass(frozen=True)
class Reconnection:
    """When to connect again after a connection has broken.

    The delays before the attempts in seconds; after the last one the device gives up, or, `forever`, goes on with it.
    """

    delays: Sequence[float] = (0, 2, 10, 30)
    forever: bool = False

    def delay(self, attempt: int) -> Optional[float]:
        """The pause before an attempt, counted from 1; None to give up."""
        if attempt <= len(self.delays):
            return self.delays[attempt - 1]
        return self.delays[-1] if self.forever and self.delays else None


@dataclass(frozen=True)
class WillReconnect:
    """A connection has broken, or another attempt has failed."""

    attempt: int
    delay: float
    reason: Disconnected
    """How the connection ended."""
    error: Optional[ElementalError]
    """Why the previous attempt failed."""


@dataclass(frozen=True)
class Reconnected:
    """The device is connected again, and its values are those of the service."""

    address: str


Event = Union[WillReconnect, Reconnected, Disconnected]
"""What becomes of a device's connection. The last one is how it ended for good."""


def default_name() -> str:
    """The name of a client that says none."""
    return f"python@{platform.node() or 'somewhere'}"


class Device:
    """A service that this program is connected to. `connect` gives it.

    All of it belongs to the event loop in which it was made.
    """

    def __init__(
        self,
        target: str,
        name: Optional[str],
        elements: Union[Catalogue, Sequence[Element], None],
        reconnect: Union[bool, Reconnection],
        timeout: float,
        udp: bool,
        limits: Limits,
        state: Optional[State],
        security: str,
        role: str,
    ) -> None:
        self._target = parse_target(target)
        self._own_name = default_name() if name is None else name
        if not self._own_name or len(self._own_name.encode()) > 1024:
            raise ValueError("a client's name has 1 to 1,024 bytes")
        self._own_elements = (
            elements if isinstance(elements, Catalogue) or elements is None else Catalogue(list(elements))
        )
        self._policy = Reconnection() if reconnect is True else (reconnect or None)
        self._timeout = timeout
        self._uses_udp = udp
        self._limits = limits
        self._state = state
        if security not in ("automatic", "open", "paired"):
            raise ValueError("security is 'automatic', 'open' or 'paired'")
        if role not in ROLES:
            raise ValueError(f"a role is one of {', '.join(ROLES)}")
        self._security = security
        self._wanted_role = role
        self._catalogue = self._own_elements or Catalogue()
        self._ignores_catalogue = False
        self._missing: Set[int] = set()
        self._values: Dict[int, Value] = {}
        self._times: Dict[int, Measured] = {}
        self._arrivals: Dict[int, float] = {}
        self._streams: Streams[Value] = Streams(self._streams_changed)
        self._handlers: Dict[int, List[Callable[[Value], None]]] = {}
        self._refusal_handlers: List[Callable[[ValueRefused], None]] = []
        self._event_handlers: List[Callable[[Event], None]] = []
        self._kept: Dict[int, Tuple[Element, bytes, Optional[int]]] = {}
        self._locks: Dict[int, asyncio.Lock] = {}
        self._refusals: Dict[int, ValueRefused] = {}
        self._value_waiters: List[asyncio.Future[None]] = []
        self._session: Optional[ClientSession] = None
        self._place: Optional[Place] = None
        self._supervisor: Optional[asyncio.Task[None]] = None
        self._is_closing = False
        self._error: Optional[ElementalError] = None
        self._paired: Optional[Pin] = None
        self._granted_role: Optional[str] = None

    # What it is.

    @property
    def name(self) -> str:
        """The service's instance name, or its host and port."""
        return self._place.name if self._place else self._target.text

    @property
    def elements(self) -> Catalogue:
        """The service's elements, or those that this program gave to `connect`."""
        return self._catalogue

    @property
    def address(self) -> Tuple[str, int]:
        """The service's address and port."""
        return self._session.address if self._session else ("", 0)

    @property
    def is_connected(self) -> bool:
        return self._session is not None and self._session.is_open

    @property
    def role(self) -> Optional[str]:
        """What the service grants this client on an encrypted connection; None on a plain one."""
        return self._granted_role

    @property
    def is_encrypted(self) -> bool:
        return self._granted_role is not None

    @property
    def has_hello(self) -> bool:
        """Whether the service speaks the extensions; an older one has no catalogue and no pings."""
        return self._session is not None and self._session.peer is not None

    @property
    def udp_identifier(self) -> int:
        """This client's number in datagrams, 0 if the service has none for it."""
        return (self._session.identifier or 0) if self._session else 0

    @property
    def statistics(self) -> Statistics:
        """The counters of the present connection."""
        return self._session.statistics if self._session else Statistics()

    def __repr__(self) -> str:
        return f"<Device {self.name!r} at {self.address[0]}:{self.address[1]}>"

    # Values.

    def __getitem__(self, key: Key) -> Optional[Value]:
        """The newest value of an element; None before there is one. Raises UnknownElement."""
        return self._values.get(self._catalogue.find(key).id)

    def __setitem__(self, key: Key, value: object) -> None:
        """Sends a value without waiting, as `send_now`."""
        self.send_now(key, value)

    def time(self, key: Key) -> Optional[ReceivedTime]:
        """When the newest value received of a timed element was measured; within a handler, the value it was called with.

        None if the service does not say, and before the ends have exchanged times. Raises UnknownElement.
        """
        measured = self._times.get(self._catalogue.find(key).id)
        return measured.here() if measured is not None else None

    async def get(self, key: Key, timeout: float = 5) -> Value:
        """The newest value of an element, which may have to arrive first.

        Raises UnknownElement, NotAllowed, TimedOut or Disconnected.
        """
        element = self._catalogue.find(key)
        if not element.is_readable:
            raise NotAllowed(f"{element.name} can only be set")
        deadline = asyncio.get_running_loop().time() + timeout
        while element.id not in self._values:
            if self._error is not None:
                raise self._error
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._value_waiters.append(waiting)
            left = deadline - asyncio.get_running_loop().time()
            try:
                await asyncio.wait_for(waiting, max(0, left))
            except asyncio.TimeoutError:
                raise TimedOut(f"{element.name} had no value within {timeout:g} s") from None
            finally:
                if waiting in self._value_waiters:
                    self._value_waiters.remove(waiting)
        return self._values[element.id]

    def send_now(self, key: Key, value: object, *, at: Optional[Moment] = None) -> None:
        """Queues a value without waiting. `at` is when the value of a timed element was measured: seconds of
        `machine_time()`, or the time of a received value; None is this moment.

        Raises UnknownElement, NotAllowed, InvalidValue, OutOfRange, NotAChoice, QueueFull or Disconnected. While the device
        reconnects the newest value of a `latest` element is kept, and others fail.
        """
        element, data, time = self._prepared(key, value, at)
        session = self._session
        if session is None or not session.is_open:
            if element.latest and self._policy is not None and self._error is None and not self._is_closing:
                self._kept[element.id] = (element, data, time)
                return
            raise self._why_not()
        self._post(session, element, data, time)

    async def send(self, key: Key, value: object, *, at: Optional[Moment] = None) -> None:
        """Sends a value; waits only while too much waits already for a slow service. Raises as `send_now`, never QueueFull."""
        element, data, _ = self._prepared(key, value, at)
        session = self._session
        if session is not None and session.is_open and not self._goes_by_datagram(session, element):
            await session.room(element, len(data))
        self.send_now(element, value, at=at)

    async def set(self, key: Key, value: object, timeout: float = 5, *, at: Optional[Moment] = None) -> None:
        """Sends a value and waits until the service has handled it.

        Raises ValueRefused if the service refused it, Unconfirmed if that is not known within the time, or as `send`. A value
        of an element over UDP is sent up to five times. An older service answers no pings: there the value is only sent.
        """
        element, data, time = self._prepared(key, value, at)
        async with self._locks.setdefault(element.id, asyncio.Lock()):
            session = self._session
            if session is None or not session.is_open:
                raise self._why_not()
            self._refusals.pop(element.id, None)
            try:
                await asyncio.wait_for(self._confirm(session, element, data, time, timeout), timeout)
            except (asyncio.TimeoutError, TimedOut):
                raise Unconfirmed(f"{self.name} did not confirm {element.name} within {timeout:g} s") from None
            refusal = self._refusals.pop(element.id, None)
            if refusal is not None:
                raise refusal

    async def _confirm(
        self, session: ClientSession, element: Element, data: bytes, time: Optional[int], timeout: float
    ) -> None:
        if self._goes_by_datagram(session, element):
            for attempt in range(1, 6):
                self._post(session, element, data, time)
                if not session.peer_answers_pings:
                    return
                try:
                    await session.ping("udp", timeout / 6)
                    break
                except TimedOut:
                    if attempt == 5:
                        raise
        else:
            await session.room(element, len(data))
            self._post(session, element, data, time)
            await session.drained()
        if session.peer_answers_pings:
            # A refusal comes by TCP, and is there before the answer to this.
            await session.ping("tcp", timeout)

    def _prepared(self, key: Key, value: object, at: Optional[Moment]) -> Tuple[Element, bytes, Optional[int]]:
        element = self._catalogue.find(key)
        if element.id in self._missing:
            raise UnknownElement(element.name, [each.name for each in self._catalogue if each.id not in self._missing])
        if not element.is_writable:
            raise NotAllowed(f"{element.name} can only be read")
        data = element.encode(value)
        if element.is_udp and len(data) > frames.DATAGRAM_BYTES - frames.MESSAGE.size:
            raise InvalidValue(f"{element.name}: {len(data)} bytes are too long for a datagram; define it with TCP")
        return element, data, microseconds(at) if element.timed else None

    @staticmethod
    def _goes_by_datagram(session: ClientSession, element: Element) -> bool:
        # Without an identifier there are no datagrams, and a service takes the value over TCP as well.
        return element.is_udp and session.has_datagrams

    def _post(self, session: ClientSession, element: Element, data: bytes, time: Optional[int]) -> None:
        if not self._goes_by_datagram(session, element):
            session.send_value(element, data, time)
            return
        if not data and not (session.peer and session.peer.features & frames.ACCEPTS_EMPTY):
            raise InvalidValue(f"{element.name}: the service, an older one, does not take empty values")
        id, message = session.in_datagram(element, data, time)
        if len(message) > session.maximum_datagram_value:
            raise InvalidValue(f"{element.name}: {len(data)} bytes are too long for a datagram; define it with TCP")
        session.send_datagram(id, message)

    def values(self, key: Key, *, newest: bool = False, limit: int = 1024) -> Stream[Value]:
        """The values of an element as they arrive, for `async for`; first the one that is known.

        A reader that is slower than the service makes it wait once `limit` values are there (those of datagrams push out the
        oldest); with `newest` only the newest one is kept. The iteration ends when this end closes the device, and raises how
        the connection ended when it is gone for good. Raises UnknownElement or NotAllowed.
        """
        element = self._catalogue.find(key)
        if not element.is_readable:
            raise NotAllowed(f"{element.name} can only be set")
        stream = self._streams.add(element.id, limit, newest)
        if element.id in self._values:
            stream._put(self._values[element.id], self._times.get(element.id), self._arrivals[element.id])
        if self._error is not None or self._is_closing:
            stream._finish(self._error if not self._is_closing else None)
        return stream

    def history(
        self,
        key: Key,
        *,
        since: Optional[Moment] = None,
        newest: Optional[int] = None,
        position: Optional[str] = None,
        follows: bool = True,
    ) -> History:
        """The values of an element that the service keeps, and those that follow, for `async for`: each once and in order,
        over UDP too, and across the device's reconnections. Values that are missing come as a HistoryGap.

        - since: begin with the first value measured then or later: seconds of `machine_time()`, or the time of a received value
        - newest: begin with so many values before the newest
        - position: begin behind a value that was received earlier, by its `position`
        - follows: whether new values follow; otherwise the iteration ends with those of the past

        Without the first three it begins with the oldest value. It ends when this end closes the device while values follow.
        Raises UnknownElement, NotAllowed or InvalidValue; while iterating NotAllowed if the service keeps no values of the
        element for this client, TimedOut if it does not tell the time and `since` was given, and how the connection ended
        when it is gone for good.
        """
        element = self._catalogue.find(key)
        if not element.is_readable:
            raise NotAllowed(f"{element.name} can only be set")
        if [since, newest, position].count(None) < 2:
            raise ValueError("a history begins at one of since, newest and position")
        start: Start = Newest(ALL)
        if since is not None:
            start = Since(microseconds(since))
        elif position is not None:
            start = HistoryPosition.parse(position)
        elif newest is not None:
            if newest < 0:
                raise InvalidValue(f"{newest} is not a number of values")
            start = Newest(min(newest, ALL))
        return History(self, element, start, follows)

    def on_value(self, key: Key, handler: Callable[[Value], None]) -> Callable[[], None]:
        """Calls a handler with each value of an element, on the event loop. Returns what removes it."""
        if asyncio.iscoroutinefunction(handler):
            raise TypeError("a handler is a plain function; for coroutines use `async for value in device.values(…)`")
        handlers = self._handlers.setdefault(self._catalogue.find(key).id, [])
        handlers.append(handler)
        return lambda: handlers.remove(handler) if handler in handlers else None

    def on_refused(self, handler: Callable[[ValueRefused], None]) -> None:
        """Calls a handler when the service refuses a value that `send` or `send_now` sent."""
        self._refusal_handlers.append(handler)

    def on_event(self, handler: Callable[[Event], None]) -> None:
        """Calls a handler when the connection breaks, is there again, or has ended for good."""
        self._event_handlers.append(handler)

    async def ping(self, via: str = "tcp", timeout: float = 5) -> float:
        """The round trip to the service in seconds, over "tcp" or "udp". Raises TimedOut or Disconnected."""
        if self._session is None:
            raise self._why_not()
        return await self._session.ping(via, timeout)

    # Of the session.

    def _element(self, id: int, catalogue: Optional[Catalogue]) -> Optional[Element]:
        if self._own_elements is not None:
            return self._own_elements.by_id(id)
        return catalogue.by_id(id) if catalogue is not None else None

    def _uses_times(self, catalogue: Optional[Catalogue]) -> bool:
        """Whether values carry times, or are kept with them."""
        elements = self._own_elements if self._own_elements is not None else catalogue or ()
        return any(each.timed or each.history is not None for each in elements)

    def _check_catalogue(self, catalogue: Optional[Catalogue]) -> None:
        if self._own_elements is None:
            if catalogue is None:
                raise CatalogueMismatch(f"{self.name} tells no catalogue, as an older service; give its `elements`")
            self._catalogue = catalogue
            return
        if catalogue is None or self._ignores_catalogue:
            self._missing = set()
            return
        self._missing = {each.id for each in self._own_elements if catalogue.by_id(each.id) is None}
        for own in self._own_elements:
            theirs = catalogue.by_id(own.id)
            if theirs is not None and theirs.type != own.type:
                raise CatalogueMismatch(
                    f"element {own.id} of {self.name} is of the type {theirs.type}, not {own.type} ({own.name!r})"
                )

    def _received(self, element: Element, value: Value, measured: Optional[Measured]) -> None:
        self._values[element.id] = value
        self._arrivals[element.id] = time.time()
        if measured is not None:
            self._times[element.id] = measured
        else:
            self._times.pop(element.id, None)
        before = self._streams.dropped
        self._streams.put(element.id, value, measured)
        if self._session is not None:
            self._session.statistics.dropped += self._streams.dropped - before
        self._wake_watchers()
        for handler in list(self._handlers.get(element.id, ())):
            _call(handler, value)

    async def _ready_session(self) -> ClientSession:
        """The present connection, which may have to be made again first. Raises how the last one ended."""
        while True:
            session = self._session
            if session is None or self._error is not None or self._is_closing:
                raise self._why_not()
            if session.is_open and session.ready.done():
                return session
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._value_waiters.append(waiting)
            try:
                await waiting
            finally:
                if waiting in self._value_waiters:
                    self._value_waiters.remove(waiting)

    def _wake_watchers(self) -> None:
        waiters, self._value_waiters = self._value_waiters, []
        for waiting in waiters:
            if not waiting.done():
                waiting.set_result(None)

    def _refused(self, element: Element, refusal: ValueRefused) -> None:
        lock = self._locks.get(element.id)
        if lock is not None and lock.locked():
            self._refusals[element.id] = refusal
            return
        for handler in list(self._refusal_handlers):
            _call(handler, refusal)

    def _streams_changed(self) -> None:
        session = self._session
        if session is None:
            return
        if self._streams.is_full:
            session.hold(self)
        else:
            session.let_go(self)

    def _why_not(self) -> ElementalError:
        if self._error is not None:
            return self._error
        if self._session is not None:
            return self._session.why_not_open()
        return ClosedHere("the device is closed")

    # Connecting.

    async def _open(self) -> None:
        self._session = await self._establish()
        self._supervisor = asyncio.get_running_loop().create_task(self._supervise())

    async def _establish(self) -> ClientSession:
        """A new session that is ready."""
        loop = asyncio.get_running_loop()
        place = await resolve(self._target, self._timeout)
        self._place = place
        # A device that was found by its service's name stays what it is.
        self._target = place.lasting_target(self._target)
        context: Optional[ssl.SSLContext] = None
        pins: List[Pin] = []
        if self._state is not None and self._security != "open":
            pins = self._state.matching(place)
        if pins or self._security == "paired" or place.security == "paired":
            if not pins or self._state is None:
                raise place.not_paired()
            context = self._state.context()
        if self._granted_role is not None and context is None:
            raise IdentityChanged(f"{place.name} was encrypted before, and is not spoken to in plain")
        error: Optional[ElementalError] = None
        for host, port in place.addresses:
            admission = (
                None
                if context is None or self._state is None
                else ClientAdmission(self._state, self._wanted_role, self._own_name)
            )
            session = ClientSession(self, place, admission)
            try:
                await asyncio.wait_for(self._connect(session, host, port, context, pins), self._timeout)
            except asyncio.TimeoutError:
                error = ConnectionFailed(f"{place.name} at {host}:{port} did not answer within {self._timeout:g} s")
            except OSError as cause:
                if isinstance(cause, ElementalError):
                    error = cause
                else:
                    error = ConnectionFailed(f"cannot connect to {place.name} at {host}:{port}: {cause.strerror or cause}")
                    error.__cause__ = cause
            except ElementalError as cause:
                error = cause
            else:
                if session._admission is not None:
                    self._granted_role = ROLES[session._admission.granted - 1]
                loop.call_soon(self._send_kept, session)
                return session
            session.abort(ClosedHere("not connected"))
            if isinstance(error, (CatalogueMismatch, ShutDown)):
                break
        raise error or ConnectionFailed(f"{place.name} has no address")

    async def _connect(
        self, session: ClientSession, host: str, port: int, context: Optional[ssl.SSLContext], pins: Sequence[Pin]
    ) -> None:
        transport, _ = await open_connection(session, host, port, context)
        if context is not None and session._admission is not None:
            session._admission.prove(transport, pins)
        if self._uses_udp:
            tcp = transport.get_extra_info("socket")
            try:
                session.udp = await DatagramSocket.open(client_socket(tcp), session.take_datagram)
            except OSError:
                session.udp = None  # Values over UDP then go over TCP.
        # The values that arrive while it becomes ready are the device's already.
        self._session = session
        session.begin()
        await session.ready

    def _send_kept(self, session: ClientSession) -> None:
        kept, self._kept = self._kept, {}
        for element, data, time in kept.values():
            try:
                self._post(session, element, data, time)
            except ElementalError:
                pass  # It has gone again; the value was the newest of a `latest` element, and is as lost as any.

    async def _supervise(self) -> None:
        while True:
            assert self._session is not None
            reason = await asyncio.shield(self._session.ended)
            if self._is_closing:
                return
            if self._policy is None:
                self._finish(reason)
                return
            attempt, error = 0, None  # type: int, Optional[ElementalError]
            while True:
                attempt += 1
                delay = self._policy.delay(attempt)
                if delay is None:
                    self._finish(reason)
                    return
                self._tell(WillReconnect(attempt, delay, reason, error))
                await asyncio.sleep(delay)
                try:
                    self._session = await self._establish()
                except CatalogueMismatch as final:
                    self._finish(final)
                    return
                except ElementalError as failed:
                    error = failed
                else:
                    break
            self._streams_changed()
            self._wake_watchers()
            self._tell(Reconnected(f"{self.address[0]}:{self.address[1]}"))

    def _tell(self, event: Event) -> None:
        for handler in list(self._event_handlers):
            _call(handler, event)

    def _finish(self, error: ElementalError) -> None:
        self._error = error
        self._streams.finish(error)
        self._wake_watchers()
        self._tell(error if isinstance(error, Disconnected) else ClosedHere(str(error)))

    # The end.

    async def close(self) -> None:
        """Sends what waits, for at most a second, and closes the connection."""
        if self._is_closing:
            return
        self._is_closing = True
        if self._supervisor is not None:
            self._supervisor.cancel()
        session = self._session
        closed = ClosedHere("this program closed the device")
        if session is not None:
            if session.is_open:
                session.flushed()
            session.end(closed)
            try:
                await asyncio.wait_for(asyncio.shield(session.ended), self._limits.close_timeout + 5)
            except asyncio.TimeoutError:
                session.abort(closed)
        self._error = self._error or closed
        self._streams.finish(None)
        self._wake_watchers()

    async def __aenter__(self) -> Device:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()


async def open_connection(
    session: Session, host: str, port: int, context: Optional[ssl.SSLContext]
) -> Tuple[asyncio.Transport, Session]:
    """A TCP connection to a service, in TLS with a context. Raises OSError or ElementalError."""
    loop = asyncio.get_running_loop()

    async def connect() -> Tuple[asyncio.Transport, Session]:
        return await loop.create_connection(
            lambda: session,
            host,
            port,
            ssl=context,
            # No name is asked for: the key counts.
            server_hostname="" if context is not None else None,
            happy_eyeballs_delay=0.25,
        )

    try:
        return await (connect() if context is None else once_more(connect))
    except ssl.SSLError as error:
        raise ConnectionFailed(f"{host}:{port} does not speak TLS as a paired service does: {error.reason}") from error
    except socket.gaierror as error:
        raise ConnectionFailed(f"there is no host {host!r}: {error.strerror}") from error


async def once_more(connect: Callable[[], Awaitable[_Connection]]) -> _Connection:
    """A connection in TLS: a service that limits handshakes may close the first before it answers."""
    unanswered = (ConnectionResetError, ssl.SSLEOFError)
    try:
        return await connect()
    except unanswered:
        await asyncio.sleep(1)
    try:
        return await connect()
    except unanswered as error:
        raise ConnectionFailed(
            "the connection was closed before an answer, twice; the service may limit handshakes. "
            "Try again in a few seconds"
        ) from error


def _call(handler: Callable[..., None], *arguments: object) -> None:
    """Calls a program's handler; what it raises is the program's, and ends no connection."""
    try:
        handler(*arguments)
    except Exception as error:
        asyncio.get_running_loop().call_exception_handler(
            {"message": "a handler of an element's values raised", "exception": error}
        )


class _Connecting:
    """What `connect` gives: to be awaited, or entered with `async with`."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def __await__(self) -> Generator[Any, None, Device]:
        return self._open().__await__()

    async def _open(self) -> Device:
        try:
            await self._device._open()
        except BaseException:
            if self._device._session is not None:
                self._device._session.abort(ClosedHere("not connected"))
            raise
        return self._device

    async def __aenter__(self) -> Device:
        return await self._open()

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self._device.close()


def connect(
    target: str,
    *,
    name: Optional[str] = None,
    elements: Union[Catalogue, Sequence[Element], None] = None,
    reconnect: Union[bool, Reconnection] = False,
    timeout: float = 5,
    udp: bool = True,
    limits: Limits = Limits(),
    state: Optional[State] = None,
    security: str = "automatic",
    role: str = "control",
) -> _Connecting:
    """Connects to a service: `async with connect("robot") as device:` or `device = await connect("robot")`.

    - target: "robot", the service of that name; "robot/Rover", an instance of it; "192.168.1.7:5000" or "pi.local:5000"
    - name: this client's, which the service shows; at most 1,024 bytes
    - elements: those that the program was written for; without them the service's catalogue says what there is
    - reconnect: True, or a Reconnection, to connect again when the connection breaks
    - timeout: for finding the service and for each attempt to connect, in seconds
    - udp: whether to use datagrams; without them all values go over TCP
    - state: this program's key and whom it is paired with; with it, paired services are connected to encrypted
    - security: "automatic"; "paired" connects to paired services only; "open" never encrypts
    - role: what to ask an encrypted service for: "observe", "control" or "admin"

    Raises ServiceNotFound, AmbiguousService, DiscoveryError, ConnectionFailed, ShutDown (refused), TimedOut,
    CatalogueMismatch, InvalidCatalogue, NotPaired, IdentityChanged, AdmissionRefused or MissingExtra. When it is done, the
    current values of the service are there.
    """
    return _Connecting(Device(target, name, elements, reconnect, timeout, udp, limits, state, security, role))


