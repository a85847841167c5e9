"""The tests that a run may skip: Tests/skips."""

import dataclasses
import re

import places
from results import Test
from runs import Run

LIST = places.TESTS / "skips"


@dataclasses.dataclass(frozen=True)
class Skip:
    """A line of the list."""

    line: int
    condition: str
    pattern: re.Pattern[str]
    reason: str


def read(text: str | None = None) -> list[Skip]:
    """The lines of the list: condition | pattern | reason."""
    skips = []
    for number, line in enumerate((LIST.read_text() if text is None else text).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 3:
            raise ValueError(f"Tests/skips:{number}: a line is: condition | pattern | reason")
        try:
            Run().allows(fields[0])
            skips.append(Skip(number, fields[0], re.compile(fields[1]), fields[2]))
        except (ValueError, re.error) as error:
            raise ValueError(f"Tests/skips:{number}: {error}") from None
    return skips


def describe(test: Test) -> str:
    """What a pattern is compared with: the test's name and the reason that it gives."""
    return f"{test.id}: {test.reason}"


def unexpected(tests: list[Test], skips: list[Skip], run: Run = Run()) -> list[Test]:
    """The skipped tests that no line of the list allows."""

    def is_allowed(test: Test) -> bool:
        conditions = test.run or run
        return any(conditions.allows(skip.condition) and skip.pattern.search(describe(test)) for skip in skips)

    return [test for test in tests if not is_allowed(test)]
