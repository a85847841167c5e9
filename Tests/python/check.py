#!/usr/bin/env python3
"""Tests of Samples/Python against real services and clients of `elemental`.

Usage: check.py --elemental PATH SCENARIO…

Prints `ok SCENARIO: CHECK` for each check and `passed SCENARIO` for each scenario. The status is 0 if all went well,
otherwise 1 after a sentence that says what failed. All processes are ended in either case. What cannot be tried on this
machine is said in a line `left out SCENARIO: WHY`.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "Samples/Python"))
# The bed of processes is the one of the tests in a browser.
sys.path.append(os.path.join(ROOT, "Tests/browser"))

import scenarios_found  # noqa: E402
import scenarios_hostile  # noqa: E402
import scenarios_lasting  # noqa: E402
import scenarios_package  # noqa: E402
import scenarios_secure  # noqa: E402
import scenarios_values  # noqa: E402
from processes import Bed, Failure  # noqa: E402

SCENARIOS = {
    "units": scenarios_package.units,
    "package": scenarios_package.package,
    "types": scenarios_values.types,
    "large": scenarios_values.large,
    "catalogue": scenarios_values.catalogue,
    "refusals": scenarios_values.refusals,
    "older": scenarios_values.older,
    "reconnection": scenarios_lasting.reconnection,
    "heartbeat": scenarios_lasting.heartbeat,
    "slow": scenarios_lasting.slow,
    "crowd": scenarios_lasting.crowd,
    "clients": scenarios_hostile.clients,
    "services": scenarios_hostile.services,
    "datagrams": scenarios_hostile.datagrams,
    "pairing": scenarios_secure.pairing,
    "impostors": scenarios_secure.impostors,
    "found": scenarios_found.found,
    "foundhere": scenarios_found.found_here,
}
# A scenario takes some seconds; a machine that is busy, longer.
LIMIT = 120


def interrupted(number, _frame):
    raise Failure(f"ended by signal {number}")


def run(name, elemental):
    begin = time.monotonic()

    async def limited(bed):
        problems = []
        # What a handler or a task of the package raises, and nobody hears, is a failure.
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        await asyncio.wait_for(SCENARIOS[name](bed, lambda check: print(f"ok {name}: {check}", flush=True)), LIMIT)
        if problems:
            raise Failure(f"the loop reported: {problems}")

    with Bed(elemental) as bed:
        asyncio.run(limited(bed))
    print(f"passed {name} in {time.monotonic() - begin:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elemental", required=True, help="the program")
    parser.add_argument("scenario", nargs="+", choices=[*SCENARIOS, "all"], metavar="SCENARIO",
                        help="all, or of " + ", ".join(SCENARIOS))
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    # Those of the package's own folder are not this user's.
    os.environ.pop("ELEMENTAL_PYTHON_STATE", None)
    os.environ["PYTHONPATH"] = os.path.join(ROOT, "Samples/Python")
    for name in [each for each in SCENARIOS if each != "foundhere"] if "all" in arguments.scenario else arguments.scenario:
        try:
            run(name, arguments.elemental)
        except Exception as error:
            print(f"FAILED {name}: {type(error).__name__}: {error}", file=sys.stderr)
            place = traceback.extract_tb(error.__traceback__)
            print("\n".join(f"  at {each.filename.rsplit('/', 1)[-1]}:{each.lineno}: {each.line}" for each in place
                            if "/asyncio/" not in each.filename), file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
