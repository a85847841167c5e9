#!/usr/bin/env python3
"""Tests of the dashboard's page in chromium, with real services.

Usage: check.py --elemental PATH [--page FOLDER] SCENARIO…

Prints `ok NAME` for each check. The status is 0 if all went well, otherwise 1 after a sentence that says what failed and all
that the processes and the page have said. All processes are ended in either case. With --page the page's files come from a
folder rather than from the program, so that a change is seen without building.
"""

import contextlib
import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import scenarios  # noqa: E402
import scenarios_control  # noqa: E402
import scenarios_lasting  # noqa: E402
import scenarios_list  # noqa: E402
import scenarios_look  # noqa: E402
import scenarios_motion  # noqa: E402
import scenarios_safety  # noqa: E402
from pages import Browser  # noqa: E402
from waits import Bed, Failure  # noqa: E402

SCENARIOS = {
    "controls": scenarios_control.controls,
    "together": scenarios_control.together,
    "commodore": scenarios_control.commodore,
    "services": scenarios_list.services,
    "kinds": scenarios_list.kinds,
    "nothing": scenarios_list.nothing,
    "hand": scenarios_motion.hand,
    "restart": scenarios_lasting.restart,
    "asleep": scenarios_lasting.asleep,
    "past": scenarios_lasting.past,
    "pairing": scenarios_safety.pairing,
    "readonly": scenarios_safety.read_only,
    "keychanged": scenarios_safety.key_changed,
    "attacks": scenarios_safety.attacks,
    "accessibility": scenarios_look.accessibility,
}


if __name__ == "__main__":
    # One for all scenarios: starting it takes as much of the processor as some of them.
    with contextlib.ExitStack() as stack:
        browsers = []

        def run(scenario, arguments, ok):
            if not browsers:
                browsers.append(stack.enter_context(Browser(arguments.page)))
            with Bed(arguments.elemental) as bed, browsers[0].session() as browser:
                scenario(bed, browser, ok)
                if browser.errors:
                    raise Failure(f"the page reported errors: {browser.errors}")

        scenarios.main(
            __doc__, SCENARIOS, run, options=[("--page", "a folder with the page's files, instead of those in the program")])
