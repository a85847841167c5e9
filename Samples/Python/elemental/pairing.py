"""Pairing with a service: the client's end of it."""

from __future__ import annotations

import asyncio
import base64
import inspect
import ssl
from typing import Awaitable, Callable, List, Optional, Tuple, Union, cast

from . import frames
from .admission import MAXIMUM_BYTES, MAXIMUM_FRAME, PAIR, ClientPairing, Offer, granted_role, message, parse
from .client import default_name, once_more
from .discovery import Place, parse_target, resolve
from .elements import text
from .errors import (
    ClosedByPeer,
    ConnectionFailed,
    InvalidValue,
    ProtocolViolation,
    SecurityError,
    ShutDown,
    TimedOut,
)
from .state import Pin, State, proven_fingerprint, short_fingerprint

Ask = Callable[[Offer], Union[str, Awaitable[str]]]
"""Asks the person for what the service shows."""


class _Line:
    """A connection during admission: one message after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._received = 0
        self.peer = proven_fingerprint(cast(Optional[ssl.SSLObject], writer.get_extra_info("ssl_object")))

    @classmethod
    async def open(cls, place: Place, state: State) -> _Line:
        context = state.context()
        error: Optional[Exception] = None
        for host, port in place.addresses:
            try:
                reader, writer = await once_more(
                    lambda: asyncio.open_connection(
                        host, port, ssl=context, server_hostname="", limit=2 * MAXIMUM_FRAME
                    )
                )
                return cls(reader, writer)
            except OSError as cause:
                error = cause
        raise ConnectionFailed(f"no encrypted connection to {place.name}: {error}; is it open to everybody?") from error

    async def tell(self, value: bytes) -> None:
        self._writer.write(frames.frame(frames.ADMISSION, value))
        await self._writer.drain()

    async def hear(self) -> bytes:
        """The next message. Raises ShutDown, ClosedByPeer or ProtocolViolation."""
        id, length = frames.FRAME.unpack(await self._read(frames.FRAME.size))
        self._received += frames.FRAME.size + length
        if frames.FRAME.size + length > MAXIMUM_FRAME or self._received > MAXIMUM_BYTES:
            raise ProtocolViolation("the other end sent too much before it admitted this client")
        value = await self._read(length)
        if id == frames.SHUTDOWN:
            raise ShutDown(value.decode(errors="replace"))
        if id != frames.ADMISSION:
            raise ProtocolViolation(f"the other end sent {id} before it admitted this client")
        return value

    async def _read(self, count: int) -> bytes:
        try:
            return await self._reader.readexactly(count)
        except asyncio.IncompleteReadError:
            raise ClosedByPeer("the service closed the connection while it was pairing") from None
        except OSError as error:
            raise ClosedByPeer(f"the connection failed while it was pairing: {error}") from error

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass


def _secret(offer: Offer, entered: str) -> bytes:
    """The bytes of what the person entered. Raises InvalidValue."""
    compact = "".join(each for each in entered if not each.isspace() and each != "-")
    if offer.wants_digits:
        if len(compact) != 6 or not (compact.isascii() and compact.isdigit()):
            raise InvalidValue("the code has six digits")
        return compact.encode()
    try:
        data = base64.b32decode(compact.upper())
    except ValueError:
        data = b""
    if len(data) != 20:
        raise InvalidValue("the secret has 32 letters and digits")
    return data


async def pair(
    target: str,
    code: Union[str, Ask],
    *,
    state: State,
    name: Optional[str] = None,
    role: str = "control",
    timeout: float = 5,
) -> Pin:
    """Pairs with a service whose window for pairing is open, and stores its key.

    - code: the six digits, or the long secret, that it shows; or what asks the person for it, plain or a coroutine, while no
      connection is held
    - role: the most that this program wants to do there: "observe", "control" or "admin"; the service may grant less
    - name: this client's, of which 64 bytes count

    Raises WrongCode, which costs one of five tries and is not tried again, AdmissionRefused, SecurityError, InvalidValue, or as
    `connect`.
    """
    wanted = parse_target(target)
    place = await resolve(wanted, timeout)
    if state.matching(place):
        raise SecurityError(f"{place.name} is paired already; forget that first")
    state.make_identity()
    own = bytes.fromhex(state.fingerprint())
    # No two clients of a service have one name, and hosts often do.
    own_short = short_fingerprint(own.hex())[:4]
    ask: Optional[Ask] = None if isinstance(code, str) else code

    async def limited(step: Awaitable[bytes]) -> bytes:
        try:
            return await asyncio.wait_for(step, timeout)
        except asyncio.TimeoutError:
            raise TimedOut(f"{place.name} did not answer within {timeout:g} s") from None

    async def begin() -> Tuple[_Line, Offer]:
        try:
            line = await asyncio.wait_for(_Line.open(place, state), timeout)
        except asyncio.TimeoutError:
            raise ConnectionFailed(f"{place.name} did not answer within {timeout:g} s") from None
        try:
            await line.tell(message(PAIR, text((place.service or "").lower())))
            return line, Offer.decode(await limited(line.hear()))
        except BaseException:
            await line.close()
            raise

    line, offer = await begin()
    try:
        if ask is not None:
            # The service's place for pairing is for others while a person types.
            await line.close()
            answer = ask(offer)
            code = await answer if inspect.isawaitable(answer) else answer
            first = line.peer
            secret = _secret(offer, code)
            line, offer = await begin()
            if line.peer != first:
                raise SecurityError("another service answered in its place; nothing was told to it")
        else:
            secret = _secret(offer, cast(str, code))
        pairing = ClientPairing(own, line.peer, offer, secret, role, name or f"{default_name()}-{own_short}")
        await line.tell(pairing.initiation())
        hosts = {place.host, *(each[0] for each in place.addresses)}
        granted: List[str] = []
        confirmation = pairing.confirm(await limited(line.hear()), granted.append)
        await line.tell(confirmation)
        granted_role(*parse(await limited(line.hear())))
        # Only now has the service stored this client: before, neither end counts as paired.
        made = Pin(offer.service, place.instance or "", line.peer.hex(), granted[0], tuple(sorted(hosts)))
        state.trust(made)
        return made
    finally:
        await line.close()
