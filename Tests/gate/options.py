"""The command line of Tests/run."""

import argparse

import needs
import places
import rest

EPILOG = """\
The gate installs with apt and from PyPI what is missing, builds the package and its tests in debug, compiles the wire and a
firmware in Embedded Swift, runs every test module with a private avahi-daemon, in a network namespace of its own, and builds
the samples, tests them and plays the synthesizer. Each line "…" of its output says what is under way. Failures are repeated at
the end; the last line has the counts. All output is in .build/gate, the times of steps, modules and tests in
.build/timings.tsv, which Tests/timings puts on the page Testing.md.

An installation that fails is tried three times more; then the run fails. Skipped tests are listed at the end, and a skip that
Tests/skips does not allow fails the run. ELEMENTAL_TEST_PATIENCE=N makes all waits and limits N times as long.

Steps of --all besides the gate, for --step; --changed takes those that Tests/steps names for the changed files:
{steps}

Names for --without:
{names}

Examples:
  Tests/run                                    before every commit
  Tests/run --filter 'ToolsTests.ControlTests' only these tests
  Tests/run --changed origin/main              the gate, and what the changes since then concern
  Tests/run --step fuzz --step simulate        of --all only these steps, and what they need
  Tests/run --without browser --without python without Chromium and without the tests of Samples/Python
  Tests/run --repeat 100 --load 4 --filter 'BridgesTests' --shuffle 7
                                               until each of these tests has run a hundred times beside four busy loops
"""


def parser() -> argparse.ArgumentParser:
    """The options, with their help."""

    def table(rows: dict[str, str]) -> str:
        return "\n".join(f"  {name:<16} {text}" for name, text in rows.items())

    names = {need.name: need.purpose + (" (--all)" if need.step else "") for need in needs.NEEDS} | needs.PERMISSIONS
    made = argparse.ArgumentParser(
        prog="Tests/run",
        usage="Tests/run [--all | --step NAME… | --changed [REF] | --sanitize NAME | --arm64 | --soak [MINUTES] | --set-clock] [OPTION…]\n"
        "       Tests/run --repeat N [--filter REGEX] [--load K] [--shuffle SEED] [--starve] [--lanes N] [--restart]",
        description="Without options: the gate, which every change has to pass.",
        epilog=EPILOG.format(steps=table(rest.STEPS), names=table(names)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    which = made.add_argument_group("what to run").add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="the gate and everything else, in an hour or more")
    which.add_argument(
        "--step", metavar="NAME", action="append", choices=rest.STEPS, help="only this step of --all, and what it needs; may be "
        "given more than once",
    )
    which.add_argument(
        "--changed", metavar="REF", nargs="?", const="",
        help="the gate and what the files concern that have changed since REF (default: where this branch left origin/main, "
        "otherwise the commit before)",
    )
    which.add_argument(
        "--sanitize", choices=rest.SANITIZERS, help="only the tests, with a sanitizer, in a build folder of its own; a report "
        "about the tests or a process that they start fails the run",
    )
    which.add_argument(
        "--arm64", action="store_true", help="only the tests, as programs for 64-bit ARM in a Debian of that architecture, under "
        "QEMU; what cannot run there is in Tests/skips; as root",
    )
    which.add_argument(
        "--soak", metavar="MINUTES", nargs="?", const=20, type=_positive, help="only the soak test, for so long (default 20)"
    )
    which.add_argument(
        "--set-clock", action="store_true",
        help="only the test that sets this machine's clock an hour ahead and back for some seconds; as root",
    )
    which.add_argument(
        "--repeat", metavar="N", type=_positive, help="only tests, from the build that is there, until each has run N times, "
        "counted in .build/repeat over several sittings; each process in a fresh network namespace with a fresh avahi-daemon",
    )
    made.add_argument("--filter", metavar="REGEX", help="only the tests of the package whose names match")
    made.add_argument(
        "--without", metavar="NAME", action="append", default=[], choices=[*needs.BY_NAME, *needs.PERMISSIONS],
        help="installs nothing for this part of the tests, which is left out unless it is there already; the end of the output "
        "says so",
    )
    made.add_argument("--lint", action="store_true", help="also checks the formatting and Tests/lint, as .ci/run does")
    repeating = made.add_argument_group("with --repeat")
    repeating.add_argument(
        "--load", metavar="K", type=_positive, default=0, help="K busy loops and a disk writer run beside it; waits are longer by "
        "what these take from the processor",
    )
    repeating.add_argument(
        "--shuffle", metavar="SEED", type=int, help="draws the order and the neighbours of the tests from this seed and the round"
    )
    repeating.add_argument(
        "--starve", action="store_true", help="freezes child processes of the tests for 10 to 300 ms at a time, at most a fifth of "
        "the time; as root",
    )
    repeating.add_argument(
        "--lanes", metavar="N", type=_positive, default=places.LANES, help="N processes of tests at once (default "
        f"{places.LANES}); more of them get more of the processor from the load, and waits are longer by what they take from each "
        "other",
    )
    repeating.add_argument("--restart", action="store_true", help="forgets the counts of earlier sittings")
    return made


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("a number of at least 1 is needed")
    return number


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of a command line. A mistake ends the program with status 64."""
    made = parser()
    made.error = lambda message: made.exit(64, f"Tests/run: {message}; see --help\n")
    options = made.parse_args(arguments)
    others = (options.load, options.shuffle is not None, options.starve, options.lanes != places.LANES, options.restart)
    if options.repeat is None and any(others):
        made.error("--load, --shuffle, --starve, --lanes and --restart go with --repeat")
    if options.filter and (options.all or options.step or options.changed is not None or options.soak or options.set_clock):
        made.error("--filter goes with --sanitize, with --repeat or alone")
    return options
