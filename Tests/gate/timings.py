"""How long steps and modules take: measured, kept, and put on a page."""

import pathlib
import re
import sys

import places
import results

# The newest run's, and the one that the page shows.
FILE = places.BUILD / "timings.tsv"
KEPT = places.TESTS / "timings.tsv"
PAGE = places.ROOT / "Sources/Core/Elemental/Elemental.docc/Testing.md"
BEGIN, END = "<!-- Tests/timings writes this table. -->", "<!-- The table ends here. -->"

Row = tuple[str, str, float]


def write(rows: list[Row], file: pathlib.Path = FILE) -> None:
    """Writes rows: kind (step, module or test), name, seconds. A test's time is that of its cases, without waiting for a slot."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{kind}\t{name}\t{seconds:.1f}" for kind, name, seconds in rows]
    file.write_text("\n".join(["kind\tname\tseconds", *lines]) + "\n")


def read(file: pathlib.Path) -> list[Row]:
    """The rows of a file, none if there is no such file."""
    if not file.exists():
        return []
    rows = [line.split("\t") for line in file.read_text().splitlines()[1:]]
    return [(kind, name, float(seconds)) for kind, name, seconds in rows]


def of_tests(total: results.Results) -> list[Row]:
    """The tests that took a second or more, the longest first."""
    tests = sorted(total.of("passed", "failed"), key=lambda test: -test.seconds)
    return [("test", test.id, test.seconds) for test in tests if test.seconds >= 1]


def longest_first(names: list[str]) -> list[str]:
    """Modules by the time that they took in this folder, or in the run that the page shows; unknown ones come first."""
    known = {name: seconds for file in (KEPT, FILE) for kind, name, seconds in read(file) if kind == "module"}
    return sorted(names, key=lambda name: -known.get(name, float("inf")))


def table(rows: list[Row]) -> str:
    """The page's table of steps and modules."""
    lines = ["| step or module | minutes |", "|---|---|"]
    for kind, name, seconds in rows:
        if kind != "test":
            text = f"`{name}`" if kind == "module" else name
            lines.append(f"| {text} | {int(seconds) // 60}:{int(seconds) % 60:02d} |")
    return "\n".join(lines)


def with_table(page: str, rows: list[Row]) -> str:
    """The page with the table of these rows."""
    text = re.sub(f"{re.escape(BEGIN)}\n.*{re.escape(END)}", "", page, flags=re.DOTALL)
    if text == page:
        raise ValueError(f"{PAGE.name} has no '{BEGIN}' before '{END}'")
    return re.sub(
        f"{re.escape(BEGIN)}\n.*{re.escape(END)}", f"{BEGIN}\n{table(rows)}\n{END}", page, flags=re.DOTALL
    )


def keep() -> None:
    """Keeps the newest run's times of steps and modules and writes the page's table: Tests/timings."""
    rows = [row for row in read(FILE) if row[0] != "test"]
    if not rows:
        sys.exit(f"Tests/timings: there are no times in {FILE}; Tests/run writes them")
    write(rows, KEPT)
    PAGE.write_text(with_table(PAGE.read_text(), rows))
