"""The package by itself: its units, its types, and what pip makes of it; its examples and its command."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys

from peers import beside, check, until
from waits import lease, patience

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Samples/Python")


async def units(bed, ok):
    """The tests that need no other process: `units.py`, `units_clock.py`, `units_history.py` and `units_kept.py`."""
    done = await beside(subprocess.run, [sys.executable, "-B", "-m", "unittest", "-q", "units", "units_clock", "units_history",
                                         "units_kept"], cwd=HERE, capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    ok(re.search(r"Ran \d+ tests", done.stderr)[0])


async def package(bed, ok):
    copy = os.path.join(bed.folder, "Python")
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
    # The programs of the pages, whose functions have no types.
    programs = os.path.join(copy, "programs")
    os.mkdir(programs)
    pages = [os.path.join(copy, "README.md"),
             os.path.join(HERE, "../../Sources/Core/Elemental/Elemental.docc/Python.md")]
    blocks = [block for page in pages for block in re.findall(r"(?ms)^```python\n(.*?)^```", open(page).read())]
    check(len(blocks) >= 6, f"{len(blocks)} programs")
    for number, block in enumerate(blocks):
        with open(os.path.join(programs, f"program{number}.py"), "w") as file:
            file.write(block)
    untyped = asyncio.ensure_future(asyncio.create_subprocess_exec(
        sys.executable, "-m", "mypy", "--config-file", os.devnull, "--check-untyped-defs", "--cache-dir", os.path.join(copy, ".cache"), programs, cwd=copy,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    typed = asyncio.ensure_future(asyncio.create_subprocess_exec(
        sys.executable, "-m", "mypy", "--strict", "--no-incremental", "elemental", "examples/follow.py", cwd=copy,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    made = await beside(subprocess.run, [
        sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-build-isolation",
        "--no-deps", "--target", os.path.join(bed.folder, "installed"), copy], capture_output=True, text=True)
    check(made.returncode == 0, made.stdout + made.stderr)
    installed = os.path.join(bed.folder, "installed")
    check(os.path.exists(os.path.join(installed, "elemental/py.typed")), "it says that it is typed")
    before = os.environ["PYTHONPATH"]
    os.environ["PYTHONPATH"] = installed
    command = os.path.join(installed, "bin/elemental-py")
    said = await beside(subprocess.run, [command, "--help"], capture_output=True, text=True)
    check("publish" in said.stdout and said.returncode == 0, said.stdout + said.stderr)
    ok("pip installs it from its folder, with the command")

    service = await beside(bed.publish, "robot", "1:Speed:float:0...1:unit m/s=0.25", "2:Evil:string=a\x1b[2J\u202eb",
                           "3:Mode:uint8:choices off,on=on", "4:Day:float:ro:timed:history 24h",
                           "5:Few:uint8:history 1000 4MB:choices a,b=b")

    def run(*words, status=0):
        done = subprocess.run([command, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=patience())
        check(done.returncode == status, f"{words}: {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout if not status else done.stderr

    shown = await beside(run, "describe", service.place)
    check("Speed" in shown and "m/s" in shown and "\x1b" not in shown and "\u202e" not in shown and "\\u{1B}[2J" in shown, shown)
    check(await beside(run, "get", service.place, "speed", "Mode") == "Speed=0.25 m/s\nMode=on\n", "get")
    check(await beside(run, "set", service.place, "Speed=0.5", "Mode=OFF") == "Speed=0.5\nMode=off\n", "set")
    ours, theirs = await beside(run, "describe", service.place, "--json"), await beside(bed.run, "describe", service.place, "--json")
    check([json.loads(each) for each in ours.splitlines()[1:]] == [json.loads(each) for each in theirs.splitlines()[1:]],
          f"{ours} is not {theirs}")
    check(" ro timed history" in shown and '"history":{"count":1000,"seconds":null,"byteCount":4000000}' in ours, shown + ours)
    for words, part in ((("set", service.place, "Speed=7"), "0...1"), (("get", service.place, "Sped"), "no element"),
                        (("get", f"127.0.0.1:{lease()}", "Speed"), "cannot connect"), (("get", "a/", "x"), "SERVICE/INSTANCE")):
        check(part in await beside(run, *words, status=1), f"{words}")
    check("invalid choice" in await beside(run, "nonsense", status=2), "usage")
    ok("the command reads and sets, says what is wrong, and shows nothing to the terminal that it would act upon")

    await beside(terminals, bed, command, service.place)
    ok("what a terminal cannot show is escaped, and a reader that has gone ends the command without a word")

    watching = bed.program(command, "watch", service.place, "Speed", "--json", state="watcher")
    await beside(watching.value, "Speed", lambda value: value == 0.5)
    service.write("Speed=0.75")
    await beside(watching.value, "Speed", lambda value: value == 0.75)
    check(await beside(watching.end) == 0, "SIGTERM ends it well")
    counted = bed.program(command, "watch", service.place, "Speed", "--count", "5", state="watcher")
    await asyncio.sleep(0)
    check(await beside(counted.end) in (143, -15), "a command that is not done is interrupted")
    served = bed.program(command, "publish", "robot", "--element", "1:Speed:float:0...1=0.25", "--element",
                         "2:Name:string:unit a\\:b=x:=y", "--unlisted", "--address", "127.0.0.1", "--json", state="served")
    place = f"127.0.0.1:{(await beside(served.event, 'listening'))['port']}"
    served.write("\ufeffSpeed=0.5\r")
    served.write("Speed=7")
    served.write("nonsense")
    await beside(served.errors.next, "the mistake", lambda line: "not within" in line or "0...1" in line)
    check(await beside(bed.get, place, "Speed") == 0.5, "a line of standard input")
    check(await beside(bed.get, place, "Name") == "x:=y", "an initial value with everything")
    served.process.stdin.close()
    check(await beside(served.process.wait, patience()) == 0, "it ends with its input")
    ok("the command watches and publishes")

    example = bed.program(sys.executable, os.path.join(copy, "examples/publish_pi.py"), state="example")
    lines = [each for each in open(os.path.join(copy, "examples/publish_pi.py")).read().split('"""', 2)[2].splitlines() if each]
    check(len(lines) <= 15, f"{len(lines)} lines")
    readme = open(os.path.join(copy, "README.md")).read()
    check("\n".join(lines) in "\n".join(each for each in readme.splitlines() if each), "the README has the example")
    port = await until(lambda: _listening(example.process.pid), "the example listens")
    check(isinstance(await beside(bed.get, f"127.0.0.1:{port}", "Load"), float), "a reading")
    follower = subprocess.Popen([sys.executable, "-u", os.path.join(copy, "examples/follow.py"), f"127.0.0.1:{port}"],
                                stdout=subprocess.PIPE, text=True)
    try:
        told = [await beside(follower.stdout.readline) for _ in range(2)]
        check(told[0].startswith("connected to") and told[1].startswith(("Load is", "CPU")), f"{told}")
    finally:
        follower.kill()
        follower.wait()
    example.end()
    ok("the examples")

    for checking in (await untyped, await typed):
        output, _ = await checking.communicate()
        check(checking.returncode == 0, output.decode())
    os.environ["PYTHONPATH"] = before
    ok("mypy --strict has nothing to say")


