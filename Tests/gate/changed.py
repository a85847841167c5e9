"""Which steps the changed files concern: Tests/steps."""

import re
import subprocess

import places
import rest

MAP = places.TESTS / "steps"
NONE = "gate"


def read(text: str | None = None) -> list[tuple[str, set[str]]]:
    """The lines of the map: a pattern and its steps, none of them where the gate is enough."""
    lines = []
    for number, line in enumerate((MAP.read_text() if text is None else text).splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        pattern, *steps = words
        unknown = [step for step in steps if step != NONE and step not in rest.STEPS]
        if unknown or not steps:
            raise ValueError(f"Tests/steps:{number}: a line is: pattern step…; there is no step {' '.join(unknown)}")
        lines.append((pattern, set(steps) - {NONE}))
    return lines


def matches(pattern: str, file: str) -> bool:
    """Whether a file is one of a pattern's: '**' is any folders, '*' stays within one."""
    return re.fullmatch(_expression(pattern), file) is not None


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/?|\*)", pattern)
    return "".join({"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)


def steps(files: list[str], lines: list[tuple[str, set[str]]]) -> dict[str, list[str]]:
    """The steps that files concern, each with the files. A file on no line concerns all."""
    found: dict[str, list[str]] = {}
    for file in files:
        rows = [names for pattern, names in lines if matches(pattern, file)]
        for name in set().union(*rows) if rows else rest.STEPS:
            found.setdefault(name, []).append(file)
    return {name: found[name] for name in rest.STEPS if name in found}


def git(*arguments: str) -> str | None:
    """Git's answer, or None if it has none."""
    done = subprocess.run(["git", *arguments], cwd=places.ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def base(wanted: str) -> tuple[str, str] | None:
    """The commit to compare with, and how it was found."""
    if wanted:
        commit = git("rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")
        return (commit, wanted) if commit else None
    head, fork = git("rev-parse", "HEAD"), git("merge-base", "origin/main", "HEAD")
    if fork and fork != head:
        return fork, "where this branch left origin/main"
    parent = git("rev-parse", "--verify", "--quiet", "HEAD~1")
    return (parent, "the commit before") if parent else None


def files(commit: str) -> list[str]:
    """The files that differ from a commit, those that are not committed too."""
    differing = git("diff", "--name-only", "--no-renames", commit) or ""
    new = git("ls-files", "--others", "--exclude-standard") or ""
    return sorted({*differing.splitlines(), *new.splitlines()})
