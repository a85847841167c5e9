"""Runs the contenders in turns against one hub and prints a table for each measure. Started by Benchmarks/signalr."""

import argparse
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parent.parent
environments = root / ".build" / "signalr-peers"
contenders = {
    "this package": [str(root / ".build" / "release" / "signalr-peer")],
    "aiosignalr": [str(environments / "server/bin/python"), str(here / "peers/aiosignalr_peer.py")],
    "signalrcore": [str(environments / "signalrcore/bin/python"), str(here / "peers/signalrcore_peer.py")],
}
measures = {
    "roundtrip": "round trip of a call, one after the other",
    "send": "calls to the hub that nobody waits for",
    "receive": "calls of the hub to its client",
}
protocols = ["json", "messagepack"]


def pinned(command: list[str], core: int) -> list[str]:
    """The command on one core, where there is another for the other end."""
    if shutil.which("taskset") and len(os.sched_getaffinity(0)) > 1:
        cores = sorted(os.sched_getaffinity(0))
        return ["taskset", "-c", str(cores[core % len(cores)])] + command
    return command


def measure(command: list[str], url: str, protocol: str, name: str, count: int) -> list[float] | str:
    """The figures of one run, or why there are none."""
    try:
        done = subprocess.run(
            pinned(command + [url, protocol, name, str(count)], 1), capture_output=True, text=True, timeout=20
        )
    except subprocess.TimeoutExpired:
        return "it did not end within 20 s"
    words = done.stdout.split()
    if done.returncode != 0 or len(words) < 2:
        return (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    return [float(word) for word in words]


def spread(values: list[float], digits: int = 0) -> str:
    text = f"{statistics.median(values):,.{digits}f}"
    return text if len(values) == 1 else f"{text} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def table(name: str, protocol: str, count: int, runs: dict[str, list[list[float]]], failures: dict[str, str]) -> None:
    print(f"\n{measures[name]}, {protocol}")
    heads = ["median µs", "p99 µs"] if name == "roundtrip" else ["messages/s"]
    heads.append("client's processor, µs a message")
    rows = [[""] + heads]
    for contender in contenders:
        figures = runs[contender]
        if not figures:
            rows.append([contender, failures[contender]])
            continue
        if name == "roundtrip":
            cells = [spread([f[2] for f in figures]), spread([f[3] for f in figures])]
        else:
            cells = [spread([count / f[0] for f in figures])]
        rows.append([contender] + cells + [spread([1e6 * f[1] / count for f in figures], 1)])
    # What is no row of figures may be as long as it likes.
    full = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(len(row[i]) for row in full) for i in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(prog="Benchmarks/signalr")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--only", default=",".join(measures))
    parser.add_argument("--json")
    options = parser.parse_args()
    wanted = options.only.split(",")
    if unknown := [name for name in wanted if name not in measures]:
        parser.error(f"--only takes some of {','.join(measures)}, not {','.join(unknown)}")
    if options.rounds < 1 or options.count < 100:
        parser.error("--rounds takes a number from 1, --count one from 100")

    hub = subprocess.Popen(
        pinned([str(environments / "server/bin/python"), str(here / "peers/hub.py")], 0),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    failed = False
    book = []
    try:
        line = hub.stdout.readline()
        if not line.startswith("listening "):
            print("Benchmarks/signalr: the hub did not start", file=sys.stderr)
            return 1
        url = f"http://127.0.0.1:{line.split()[1]}/hub"
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {options.rounds} rounds,")
        print(f"{options.count} messages each over a WebSocket; medians (lowest–highest). The hub is aiosignalr's.")
        for name in wanted:
            for protocol in protocols:
                runs = {contender: [] for contender in contenders}
                failures = {}
                for round_number in range(options.rounds):
                    for contender, command in contenders.items():
                        figures = measure(command, url, protocol, name, options.count)
                        if isinstance(figures, str):
                            failures[contender] = figures
                            print(f"{contender}, {name}, {protocol}: {figures}", file=sys.stderr, flush=True)
                            continue
                        runs[contender].append(figures)
                        book.append(
                            {"measure": name, "protocol": protocol, "contender": contender, "round": round_number + 1,
                             "messages": options.count, "seconds": figures[0], "processorSeconds": figures[1],
                             "percentiles": figures[2:]}
                        )
                table(name, protocol, options.count, runs, failures)
                failed = failed or not runs["this package"]
    finally:
        hub.terminate()
        hub.wait()
    if options.json:
        Path(options.json).write_text(json.dumps(book, indent=1) + "\n")
    return 1 if failed else 0


# So that the hub is ended too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
