"""Is admitted, waits for a line, and comes back with the ticket of its session.

    resume.py PORT SERVICE IDENTITY
"""

import socket
import ssl
import sys

from wire import *

PORT, SERVICE, IDENTITY = int(sys.argv[1]), sys.argv[2], sys.argv[3]
tls_context = context(ssl.PROTOCOL_TLS_CLIENT, IDENTITY)


def connect(session):
    tls = tls_context.wrap_socket(socket.create_connection(("127.0.0.1", PORT)), session=session)
    connection = Connection(tls)
    connection.send(admission(CONNECT, text(SERVICE), b"\2", text("python")))
    message, fields = connection.admission(GRANTED, REFUSED)
    if message == GRANTED:
        connection.send(frame(NAME, b"python"))
    say("admitted" if message == GRANTED else "refused", code=fields.byte(), resumed=tls.session_reused)
    return tls


first = connect(None)
ticket = first.session
say("ticket", isThere=ticket is not None and ticket.has_ticket)
sys.stdin.readline()
connect(ticket)
