"""Captures what passes a network interface, and looks for bytes in it, as somebody on the network could.

    capture.py INTERFACE [PORT]

With a port, only what goes to or from it over IPv4; otherwise all but Zeroconf's, whose names are public. A line on
standard input has the bytes to look for, in hexadecimal digits, with blanks between them: for each it says how often they
are in datagrams and in TCP streams, which it puts together from their packets. Needs root.
"""

import ctypes
import os
import select
import socket
import struct
import sys

from wire import say

ALL, PACKET, PACKET_STATISTICS, ATTACH_FILTER, RECEIVE_BUFFER_FORCE = 0x0003, 263, 6, 26, 33
TCP, UDP, ZEROCONF = 6, 17, 5353


def filter_for(port):
    """A classic BPF program for IPv4 packets to or from a port."""
    half, byte, index, equal, leave = 0x28, 0x30, 0xB1, 0x15, 0x06
    return [
        (half, 0, 0, 12), (equal, 0, 9, 0x0800),
        (byte, 0, 0, 23), (equal, 1, 0, TCP), (equal, 0, 6, UDP),
        (index, 0, 0, 14),
        (0x48, 0, 0, 14), (equal, 2, 0, port),
        (0x48, 0, 0, 16), (equal, 0, 1, port),
        (leave, 0, 0, 0x40000), (leave, 0, 0, 0),
    ]  # fmt: skip


def attach(packets, program):
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    packets.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, struct.pack("HL", len(program), ctypes.addressof(code)))


# Of no protocol until it is bound: what others send before the filter is there does not count.
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
packets.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER_FORCE, 64 << 20)
if len(sys.argv) > 2:
    attach(packets, filter_for(int(sys.argv[2])))
packets.bind((sys.argv[1], ALL))
packets.setblocking(False)
datagrams, streams, counts = [], {}, {TCP: 0, UDP: 0}


def take(packet):
    kind = packet[12:14]
    if kind == b"\x08\x00":
        protocol, length = packet[23], struct.unpack_from("!H", packet, 16)[0]
        addresses, start, end = packet[26:34], 14 + (packet[14] & 15) * 4, 14 + length
    elif kind == b"\x86\xdd":
        protocol, length = packet[20], struct.unpack_from("!H", packet, 18)[0]
        addresses, start, end = packet[22:54], 54, 54 + length
    else:
        return
    if protocol not in counts:
        return
    ports = struct.unpack_from("!HH", packet, start)
    if ZEROCONF in ports:
        return
    if protocol == UDP:
        value = packet[start + 8 : end]
        datagrams.append(value)
    else:
        value = packet[start + (packet[start + 12] >> 4) * 4 : end]
        number = struct.unpack_from("!I", packet, start + 4)[0]
        # What is sent again has the same number.
        if value:
            streams.setdefault((addresses, ports), {})[number] = value
    counts[protocol] += bool(value)


def drain():
    while True:
        try:
            take(packets.recv(0x40000))
        except BlockingIOError:
            return


def count(wanted):
    total = sum(datagram.count(wanted) for datagram in datagrams)
    for segments in streams.values():
        total += b"".join(segments[number] for number in sorted(segments)).count(wanted)
    return total


say("capturing")
while True:
    ready, _, _ = select.select([packets, sys.stdin], [], [])
    # What was sent before a question is there before it.
    drain()
    if sys.stdin in ready:
        line = os.read(sys.stdin.fileno(), 65536)
        if not line:
            break
        for question in line.decode().split():
            say("found", bytes=question, count=count(bytes.fromhex(question)))
        lost = struct.unpack("II", packets.getsockopt(PACKET, PACKET_STATISTICS, 8))[1]
        say("captured", tcp=counts[TCP], udp=counts[UDP], lost=lost)
