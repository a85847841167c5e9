#!/usr/bin/env python3
"""Tests of Samples/Wireshark/elemental.lua in tshark.

Usage: check.py --elemental PATH SCENARIO…

Prints `ok NAME` for each check. The status is 0 if all went well, otherwise 1 after a sentence that says what failed. All
processes are ended in either case. The scenarios values and encrypted capture what real services and clients say to each
other, in a network namespace of their own, and need root.
"""

import argparse
import ctypes
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import scenarios_live
import scenarios_written
import shark

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
# A scenario takes some seconds; a machine that is busy, longer.
LIMIT = 180


def interrupted(number, _frame):
    raise shark.Failure(f"not done within {LIMIT} s" if number == signal.SIGALRM else f"ended by signal {number}")


def enter_namespace():
    """Moves this process into a network namespace of its own, where nobody else's packets are captured."""
    if ctypes.CDLL(None).unshare(0x40000000):  # CLONE_NEWNET
        raise shark.Failure("capturing needs root, and network namespaces")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def run(name, elemental):
    begin = time.monotonic()
    scenario = SCENARIOS[name]
    if scenario.__module__ == "scenarios_live":
        enter_namespace()
    signal.alarm(LIMIT)
    try:
        with tempfile.TemporaryDirectory(prefix="elemental-wireshark.") as folder:
            scenario(folder, elemental, lambda check: print(f"ok {name}: {check}", flush=True))
    finally:
        signal.alarm(0)
    print(f"passed {name} in {time.monotonic() - begin:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elemental", required=True, help="the program")
    parser.add_argument("scenario", nargs="+", choices=SCENARIOS, metavar="SCENARIO", help="of " + ", ".join(SCENARIOS))
    arguments = parser.parse_args()
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupted)
    for name in arguments.scenario:
        try:
            run(name, arguments.elemental)
        except Exception as error:
            print(f"FAILED {name}: {type(error).__name__}: {error}", file=sys.stderr)
            traceback.print_tb(error.__traceback__, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
