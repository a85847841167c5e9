"""What pairing derives: CPace with X25519 and SHA-512 (draft-irtf-cfrg-cpace), RFC 7748 and RFC 9380, with nothing but
Python's own library. Big integers of Python take a time that depends on them; a pairing is tried five times at most."""

from __future__ import annotations

import hashlib
import hmac
from typing import Tuple

P = 2**255 - 19
A = 486662


class LowOrderPoint(ValueError):
    """The other end sent a point with which it would know the result without knowing the code."""


def x25519(scalar: bytes, u: bytes) -> bytes:
    """Scalar multiplication, RFC 7748."""
    k = bytearray(scalar)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    number = int.from_bytes(k, "little")
    x1 = int.from_bytes(u, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = number >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return int(x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def elligator2(number: bytes) -> int:
    """A point's u for 32 bytes, RFC 9380."""
    r = int.from_bytes(number, "little") % 2**255 % P
    first = -A * pow(1 + 2 * r * r, P - 2, P) % P
    square = pow(first**3 + A * first**2 + first, (P - 1) // 2, P) in (0, 1)
    return (first if square else -first - A) % P


def length(n: int) -> bytes:
    """A length as LEB128."""
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + length(n >> 7)


def lv(*parts: bytes) -> bytes:
    """The draft's lv_cat."""
    return b"".join(length(len(part)) + part for part in parts)


def generator(password: bytes, channel: bytes, session: bytes) -> bytes:
    """The generator that both ends derive from what they know."""
    name = b"CPace255"
    padding = bytes(max(0, 128 - 1 - len(lv(name)) - len(lv(password))))
    digest = hashlib.sha512(lv(name, password, padding, channel, session)).digest()
    return elligator2(digest[:32]).to_bytes(32, "little")


class Exchange:
    """What CPace is bound to, and what both ends derive. Fingerprints are those that TLS has proven."""

    def __init__(
        self, client: bytes, service: bytes, service_name: str, kind: int, service_nonce: bytes, client_nonce: bytes
    ) -> None:
        self.channel = lv(
            b"elemental-pair-1", b"client", client, b"service", service, service_name.encode(), bytes([kind])
        )
        self.session = service_nonce + client_nonce

    def point(self, secret: bytes, scalar: bytes) -> bytes:
        """The point that an end sends."""
        return x25519(scalar, generator(secret, self.channel, self.session))

    @staticmethod
    def data(end: bytes, role: int, name: str) -> bytes:
        """What an end associates with its point: ADa of the client, ADb of the service."""
        return lv(end, bytes([role]), name.encode())

    def tags(
        self, shared: bytes, ya: bytes, client_data: bytes, yb: bytes, service_data: bytes
    ) -> Tuple[bytes, bytes]:
        """The client's tag and the service's. Raises LowOrderPoint."""
        if not any(shared):
            raise LowOrderPoint("the other end sent a point of low order")
        isk = hashlib.sha512(lv(b"CPace255_ISK", self.session, shared) + lv(ya, client_data) + lv(yb, service_data))
        key = hashlib.sha512(b"CPaceMac" + self.session + isk.digest()).digest()

        def tag(*parts: bytes) -> bytes:
            return hmac.new(key, lv(*parts), hashlib.sha512).digest()[:32]

        return tag(ya, client_data), tag(yb, service_data)
