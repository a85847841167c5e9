"""Tests/run: see options.py."""

import argparse
import os
import shutil
import signal
import sys
import time

import arm64
import changed
import gate
import known
import modules
import needs
import options
import places
import processes
import repeat
import report
import rest
import results
import timings
from runs import Run
from schedule import Job, Schedule, needed, say

BEGAN = time.monotonic()


def main() -> int:
    """Runs what the options say and returns the exit status."""
    chosen = options.parse(sys.argv[1:])
    os.chdir(places.ROOT)
    places.LOGS.mkdir(parents=True, exist_ok=True)
    os.environ["ELEMENTAL_TEST_PATIENCE"] = f"{places.PATIENCE:g}"
    mistake = check_machine(chosen.without)
    if mistake:
        print(f"Tests/run: {mistake}", file=sys.stderr)
        return 1
    if chosen.repeat:
        return repeat.main(chosen)
    run = Run(steps=steps_of(chosen), without=frozenset(chosen.without), sanitizer=chosen.sanitize)
    total = results.Results()
    jobs = jobs_of(chosen, run, total)
    others = rest.jobs(run, total)
    if chosen.step:
        # The step "long" is the gate's modules, with their long tests.
        long = set(modules.names()) if "long" in run.steps else set()
        jobs = needed(jobs, long.union(*(job.needs for job in others)))
    # Nothing else runs beside the gate.
    first = {job.name for job in jobs}
    for job in others:
        job.after |= first
    jobs += others
    schedule = Schedule(jobs, {"build": 1, "tests": places.LANES, "sanitizer": 1}, BEGAN)
    schedule.run()
    if is_whole(chosen) and not chosen.step:
        rows = [(job.kind, job.name, job.seconds) for job in schedule.jobs if not job.is_omitted]
        timings.write([*rows, ("step", "all", time.monotonic() - BEGAN), *timings.of_tests(total)])
    return report.tell(schedule, total, run, known.told)


def is_whole(chosen: argparse.Namespace) -> bool:
    """Whether the options choose the gate or more."""
    return not (chosen.filter or chosen.soak or chosen.set_clock or chosen.sanitize or chosen.arm64)


def check_machine(without: list[str]) -> str | None:
    """What is missing that no step installs."""
    if shutil.which("swift") is None:
        return "no Swift toolchain on the PATH; get one from https://www.swift.org/install/linux/"
    if "root" not in without and not needs.is_root():
        return (
            f"{needs.PERMISSIONS['root']} cannot be tested here, for this is not root or network namespaces are not allowed. "
            "Run it as root, or leave these tests out with --without root."
        )
    return None


def steps_of(chosen: argparse.Namespace) -> frozenset[str]:
    """The steps besides the gate."""
    if chosen.all:
        return frozenset(rest.STEPS)
    if chosen.step:
        return frozenset(chosen.step)
    if chosen.changed is None:
        return frozenset()
    found = changed.base(chosen.changed)
    if found is None:
        say(f"there is no commit {chosen.changed or 'before this one'}: everything runs")
        return frozenset(rest.STEPS)
    commit, how = found
    files = changed.files(commit)
    steps = changed.steps(files, changed.read())
    say(f"{len(files)} files have changed since {commit[:10]} ({how})")
    for step, reasons in steps.items():
        more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        say(f"  {step}: {reasons[0]}{more}")
    return frozenset(steps)


def jobs_of(chosen: argparse.Namespace, run: Run, total: results.Results) -> list[Job]:
    """The jobs of the gate, or of what the options choose in its place."""
    if chosen.sanitize and not chosen.filter:
        return [*gate.installs(run), *rest.sanitized(run, total)]
    if chosen.arm64:
        return [gate.installs(run)[0], *arm64.jobs(run, total, chosen.filter)]
    if is_whole(chosen):
        jobs = gate.jobs(run, total, has_lint=chosen.lint)
        # The step "faults" runs all of these.
        return [job for job in jobs if job.name != "FaultTests" or "faults" not in run.steps]
    pattern, environment, limit = chosen.filter, {}, modules.LIMIT
    if chosen.soak:
        pattern, environment = r"^FaultTests\.SoakTests", {"ELEMENTAL_SOAK_SECONDS": str(chosen.soak * 60)}
        limit += chosen.soak * 60
    if chosen.set_clock:
        pattern, environment = r"^FaultTests\.ClockTests", {"ELEMENTAL_SET_CLOCK": "1"}
    if not chosen.filter:
        environment["ELEMENTAL_TEST_DEPTH"] = "all"
    if chosen.sanitize:
        folder, environment = modules.reports(chosen.sanitize)
    building = gate.build(chosen.sanitize)
    tests = modules.job(
        "tests",
        total,
        run,
        name=f"tests that match {pattern}"[:80],
        program=modules.bundle(places.BUNDLE, chosen.sanitize),
        pattern=pattern,
        environment=environment,
        limit=limit,
        needs={building.name} | gate.INSTALLS,
        after={gate.EMBEDDED},
    )
    # FirmwareTests run what it builds.
    has_firmware = chosen.sanitize or "embedded" in run.without or gate.FIRMWARE.exists()
    others = [] if has_firmware else [gate.embedded()]
    if chosen.sanitize:
        others.append(rest.reports(chosen.sanitize, folder, {tests.name}))
    return [*gate.installs(run), building, tests, *others]


def interrupt(number: int, _frame) -> None:
    """Ends all that was started, at once, and then this program."""
    signal.signal(number, signal.SIG_IGN)
    say("\nTests/run: ending what is under way")
    processes.end_all()
    # Threads that wait for a process have nothing to say any more.
    os._exit(128 + number)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    sys.exit(main())
