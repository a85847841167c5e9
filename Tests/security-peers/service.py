"""A service in Python: pairs by a code with a client whose certificate it knows, and admits it.

    service.py SERVICE IDENTITY CERTIFICATE CODE

IDENTITY is a file, which is made if there is none; CERTIFICATE is the client's, in PEM: Python's ssl has no other way to
ask for one that nobody has signed. Prints a JSON line for each event; session.py has what it takes.
"""

import os
import socket
import ssl
import struct
import sys

import session
from cpace import Exchange, x25519
from wire import *

SERVICE, IDENTITY, CERTIFICATE, SECRET_CODE = sys.argv[1:]
CONTROL, ADDRESS = 2, "127.0.0.1"

own = make_identity(IDENTITY, "p256")
tls_context = context(ssl.PROTOCOL_TLS_SERVER, IDENTITY, CERTIFICATE)
listener = socket.create_server((ADDRESS, 0))
PORT = listener.getsockname()[1]
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((ADDRESS, PORT))
paired = set()


def element(id, name, kind, flags):
    entry = struct.pack("<bBB", id, kind, flags) + text(name) + text("")
    return struct.pack("<H", len(entry)) + entry


# A text over TCP and three numbers in datagrams, which a client reads and sets.
elements = bytes([1, 2]) + element(3, "Label", 11, 0b1100) + element(2, "Motion", 15, 0b1101)


def pair(connection, peer):
    """Pairs, unless the client disconnects to ask its person for the code, or has another one."""
    nonce = os.urandom(16)
    connection.send(admission(OFFER, bytes([CODE]), nonce, struct.pack("<H", 300), text(SERVICE)))
    _, initiation = connection.admission(INITIATION)
    client_nonce, ya, wanted, name = (
        initiation.take(16),
        initiation.take(32),
        initiation.byte(),
        initiation.text(),
    )
    role = min(wanted, CONTROL)
    exchange, scalar = Exchange(peer, own, SERVICE, CODE, nonce, client_nonce), os.urandom(32)
    yb = exchange.point(SECRET_CODE.encode(), scalar)
    client_tag, service_tag = exchange.tags(
        x25519(scalar, ya), ya, exchange.data(b"client", wanted, name), yb, exchange.data(b"service", role, SERVICE)
    )
    connection.send(admission(RESPONSE, yb, bytes([role]), service_tag))
    _, confirmation = connection.admission(CONFIRMATION)
    assert confirmation.take(32) == client_tag, "the client has another code"
    paired.add(peer)
    say("paired", name=name, fingerprint=peer.hex())
    connection.send(admission(GRANTED, bytes([role]), text(SERVICE)))


def serve(connection, peer):
    """A session with an admitted client, as the one with the UDP identifier 1."""
    own_secret, datagrams, port = secret(), None, None
    connection.send(frame(IDENTIFIER, b"\1"))

    def take_frame(id, value):
        nonlocal datagrams, port
        if id == SECRET:
            assert value[0] == 1
            datagrams = Datagrams(value[1:], own_secret, peer, own, 1, is_service=True)
            connection.send(frame(SECRET, b"\1" + own_secret))
        elif id == HELLO:
            port = struct.unpack_from("<BIH", value)[2]
            connection.send(hello(0b111, 0), frame(CATALOGUE, elements))
            say("ready", port=port)

    session.run(connection, udp, take_frame, lambda: (connection.tls.getpeername()[0], port), lambda: datagrams)


say("listening", port=PORT, fingerprint=own.hex())
while True:
    plain, _ = listener.accept()
    try:
        with tls_context.wrap_socket(plain, server_side=True) as tls:
            connection, peer = Connection(tls), fingerprint(tls.getpeercert(binary_form=True))
            message, _ = connection.admission(CONNECT, PAIR)
            if message == PAIR:
                pair(connection, peer)
            elif peer in paired:
                connection.send(admission(GRANTED, bytes([CONTROL]), text(SERVICE)))
                serve(connection, peer)
                break
    except (Ended, OSError) as reason:
        say("ended", reason=str(reason))
