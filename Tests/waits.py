"""How the tests in Python wait: logs whose waits skip nothing, one patience for all waits, leased ports, and processes.

Every driver of scenarios puts this folder on its path. `time.sleep` is here and nowhere else.
"""

import asyncio
import concurrent.futures
import ctypes
import inspect
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

# Scales every wait, in Swift, Python and shell alike.
FACTOR = max(1.0, float(os.environ.get("ELEMENTAL_TEST_PATIENCE") or 1))
_BEGIN = time.monotonic()
_LIBC = ctypes.CDLL(None)


class Failure(Exception):
    """A check that failed, with a sentence that says what was expected."""


def patience(seconds=60.0):
    """A limit of a wait. It is as long as the slowest machine may need, and no check of speed."""
    return seconds * FACTOR


def is_all():
    """Whether everything is tested, as Depth.isAll says in Swift, or what the gate has of it."""
    return os.environ.get("ELEMENTAL_TEST_DEPTH") == "all"


def check(condition, what):
    if not condition:
        raise Failure(what)


def until(condition, what):
    """Polls a condition until it returns something true, which is returned."""
    deadline = time.monotonic() + patience()
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise Failure(f"not within {patience():g} s: {what}")
        time.sleep(0.01)
    return result


_pauses = concurrent.futures.ThreadPoolExecutor(8)


async def until_async(condition, what, every=0.005):
    """As `until`, for functions and coroutine functions. It keeps real time, also in a loop whose time a test steers."""
    deadline = time.monotonic() + patience()
    while True:
        result = condition()
        if inspect.isawaitable(result):
            result = await result
        if result:
            return result
        if time.monotonic() > deadline:
            raise Failure(f"not within {patience():g} s: {what}")
        await asyncio.get_running_loop().run_in_executor(_pauses, time.sleep, every)


class Event(dict):
    """An event in a log, with its place there."""

    place = -1


class Log:
    """What one process, page or socket has said so far, in order and with times.

    A wait takes the first entry that matches and that no other wait has taken, and leaves all others: two things that
    happen independently may be reported in either order. Where the behaviour promises an order, a wait asks for an entry
    `after` the place of an earlier one.
    """

    every = []

    def __init__(self, name, describe=str):
        self.name = name
        self._describe = describe
        self._entries = []
        self._times = []
        self._taken = []
        self._first_left = 0
        self._changed = threading.Condition()
        self._end = None
        Log.every.append(self)

    def add(self, entry):
        with self._changed:
            if isinstance(entry, Event):
                entry.place = len(self._entries)
            self._entries.append(entry)
            self._times.append(time.monotonic() - _BEGIN)
            self._taken.append(False)
            self._changed.notify_all()

    def close(self, why):
        """Nothing will follow: waits fail."""
        with self._changed:
            self._end = why
            self._changed.notify_all()

    @property
    def all(self):
        """All entries so far, those that were taken included."""
        with self._changed:
            return list(self._entries)

    @property
    def place(self):
        """The place of the newest entry."""
        with self._changed:
            return len(self._entries) - 1

    def take(self, matches=lambda entry: True, after=-1):
        """Takes an entry as `next` does, if it is there already; returns a tuple with it, or an empty one."""
        with self._changed:
            for place in range(max(after + 1, self._first_left), len(self._entries)):
                if not self._taken[place] and matches(self._entries[place]):
                    self._taken[place] = True
                    while self._first_left < len(self._taken) and self._taken[self._first_left]:
                        self._first_left += 1
                    return (self._entries[place],)
            return ()

    def next(self, what="the next entry", matches=lambda entry: True, after=-1):
        """Takes the first entry that matches out of those that no wait has taken, or waits for one."""
        deadline = time.monotonic() + patience()
        with self._changed:
            while not (found := self.take(matches, after)):
                left = deadline - time.monotonic()
                if self._end or left <= 0:
                    raise Failure(f"{self.name}: {what} did not come {self._end or f'within {patience():g} s'}")
                self._changed.wait(left)
            return found[0]

    def lines(self):
        with self._changed:
            return [(at, f"{self.name}| {self._describe(entry)[:2000]}") for at, entry in zip(self._times, self._entries)]

    @staticmethod
    def transcript():
        """All that was said in this scenario, with seconds since its beginning. Of thousands of lines the middle is left out."""
        lines = [f"{at:9.3f} {text}" for at, text in sorted(line for log in Log.every for line in log.lines())]
        if len(lines) > 1200:
            lines[400:-800] = [f"… {len(lines) - 1200} lines …"]
        return "\n".join(lines)


_leases = []


