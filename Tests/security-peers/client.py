"""A client in Python: pairs with a service by a code and is admitted, or connects to one that knows it.

    client.py HOST PORT SERVICE IDENTITY [--code CODE] [--kind ed25519|p256]

IDENTITY is a file, which is made if there is none. Prints a JSON line for each event; session.py has what it takes.
"""

import argparse
import os
import socket
import ssl
import sys

import session
from cpace import Exchange, x25519
from wire import *

arguments = argparse.ArgumentParser()
arguments.add_argument("host")
arguments.add_argument("port", type=int)
arguments.add_argument("service")
arguments.add_argument("identity")
arguments.add_argument("--code")
arguments.add_argument("--kind", default="ed25519")
arguments = arguments.parse_args()
NAME_OF_THIS, CONTROL = "python", 2

if not os.path.exists(arguments.identity):
    make_identity(arguments.identity, arguments.kind)
own = fingerprint(ssl.PEM_cert_to_DER_cert("-----BEGIN CERT" + open(arguments.identity).read().split("-----BEGIN CERT")[1]))
tls = context(ssl.PROTOCOL_TLS_CLIENT, arguments.identity).wrap_socket(
    socket.create_connection((arguments.host, arguments.port))
)
assert tls.version() == "TLSv1.3" and tls.selected_alpn_protocol() == "elemental/1"
peer = fingerprint(tls.getpeercert(binary_form=True))
connection = Connection(tls)


def pair(code):
    connection.send(admission(PAIR, text(arguments.service)))
    _, offer = connection.admission(OFFER)
    kind, service_nonce, _, service = offer.byte(), offer.take(16), offer.take(2), offer.text()
    nonce, scalar = os.urandom(16), os.urandom(32)
    exchange = Exchange(own, peer, service, kind, service_nonce, nonce)
    ya = exchange.point(code.encode(), scalar)
    connection.send(admission(INITIATION, nonce, ya, bytes([CONTROL]), text(NAME_OF_THIS)))
    _, response = connection.admission(RESPONSE)
    yb, role, tag = response.take(32), response.byte(), response.take(32)
    client_tag, service_tag = exchange.tags(
        x25519(scalar, yb), ya, exchange.data(b"client", CONTROL, NAME_OF_THIS), yb, exchange.data(b"service", role, service)
    )
    if tag != service_tag:
        say("wrongCode")
        sys.exit(1)
    connection.send(admission(CONFIRMATION, client_tag))


if arguments.code is None:
    connection.send(admission(CONNECT, text(arguments.service), bytes([CONTROL]), text(NAME_OF_THIS)))
else:
    pair(arguments.code)
_, granted = connection.admission(GRANTED)
say("admitted", role=granted.byte(), service=granted.text(), fingerprint=peer.hex())

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((tls.getsockname()[0], 0))
client_secret, identifier, datagrams = secret(), None, None
connection.send(
    frame(NAME, NAME_OF_THIS.encode()), frame(SECRET, b"\1" + client_secret), hello(0b100101, udp.getsockname()[1])
)


def take_frame(id, value):
    global identifier, datagrams
    if id == IDENTIFIER:
        identifier = value[0]
    elif id == SECRET:
        assert value[0] == 1
        datagrams = Datagrams(client_secret, value[1:], own, peer, identifier, is_service=False)
    elif id == HELLO:
        say("ready", identifier=identifier)


session.run(connection, udp, take_frame, lambda: tls.getpeername(), lambda: datagrams)