def terminals(bed, command, place):
    """Terminals that have few characters, and readers that go."""
    text = "\u00fc\u20ac\U0001f600"
    bed.set(place, f"Evil={text}")
    plain = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for words, wanted in (((), "Evil=\\u00fc\\u20ac\\ud83d\\ude00\n"), (("--json",), text)):
        said = subprocess.run([command, "get", place, "Evil", *words], capture_output=True, text=True, env=plain, timeout=patience())
        shown = json.loads(said.stdout)["value"] if words else said.stdout
        check(said.returncode == 0 and shown == wanted, f"{said}")
    # After the first line nothing more is written, and in the end nothing can be.
    for words in ("watch", "describe"):
        said = subprocess.run(["bash", "-c", '"$@" | head -n 1; echo ${PIPESTATUS[0]}', "bash", command, words, place],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=patience())
        check(said.stdout.splitlines()[-1] == "0" and said.stderr == "", f"{words}: {said}")


def _listening(process):
    """The port at which a process listens, by /proc; `None` also if it closes a file meanwhile."""
    try:
        sockets = {os.readlink(f"/proc/{process}/fd/{each}") for each in os.listdir(f"/proc/{process}/fd")}
    except FileNotFoundError:
        return None
    for table in ("tcp", "tcp6"):
        for line in open(f"/proc/{process}/net/{table}").read().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                return int(fields[1].rsplit(":", 1)[1], 16)
    return None
