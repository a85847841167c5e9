#!/usr/bin/env python3
"""Tests of Samples/Python against real services and clients of `elemental`.

Usage: check.py --elemental PATH SCENARIO…

Prints `ok SCENARIO: CHECK` for each check and `passed SCENARIO` for each scenario. The status is 0 if all went well,
otherwise 1 after a sentence that says what failed and all that the processes have said. All processes are ended in either
case. What cannot be tried on this machine is said in a line `left out SCENARIO: WHY`.
"""

import asyncio
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[1:1] = [os.path.join(ROOT, "Samples/Python"), os.path.join(ROOT, "Tests")]

import scenarios  # noqa: E402
import scenarios_found  # noqa: E402
import scenarios_histories  # noqa: E402
import scenarios_hostile  # noqa: E402
import scenarios_lasting  # noqa: E402
import scenarios_package  # noqa: E402
import scenarios_secure  # noqa: E402
import scenarios_times  # noqa: E402
import scenarios_values  # noqa: E402
from waits import Bed, Failure  # noqa: E402

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
    "times": scenarios_times.times,
    "clocks": scenarios_times.clocks,
    "histories": scenarios_histories.histories,
    "pairing": scenarios_secure.pairing,
    "impostors": scenarios_secure.impostors,
    "found": scenarios_found.found,
    "foundhere": scenarios_found.found_here,
}


def run(scenario, arguments, ok):
    async def watched(bed):
        problems = []
        # What a handler or a task of the package raises, and nobody hears, is a failure.
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        await scenario(bed, ok)
        if problems:
            raise Failure(f"the loop reported: {problems}")

    with Bed(arguments.elemental) as bed:
        asyncio.run(watched(bed))


if __name__ == "__main__":
    # Those of the package's own folder are not this user's.
    os.environ.pop("ELEMENTAL_PYTHON_STATE", None)
    os.environ["PYTHONPATH"] = os.path.join(ROOT, "Samples/Python")
    scenarios.main(__doc__, SCENARIOS, run, not_all=["foundhere"])
