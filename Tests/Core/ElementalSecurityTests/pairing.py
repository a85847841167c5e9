"""A second implementation of pairing, of both ends, from the page Wire.md and the standards: CPace with X25519 and
SHA-512 (draft-irtf-cfrg-cpace), RFC 7748 and RFC 9380, with nothing but Python's own library.

    python3 pairing.py SEED COUNT

prints COUNT pairings with the random bytes of the seed, as JSON: what both ends know, what they draw, and every frame.
pairing-vectors.json was printed with 2026 8.
"""

import hashlib
import hmac
import json
import random
import struct
import sys

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


def text(string):
    return bytes([len(string.encode())]) + string.encode()


def frame(message, *fields):
    value = bytes([1, message]) + b"".join(fields)
    return struct.pack("<bI", -13, len(value)) + value


def pairing(draw):
    kind = draw.choice([1, 2])
    secret = b"%06d" % draw.randrange(10**6) if kind == 1 else draw.randbytes(20)
    client, service = draw.randbytes(32), draw.randbytes(32)
    service_name = draw.choice(["robot", "lamp", "screen_control"])
    name = draw.choice(["Rob's iPhone", "elemental@pi", "Küche", "n" * 64])
    window, wanted = draw.choice([1, 2, 3]), draw.choice([1, 2, 3])
    granted = min(window, wanted)
    service_nonce, client_nonce = draw.randbytes(16), draw.randbytes(16)
    service_scalar, client_scalar = draw.randbytes(32), draw.randbytes(32)

    channel = lv(b"elemental-pair-1", b"client", client, b"service", service, service_name.encode(), bytes([kind]))
    session = service_nonce + client_nonce
    base = generator(secret, channel, session)
    ya, yb = x25519(client_scalar, base), x25519(service_scalar, base)
    client_data = lv(b"client", bytes([wanted]), name.encode())
    service_data = lv(b"service", bytes([granted]), service_name.encode())
    shared = x25519(client_scalar, yb)
    assert shared == x25519(service_scalar, ya)
    isk = hashlib.sha512(
        lv(b"CPace255_ISK", session, shared) + lv(ya, client_data) + lv(yb, service_data)
    ).digest()
    mac_key = hashlib.sha512(b"CPaceMac" + session + isk).digest()
    client_tag = hmac.new(mac_key, lv(ya, client_data), hashlib.sha512).digest()[:32]
    service_tag = hmac.new(mac_key, lv(yb, service_data), hashlib.sha512).digest()[:32]

    frames = [
        frame(2, text(service_name)),
        frame(3, bytes([kind]), service_nonce, struct.pack("<H", 300), text(service_name)),
        frame(4, client_nonce, ya, bytes([wanted]), text(name)),
        frame(5, yb, bytes([granted]), service_tag),
        frame(6, client_tag),
        frame(7, bytes([granted]), text(service_name)),
    ]
    return {
        "kind": kind,
        "secret": secret.hex(),
        "client": client.hex(),
        "service": service.hex(),
        "serviceName": service_name,
        "name": name,
        "windowRole": window,
        "wantedRole": wanted,
        "grantedRole": granted,
        "serviceNonce": service_nonce.hex(),
        "clientNonce": client_nonce.hex(),
        "serviceScalar": service_scalar.hex(),
        "clientScalar": client_scalar.hex(),
        "frames": [f.hex() for f in frames],
    }


draw = random.Random(int(sys.argv[1]))
print(json.dumps([pairing(draw) for _ in range(int(sys.argv[2]))], indent=1, ensure_ascii=False))
