"""The steps of Tests/run --all that the gate has not, by the names in Tests/steps."""

import dataclasses
import pathlib
import shutil

import arm64
import gate
import known
import modules
import needs
import places
import results
from runs import Run
from schedule import Failed, Job

SOAK_SECONDS = 300
SANITIZERS = ("thread", "address")
# In the order in which they run.
STEPS = {
    "long": "tests that take long or much memory",
    "faults": f"faults between two hosts, and a soak test of {SOAK_SECONDS} s",
    "samples": "all Samples/try-* programs but those below",
    "vice": "a Commodore in the emulator VICE: Samples/try-vice",
    "package": "the Debian package: made, checked by lintian, installed in a bare Debian",
    "fuzz": "the fuzzers",
    "simulate": "300 simulated networks",
    "model": "positions and gaps of histories, checked with spin",
    "benchmarks": "Benchmarks and Benchmarks/Rivals, built only",
    "way": "the files that run for one value, counted by callgrind",
    "without-latency": "module Elemental compiled without its folder Latency",
    "thread": "all tests with the thread sanitizer",
    "address": "all tests with the address sanitizer",
    "arm64": "the tests as programs for 64-bit ARM, under QEMU",
    "pi": "an emulated Raspberry Pi with the package: Samples/try-pi",
    "swift-6.2": "everything compiled with Debian's Swift 6.2.3",
}


def jobs(run: Run, total: results.Results) -> list[Job]:
    """The jobs of a run's steps. Nothing of them runs beside the gate."""
    # What --without names is left out as a step too.
    omitted = {need.step for need in needs.NEEDS if need.step and need.name in run.without}
    made = []
    for step in STEPS:
        if step not in run.steps or step in omitted:
            continue
        match step:
            case "long":
                pass  # The gate's modules run them.
            case "faults":
                made.append(faults(total, run))
            case "samples":
                made += samples()
            case "vice":
                made.append(released("try-vice", "--png", f"{places.LOGS}/vice.png"))
            case "package":
                made.append(package())
            case "fuzz":
                made.append(simple("fuzzers", ["Tests/fuzz", "--seconds", "60"], shown=40))
            case "simulate":
                made.append(simple("simulated networks", ["Tests/simulate", "--networks", "300"], shown=5))
                made.append(simple("a day of histories", ["Tests/simulate", "--histories"], shown=3))
            case "model":
                made.append(simple("model of histories", ["Tests/model"], shown=1, needs={gate.APT}))
            case "benchmarks":
                made += benchmarks()
            case "way":
                made.append(simple("way of a value", ["Tests/way"], shown=5, needs={gate.BUILD, gate.APT}))
            case "without-latency":
                made.append(simple("Elemental without Latency", ["Tests/without-latency"], shown=1))
            case "thread" | "address":
                made += sanitized(dataclasses.replace(run, sanitizer=step, steps=frozenset()), total)
            case "arm64":
                made += arm64.jobs(run, total)
            case "pi":
                made.append(simple("emulated Pi", ["Samples/try-pi", "--json", f"{places.LOGS}/pi.json"], shown=30))
            case "swift-6.2":
                made.append(swift_6_2())
    return made


def simple(name: str, command: list[str], *, shown: int = 3, needs: set[str] | None = None) -> Job:
    """A job of one command that computes: one at a time."""
    return Job(name, lambda job: job.command(command), needs=needs or {"packages"}, lane="build", shown=shown, nice=5)


def faults(total: results.Results, run: Run) -> Job:
    """All faults, also those that the gate leaves out."""
    return modules.job(
        "FaultTests",
        total,
        dataclasses.replace(run, steps=run.steps | {"long"}),
        name="faults and soak",
        program=modules.bundle(places.BUNDLE, None),
        environment={"ELEMENTAL_SOAK_SECONDS": str(SOAK_SECONDS)},
        limit=modules.LIMIT + SOAK_SECONDS,
        needs={gate.BUILD} | gate.INSTALLS,
    )


