"""The steps of the gate: Tests/run without options."""

import sys

import modules
import needs
import places
import processes
import results
import timings
from runs import Run
from schedule import Failed, Job, say

# Pauses in seconds before an installation is tried once more.
PAUSES = (5, 20, 60)
APT, PYPI, PROGRAMS, BUILD, EMBEDDED = "packages for the tests", "Python environments", "other programs", "build", "embedded"
FIRMWARE = places.BUILD / "embedded/every-type/firmware.elf"
INSTALLS = {APT, PYPI, PROGRAMS}


def jobs(run: Run, total: results.Results, *, has_lint: bool = False) -> list[Job]:
    """All jobs of the gate, those that are waited for longest first."""
    return [
        *([lint()] if has_lint else []),
        *installs(run),
        build(),
        *([] if "embedded" in run.without else [embedded()]),
        gate_tests(),
        *test_jobs(total, run),
        *samples(total, run),
    ]


def installing(name: str, commands: list[list[str]], wanted: list[needs.Need], *, after: set[str]) -> Job:
    """Installs something, and tries three times more if that fails."""

    def run(job: Job) -> None:
        for pause in (*PAUSES, None):
            try:
                for command in commands:
                    job.command(command)
                return
            except Failed as error:
                if pause is None:
                    raise Failed(f"{error}, four times.\n{needs.advice(wanted)}") from None
                with job.log.open("a") as log:
                    log.write(f"{error}; once more in {pause} s\n")
                say(f"{job.name}: {error}; once more in {pause} s")
                if processes.ending.wait(pause):
                    raise processes.Ended from None

    return Job(name, run, needs=after, is_vital=True)


def installs(run: Run) -> list[Job]:
    """What the build needs, and beside the build what the tests need: these wait for the network most of the time."""
    wanted = run.needs
    others = [list(command) for need in wanted for command in need.commands]
    return [
        installing("packages", [["Samples/install-packages", *needs.BASE]], [], after=set()),
        installing(APT, [needs.apt(wanted)], [need for need in wanted if need.packages], after={"packages"}),
        installing(
            PYPI, [needs.environments(wanted)], [need for need in wanted if need.environments], after={"packages"}
        ),
        # After apt, which these use too.
        installing(PROGRAMS, others, [need for need in wanted if need.commands], after={APT}),
    ]


def build(sanitizer: str | None = None) -> Job:
    """Builds the package and its tests."""
    name = f"build with the {sanitizer} sanitizer" if sanitizer else BUILD

    def run(job: Job) -> None:
        job.command(places.swift_build("--build-tests", sanitizer=sanitizer))
        built = {test.split(".")[0] for test in modules.list_tests(modules.bundle(places.BUNDLE, sanitizer))}
        if built != (known := set(modules.names())):
            raise Failed(f"modules in the build and in Package.swift differ: {' '.join(sorted(built ^ known))}")

    return Job(name, run, needs={"packages"}, lane="build", is_vital=not sanitizer, nice=5 if sanitizer else 0)


def embedded() -> Job:
    """Compiles the wire and the firmware for microcontrollers, with what the build leaves of the processor."""
    return Job(EMBEDDED, lambda job: job.command(["Tests/embedded"]), needs={APT}, nice=19, shown=6)


def lint() -> Job:
    """Formatting and Tests/lint. Early, while the build waits for the network."""
    folders = ["Package.swift", "Sources", "Tests", "Samples", "Benchmarks"]

    def run(job: Job) -> None:
        job.command(["Tests/lint"])
        job.command(["swift", "format", "lint", "--strict", "--parallel", "--recursive", *folders])

    return Job("lint", run, nice=10)


def gate_tests() -> Job:
    """The tests of this program."""
    command = [sys.executable, "-B", "-m", "unittest", "discover", "--start-directory", "Tests/gate/tests"]
    command += ["--top-level-directory", "Tests/gate"]
    return Job("tests of the gate", lambda job: job.command(command), nice=10, shown=1)


def test_jobs(
    total: results.Results, run: Run, *, environment: dict[str, str] | None = None, lane: str = "tests"
) -> list[Job]:
    """A job for each module, the longest first, so that both lanes end at about the same time."""
    made = []
    for module in timings.longest_first(modules.names()):
        job = modules.job(
            module,
            total,
            run,
            name=f"{module} ({run.sanitizer})" if run.sanitizer else module,
            program=modules.bundle(places.BUNDLE, run.sanitizer),
            environment=environment,
            needs={build(run.sanitizer).name} | INSTALLS,
            # FirmwareTests run what it builds.
            after={EMBEDDED} if module == "MicroTests" else set(),
        )
        job.lane = lane
        made.append(job)
    return made


def samples(total: results.Results, run: Run) -> list[Job]:
    """The samples' build, their tests, and the synthesizer, played by ours and by others."""
    programs = str(places.BUILD / "debug")
    plan = places.BUILD / "debug.yaml"

    def compile_samples(job: Job) -> None:
        # Tests, also those of a later --repeat, look in the plan for how the package itself was built.
        own = plan.read_bytes()
        try:
            job.command(places.swift_build("--package-path", "Samples", "--build-tests"))
        finally:
            plan.write_bytes(own)

    building = Job(
        "build Samples",
        compile_samples,
        # In the same folder, so that only the samples themselves are compiled. Not beside the tests that read the plan.
        needs={BUILD},
        after={"ToolsTests", "DocumentationTests"},
        lane="build",
        # The tests beside it must not wait for compilers.
        nice=19,
    )
    tests = modules.job(
        "SamplesTests",
        total,
        run,
        program=modules.bundle(places.SAMPLES_BUNDLE, None),
        pattern=".",
        needs={building.name} | INSTALLS,
    )

    def play(job: Job) -> None:
        folder = places.LOGS / "synth"
        folder.mkdir(exist_ok=True)
        pictures = ["--svg", str(folder / "synth.svg"), "--wav", str(folder / "synth.wav")]
        job.command(["Samples/try-synth", "--programs", programs, "--changes", "50", *pictures])
        if (places.BUILD / "osc/installed").exists():
            elemental, synth = f"{programs}/elemental", f"{programs}/SynthServer"
            python = str(places.BUILD / "osc/bin/python3")
            job.command([python, "-B", "Tests/osc/play_synth.py", "--elemental", elemental, "--synth", synth])

    return [building, tests, Job("try-synth", play, needs={building.name} | INSTALLS, lane="tests")]
