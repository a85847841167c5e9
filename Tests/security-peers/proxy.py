"""Stands between a client and a service: encrypts to both with a key of its own, and passes everything on.

    proxy.py PORT IDENTITY

Prints the port at which it listens, and how many bytes it has passed on when a connection ends.
"""

import select
import socket
import ssl
import sys

from wire import context, make_identity, say

PORT, IDENTITY = int(sys.argv[1]), sys.argv[2]
own = make_identity(IDENTITY)
to_clients, to_service = context(ssl.PROTOCOL_TLS_SERVER, IDENTITY), context(ssl.PROTOCOL_TLS_CLIENT, IDENTITY)
listener = socket.create_server(("127.0.0.1", 0))
say("listening", port=listener.getsockname()[1], fingerprint=own.hex())
while True:
    plain, _ = listener.accept()
    counts = [0, 0]
    try:
        with (
            to_clients.wrap_socket(plain, server_side=True) as client,
            to_service.wrap_socket(socket.create_connection(("127.0.0.1", PORT))) as service,
        ):
            ways, ended = [(client, service), (service, client)], False
            while not ended:
                ready, _, _ = select.select([client, service], [], [])
                for number, (source, target) in enumerate(ways):
                    if source in ready:
                        data = source.recv(65536)
                        counts[number] += len(data)
                        target.sendall(data)
                        ended = ended or not data
    except OSError as error:
        say("broken", reason=str(error))
    say("ended", fromClient=counts[0], fromService=counts[1])
