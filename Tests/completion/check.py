#!/usr/bin/env python3
"""Tests of the completion of `elemental` in real shells, with services whose names are commands.

Usage: check.py --elemental PATH SCENARIO…

Prints `ok SCENARIO: CHECK` for each check. The status is 0 if all went well, otherwise 1 after a sentence that says what
failed and all that the processes have said. Each scenario is a shell. The services are published on the bus of
$DBUS_SYSTEM_BUS_ADDRESS, which should be a private one.
"""

import json
import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import scenarios  # noqa: E402
from shells import Shell  # noqa: E402
from waits import Bed, check, until  # noqa: E402

# What a shell would run, expand or mistake, each with a beginning of its own.
NAMES = [
    "1 $(touch x)", "2 `touch x`", "3 it's \"quoted\"", "4; touch x", "5 \\$HOME\\", "6 !!", "7=@x:y", "8 *[a]{b,c}?<>&|#~",
    "~9", "äé ü",
]
# Commands were connected to these; the others are found while the tabulator is pressed.
KNOWN = NAMES[:4]
# These are not offered, whatever they are.
CONTROLS = ["0 new\nline", "0 escape\x1b]0;title\x07", "0 right\u202eleft"]
ELEMENTS = ["Level:float:rw", "$(touch x):bool:rw", "Left 'arm':uint8:choices off,`touch x`,\"on\" low:rw"]


def publish(bed, service, name):
    """A service with the elements, until it is ended."""
    words = [word for number, each in enumerate(ELEMENTS) for word in ("--element", f"{number}:{each}")]
    process = bed.start("publish", service, "--name", name, "--security", "open", "--stay", "--json", *words, state="service")
    process.event("published", instance=name)
    return process


def publish_controls(bed, service):
    """Services with names that are not offered."""
    for name in CONTROLS:
        program = bed.program("avahi-publish-service", name, f"_{service}._tcp", "9", state="service")
        until(lambda program=program: any("Established" in str(line) for line in program.errors.all), f"{name!r} is there")


def know(bed, service):
    """Completion knows some services by earlier commands, and one that has written names with control characters."""
    for name in KNOWN:
        process = publish(bed, service, name)
        bed.run("describe", f"{service}/{name}")
        process.end()
    path = os.path.join(bed.folder, "client", "completion.json")
    with open(path) as file:
        known = json.load(file)
    check({each["target"] for each in known["entries"]} == {f"{service}/{name}" for name in KNOWN}, f"{known}")
    known["entries"] += [{**known["entries"][0], "target": f"{service}/{name}"} for name in CONTROLS]
    with open(path, "w") as file:
        json.dump(known, file)


def targets(shell, bed, service, ok):
    """Instances with and without quotes."""
    for name in KNOWN:
        for typed in (f"{quote}{service}/{name[0]}" for quote in ("", "'", '"')):
            words = shell.accept(f"elemental get {typed}\t Level")
            check(words == ["get", f"{service}/{name}", "Level"], f"{shell.name} made {words} of {typed}")
    for name in NAMES[len(KNOWN):]:
        typed = f"{service}/{name[0]}"
        # One at a time: a busy machine may find nothing in the moment for which a tabulator browses, and of many less.
        process = publish(bed, service, name)
        words = until(
            lambda typed=typed: [words := shell.accept(f"elemental get {typed}\t Level")] * (words[1] != typed),
            f"{typed} is found")[0]
        process.end()
        check(words == ["get", f"{service}/{name}", "Level"], f"{shell.name} made {words} of {typed}")
    shell.untouched()
    ok("a service's name is passed as it is, and nothing is run")
    words = shell.accept(f"elemental get {service}/0\t Level")
    check(words == ["get", f"{service}/0", "Level"], f"{shell.name} made {words} of names that are not offered")
    shell.clear()
    # fish draws no list in a terminal as plain as this one.
    typed = f"elemental get {service}/"
    shell.type(f"complete -C '{typed}'\r" if shell.name == "fish" else typed + "\t")
    shell.shows("touch")
    shell.cancel()
    for text in ("line", "escape", "title", "left"):
        check(text not in shell.output, f"{shell.name} shows {text}: {shell.output!r}")
    shell.untouched()
    ok("names with control characters are not offered")


def elements(shell, service, ok):
    """Elements and their values, which a command has seen."""
    target = f"{service}/{NAMES[0]}"
    quoted = "'" + target + "'"
    # bash closes a quote where more of the word follows.
    end = "" if shell.name == "bash" else "'"
    for typed, expected in [
        (f"elemental get {quoted} Le\tv\t", ["get", target, "Level"]),
        (f"elemental get {quoted} \\$\t", ["get", target, "$(touch x)"]),
        (f"elemental set {quoted} Lev\t0.5", ["set", target, "Level=0.5"]),
        (f"elemental set {quoted} '$\ton{end}", ["set", target, "$(touch x)=on"]),
        (f"elemental set {quoted} \\$\\(touch\\ x\\)=of\t", ["set", target, "$(touch x)=off"]),
        (f"elemental set {quoted} Lef\t\\`\t", ["set", target, "Left 'arm'=`touch x`"]),
        (f"elemental set {quoted} Lef\t\\\"\t", ["set", target, "Left 'arm'=\"on\" low"]),
    ]:
        words = shell.accept(typed)
        check(words == expected, f"{shell.name} made {words} of {typed!r}")
    shell.untouched()
    ok("elements and choices are completed")


def commands(shell, ok):
    """What the program itself has."""
    for typed, expected in [
        ("elemental pub\t --help", ["publish", "--help"]),
        ("elemental trust li\t --js\t", ["trust", "list", "--json"]),
        ("elemental get --security pai\t", ["get", "--security", "paired"]),
        ("elemental get --role=obs\t", ["get", "--role=observe"]),
        ("elemental help bro\t", ["help", "browse"]),
        ("elemental info record\t", ["info", "recording.mcap"]),
        ("elemental alias --remove de\t", ["alias", "--remove", "desk"]),
        ("elemental describe de\t", ["describe", "desk"]),
        ("elemental get desk Lev\t", ["get", "desk", "Level"]),
    ]:
        words = shell.accept(typed)
        check(words == expected, f"{shell.name} made {words} of {typed!r}")
    ok("commands, options, their values, files and aliases are completed")


def run(scenario, arguments, ok):
    with Bed(arguments.elemental) as bed:
        # The scenarios may share a bus.
        service = f"lamp-{scenario}"
        know(bed, service)
        publish_controls(bed, service)
        bed.run("alias", "desk", f"{service}/{NAMES[0]}")
        with Shell(scenario, bed) as shell:
            targets(shell, bed, service, ok)
            elements(shell, service, ok)
            commands(shell, ok)


if __name__ == "__main__":
    scenarios.main(__doc__, {name: name for name in ("bash", "zsh", "fish")}, run)
