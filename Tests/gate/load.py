"""What makes a machine slow for tests: busy loops, a disk writer, and processes that stand still for a while."""

import contextlib
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

import places
import processes

BUSY = "while True: pass"
# Writes 32 MB to the disk again and again.
WRITE = "import os, sys\nwhile True:\n    with open(sys.argv[1], 'wb') as file:\n        for _ in range(32):\n" \
    "            file.write(os.urandom(1 << 20))\n        file.flush()\n        os.fsync(file.fileno())\n"


@contextlib.contextmanager
def load(loops: int):
    """Runs so many busy loops and a disk writer meanwhile; none for 0."""
    written = places.LOGS / "load"
    commands = [[sys.executable, "-c", BUSY]] * loops + ([[sys.executable, "-c", WRITE, str(written)]] if loops else [])
    with open(os.devnull, "w") as output:
        running = [processes.start(command, output) for command in commands]
        try:
            yield
        finally:
            for process in running:
                processes.end(process)
            written.unlink(missing_ok=True)


class Freezer:
    """A control group that stands still. A stop signal would not do: tests send it too, and would be told to go on."""

    # The kernel's older and newer kind of control groups: folder, file, and what freezes and thaws.
    KINDS = (("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"), ("/sys/fs/cgroup", "cgroup.freeze", "1", "0"))

    def __init__(self, name: str) -> None:
        self.error = "it needs root and control groups that freeze"
        for root, file, self.freeze_word, self.thaw_word in self.KINDS:
            self.root, self.group = pathlib.Path(root), pathlib.Path(root, name)
            self.state = self.group / file
            try:
                self.group.mkdir(exist_ok=True)
                if self.state.exists():
                    self.error = ""
                    return
                self.group.rmdir()
            except OSError as error:
                self.error = f"{self.error} ({error})"

    def hold(self, pids: list[int], seconds: float) -> None:
        """Lets processes stand still for so long. They may end meanwhile."""
        homes = {pid: home for pid in pids if (home := self._home(pid))}
        try:
            for pid in homes:
                self._move(pid, self.group)
            self.state.write_text(self.freeze_word)
            time.sleep(seconds)
        finally:
            self.state.write_text(self.thaw_word)
            for pid in self._members():
                self._move(pid, homes.get(pid, self.root))

    def close(self) -> None:
        """Removes the group."""
        for pid in self._members():
            self._move(pid, self.root)
        with contextlib.suppress(OSError):
            self.group.rmdir()

    def _members(self) -> list[int]:
        return [int(line) for line in (self.group / "cgroup.procs").read_text().split()]

    def _home(self, pid: int) -> pathlib.Path | None:
        try:
            lines = pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        except OSError:
            return None
        for line in lines:
            _, kinds, path = line.split(":", 2)
            if kinds == ("freezer" if self.root.name == "freezer" else ""):
                return self.root / path.lstrip("/")
        return None

    @staticmethod
    def _move(pid: int, group: pathlib.Path) -> None:
        # It may have ended.
        with contextlib.suppress(OSError):
            (group / "cgroup.procs").write_text(str(pid))


class Starving:
    """Freezes child processes of a test program for 10 to 300 ms at a time, at most a fifth of the time."""

    _count = 0
    # How often a process has stood still, of all of these.
    freezes = 0

    def __init__(self, started: list[subprocess.Popen], program: pathlib.Path, seed: str) -> None:
        Starving._count += 1
        self.started, self.program, self.random = started, program, random.Random(seed)
        self.freezer = Freezer(f"elemental-tests-{os.getpid()}-{Starving._count}")
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)

    @staticmethod
    def unavailable_reason() -> str:
        """Why processes cannot be frozen here, or nothing."""
        freezer = Freezer(f"elemental-tests-{os.getpid()}")
        if not freezer.error:
            freezer.close()
        return freezer.error

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_) -> None:
        self.ended.set()
        self.thread.join()
        self.freezer.close()

    def _work(self) -> None:
        while not self.ended.is_set():
            children = self._children()
            held = [pid for pid in children if self.random.random() < 0.5]
            seconds = self.random.uniform(0.01, 0.3)
            if held:
                Starving.freezes += len(held)
                self.freezer.hold(held, seconds)
            # Four times as long as they stood still.
            self.ended.wait(4 * seconds)

    def _children(self) -> list[int]:
        parents = parents_of_all()
        below = descendants(self.started[0].pid, parents) if self.started else []
        programs = [pid for pid in below if is_running(pid, self.program)]
        return [pid for program in programs[:1] for pid in descendants(program, parents)]


def parents_of_all() -> dict[int, int]:
    """Each process's parent."""
    parents = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return parents


def descendants(pid: int, parents: dict[int, int]) -> list[int]:
    """The processes below a process, itself not included."""
    found, level = [], {pid}
    while level:
        level = {child for child, parent in parents.items() if parent in level}
        found += sorted(level)
    return found


def is_running(pid: int, program: pathlib.Path) -> bool:
    """Whether a process runs a program."""
    try:
        return os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(program)
    except OSError:
        return False
