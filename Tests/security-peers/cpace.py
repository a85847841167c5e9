"""A second implementation of what pairing derives, from the page Wire.md and the standards: CPace with X25519 and SHA-512
(draft-irtf-cfrg-cpace), RFC 7748 and RFC 9380, with nothing but Python's own library."""

import hashlib
import hmac

P = 2**255 - 19
A = 486662


def x25519(scalar, u):
    k = bytearray(scalar)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    k = int.from_bytes(k, "little")
    x1 = int.from_bytes(u, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
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
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def elligator2(number):
    r = int.from_bytes(number, "little") % 2**255 % P
    first = -A * pow(1 + 2 * r * r, P - 2, P) % P
    square = pow(first**3 + A * first**2 + first, (P - 1) // 2, P) in (0, 1)
    return (first if square else -first - A) % P


def length(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + length(n >> 7)


def lv(*parts):
    return b"".join(length(len(part)) + part for part in parts)


def generator(password, channel, session):
    name = b"CPace255"
    padding = bytes(max(0, 128 - 1 - len(lv(name)) - len(lv(password))))
    digest = hashlib.sha512(lv(name, password, padding, channel, session)).digest()
    return elligator2(digest[:32]).to_bytes(32, "little")


class Exchange:
    """What CPace is bound to, and what both ends derive."""

    def __init__(self, client, service, service_name, kind, service_nonce, client_nonce):
        self.channel = lv(
            b"elemental-pair-1", b"client", client, b"service", service, service_name.encode(), bytes([kind])
        )
        self.session = service_nonce + client_nonce

    def point(self, secret, scalar):
        return x25519(scalar, generator(secret, self.channel, self.session))

    @staticmethod
    def data(end, role, name):
        return lv(end, bytes([role]), name.encode())

    def tags(self, shared, ya, client_data, yb, service_data):
        """The client's tag and the service's."""
        assert shared != bytes(32), "a point of low order"
        isk = hashlib.sha512(lv(b"CPace255_ISK", self.session, shared) + lv(ya, client_data) + lv(yb, service_data))
        key = hashlib.sha512(b"CPaceMac" + self.session + isk.digest()).digest()
        return tuple(
            hmac.new(key, lv(*parts), hashlib.sha512).digest()[:32]
            for parts in ((ya, client_data), (yb, service_data))
        )
