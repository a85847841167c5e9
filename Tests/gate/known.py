"""Failures that an issue names and that do not fail a run until it is resolved: Tests/known-failures."""

import pathlib
import re

import places

LIST = places.TESTS / "known-failures"
# What the last lines say of this run.
told: list[str] = []

ERROR = re.compile(r"^\S.*\b(?:fatal )?error: |^error: |Assertion .* failed|Stack dump:")


def read(text: str | None = None) -> list[tuple[str, re.Pattern[str], str]]:
    """The lines of the list: step | pattern | reason."""
    lines = (LIST.read_text() if text is None else text).splitlines()
    rows = [line.split(" | ") for line in lines if line.strip() and not line.startswith("#")]
    return [(step.strip(), re.compile(pattern.strip()), reason.strip()) for step, pattern, reason in rows]


def explain(step: str, log: pathlib.Path, text: str | None = None) -> str | None:
    """The reasons of a failure, or None if one of its errors is on no line of the list."""
    rows = [(pattern, reason) for name, pattern, reason in read(text) if name == step]
    errors = [line for line in log.read_text(errors="replace").splitlines() if ERROR.search(line)]
    reasons = []
    for error in errors:
        reason = next((reason for pattern, reason in rows if pattern.search(error)), None)
        if reason is None:
            return None
        reasons.append(reason)
    return "; ".join(dict.fromkeys(reasons)) or None
