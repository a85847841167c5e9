#!/usr/bin/env python3
"""Tests of Samples/Wireshark/elemental.lua in tshark.

Usage: check.py --elemental PATH SCENARIO…

Prints `ok NAME` for each check. The status is 0 if all went well, otherwise 1 after a sentence that says what failed and all
that the processes have said. All processes are ended in either case. The scenarios values and encrypted capture what real
services and clients say to each other, in a network namespace of their own, and need root.
"""

import ctypes
import os
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import scenarios  # noqa: E402
import scenarios_live  # noqa: E402
import scenarios_written  # noqa: E402
from waits import Failure  # noqa: E402

SCENARIOS = {
    "recorded": scenarios_written.recorded,
    "mistakes": scenarios_written.mistakes,
    "middle": scenarios_written.middle,
    "pieces": scenarios_written.pieces,
    "hostile": scenarios_written.hostile,
    "values": scenarios_live.values,
    "encrypted": scenarios_live.encrypted,
    "speed": scenarios_written.speed,
}


def enter_namespace():
    """Moves this process into a network namespace of its own, where nobody else's packets are captured."""
    if ctypes.CDLL(None).unshare(0x40000000):  # CLONE_NEWNET
        raise Failure("capturing needs root, and network namespaces")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def run(scenario, arguments, ok):
    if scenario.__module__ == "scenarios_live":
        enter_namespace()
    with tempfile.TemporaryDirectory(prefix="elemental-wireshark.") as folder:
        scenario(folder, arguments.elemental, ok)


if __name__ == "__main__":
    scenarios.main(__doc__, SCENARIOS, run, not_all=["speed"])
