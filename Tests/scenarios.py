"""Runs the scenarios of a folder by their names: what each check.py has in common."""

import argparse
import os
import signal
import sys
import time
import traceback

from waits import Failure, Log, patience

# Longer than the waits of a scenario, so that the wait that fails says what is missing.
BACKSTOP = patience(420)


def _interrupted(number, _frame):
    raise Failure(f"not done within {BACKSTOP:g} s" if number == signal.SIGALRM else f"ended by signal {number}")


def main(description, scenarios, run, *, options=(), not_all=()):
    """Runs the scenarios that the command line names, one after another, and exits.

    - run: called with a scenario's function, the arguments, and a function that tells what went well
    - options: names and help of the options besides --elemental
    - not_all: scenarios that `all` leaves out
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elemental", required=True, help="the program")
    for name, text in options:
        parser.add_argument(name, help=text)
    parser.add_argument("scenario", nargs="+", choices=[*scenarios, "all"], metavar="SCENARIO",
                        help="all, or of " + ", ".join(scenarios))
    arguments = parser.parse_args()
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _interrupted)
    names = [each for each in scenarios if each not in not_all] if "all" in arguments.scenario else arguments.scenario
    for name in names:
        begin = time.monotonic()
        Log.every.clear()
        signal.alarm(int(BACKSTOP))
        try:
            run(scenarios[name], arguments, lambda check: print(f"ok {name}: {check}", flush=True))
        except Exception as error:
            print(f"FAILED {name}: {type(error).__name__}: {error}", file=sys.stderr)
            for each in traceback.extract_tb(error.__traceback__):
                if "/asyncio/" not in each.filename and "site-packages" not in each.filename:
                    print(f"  at {os.path.basename(each.filename)}:{each.lineno}: {each.line}", file=sys.stderr)
            print(Log.transcript(), file=sys.stderr)
            sys.exit(1)
        finally:
            signal.alarm(0)
        print(f"passed {name} in {time.monotonic() - begin:.1f} s", flush=True)
    sys.exit(0)
