"""The tests as programs for 64-bit ARM, under QEMU in a Debian of that architecture: Tests/run --arm64."""

import modules
import needs
import places
import results
from runs import Run
from schedule import Job

BUILD, SYSTEM, TOGETHER = "build for arm64", "Debian for arm64", "this machine and arm64"
SCRATCH = places.BUILD / "arm64"
PROGRAM = SCRATCH / f"debug/{places.BUNDLE}.xctest"
# The core and the command line first. The others are about this machine: pages, samples, networks that are simulated.
MODULES = (
    *("CoreTests", "ElementalTests", "ToolsTests", "BridgesTests", "ClientsTests", "RecordingTests", "GatewaysTests"),
    *("MicroTests", "ObservationTests"),
)
# What of Tests/gate/needs.py the system has besides what all tests need; packages for Python are not among them.
HAS = ("mqtt",)
# QEMU translates every program that starts.
ENVIRONMENT = {"ELEMENTAL_TEST_PATIENCE": f"{places.PATIENCE * 6:g}"}


def conditions(run: Run) -> Run:
    """The run on arm64, which skips what that system does not have."""
    missing = {need.name for need in needs.NEEDS if need.name not in HAS}
    return Run(without=run.without | missing, is_arm64=True)


def jobs(run: Run, total: results.Results, pattern: str | None = None) -> list[Job]:
    """The jobs of --arm64: all modules, or the tests that match a pattern."""
    run = conditions(run)
    building = Job(BUILD, lambda job: job.command(["Tests/arm64/build"]), needs={"packages"}, lane="build", nice=5)
    system = Job(SYSTEM, lambda job: job.command(["Tests/arm64/system"]), needs={"packages"}, nice=5, shown=1)
    tests = [
        modules.job(
            module,
            total,
            run,
            name=f"{module} (arm64)",
            program=PROGRAM,
            pattern=pattern,
            environment=ENVIRONMENT,
            needs={BUILD, SYSTEM},
        )
        for module in (["tests"] if pattern else MODULES)
    ]
    return [building, system, *tests, *([] if pattern else [together()])]


def together() -> Job:
    """Two hosts, this machine's and one of 64-bit ARM, in every role."""

    def work(job: Job) -> None:
        job.command(["Samples/build-release", "--product", "elemental"])
        job.command(["Tests/install", "python"])
        programs = [str(places.BUILD / "release/elemental"), str(SCRATCH / "debug/elemental")]
        job.command(["Samples/with-arm64", "Tests/arm64/together", *programs])

    return Job(TOGETHER, work, needs={BUILD, SYSTEM}, lane="build", nice=5, shown=1)
