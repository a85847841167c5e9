"""Runs the tests of a module in a process of its own, and reads what came of them."""

import pathlib
import re
import subprocess
import time

import needs
import places
import processes
import results
from runs import Run
from schedule import Failed, Job

# A module's time limit in seconds, about ten times what the longest takes.
LIMIT = 1800
# What the thread sanitizer takes for a race and is none.
TSAN_FALSE_ALARMS = places.TESTS / "thread-sanitizer"
# Tests at once with a sanitizer.
SANITIZED_WIDTH = 2


def names() -> list[str]:
    """The test modules of the package, as its manifest lists them."""
    manifest = (places.ROOT / "Package.swift").read_text()
    return re.findall(r'\.testTarget\(\s*name: "(\w+)"', manifest)


def bundle(name: str, sanitizer: str | None) -> pathlib.Path:
    """The program with the tests of a package."""
    return places.scratch(sanitizer) / "debug" / f"{name}.xctest"


def list_tests(program: pathlib.Path) -> list[str]:
    """The names of the tests in a bundle."""
    command = [str(program), "--testing-library", "swift-testing", "--list-tests"]
    done = subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def isolated(command: list[str]) -> list[str]:
    """Runs a command with a private avahi-daemon, cut off from the machine's network where that is allowed."""
    private = ["Samples/private-avahi", "--", *command]
    if needs.is_root():
        return ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *private]
    return private


def run_tests(
    name: str,
    program: pathlib.Path,
    pattern: str,
    *,
    log: pathlib.Path,
    sanitizer: str | None = None,
    is_arm64: bool = False,
    environment: dict[str, str] | None = None,
    limit: float = LIMIT,
    width: int = places.WIDTH,
    started: list | None = None,
) -> results.Results:
    """Runs the tests whose names match a pattern. The process is put into 'started' as soon as it runs."""
    events = log.with_suffix(".events")
    events.unlink(missing_ok=True)
    seconds = places.limit(limit, sanitizer)
    # Not by 'swift test', which needs some seconds of a core to find out that nothing is to be built, and waits for builds.
    # With a sanitizer everything takes many times as long, and more tests at once would wait for each other too long.
    width = SANITIZED_WIDTH if sanitizer else width
    command = [
        *("timeout", "--foreground", "--signal=INT", "--kill-after=30", str(int(seconds))),
        *(str(program), "--testing-library", "swift-testing", "--filter", pattern),
        *("--event-stream-output-path", str(events), "--event-stream-version", "0"),
    ]
    variables = {"SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": str(width), **(environment or {})}
    began = time.monotonic()
    with log.open("ab") as output:
        if is_arm64:
            # Swift 6.2.3 knows no width: it would run all tests at once.
            command = ["Tests/arm64/enter", *isolated([*command, "--no-parallel"])]
        else:
            command = isolated(command)
        process = processes.start(command, output, environment=variables)
        if started is not None:
            started.append(process)
        # 'timeout' ends the tests before; this is for what it does not end.
        status = processes.finish(process, seconds + 60)
    found, has_ended = results.read(events)
    if not has_ended:
        what = f"did not end within {seconds:.0f} s" if time.monotonic() - began >= seconds else "ended early"
        found.unfinished.append(unfinished(name, what, status, found, log))
    return found


def unfinished(name: str, what: str, status: int, found: results.Results, log: pathlib.Path) -> str:
    """Says of a run without an end which tests were under way, and how its output ends."""
    under_way = sorted(f"    {test.id} ({test.place})" for test in found.of("started"))
    lines = [line for line in plain(log) if not line.startswith(("✔", "➜"))]
    # A crash is told before its registers and libraries.
    crash = next((index for index, line in enumerate(lines) if re.search(r"Fatal error|Crash|ERROR: \w+Sanitizer", line)), None)
    lines = lines[-25:] if crash is None else lines[crash : crash + 25]
    return "\n".join(
        [f"{name} {what} (status {status}); these tests were under way:", *(under_way or ["    none"])]
        + ["  its output:", *("    " + line for line in lines)]
    )


def plain(log: pathlib.Path) -> list[str]:
    """The lines of a log without colours and without the lines that say that something has started."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(errors="replace"))
    return [line for line in text.splitlines() if not line.startswith("◇")]


def summary(found: results.Results) -> str:
    """One line with the counts, and the issues."""
    counts = f"{len(found.of('passed'))} passed, {len(found.of('failed'))} failed, {len(found.of('skipped'))} skipped"
    lines = [counts]
    for test in found.failures:
        lines.append(f"✘ {test.id} ({test.place})")
        lines += ["    " + line for issue in test.issues for line in issue.splitlines()]
    return "\n".join([*lines, *found.stray, *found.unfinished])


def job(
    module: str,
    total: results.Results,
    run: Run,
    *,
    program: pathlib.Path,
    pattern: str | None = None,
    environment: dict[str, str] | None = None,
    limit: float = LIMIT,
    name: str | None = None,
    **options,
) -> Job:
    """A job that runs a module's tests and adds its results to the total."""

    def work(job: Job) -> None:
        variables = {**run.environment, **(environment or {})}
        expression = pattern or rf"^{module}\."
        found = run_tests(
            module,
            program,
            expression,
            log=job.log,
            sanitizer=run.sanitizer,
            is_arm64=run.is_arm64,
            environment=variables,
            limit=limit,
        )
        for test in found.tests.values():
            test.run = run
        total.merge(found, label=f"{job.name} ")
        job.summary = summary(found)
        if not found.tests:
            raise Failed("no test ran")
        if found.unfinished or found.failures or found.stray:
            raise Failed("see above")

    made = Job(name or module, work, lane="tests", kind="module", **options)

    def progress() -> str:
        found, _ = results.read(made.log.with_suffix(".events"))
        tests = [test for test in found.tests.values() if not test.is_suite]
        return f"{len(found.of('passed', 'failed', 'skipped'))} of {len(tests)}"

    made.progress = progress
    return made


def reports(sanitizer: str) -> tuple[pathlib.Path, dict[str, str]]:
    """The folder of a sanitizer's reports, emptied, and the variables that make it write there, one file a process."""
    folder = places.scratch(sanitizer) / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    path = str(folder / "report")
    return folder, {
        "SANITIZER_LOG": path,
        # Without the second in which a process looks for races before it exits: the tests start thousands of processes. And
        # without the threads that have ended and are joined in the background: a program does not wait for that.
        "TSAN_OPTIONS": f"log_path={path} exitcode=66 atexit_sleep_ms=0 report_thread_leaks=0 suppressions={TSAN_FALSE_ALARMS}",
        # The leak sanitizer takes a living object for lost where the only reference to it is tagged in its unused bits, as
        # Swift does in enumerations with several payloads (Data and socket addresses are such) and in weak references. It
        # works in the fuzzers, where nothing lives on between two inputs.
        "ASAN_OPTIONS": f"log_path={path} exitcode=66 detect_leaks=0",
    }
