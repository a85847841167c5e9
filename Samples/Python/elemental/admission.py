"""Admission to an encrypted connection, and pairing: the client's half, without sockets."""

from __future__ import annotations

import asyncio
import hmac
import os
import ssl
from dataclasses import dataclass
from typing import Callable, Optional, Sequence, Tuple, cast

from .cpace import Exchange, LowOrderPoint, x25519
from .elements import Reader, text
from .errors import AdmissionRefused, IdentityChanged, ProtocolViolation, WrongCode
from .sealing import Sealing
from .state import ROLES, Pin, State, proven_fingerprint

CONNECT, PAIR, OFFER, INITIATION, RESPONSE, CONFIRMATION, GRANTED, REFUSED = 1, 2, 3, 4, 5, 6, 7, 255
VERSION = 1
CODE, LONG_SECRET = 1, 2
MAXIMUM_BYTES = 8192
"""How much an end may send before the session begins."""
MAXIMUM_FRAME = 1024


def device_name(name: str) -> str:
    """A client's name as admission takes it: no control characters, 64 bytes at most."""
    printable = "".join(each for each in name if each.isprintable()) or "python"
    return printable.encode()[:64].decode(errors="ignore")


def message(kind: int, *fields: bytes) -> bytes:
    return bytes([VERSION, kind]) + b"".join(fields)


def parse(value: bytes) -> Tuple[int, Reader]:
    """A message's kind and its fields. Raises ProtocolViolation or AdmissionRefused."""
    if len(value) < 2 or value[0] != VERSION:
        raise ProtocolViolation("the other end sent a message of admission of another version")
    fields = Reader(value[2:])
    if value[1] == REFUSED:
        try:
            code, sentence = fields.byte(), fields.text()
        except (EOFError, UnicodeDecodeError):
            raise ProtocolViolation("the other end refused in a form that is not known") from None
        raise WrongCode(sentence) if code == 8 else AdmissionRefused(code, sentence)
    return value[1], fields


class ClientAdmission:
    """Admission of a client that is paired, and what its connection is sealed with."""

    def __init__(self, state: State, role: str, name: str) -> None:
        self._state = state
        self._role = ROLES.index(role) + 1
        self._name = device_name(name)
        self._service = ""
        self._own = b""
        self._peer = b""
        self.client_secret = os.urandom(32)
        self.granted = 0
        """The role, from 1, once it is done."""
        self._sealing: Optional[Sealing] = None

    def prove(self, transport: asyncio.BaseTransport, pins: Sequence[Pin]) -> None:
        """Looks whether the other end has one of the keys. Raises IdentityChanged or SecurityError."""
        peer = proven_fingerprint(cast(Optional[ssl.SSLObject], transport.get_extra_info("ssl_object")))
        for pin in pins:
            if pin.fingerprint == peer.hex():
                self._service = pin.service
                break
        else:
            raise IdentityChanged(
                "the service has another key than the one that was paired: it was set up anew, or another one is in its"
                " place; if you know why, forget the old one and pair again"
            )
        self._peer = peer
        self._own = bytes.fromhex(self._state.fingerprint())

    @property
    def is_done(self) -> bool:
        return bool(self.granted)

    def begin(self) -> bytes:
        """The first message."""
        return message(CONNECT, text(self._service), bytes([self._role]), text(self._name))

    def take(self, value: bytes) -> None:
        """The service's answer. Raises AdmissionRefused or ProtocolViolation."""
        kind, fields = parse(value)
        self.granted = granted_role(kind, fields)

    # Datagrams.

    def seal(self, service_secret: bytes, identifier: int) -> bool:
        """Takes the service's secret, once. False if there was one already."""
        if self._sealing is not None:
            return False
        self._sealing = Sealing(self.client_secret, service_secret, self._own, self._peer, identifier)
        return True

    @property
    def can_seal(self) -> bool:
        return self._sealing is not None

    def seal_datagram(self, datagram: bytes) -> bytes:
        assert self._sealing is not None
        return self._sealing.seal(datagram)

    def open_datagram(self, datagram: bytes) -> Optional[Tuple[bytes, bool]]:
        return self._sealing.open(datagram) if self._sealing is not None else None


def granted_role(kind: int, fields: Reader) -> int:
    """The role of the message 7. Raises ProtocolViolation."""
    try:
        role = fields.byte() if kind == GRANTED else 0
        fields.text()
    except (EOFError, UnicodeDecodeError):
        role = 0
    if not 1 <= role <= 3 or not fields.is_at_end:
        raise ProtocolViolation("the other end did not grant a role as the wire has it")
    return role


@dataclass(frozen=True)
class Offer:
    """What a service says of its open window for pairing."""

    kind: int
    nonce: bytes
    seconds_left: int
    service: str

    @property
    def wants_digits(self) -> bool:
        """Six digits; otherwise a long secret."""
        return self.kind == CODE

    @classmethod
    def decode(cls, value: bytes) -> Offer:
        kind, fields = parse(value)
        try:
            if kind != OFFER:
                raise EOFError
            made = cls(fields.byte(), fields.take(16), fields.uint16(), fields.text())
        except (EOFError, UnicodeDecodeError):
            raise ProtocolViolation("the other end did not offer to pair as the wire has it") from None
        if made.kind not in (CODE, LONG_SECRET) or not fields.is_at_end or not made.service:
            raise ProtocolViolation("the other end did not offer to pair as the wire has it")
        return made


class ClientPairing:
    """The exchange after an offer."""

    def __init__(self, own: bytes, peer: bytes, offer: Offer, secret: bytes, role: str, name: str) -> None:
        self._offer = offer
        self._role = ROLES.index(role) + 1
        self._name = device_name(name)
        self._scalar = os.urandom(32)
        self._nonce = os.urandom(16)
        self._exchange = Exchange(own, peer, offer.service, offer.kind, offer.nonce, self._nonce)
        self._point = self._exchange.point(secret, self._scalar)

    def initiation(self) -> bytes:
        return message(INITIATION, self._nonce, self._point, bytes([self._role]), text(self._name))

    def confirm(self, value: bytes, store: Callable[[str], None]) -> bytes:
        """Checks the service's tag, tells `store` the granted role, and gives the confirmation.

        Raises WrongCode, AdmissionRefused or ProtocolViolation.
        """
        kind, fields = parse(value)
        try:
            if kind != RESPONSE:
                raise EOFError
            point, role, tag = fields.take(32), fields.byte(), fields.take(32)
        except EOFError:
            raise ProtocolViolation("the other end did not answer the pairing as the wire has it") from None
        if not 1 <= role <= self._role or not fields.is_at_end:
            raise ProtocolViolation("the other end granted more than was asked for")
        exchange = self._exchange
        try:
            own, theirs = exchange.tags(
                x25519(self._scalar, point),
                self._point,
                exchange.data(b"client", self._role, self._name),
                point,
                exchange.data(b"service", role, self._offer.service),
            )
        except LowOrderPoint:
            raise ProtocolViolation("the other end sent a point of low order") from None
        if not hmac.compare_digest(tag, theirs):
            raise WrongCode()
        store(ROLES[role - 1])
        return message(CONFIRMATION, own)