def samples() -> list[Job]:
    """Programs that show something, with what was built for debugging."""
    programs, folder = str(places.BUILD / "debug"), places.LOGS / "samples"
    commands = {
        "try-robot": ["Samples/try-robot", "--programs", programs, "--speed", "2", "--svg", f"{folder}/robot.svg"],
        "try-cluster": ["Samples/try-cluster", "--programs", programs, "--jobs", "100", "--svg", f"{folder}/cluster.svg"],
        "try-motion": ["Samples/try-motion", "--programs", programs, "--json", f"{folder}/motion.json"],
        "try-chat": ["Samples/try-chat", "--programs", programs, "--png", f"{folder}/chat.png"],
        "try-microcontroller": ["Samples/try-microcontroller", "--programs", programs],
        "sensors": modules.isolated(["Samples/SystemMonitor/Tests/with-sensors", programs]),
    }

    def run(name: str) -> None:
        def play(job: Job) -> None:
            folder.mkdir(exist_ok=True)
            job.command(commands[name])

        return play

    made = [Job(name, run(name), needs={"build Samples"} | gate.INSTALLS, lane="tests", shown=1) for name in commands]

    return [*made, released("try-commodore", "--png", f"{places.LOGS}/commodore.png")]


def released(name: str, *arguments: str) -> Job:
    """A sample that takes the release build, which is made before the network is cut off."""

    def run(job: Job) -> None:
        job.command(["Samples/build-release", "--product", "elemental"])
        job.command(modules.isolated([f"Samples/{name}", *arguments]))

    return Job(name, run, needs=gate.INSTALLS | {"packages"}, lane="build", nice=5)


def package() -> Job:
    """The release build as a package, as users get it."""
    folder = places.BUILD / "package"

    def run(job: Job) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        job.command(["Samples/make-deb", str(folder)])
        job.command(["Tests/debian/idle", *map(str, folder.glob("*.deb"))])
        if (places.BUILD / "debian/ready").exists():
            job.command(["Tests/debian/check", *map(str, folder.glob("*.deb"))])
        else:
            raise Failed("there is no bare Debian: Tests/install bare-debian makes it, or leave it out with --without bare-debian")

    return Job("Debian package", run, needs={"packages"} | gate.INSTALLS, lane="build", nice=5)


def benchmarks() -> list[Job]:
    """Built, so that they still compile."""
    return [
        # In the tests' build folder, so that shared code is not compiled again.
        simple("build Benchmarks", places.swift_build("--package-path", "Benchmarks"), needs={gate.BUILD}),
        simple("build Benchmarks/Rivals", ["Benchmarks/compare", "--build"]),
    ]


def sanitized(run: Run, total: results.Results) -> list[Job]:
    """All tests with a sanitizer, in a build folder of its own. A report about any process fails the run."""
    sanitizer = run.sanitizer
    building = gate.build(sanitizer)
    folder, environment = modules.reports(sanitizer)
    tests = gate.test_jobs(total, run, environment=environment, lane="sanitizer")
    samples = simple(
        f"build Samples with the {sanitizer} sanitizer",
        places.swift_build("--package-path", "Samples", "--build-tests", sanitizer=sanitizer),
        needs={building.name},
    )
    samples.after = {job.name for job in tests}
    samples_tests = modules.job(
        "SamplesTests",
        total,
        run,
        name=f"SamplesTests ({sanitizer})",
        program=modules.bundle(places.SAMPLES_BUNDLE, sanitizer),
        pattern=".",
        environment=environment,
        needs={samples.name},
    )
    samples_tests.lane = "sanitizer"
    waits = {job.name for job in tests} | {samples_tests.name}
    return [building, *tests, samples, samples_tests, reports(sanitizer, folder, waits | {building.name})]


def reports(sanitizer: str, folder: pathlib.Path, after: set[str]) -> Job:
    """Fails if a process has left a report."""

    def run(job: Job) -> None:
        texts = [file.read_text(errors="replace") for file in sorted(folder.iterdir())]
        job.log.write_text("\n".join(texts) or "none\n")
        if texts:
            raise Failed(f"{len(texts)} reports, in {folder.relative_to(places.ROOT)}")

    return Job(f"reports of the {sanitizer} sanitizer", run, after=after)


def swift_6_2() -> Job:
    """Compiles all products for release with an older Swift."""

    def run(job: Job) -> None:
        try:
            job.command(["Tests/swift-6.2"])
        except Failed as error:
            said = known.explain("swift-6.2", job.log)
            if said is None:
                raise
            job.summary = f"KNOWN FAILURE ({error}):\n{said}"
            known.told.append(f"swift-6.2: {said}")

    return Job("Swift 6.2.3", run, needs={"packages"} | gate.INSTALLS, lane="build", nice=5)
