#!/usr/bin/env python3
"""Tests of the dashboard's page in chromium, with real services.

Usage: check.py --elemental PATH [--page FOLDER] SCENARIO…

Prints `ok NAME` for each check. The status is 0 if all went well, otherwise 1 after a sentence that says what failed. All
processes are ended in either case. With --page the page's files come from a folder rather than from the program, so that
a change is seen without building.
"""

import argparse
import signal
import sys
import time
import traceback

import scenarios_control
import scenarios_lasting
import scenarios_look
import scenarios_safety
from pages import Browser
from processes import Bed, Failure

SCENARIOS = {
    "controls": scenarios_control.controls,
    "together": scenarios_control.together,
    "commodore": scenarios_control.commodore,
    "restart": scenarios_lasting.restart,
    "asleep": scenarios_lasting.asleep,
    "pairing": scenarios_safety.pairing,
    "readonly": scenarios_safety.read_only,
    "keychanged": scenarios_safety.key_changed,
    "attacks": scenarios_safety.attacks,
    "accessibility": scenarios_look.accessibility,
}
# A scenario takes some seconds; a machine that is busy, longer.
LIMIT = 120


def interrupted(number, _frame):
    raise Failure(f"not done within {LIMIT} s" if number == signal.SIGALRM else f"ended by signal {number}")


def run(name, arguments):
    begin = time.monotonic()
    scenario = SCENARIOS[name]
    signal.alarm(LIMIT)
    try:
        with Bed(arguments.elemental) as bed, Browser(arguments.page, getattr(scenario, "arguments", ())) as browser:
            scenario(bed, browser, lambda check: print(f"ok {name}: {check}", flush=True))
            if browser.errors:
                raise Failure(f"the page reported errors: {browser.errors}")
    finally:
        signal.alarm(0)
    print(f"passed {name} in {time.monotonic() - begin:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elemental", required=True, help="the program")
    parser.add_argument("--page", help="a folder with the page's files, instead of those in the program")
    parser.add_argument("scenario", nargs="+", choices=[*SCENARIOS, "all"], metavar="SCENARIO",
                        help="all, or of " + ", ".join(SCENARIOS))
    arguments = parser.parse_args()
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupted)
    for name in SCENARIOS if "all" in arguments.scenario else arguments.scenario:
        try:
            run(name, arguments)
        except (Failure, AssertionError) as error:
            print(f"FAILED {name}: {error}", file=sys.stderr)
            if isinstance(error, AssertionError) or error.__traceback__:
                place = traceback.extract_tb(error.__traceback__)
                print("\n".join(f"  at {each.filename.rsplit('/', 1)[-1]}:{each.lineno}: {each.line}" for each in place
                                if "/browser/" in each.filename and "site-packages" not in each.filename), file=sys.stderr)
            return 1
        except Exception as error:  # of playwright: a timeout, a browser that does not start
            print(f"FAILED {name}: {type(error).__name__}: {error}", file=sys.stderr)
            traceback.print_tb(error.__traceback__, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
