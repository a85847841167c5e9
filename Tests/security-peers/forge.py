"""Sends one end what it did not get from the other, with scapy: datagrams sealed for it that were overheard, of either
direction, as they are, changed and cut, and plain ones.

    forge.py INTERFACE SERVICE CLIENT OTHER client|service

The addresses are those of the ends and one of nobody; the last says who is attacked. Prints how many datagrams of each
kind were sent from the right address, and from the other. Needs root.
"""

import random
import struct
import sys

from scapy.all import IP, UDP, Ether, conf, sniff

from wire import say

INTERFACE, SERVICE, CLIENT, OTHER, VICTIM = sys.argv[1:]
MARK, OVERHEARD = 0xF4, 20
SEALED_OVERHEAD = 24


def overhear(is_enough):
    packets = []
    sniff(
        iface=INTERFACE,
        lfilter=lambda p: UDP in p and bytes(p[UDP].payload)[:1] == bytes([MARK]),
        prn=packets.append,
        stop_filter=lambda _: is_enough(packets),
        store=False,
    )
    return packets


def of(source, packets):
    return [packet for packet in packets if packet[IP].src == source]


def both(packets):
    return min(len(of(SERVICE, packets)), len(of(CLIENT, packets))) >= OVERHEARD


heard = overhear(both)
victim, other = (CLIENT, SERVICE) if VICTIM == "client" else (SERVICE, CLIENT)
example = of(other, heard)[-1]
due, reflected = ([bytes(p[UDP].payload)[: p[UDP].len - 8] for p in of(host, heard)] for host in (other, victim))
newest = due[-1]
identifier = newest[1]


def flipped(datagram):
    for bit in range(8 * len(datagram)):
        changed = bytearray(datagram)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)


def counter(number):
    return bytes([MARK, identifier]) + struct.pack("<Q", number)[:6]


def plain(id, mark):
    return struct.pack("<bIB", id, 8, mark) + bytes(8)


chance = random.Random(1)
now = struct.unpack("<Q", newest[2:8] + bytes(2))[0]
forgeries = {
    "replayed": due,
    "reflected": reflected,
    "flipped": list(flipped(newest)),
    # The same under a counter that is not used up.
    "renumbered": [counter(now + step) + newest[8:] for step in range(1, 100)] + [counter(2**48 - 1) + newest[8:]],
    "truncated": [newest[:count] for count in range(len(newest))],
    "extended": [newest + bytes(count) for count in range(1, 20)] + [newest + newest],
    "random": [counter(now + 1000 + step) + chance.randbytes(34) for step in range(100)],
    "plain": [plain(id, mark) for id in (2, 4, -6) for mark in range(256)],
}
line = conf.L2socket(iface=INTERFACE)
sent, rejected = {}, 0
for name, datagrams in forgeries.items():
    for source in (other, OTHER):
        for datagram in datagrams:
            line.send(
                Ether(src=example.src, dst=example.dst)
                / IP(src=source, dst=victim)
                / UDP(sport=example[UDP].sport, dport=example[UDP].dport)
                / datagram
            )
            # What a service can tell to be meant for that client; a client takes anything from its service's address.
            is_sealed = len(datagram) > SEALED_OVERHEAD and datagram[:2] == bytes([MARK, identifier])
            rejected += is_sealed if VICTIM == "service" else source == other
    sent[name] = 2 * len(datagrams)
say("sent", rejected=rejected, **sent)
