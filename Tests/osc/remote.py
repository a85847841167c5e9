#!/usr/bin/env python3
"""A bridge on another host, whose network is allowed in part: `Tests/Tools/ElementalCLI/OSC` runs this on the second of two hosts.

Usage: remote.py HOST PORT QUERY-PORT IPV6-HOST OWN-ADDRESS OUTSIDE-ADDRESS

HOST allows OWN-ADDRESS and the network of IPV6-HOST, and not OUTSIDE-ADDRESS; the service there is one of bed.py's."""

import json
import socket
import sys
import urllib.request

from bed import PATIENCE, Surface, check, eventually, message
from pythonosc.osc_message import OscMessage
from websockets.sync.client import connect

ADDRESS = "/Synth/Cutoff"


def main():
    host, port, query_port, host6, own, outside = sys.argv[1:]
    port, query_port = int(port), int(query_port)
    inside, excluded, inside6 = Surface(own), Surface(outside), Surface("::")

    def ask(surface, host):
        surface.socket.sendto(message(ADDRESS).dgram, (host, port))

    for _ in range(10):
        ask(excluded, host)
        excluded.socket.sendto(message(ADDRESS, 0.9).dgram, (host, port))
    for surface, place in [(inside, host), (inside6, host6)]:
        eventually("an answer", lambda: ask(surface, place) or surface.of(ADDRESS))
        check(surface.of(ADDRESS)[0] == [0.5], f"{surface.received}: set from outside")
        surface.received.clear()
    check(not excluded.received, "who is not allowed was answered")

    # Each sets it, and the other is told.
    inside.socket.sendto(message(ADDRESS, 0.25).dgram, (host, port))
    eventually("0.25 over IPv6", lambda: [0.25] in inside6.of(ADDRESS))
    inside6.socket.sendto(message(ADDRESS, 0.75).dgram, (host6, port))
    eventually("0.75 over IPv4", lambda: [0.75] in inside.of(ADDRESS))

    # What listens where a fader is moved is not told what that sent, but of what somebody else sets.
    with urllib.request.urlopen(f"http://{host}:{query_port}/", timeout=PATIENCE) as answer:
        check(ADDRESS.split("/")[1] in json.load(answer)["CONTENTS"], "the tree from another host")
    link = socket.create_connection((host, query_port), source_address=(own, 0))
    with connect(f"ws://{host}:{query_port}/", sock=link) as listener:
        listener.send(json.dumps({"COMMAND": "LISTEN", "DATA": ADDRESS}))
        # Heard as soon as the other host's value arrives.
        heard = None
        value = 0.0
        while heard is None:
            value += 1 / 1024
            inside6.socket.sendto(message(ADDRESS, value).dgram, (host6, port))
            try:
                heard = OscMessage(listener.recv(timeout=0.05)).params
            except TimeoutError:
                pass
        inside.socket.sendto(message(ADDRESS, 1.0).dgram, (host, port))
        eventually("1.0 over IPv6", lambda: [1.0] in inside6.of(ADDRESS))
        inside6.socket.sendto(message(ADDRESS, 0.5).dgram, (host6, port))
        eventually("what it has when the fader rests", lambda: inside.of(ADDRESS)[-1:] == [[0.5]])
        heard = []
        while heard[-1:] != [[0.5]]:
            heard.append(OscMessage(listener.recv(timeout=PATIENCE)).params)
        check([1.0] not in heard, f"it heard {heard}")
    print("passed remote")


main()
