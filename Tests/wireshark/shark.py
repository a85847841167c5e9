"""Runs tshark with the script, and reads what it says."""

import json
import os
import re
import subprocess

from waits import Failure, patience

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCRIPT = os.path.join(ROOT, "Samples", "Wireshark", "elemental.lua")
# Nobody's preferences and scripts.
HOME = {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}


def command(path, *arguments, script=True):
    # The ports of the captures are any: some of them are other protocols'.
    first = ("-o", "tcp.try_heuristic_first:TRUE", "-o", "udp.try_heuristic_first:TRUE")
    return ["tshark", "-n", *first, *(("-X", f"lua_script:{SCRIPT}") if script else ()), "-r", path, *arguments]


def measure(path, *arguments, script=True):
    """Runs tshark without keeping its output. Returns its seconds of processor and its memory in MiB."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command(path, *arguments, script=script), stdout=quiet, stderr=quiet, env={**os.environ, **HOME})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failure(f"tshark ended with status {process.returncode}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def tshark(path, *arguments):
    """Runs tshark on a capture and returns its output; fails if it or the script fails."""
    words = command(path, *arguments)
    done = subprocess.run(words, capture_output=True, timeout=patience(), env={**os.environ, **HOME})
    errors = done.stderr.decode(errors="replace")
    # Broken TLS trips an assertion of Wireshark 4.0's own, also without the script.
    harmless = ("as user \"root\"", "Dissector bug, protocol TLS")
    complaints = [line for line in errors.splitlines() if line.strip() and not any(each in line for each in harmless)]
    if done.returncode or complaints:
        raise Failure(f"{' '.join(words)}: status {done.returncode}: {errors.strip()[-2000:]}")
    return done.stdout.decode(errors="surrogateescape")


def fields(path, *names, filter="elemental", options=()):
    """The named fields of each packet, as lists."""
    arguments = [word for name in names for word in ("-e", name)]
    output = tshark(path, *options, "-Y", filter, "-T", "fields", "-E", "separator=/t", "-E", "aggregator=|", *arguments)
    return [[cell.split("|") if cell else [] for cell in line.split("\t")] for line in output.split("\n")[:-1]]


def messages(path, filter="elemental", options=()):
    """All messages, each a dictionary of its fields, in the packets' order. `complaints` are the names of expert infos."""
    output = tshark(path, *options, "-Y", filter, "-T", "json", "--no-duplicate-keys", "-J", "frame elemental")
    found = []
    for packet in json.loads(output):
        layers = packet["_source"]["layers"]
        number = int(layers["frame"]["frame.number"])
        for layer in _list(layers.get("elemental")):
            for message in _list(layer.get("elemental.message")) if isinstance(layer, dict) else []:
                found.append({"frame": number, "complaints": [], **_flat(message)})
    return found


def info(path, filter="elemental", options=()):
    """The columns of the packet list, a line each."""
    return [re.sub(r"\s+", " ", line.strip()) for line in tshark(path, *options, "-Y", filter).split("\n")[:-1]]


def _list(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def _flat(tree):
    """A tree's fields without the protocol's name; of those that are there several times, a list."""
    flat, complaints = {}, []
    for key, value in tree.items():
        for part in _list(value):
            if isinstance(part, dict):
                below = _flat(part)
                complaints += below.pop("complaints", [])
                for inner, each in below.items():
                    flat.setdefault(inner, each)
            elif key.startswith("elemental.expert."):
                complaints.append(key.removeprefix("elemental.expert."))
            elif key.startswith("elemental."):
                flat[key.removeprefix("elemental.")] = value
    return {**flat, **({"complaints": complaints} if complaints else {})}
