"""Tests/run --repeat: the same tests again and again, under load, in other orders, with starved processes."""

import argparse
import collections
import contextlib
import pathlib
import random
import re
import subprocess
import sys
import threading
import time

import load
import modules
import places
import results
import schedule
from schedule import Failed, Job, clock, say

FOLDER = places.BUILD / "repeat"
# The size of the parts into which --shuffle cuts the tests, a process each.
PART = 40
# An argument of a command may have 128 KiB.
LONGEST_PATTERN = 100_000
OUTCOMES = ("passed", "failed", "skipped")


class Counts:
    """How often each test passed, failed and was skipped, in a file that the next sitting reads."""

    def __init__(self, file: pathlib.Path) -> None:
        self.file = file
        self.of: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self._lock = threading.Lock()
        if file.exists():
            for line in file.read_text().splitlines()[1:]:
                name, *numbers = line.split("\t")
                self.of[name].update(dict(zip(OUTCOMES, map(int, numbers))))

    def runs(self, name: str) -> int:
        """How often a test has run or was skipped."""
        return self.of[name].total()

    def sum(self, names: list[str], outcome: str) -> int:
        """The runs of some tests with this outcome."""
        return sum(self.of[name][outcome] for name in names)

    def add(self, found: results.Results) -> None:
        """Counts a run's tests and writes the file. A test that was under way when its process ended has failed."""
        with self._lock:
            for test in found.tests.values():
                if not test.is_suite and test.outcome != "listed":
                    outcome = test.outcome if test.outcome in OUTCOMES and not test.issues else "failed"
                    self.of[test.id][outcome] += 1
            rows = [[name, *(str(self.of[name][outcome]) for outcome in OUTCOMES)] for name in sorted(self.of)]
            new = self.file.with_suffix(".new")
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_text("\n".join("\t".join(row) for row in [["test", *OUTCOMES], *rows]) + "\n")
            new.replace(self.file)


