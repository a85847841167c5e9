"""Finds what makes tests fail by chance: Tests/lint."""

import argparse
import bisect
import dataclasses
import pathlib
import re
import sys

import changed
import places

LIST = places.TESTS / "lint-exceptions"
# These have the one place for each of these things, or are no tests.
OUTSIDE = ("Tests/TestSupport/", "Tests/Fuzz/", "Tests/Fuzzing/")


@dataclasses.dataclass(frozen=True)
class Finding:
    """A place in a test."""

    file: str
    line: int
    text: str
    rule: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {RULES[self.rule]} [{self.rule}]\n    {self.text}"


# Rules with what to do instead.
RULES = {
    "sleep": "a test waits for what happens, not for time: eventually(), Transcript.wait, or an injected clock",
    "clock": "no expectation compares a wall clock: a slow machine is no failure; Benchmarks measure",
    "process": "Foundation's Process inherits what other threads open: use ChildProcess or ProcessSpawn",
    "port": "another program may have this port: let the system choose one, or lease one with PortLease.port()",
    "random": "a failure must be repeatable: use SeededGenerator",
}
# What a rule finds in code without comments; those with strings see the literals too.
SLEEP = re.compile(r"\b(?:u|nano)?sleep\(|\bTask(?:<[^>]*>)?\.sleep\b|\.sleep\((?:for|until|forTimeInterval)")
CLOCK = re.compile(
    r"\b(?:Continuous|Suspending|Dispatch\w*|Date|Clock)\w*(?:\(\))?\.now\b|\bDate\(\)"
    r"|(?<![\w)\]])\.now\b|\bclock_gettime\b"
)
PROCESS = re.compile(r"\bProcess\(\)")
EXPECTATION = re.compile(r"#(?:expect|require)\b\s*\(")
# Only where something listens or connects: a port in a record or a name is data. Ports below 1024 are given to no outgoing
# connection, and the tests listen to none.
HOST = r"(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[?::1?\]?)"
PORT = re.compile(
    rf"\b{HOST}:(?P<a>\d{{4,5}})\b"
    rf"|(?:\"{HOST}\"|\b(?:bind|connect|listen)\()[^\n]*\b[pP]ort: (?P<b>\d[\d_]{{3,}})\b"
    r"|--[a-z-]*port(?:=|\", *\")(?P<c>\d{4,5})\b"
    r"|\b(?:let|var) port(?:: \w+)? = (?P<d>\d[\d_]{3,})\b"
)
RANDOM = re.compile(r"\.random\(|\.randomElement\(|\.shuffle(?:d)?\(|\bSystemRandomNumberGenerator\(|\barc4random\w*\(")


def blank(text: str, *, strings: bool) -> str:
    """Swift with comments, and with 'strings' also the literals' texts, as spaces. Interpolated code remains."""
    out, index, end = [], 0, len(text)
    # Literals that are open: their closing, and for each the depth of parentheses in its interpolation.
    stack: list[list] = []
    depth = 0

    def keep(count: int) -> None:
        nonlocal index
        out.append(text[index : index + count])
        index += count

    def hide(count: int) -> None:
        nonlocal index
        out.append("".join("\n" if character == "\n" else " " for character in text[index : index + count]))
        index += count

    def literal_end() -> None:
        """Skips a literal's text up to its end or to code in it."""
        nonlocal depth
        closing, escape = stack[-1][0], stack[-1][1]
        while index < end:
            if text.startswith(closing, index):
                keep(len(closing))
                stack.pop()
                return
            if text.startswith(escape + "(", index):
                keep(len(escape) + 1)
                stack[-1][2] = depth
                depth = 0
                return
            if text.startswith(escape, index):
                (hide if strings else keep)(min(len(escape) + 1, end - index))
            elif text[index] == "\n" and '"""' not in closing:
                # A literal of one line has no end: this is no Swift, so go on with code.
                stack.pop()
                return
            else:
                plain = re.compile(r'[^"\\\n]+').match(text, index)
                (hide if strings else keep)(len(plain[0]) if plain else 1)

    while index < end:
        if text.startswith("//", index):
            hide((text.find("\n", index) + 1 or end + 1) - 1 - index)
        elif text.startswith("/*", index):
            hide((text.find("*/", index) + 2 if "*/" in text[index:] else end) - index)
        elif match := re.compile(r'(#*)("""|")').match(text, index):
            keep(len(match[0]))
            stack.append([match[2] + match[1], "\\" + match[1], None])
            literal_end()
        elif text[index] == ")" and stack and depth == 0:
            keep(1)
            depth = stack[-1][2]
            literal_end()
        else:
            if text[index] == "(":
                depth += 1
            elif text[index] == ")":
                depth -= 1
            plain = re.compile(r'[^"/#()]+').match(text, index)
            keep(len(plain[0]) if plain else 1)
    return "".join(out)


