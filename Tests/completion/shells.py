"""Shells in terminals of their own, to which a test types."""

import fcntl
import os
import pty
import shlex
import signal
import stat
import struct
import subprocess
import termios
import threading

from waits import Failure, Log, _die_with_parent, check, until

# The program's place: it completes as the program does, and records what else it is called with.
PROGRAM = """#!/bin/sh
case ${{1-}} in ---complete | --generate-completion-script) exec {program} "$@" ;; esac
{{ printf '%s\\0' "$@" && printf '\\n\\0'; }} >>{passed}
"""

# No files of the user's are read; the prompt is one that nobody's name has.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; "
             "bind 'set page-completions off'; "
             "PS1='ready''> '; . {script}"),
    "zsh": (["zsh", "-f", "-i"],
            "autoload -Uz compinit && compinit -D; unsetopt beep prompt_sp auto_menu; LISTMAX=0; PS1='ready''> '; . {script}"),
    "fish": (["fish", "--no-config", "-i"], "set fish_greeting; function fish_prompt; echo -n ready'> '; end; source {script}"),
}
PROMPT = "ready> "


def _begin():
    _die_with_parent()
    # A shell with jobs wants its terminal.
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Shell:
    """A shell that completes, and a folder of its own in which it runs."""

    def __init__(self, name, bed):
        self.name = name
        self.folder = os.path.join(bed.folder, name)
        self._passed = os.path.join(bed.folder, "passed")
        self._taken = 0
        self._bytes = bytearray()
        self._mark = 0
        programs, home = (os.path.join(bed.folder, each) for each in ("programs", "home"))
        for folder in (programs, home, self.folder):
            os.makedirs(folder)
        program = os.path.join(programs, "elemental")
        with open(program, "w") as file:
            file.write(PROGRAM.format(program=shlex.quote(bed.elemental), passed=shlex.quote(self._passed)))
        os.chmod(program, stat.S_IRWXU)
        open(os.path.join(self.folder, "recording.mcap"), "w").close()
        script = os.path.join(home, "script")
        with open(script, "w") as file:
            file.write(bed.run("--generate-completion-script", name))
        environment = {
            **bed.environment("client"), "PATH": f"{programs}:{os.environ['PATH']}", "HOME": home, "TERM": "dumb",
            "LC_ALL": "C.UTF-8"}
        command, setup = SHELLS[name]
        self._terminal, other = pty.openpty()
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("4H", 40, 160, 0, 0))
        self._process = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, cwd=self.folder, env=environment, start_new_session=True,
            preexec_fn=_begin)
        os.close(other)
        self._log = Log(f"{name} (terminal)", repr)
        threading.Thread(target=self._read, daemon=True).start()
        self.type(setup.format(script=shlex.quote(script)) + "\r")
        self.shows(PROMPT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        os.close(self._terminal)

    def _read(self):
        while True:
            try:
                part = os.read(self._terminal, 65536)
            except OSError:
                return
            if not part:
                return
            self._bytes += part
            self._log.add(part)

    @property
    def output(self):
        """What it has shown since the last mark."""
        return self._bytes[self._mark:].decode(errors="replace")

    def clear(self):
        self._mark = len(self._bytes)

    def type(self, text):
        os.write(self._terminal, text.encode())

    def shows(self, text):
        until(lambda: text in self.output, f"{self.name} shows {text!r}")

    def cancel(self):
        """Takes back the typed line."""
        self.type("\x15")

    def accept(self, typed):
        """Types a line with tabulators and a return, and returns the words with which the program is called."""
        self.clear()
        self.type(typed + "\r")
        words = until(self._call, f"{self.name} runs {typed!r}")
        self.shows(PROMPT)
        return words

    def _call(self):
        try:
            with open(self._passed, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            return None
        calls = [call.decode().split("\0")[:-1] for call in content.split(b"\n\0")[:-1]]
        if len(calls) <= self._taken:
            return None
        self._taken += 1
        return calls[self._taken - 1]

    def untouched(self):
        """Nothing was run: none of the names has made its file."""
        if os.path.exists(os.path.join(self.folder, "x")) or os.path.exists(os.path.join(self.folder, "x\r")):
            raise Failure(f"{self.name} has run a name")
        check(set(os.listdir(self.folder)) == {"recording.mcap"}, f"{self.name} has made {os.listdir(self.folder)}")
