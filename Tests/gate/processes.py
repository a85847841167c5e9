"""Child processes that end with this program: each has a process group of its own."""

import os
import pathlib
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

import places

_running: set[subprocess.Popen] = set()
# A signal's handler may come while it is held.
_lock = threading.RLock()
# Set when everything has to end: nothing is started any more.
ending = threading.Event()


class Ended(Exception):
    """The run is ending, so nothing new is started."""


def start(
    command: Sequence[str],
    output: IO,
    *,
    environment: Mapping[str, str] | None = None,
    nice: int = 0,
) -> subprocess.Popen:
    """Starts a command with the root of the package as its folder."""
    # A process group, so that all of it can be ended; no session of its own, in which a niceness would count for nothing
    # (sched_autogroup).
    prefix = ["nice", "-n", str(nice)] if nice else []
    with _lock:
        if ending.is_set():
            raise Ended
        process = subprocess.Popen(
            [*prefix, *command],
            cwd=places.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            process_group=0,
        )
        _running.add(process)
    return process


def finish(process: subprocess.Popen, limit: float | None = None) -> int:
    """Waits for a process and returns its status, or ends it after the limit and returns 124."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        end(process)
        return 124
    finally:
        with _lock:
            _running.discard(process)
        if ending.is_set():
            raise Ended


def run(
    command: Sequence[str],
    log: pathlib.Path,
    *,
    environment: Mapping[str, str] | None = None,
    nice: int = 0,
    limit: float | None = None,
) -> int:
    """Runs a command, appends its output to a file, and returns its status."""
    with log.open("ab") as output:
        return finish(start(command, output, environment=environment, nice=nice), limit)


def end(process: subprocess.Popen, patience: float = 10) -> None:
    """Ends a process and its group."""
    _signal(process, signal.SIGTERM)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        pass
    # What is left of the group goes too.
    _signal(process, signal.SIGKILL)
    process.wait()


def end_all() -> None:
    """Ends everything that was started and lets nothing start any more."""
    with _lock:
        ending.set()
        processes = list(_running)
    for process in processes:
        _signal(process, signal.SIGTERM)
    deadline = time.monotonic() + 10
    for process in processes:
        try:
            process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass
