"""What Swift Testing writes about each test, as JSON lines (its "event stream")."""

import dataclasses
import json
import pathlib
import re
from collections.abc import Iterable

from runs import Run


@dataclasses.dataclass
class Test:
    """One test function, or one suite that failed by itself."""

    # Without the place in the source, which changes with every edit: Module.Suite/name().
    id: str
    place: str
    is_suite: bool = False
    # started, passed, failed, skipped; "listed" is one that was never reached.
    outcome: str = "listed"
    reason: str = ""
    issues: list[str] = dataclasses.field(default_factory=list)
    began: float | None = None
    seconds: float = 0
    run: Run | None = None

    @property
    def module(self) -> str:
        return self.id.split(".")[0]


def short_id(identifier: str) -> str:
    """A test's name without its place in the source."""
    return re.sub(r"/[^/]+\.swift:\d+:\d+$", "", identifier)


class Results:
    """The tests of some runs."""

    def __init__(self) -> None:
        self.tests: dict[str, Test] = {}
        # Issues of no test, such as an error of the run itself.
        self.stray: list[str] = []
        # Runs that did not come to their end.
        self.unfinished: list[str] = []

    def of(self, *outcomes: str) -> list[Test]:
        """The test functions with one of these outcomes."""
        return [test for test in self.tests.values() if test.outcome in outcomes and not test.is_suite]

    @property
    def failures(self) -> list[Test]:
        """Tests with an issue, and suites with an issue of their own."""
        return [test for test in self.tests.values() if test.issues or (test.outcome == "failed" and not test.is_suite)]

    def merge(self, other: "Results", label: str = "") -> None:
        """Adds the tests of another run, whose label tells them from the same tests in other runs."""
        self.tests |= {label + name: test for name, test in other.tests.items()}
        self.stray += other.stray
        self.unfinished += other.unfinished


def read(file: pathlib.Path) -> tuple[Results, bool]:
    """The results in an event stream, and whether the run has ended."""
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return parse(lines)
    except FileNotFoundError:
        return Results(), False


def parse(lines: Iterable[str]) -> tuple[Results, bool]:
    """The same for lines of JSON. A line that a crash has cut off is no record."""
    results, has_ended = Results(), False
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        payload = record["payload"]
        if record["kind"] == "test":
            source = payload["sourceLocation"]
            place = f"{source.get('_filePath', source.get('fileID'))}:{source['line']}"
            name = short_id(payload["id"])
            results.tests[name] = Test(name, place, is_suite=payload["kind"] == "suite")
        elif record["kind"] == "event":
            has_ended |= payload["kind"] == "runEnded"
            _take(payload, results)
    return results, has_ended


def _take(event: dict, results: Results) -> None:
    kind, text = event["kind"], "\n".join(message["text"] for message in event["messages"])
    test = results.tests.get(short_id(event.get("testID") or ""))
    if kind == "issueRecorded":
        # Not a known issue, nor a warning.
        if any(message["symbol"] == "fail" for message in event["messages"]):
            (test.issues if test else results.stray).append(_heading(event) + text)
    if test is None:
        return
    now = event["instant"]["absolute"]
    if kind == "testStarted":
        test.outcome = "started"
    elif kind in ("testSkipped", "testCancelled"):
        test.outcome, test.reason = "skipped", _reason(event, text)
    elif kind == "testCaseStarted":
        # A test's own time begins when its first case has won a slot.
        test.began = test.began or now
    elif kind == "testEnded":
        symbol = event["messages"][0]["symbol"] if event["messages"] else "fail"
        if test.outcome != "skipped":
            test.outcome = "failed" if symbol == "fail" else "passed"
        test.seconds = now - (test.began or now)


def _heading(event: dict) -> str:
    """Where an issue was recorded, and with which argument of the test."""
    source = event.get("issue", {}).get("sourceLocation")
    place = f"{source.get('fileID', source.get('_filePath'))}:{source['line']}: " if source else ""
    argument = event.get("_testCase", {}).get("displayName")
    return f"{place}with {argument}: " if argument else place


def _reason(event: dict, text: str) -> str:
    comments = [str(comment) for comment in event.get("_comments", [])]
    if comments:
        return " ".join(comments)
    match = re.search(r'skipped: "(.*)"$', text, re.DOTALL)
    return match[1] if match else ""
