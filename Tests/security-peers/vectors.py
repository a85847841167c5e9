"""Pairings of the second implementation in cpace.py, of both ends, as vectors for the tests.

    python3 vectors.py SEED COUNT

prints COUNT pairings with the random bytes of the seed, as JSON: what both ends know, what they draw, and every frame.
Tests/Core/ElementalSecurity/pairing-vectors.json was printed with 2026 8.
"""

import json
import random
import struct
import sys

from cpace import Exchange, x25519


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

    exchange = Exchange(client, service, service_name, kind, service_nonce, client_nonce)
    ya, yb = exchange.point(secret, client_scalar), exchange.point(secret, service_scalar)
    shared = x25519(client_scalar, yb)
    assert shared == x25519(service_scalar, ya)
    client_tag, service_tag = exchange.tags(
        shared, ya, exchange.data(b"client", wanted, name), yb, exchange.data(b"service", granted, service_name)
    )

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
