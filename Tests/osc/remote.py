#!/usr/bin/env python3
"""A bridge on another host, whose network is allowed in part: `Tests/Tools/ElementalCLI/OSC` runs this on the second of two hosts.

Usage: remote.py HOST PORT QUERY-PORT IPV6-HOST OWN-ADDRESS OUTSIDE-ADDRESS

HOST allows OWN-ADDRESS and the network of IPV6-HOST, and not OUTSIDE-ADDRESS; the service there is one of bed.py's."""

import itertools
import json
import socket
import struct
import sys
import time
import urllib.request

# The first import puts the folder of the others on the path.
from bed import Surface, check, message, patience, single, until
from pythonosc.osc_message import OscMessage
from waits import Log
from websockets.sync.client import connect

ADDRESS = "/Synth/Cutoff"


def main():
    host, port, query_port, host6, own, outside = sys.argv[1:]
    here, there = (host, int(port)), (host6, int(port))
    inside, excluded, inside6 = Surface(own), Surface(outside), Surface("::")

    for _ in range(10):
        excluded.send_to(here, ADDRESS)
        excluded.send_to(here, ADDRESS, 0.9)
    # A datagram may be lost while the hosts learn of each other.
    for surface, place in [(inside, here), (inside6, there)]:
        until(lambda: surface.send_to(place, ADDRESS) or surface.of(ADDRESS), "an answer")
        check(surface.of(ADDRESS)[0] == [0.5], f"{surface.of(ADDRESS)}: set from outside")
        # Who asks again, after it was answered, is there, and is told of values from then on.
        asked = len(surface.of(ADDRESS))
        until(lambda: surface.send_to(place, ADDRESS) or len(surface.of(ADDRESS)) > asked, "another answer")
    check(not excluded.log.all, "who is not allowed was answered")

    # Senders that somebody makes up, whom the bridge would send everything.
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        payload = message(ADDRESS).dgram
        for number in range(200):
            datagram = struct.pack(">HHHH", 20_000 + number, int(port), 8 + len(payload), 0) + payload
            header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0, 64, socket.IPPROTO_UDP, 0,
                                 socket.inet_aton(own.rsplit(".", 1)[0] + ".99"), socket.inet_aton(host))
            raw.sendto(header + datagram, (host, 0))

    # Somebody in whose name two datagrams were sent is not told everything: 16 times their bytes, and 1 KiB a second.
    asker, asked = Surface(own), itertools.count(1)
    until(lambda: next(asked) and (asker.send_to(here, ADDRESS) or asker.of(ADDRESS)), "an answer")
    asker.send_to(here, ADDRESS)
    start = time.monotonic()
    for number in range(2000):
        inside6.send_to(there, ADDRESS, number / 4096)
    until(lambda: inside6.send_to(there, ADDRESS, 0.625) or [0.625] in asker.of(ADDRESS), "the newest value in the end")
    sent, got = next(asked) * len(message(ADDRESS).dgram), len(asker.of(ADDRESS)) * len(message(ADDRESS, 0.5).dgram)
    check(got <= 16 * sent + 1024 * (time.monotonic() - start + 1), f"{got} bytes for {sent}")

    def passes(sender, place, value, receiver):
        """Sends a new value after everything else that was sent. IPv4 and IPv6 have a socket each: the next value may
        overtake what waits in the other one, and be replaced by it before anybody is told."""
        sender.send_to(place, ADDRESS, value)
        receiver.hears(ADDRESS, [value])

    # Each sets it, and the other is told.
    passes(inside6, there, 0.6875, inside)
    passes(inside, here, 0.25, inside6)
    passes(inside6, there, 0.75, inside)

    # What listens where a fader is moved is not told what that sent, but of what somebody else sets.
    with urllib.request.urlopen(f"http://{host}:{query_port}/", timeout=patience()) as answer:
        check(ADDRESS.split("/")[1] in json.load(answer)["CONTENTS"], "the tree from another host")
    link = socket.create_connection((host, int(query_port)), patience(), source_address=(own, 0))
    with connect(f"ws://{host}:{query_port}/", sock=link, open_timeout=patience()) as listener:
        listener.send(json.dumps({"COMMAND": "LISTEN", "DATA": ADDRESS}))
        heard = Log("listener")

        numbers = itertools.count(1)

        def hears():
            """Sets a new value from the other host."""
            inside6.send_to(there, ADDRESS, next(numbers) / 1024)
            try:
                heard.add(OscMessage(listener.recv(timeout=0.05)).params)
            except TimeoutError:
                pass
            return heard.all

        until(hears, "the listener is told")
        passes(inside6, there, 0.34375, inside)
        moves = [single(number / 64) for number in range(32, 65)]
        for value in moves:
            inside.send_to(here, ADDRESS, value)
        inside6.hears(ADDRESS, [1.0])
        passes(inside6, there, 0.4375, inside)
        while heard.all[-1] != [0.4375]:
            heard.add(OscMessage(listener.recv(timeout=patience())).params)
        # When a fader rests for 400 ms it is told its value. However slow this machine is, that is not for each.
        told = [value for value in moves if [value] in heard.all]
        check(len(told) < len(moves) // 2, f"it heard {heard.all}")
    print("passed remote")


try:
    main()
except BaseException:
    print(Log.transcript(), file=sys.stderr)
    raise