def closing(code: str, opening: int) -> int:
    """The place after the parenthesis that closes the one at a place."""
    depth = 0
    for index in range(opening, len(code)):
        if code[index] == "(":
            depth += 1
        elif code[index] == ")":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(code)


def check(file: str, text: str) -> list[Finding]:
    """What is wrong in a file, in the order of its lines."""
    lines = text.splitlines()
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    code, with_strings = blank(text, strings=True), blank(text, strings=False)
    found: dict[tuple[int, str], Finding] = {}

    def add(place: int, rule: str) -> None:
        line = bisect.bisect_right(starts, place)
        found.setdefault((line, rule), Finding(file, line, lines[line - 1].strip(), rule))

    for match in SLEEP.finditer(code):
        add(match.start(), "sleep")
    for match in PROCESS.finditer(code):
        add(match.start(), "process")
    for expectation in EXPECTATION.finditer(code):
        for match in CLOCK.finditer(code, expectation.end(), closing(code, expectation.end() - 1)):
            add(match.start(), "clock")
    for match in PORT.finditer(with_strings):
        if 1024 <= int((match["a"] or match["b"] or match["c"] or match["d"]).replace("_", "")) <= 65535:
            add(match.start(), "port")
    for match in RANDOM.finditer(code):
        if "using:" not in code[match.end() : closing(code, match.end() - 1)]:
            add(match.start(), "random")
    return [found[key] for key in sorted(found)]


@dataclasses.dataclass
class Allowance:
    """A line of the list of exceptions."""

    line: int
    path: str
    rule: str
    pattern: re.Pattern[str]
    reason: str
    is_used: bool = False

    def allows(self, finding: Finding) -> bool:
        """Whether a finding is this exception's."""
        is_meant = finding.rule == self.rule and changed.matches(self.path, finding.file)
        return is_meant and self.pattern.search(finding.text) is not None


def exceptions(text: str | None = None) -> list[Allowance]:
    """The lines of the list: path | rule | pattern | reason."""
    made = []
    for number, line in enumerate((LIST.read_text() if text is None else text).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) != 4 or fields[1] not in RULES or not fields[3]:
            raise ValueError(f"Tests/lint-exceptions:{number}: a line is: path | rule | pattern | reason")
        made.append(Allowance(number, fields[0], fields[1], re.compile(fields[2]), fields[3]))
    return made


def remaining(findings: list[Finding], allowed: list[Allowance]) -> list[Finding]:
    """The findings that no exception allows. Marks those exceptions that are used."""
    left = []
    for finding in findings:
        fitting = [exception for exception in allowed if exception.allows(finding)]
        for exception in fitting:
            exception.is_used = True
        if not fitting:
            left.append(finding)
    return left


def files(root: pathlib.Path = places.ROOT) -> list[pathlib.Path]:
    """The tests' sources."""
    found = sorted((root / "Tests").rglob("*.swift"))
    names = [(file, file.relative_to(root).as_posix()) for file in found]
    return [file for file, name in names if not name.startswith(OUTSIDE) and "/.build/" not in name]


def main() -> int:
    """Checks all tests and returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="Tests/lint",
        description="Finds what makes tests fail by chance in Tests/**/*.swift, outside TestSupport and Fuzz. "
        "Tests/lint-exceptions has the exceptions with their reasons.",
        epilog="rules:\n" + "\n".join(f"  {name:<9}{text}" for name, text in RULES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--suggest", action="store_true", help="prints a line for Tests/lint-exceptions for each finding")
    suggests = parser.parse_args().suggest
    allowed = exceptions()
    found = [item for file in files() for item in check(file.relative_to(places.ROOT).as_posix(), file.read_text())]
    left = remaining(found, allowed)
    for finding in left:
        print(f"{finding.file} | {finding.rule} | {re.escape(finding.text)} | ?" if suggests else finding)
    unused = [exception for exception in allowed if not exception.is_used]
    for exception in unused:
        print(f"Tests/lint-exceptions:{exception.line}: nothing needs this exception any more: {exception.path}")
    if not suggests:
        print(f"{len(left)} findings, {len(found) - len(left)} exceptions")
    return 1 if left or unused else 0


if __name__ == "__main__":
    sys.exit(main())
