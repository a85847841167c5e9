#!/usr/bin/env python3
"""Tests of Samples/Wireshark/elemental.lua in tshark.

Usage: check.py --elemental PATH SCENARIO…

Prints `ok NAME` for each check. The status is 0 if all went well, otherwise 1 after a sentence that says what failed. All
processes are ended in either case. Scenarios with real services capture in a network namespace of their own, which needs
root: without it they say that they are left out.
"""

import argparse
import ctypes
import os
import signal
import socket
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
}
# A scenario takes some seconds; a machine that is busy, longer.
LIMIT = 180


def interrupted(number, _frame):
    raise shark.Failure(f"not done within {LIMIT} s" if number == signal.SIGALRM else f"ended by signal {number}")


def namespace():
    """Moves this process into a network namespace of its own. Returns whether that is allowed here."""
    library = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or library.unshare(0x40000000):  # CLONE_NEWNET
        return False
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    return True


def run(name, elemental):
    begin = time.monotonic()
    scenario = SCENARIOS[name]
    if scenario.__module__ == "scenarios_live" and not namespace():
        print(f"passed {name}: left out, for capturing needs root and a network namespace", flush=True)
        return
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
    parser.add_argument("scenario", nargs="+", choices=[*SCENARIOS, "all"], metavar="SCENARIO",
                        help="all, or of " + ", ".join(SCENARIOS))
    arguments = parser.parse_args()
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupted)
    for name in SCENARIOS if "all" in arguments.scenario else arguments.scenario:
        try:
            run(name, arguments.elemental)
        except Exception as error:
            print(f"FAILED {name}: {type(error).__name__}: {error}", file=sys.stderr)
            traceback.print_tb(error.__traceback__, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
