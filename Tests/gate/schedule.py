"""Runs jobs beside each other, in lanes and after one another."""

import dataclasses
import pathlib
import re
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable

import places
import processes


class Failed(Exception):
    """A job failed; the text says why."""


@dataclasses.dataclass
class Job:
    """Something to do, by a function that appends what there is to say to a log."""

    name: str
    run: Callable[["Job"], None]
    # Jobs that have to succeed before, by name.
    needs: set[str] = dataclasses.field(default_factory=set)
    # Jobs that have to end before, whatever comes of them.
    after: set[str] = dataclasses.field(default_factory=set)
    # Jobs of one lane share its places; those of no lane start at once.
    lane: str | None = None
    # Whether nothing else makes sense when it fails.
    is_vital: bool = False
    nice: int = 0
    # How many lines of its output to show when it succeeds.
    shown: int = 2
    kind: str = "step"
    # Set by the job: one line on how it went, shown in place of its output.
    summary: str = ""
    # Set by the job: what is on its way, for the line that shows progress.
    progress: Callable[[], str] | None = None
    seconds: float = 0
    error: str = ""
    # Whether it was not run to its end, because another one failed.
    is_omitted: bool = False

    @property
    def log(self) -> pathlib.Path:
        return places.LOGS / (re.sub(r"[^\w.]+", "-", self.name) + ".log")

    def command(self, command: list[str], *, environment: dict[str, str] | None = None, limit: float | None = None) -> None:
        """Runs a command of the job."""
        status = processes.run(command, self.log, environment=environment, nice=self.nice, limit=limit)
        if status == 124 and limit:
            raise Failed(f"'{' '.join(command[:4])}' took more than {limit:.0f} s")
        if status != 0:
            raise Failed(f"'{' '.join(command[:4])}' ended with status {status}")


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def needed(jobs: list[Job], names: set[str]) -> list[Job]:
    """The jobs with these names, and those that they need."""
    found = set()
    while names := names - found:
        found |= names
        names = set().union(*(job.needs for job in jobs if job.name in names))
    return [job for job in jobs if job.name in found]


class Schedule:
    """Jobs, in the order in which they start where they may."""

    def __init__(self, jobs: list[Job], lanes: dict[str, int], began: float, *, is_quiet: bool = False) -> None:
        self.jobs = jobs
        self.lanes = lanes
        self.began = began
        # Whether jobs that succeed are not told.
        self.is_quiet = is_quiet
        self.ended: dict[str, Job] = {}
        self.running: dict[str, Job] = {}
        self._waiting = list(jobs)
        self._messages: queue.Queue[Job] = queue.Queue()
        names = {job.name for job in jobs}
        if len(names) != len(jobs):
            raise ValueError("two jobs have the same name")
        for job in jobs:
            # A run has not every job: the ones that are left out need not be waited for.
            job.needs &= names
            job.after &= names

    @property
    def failed(self) -> list[Job]:
        return [job for job in self.jobs if job.error]

    def run(self) -> None:
        """Runs all jobs, until a vital one fails."""
        # Often enough for a person who watches; a log of CI is shorter.
        interval = 10 if sys.stdout.isatty() else 60
        told = time.monotonic()
        while self._waiting or self.running:
            self._start()
            if not self.running:
                break
            try:
                job = self._messages.get(timeout=1)
            except queue.Empty:
                if time.monotonic() - told >= interval:
                    told = time.monotonic()
                    self._tell_progress()
                continue
            told = time.monotonic()
            self._end(job)
            if job.error and job.is_vital:
                processes.end_all()
                for other in self._waiting:
                    self._omit(other, job.name)
                break

    def _start(self) -> None:
        for job in list(self._waiting):
            broken = [name for name in job.needs if name in self.ended and self.ended[name].error]
            if broken:
                self._waiting.remove(job)
                self._omit(job, broken[0])
            elif job.needs | job.after <= self.ended.keys() and self._has_room(job):
                self._waiting.remove(job)
                self.running[job.name] = job
                threading.Thread(target=self._work, args=(job,), daemon=True).start()

    def _omit(self, job: Job, cause: str) -> None:
        job.is_omitted, job.error = True, f"it was not run, because '{cause}' failed"
        self.ended[job.name] = job

    def _has_room(self, job: Job) -> bool:
        if job.lane is None:
            return True
        return sum(other.lane == job.lane for other in self.running.values()) < self.lanes[job.lane]

    def _work(self, job: Job) -> None:
        began = time.monotonic()
        try:
            job.log.write_bytes(b"")
            job.run(job)
        except Failed as error:
            job.error = str(error)
        except processes.Ended:
            job.is_omitted, job.error = True, "the run ended before"
        except Exception:
            job.error = traceback.format_exc()
        job.seconds = time.monotonic() - began
        self._messages.put(job)

    def _end(self, job: Job) -> None:
        del self.running[job.name]
        self.ended[job.name] = job
        if self.is_quiet and not job.error:
            return
        outcome = "FAILED" if job.error else "done"
        step(f"{job.name}: {outcome} in {clock(job.seconds)}", self.began)
        lines = job.log.read_text(errors="replace").splitlines()
        if job.error and job.kind == "step":
            shown = lines[-100:]
            if len(lines) > len(shown):
                say(f"(the last of {len(lines)} lines; all are in {job.log.relative_to(places.ROOT)})")
        else:
            shown = [] if job.summary else lines[len(lines) - min(job.shown, len(lines)) :]
        # A module's summary has its failures.
        error = "" if job.kind == "module" and job.summary else job.error
        for line in [*shown, *job.summary.splitlines(), *error.splitlines()]:
            say(line)

    def _tell_progress(self) -> None:
        states = []
        for job in self.running.values():
            text = job.progress() if job.progress else last_line(job.log)
            states.append(f"{job.name}: {text}" if text else job.name)
        say(f"… {clock(time.monotonic() - self.began)} " + "; ".join(states))


def last_line(log: pathlib.Path) -> str:
    """The newest line of a log, shortened."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 2000))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:60] for line in reversed(lines) if line.strip()), "")


def say(line: str = "") -> None:
    """Prints a line at once."""
    print(line, flush=True)


def step(text: str, began: float) -> None:
    """A heading with the time since the run began."""
    say(f"\n== {text} (after {clock(time.monotonic() - began)})")
