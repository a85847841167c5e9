"""Processes of `elemental` for tests in Python, each with a state directory and ended whatever happens."""

import ctypes
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time


class Failure(Exception):
    """A check that failed, with a sentence that says what was expected."""


def until(check, what, seconds=10.0):
    """Asks again and again until `check` returns something true, which is returned."""
    deadline = time.monotonic() + seconds
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > deadline:
            raise Failure(f"not within {seconds:g} s: {what}")
        time.sleep(0.02)


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Running:
    """A process with its JSON events from standard output; lines may be written to its standard input."""

    def __init__(self, command, environment):
        self.command = command
        self.events = []
        self._arrived = queue.Queue()
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment, text=True, bufsize=1,
            preexec_fn=_die_with_parent)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            try:
                self._arrived.put(json.loads(line))
            except ValueError:
                pass

    def take(self):
        """All events until now."""
        while not self._arrived.empty():
            self.events.append(self._arrived.get())
        return self.events

    def event(self, kind, seconds=10.0, **fields):
        """Waits for an event of this kind with these fields, and returns the newest such."""
        def find():
            for event in reversed(self.take()):
                if event.get("event") == kind and all(event.get(name) == value for name, value in fields.items()):
                    return event
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended with status {self.process.returncode}: {self.output()}")
            return None
        return until(find, f"{self.name} says {kind} {fields or ''}", seconds)

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def output(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-2000:].strip()

    @property
    def name(self):
        return " ".join(os.path.basename(word) for word in self.command[:3])

    def end(self, how=signal.SIGTERM):
        """Ends the process and returns its status; insists after five seconds."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


class Bed:
    """Starts processes and ends them all: `with Bed(path) as bed:`."""

    def __init__(self, elemental):
        self.elemental = os.path.abspath(elemental)
        self.folder = tempfile.mkdtemp(prefix="elemental-browser.")
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, state):
        return {**os.environ, "ELEMENTAL_STATE": os.path.join(self.folder, state)}

    def start(self, *arguments, state):
        """Starts a command; `state` names a user with an identity of its own."""
        return self.program(self.elemental, *arguments, state=state)

    def program(self, path, *arguments, state):
        """Starts another program, likewise."""
        process = Running([path, *arguments], self.environment(state))
        self.running.append(process)
        return process

    def run(self, *arguments, state="client"):
        """Runs a command to its end and returns its output; fails if it fails."""
        done = subprocess.run(
            [self.elemental, *arguments], env=self.environment(state), capture_output=True, text=True, timeout=20,
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
