"""Folders, options and limits that the whole gate shares."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build"
LOGS = BUILD / "gate"
TESTS = ROOT / "Tests"

# The options of every debug build in .build: a build with others would compile everything once more.
BUILD_FLAGS = [
    *("-Xcc", "-g0", "-Xcxx", "-g0"),
    *("-Xswiftc", "-gline-tables-only"),
    *("-Xswiftc", "-use-ld=lld"),
]
# SwiftPM keeps a plan of what to build in .build, and would take another package's plan for that of the one at hand.
NO_PLAN = "--disable-build-manifest-caching"

# The test bundles of the package and of its samples.
BUNDLE = "elementalPackageTests"
SAMPLES_BUNDLE = "elemental-samplesPackageTests"

# Two modules run beside each other, for most tests wait most of the time.
LANES = 2
CORES = len(os.sched_getaffinity(0))
# Most tests wait for child processes. With all tests in parallel, a slow machine has to start dozens of processes at once.
WIDTH = 3 * CORES

PATIENCE = max(1.0, float(os.environ.get("ELEMENTAL_TEST_PATIENCE") or 1))


def scratch(sanitizer: str | None) -> pathlib.Path:
    """The build folder. Each sanitizer has its own, below the package's."""
    return BUILD / sanitizer if sanitizer else BUILD


def swift_build(*arguments: str, sanitizer: str | None = None) -> list[str]:
    """The command that builds in debug in the shared folder."""
    command = ["swift", "build", "--scratch-path", str(scratch(sanitizer)), NO_PLAN, *BUILD_FLAGS]
    return [*command, *(["--sanitize", sanitizer] if sanitizer else []), *arguments]


def limit(seconds: float, sanitizer: str | None = None) -> float:
    """A time limit, scaled like the waits of the tests."""
    return seconds * PATIENCE * (5 if sanitizer else 1)