def lease():
    """A port that belongs to this process until it ends, over TCP and UDP, for servers that stop and return at the same port.

    The lease is a socket that is bound to the port and never listens: the system gives the port to no outgoing connection and
    to no server that lets it choose. A server with SO_REUSEADDR can listen there. The port is below those that the system
    chooses.
    """
    for number in range(18_000):
        port = 12_000 + (os.getpid() * 37 + len(_leases) + number) % 18_000
        holder = socket.socket()
        try:
            holder.bind(("0.0.0.0", port))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
                datagrams.bind(("0.0.0.0", port))
        except OSError:
            holder.close()
            continue
        # Not before: two leases of one port would be allowed.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _leases.append(holder)
        return port
    raise Failure("no port is free")


def _die_with_parent():
    _LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Program:
    """A process. Its lines of standard output are events where they are JSON; lines may be written to its standard input."""

    def __init__(self, command, environment=None):
        self.command = command
        name = " ".join(os.path.basename(word) for word in command[:2])
        self.output, self.errors = Log(name), Log(f"{name} (errors)")
        self._values = {}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
            errors="replace", bufsize=1, preexec_fn=_die_with_parent)
        self._readers = [threading.Thread(target=self._read, args=each, daemon=True)
                         for each in ((self.process.stdout, self.output), (self.process.stderr, self.errors))]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(stream, log):
        for line in stream:
            line = line.rstrip("\n")
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            log.add(Event(event) if isinstance(event, dict) else line)
        log.close("before it ended")

    def event(self, kind, after=-1, where=lambda event: True, **members):
        """Takes the first event of this kind with these members."""
        def matches(event):
            return (isinstance(event, Event) and event.get("event") == kind
                    and all(event.get(name) == value for name, value in members.items()) and where(event))
        return self.output.next(f"{kind} {members or ''}", matches, after)

    def value(self, element, matches=lambda value: True):
        """Takes the first value of an element that matches. An element's values come in their order, so only those after
        the last one that was taken count."""
        found = self.event("value", self._values.get(element, -1), lambda event: matches(event["value"]), element=element)
        self._values[element] = found.place
        return found["value"]

    def events(self, kind=None):
        """All events of a kind so far."""
        return [each for each in self.output.all if isinstance(each, Event) and kind in (None, each.get("event"))]

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, how=signal.SIGTERM):
        """Ends the process, waits until its output is read, and returns its status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(patience())
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for reader in self._readers:
            reader.join(patience(5))
        return self.process.returncode


class Bed:
    """Starts processes and ends them all: `with Bed(path) as bed:`."""

    def __init__(self, elemental):
        self.elemental = os.path.abspath(elemental)
        self.folder = tempfile.mkdtemp(prefix="elemental-test.")
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for process in reversed(self.running):
            process.end(signal.SIGTERM if kind is None else signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, state):
        return {**os.environ, "ELEMENTAL_STATE": os.path.join(self.folder, state)}

    def start(self, *arguments, state):
        """Starts a command; `state` names a user with an identity of its own."""
        return self.program(self.elemental, *arguments, state=state)

    def program(self, path, *arguments, state):
        """Starts another program, likewise."""
        process = Program([path, *arguments], self.environment(state))
        self.running.append(process)
        return process

    def run(self, *arguments, state="client"):
        """Runs a command to its end and returns its output; fails if it fails. What looks for a service does so patiently."""
        if arguments[0] in ("describe", "get", "set", "pair", "open-pairing") and "--timeout" not in arguments:
            arguments += ("--timeout", f"{patience():g}")
        done = subprocess.run(
            [self.elemental, *arguments], env=self.environment(state), capture_output=True, text=True, timeout=patience(),
            stdin=subprocess.DEVNULL, preexec_fn=_die_with_parent)
        if done.returncode:
            raise Failure(f"elemental {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def publish(self, service, *elements, name="Test", security="open", port=0, state="service"):
        """Publishes an unlisted service on loopback. Its `place` is HOST:PORT."""
        words = [word for element in elements for word in ("--element", element)]
        process = self.start(
            "publish", service, *words, "--name", name, "--security", security, "--address", "127.0.0.1", "--port", str(port),
            "--unlisted", "--stay", "--json", state=state)
        process.port = process.event("listening")["port"]
        process.place = f"127.0.0.1:{process.port}"
        return process

    def dashboard(self, *targets, port=0, state="dashboard"):
        """Starts a dashboard. It has `url` (with the token, if there is one) and `port`."""
        process = self.start("dashboard", *targets, "--port", str(port), "--json", state=state)
        process.url = process.event("serving")["url"]
        process.origin = process.url.split("#")[0].rstrip("/")
        process.port = int(process.origin.rsplit(":", 1)[1])
        return process

    def get(self, place, element, state="client"):
        """An element's value, as another client sees it."""
        return json.loads(self.run("get", place, element, "--json", state=state).splitlines()[-1])["value"]

    def set(self, place, *values, state="client"):
        self.run("set", place, *values, state=state)
