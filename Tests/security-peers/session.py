"""A session of either end, once it is admitted: what arrives is printed, and lines of standard input are sent.

    tcp ID HEX    sends a value over TCP
    udp ID HEX    sends a value in a sealed datagram
"""

import os
import select
import sys

from wire import HELLO, NAME, PING, PONG, SECRET, SHUTDOWN, say, frame


def run(connection, udp, take_frame, address, datagrams):
    """take_frame gets the frames of the system. address() and datagrams() are None until they are known."""
    lines = b""
    while True:
        # What is buffered inside TLS does not show as readable.
        while True:
            while found := connection.next():
                id, value = found
                if id >= 0:
                    say("value", via="tcp", id=id, value=value.hex())
                elif id == PING:
                    connection.send(frame(PONG, value))
                elif id == SHUTDOWN:
                    say("shutdown", reason=value.decode())
                else:
                    take_frame(id, value)
            if not connection.tls.pending():
                break
            connection.read()
        ready, _, _ = select.select([connection.tls, udp, sys.stdin], [], [])
        if connection.tls in ready and not connection.read():
            return say("closed")
        if udp in ready:
            for id, value in datagrams().open(udp.recv(65536)):
                say("value", via="udp", id=id, value=value.hex())
        if sys.stdin in ready:
            more = os.read(sys.stdin.fileno(), 4096)
            if not more:
                return
            *complete, lines = (lines + more).split(b"\n")
            for line in complete:
                via, id, value = line.decode().split(" ")
                value = bytes.fromhex(value)
                if via == "tcp":
                    connection.send(frame(int(id), value))
                else:
                    udp.sendto(datagrams().seal(int(id), value), address())