class Repetition:
    """What the options ask for."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.rounds, self.load, self.seed, self.starves = chosen.repeat, chosen.load, chosen.shuffle, chosen.starve
        self.lanes = chosen.lanes
        self.program = modules.bundle(places.BUNDLE, None)
        # Each kind of trouble has counts of its own.
        kinds = [f"load-{self.load}" if self.load else "", "starve" if self.starves else ""]
        kinds.append("shuffle" if self.seed is not None else "")
        self.file = FOLDER / ("-".join(filter(None, kinds)) or "quiet")
        self.counts_file = self.file.with_name(self.file.name + ".tsv")
        self.transcript = self.file.with_name(self.file.name + "-first-failure.txt")
        if chosen.restart:
            self.counts_file.unlink(missing_ok=True)
            self.transcript.unlink(missing_ok=True)
        self.counts = Counts(self.counts_file)
        # The processes in which something failed, which need not be a test: an issue may be recorded outside of all.
        self.failed_jobs: list[Job] = []
        self.began = time.monotonic()

    def run(self, names: list[str]) -> None:
        """Runs tests until each has run often enough."""
        with load.load(self.load):
            for number in range(1, self.rounds + 1):
                due = [name for name in names if self.counts.runs(name) < number]
                if due:
                    self._round(number, due)

    def _round(self, number: int, due: list[str]) -> None:
        start = time.monotonic()
        found = results.Results()
        parts = parts_of(due, self.seed, number)
        jobs = [self._job(f"part {index}", part, number, found) for index, part in enumerate(parts, start=1)]
        plan = schedule.Schedule(jobs, {"tests": self.lanes}, self.began, is_quiet=True)
        plan.run()
        self.failed_jobs += [job for job in jobs if job.error]
        bad = {test.id for test in found.failures} | {test.id for test in found.of("started")}
        took = clock(time.monotonic() - start)
        say(f"round {number} of {self.rounds}: {len(due)} tests in {len(parts)} processes, {len(bad)} failed, in {took}")

    def _job(self, name: str, part: list[str], number: int, total: results.Results) -> Job:
        def run(job: Job) -> None:
            started: list[subprocess.Popen] = []
            starving = load.Starving(started, self.program, f"{self.seed} {number} {name}") if self.starves else None
            # Waits are longer by what the load and the other lanes take from the processor. The product's limits stay.
            slower = 1 + (self.load + max(self.lanes - places.LANES, 0)) / places.CORES + self.starves
            patience = {"ELEMENTAL_TEST_PATIENCE": str(places.PATIENCE * slower)}
            with starving or contextlib.nullcontext():
                found = modules.run_tests(
                    name, self.program, pattern_of(part), log=job.log, environment=patience,
                    limit=modules.LIMIT * slower, started=started,
                )
            self.counts.add(found)
            total.merge(found)
            if found.failures or found.unfinished or found.stray or not found.tests:
                job.summary = modules.summary(found)
                if not self.transcript.exists():
                    heading = f"round {number}, {name}, seed {self.seed}, load {self.load}:"
                    self.transcript.write_text("\n".join([heading, job.summary, "", *modules.plain(job.log)]) + "\n")
                raise Failed("see above")

        return Job(name, run, lane="tests", kind="module")

    def tell(self, names: list[str]) -> int:
        """Prints the pass rate, the tests that failed and the first failure, and returns the exit status."""
        tests = [name for name in names if not self.counts.of[name]["skipped"]]
        passed, failed = (self.counts.sum(names, outcome) for outcome in ("passed", "failed"))
        if (failed or self.failed_jobs) and self.transcript.exists():
            say("\n== the first failure")
            for line in self.transcript.read_text().splitlines()[:200]:
                say(line)
            say()
        for name in names:
            if wrong := self.counts.of[name]["failed"]:
                say(f"{name}: failed {wrong} of {self.counts.runs(name)} times")
        seed = f" with the seed {self.seed}" if self.seed is not None else ""
        rate = 100 * passed / (passed + failed) if passed + failed else 0
        fewest = min((self.counts.of[name]["passed"] for name in tests), default=0)
        say(f"{rate:.3f} % of {passed + failed} runs of {len(tests)} tests passed{seed}; each test passed {fewest} times or more")
        if self.starves:
            say(f"processes stood still {load.Starving.freezes} times in this sitting")
        say(f"the counts are in {self.counts_file.relative_to(places.ROOT)}")
        say(f"{passed} passed, {failed} failed, {len(names) - len(tests)} skipped")
        return 0 if passed and not failed and not self.failed_jobs else 1


def main(chosen: argparse.Namespace) -> int:
    """Repeats tests and returns the exit status."""
    program = modules.bundle(places.BUNDLE, None)
    mistake = load.Starving.unavailable_reason() if chosen.starve else ""
    if not program.exists():
        mistake = "--repeat builds nothing, and nothing is built; run Tests/run first"
    names = [] if mistake else matching(modules.list_tests(program), chosen.filter)
    if not names:
        print(f"Tests/run: {mistake or 'no test matches'}", file=sys.stderr)
        return 1
    repetition = Repetition(chosen)
    earlier = sum(repetition.counts.runs(name) for name in names)
    if earlier:
        say(f"{earlier} runs of these tests are from earlier sittings; --restart forgets them")
        if program.stat().st_mtime > repetition.counts_file.stat().st_mtime:
            say("the tests were built anew since then")
    repetition.run(names)
    return repetition.tell(names)


def matching(names: list[str], pattern: str | None) -> list[str]:
    """The tests whose names match."""
    return [name for name in names if not pattern or re.search(pattern, name)]


def pattern_of(names: list[str]) -> str:
    """A pattern for exactly these tests. Swift Testing compares it with a name that the place in the source follows."""
    return "^(" + "|".join(re.escape(name) for name in names) + ")/"


def parts_of(names: list[str], seed: int | None, number: int) -> list[list[str]]:
    """What runs in a process each: a module's tests, or with a seed some that chance brings together."""
    if seed is not None:
        order = sorted(names)
        random.Random(f"{seed} {number}").shuffle(order)
        return [order[index : index + PART] for index in range(0, len(order), PART)]
    groups: dict[str, list[str]] = collections.defaultdict(list)
    for name in names:
        groups[name.split(".")[0]].append(name)
    return [part for group in groups.values() for part in _short(group)]


def _short(names: list[str]) -> list[list[str]]:
    if len(pattern_of(names)) <= LONGEST_PATTERN or len(names) == 1:
        return [names]
    middle = len(names) // 2
    return _short(names[:middle]) + _short(names[middle:])
