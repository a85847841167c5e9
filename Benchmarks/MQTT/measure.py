"""Measures `elemental mqtt` between many services and mosquitto. Started by Benchmarks/mqtt."""

import argparse
import json
import os
import queue
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# What the project wants of 1,000 elements of 100 services at 2 values a second of each.
PROCESSOR_TARGET = 5.0
MEMORY_TARGET = 60.0
# What is offered where nothing limits it: more than can pass, from each element.
MOST = 50.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Benchmarks/mqtt", allow_abbrev=False)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--elemental", required=True)
    parser.add_argument("--services", type=int, default=100)
    parser.add_argument("--elements", type=int, default=10)
    parser.add_argument("--rate", type=float, default=2.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", default="together,spread,most")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if not 0 < options.services <= 256 or not 0 < options.elements <= 127:
        parser.error("1 to 256 services of 1 to 127 elements each")
    if options.rate <= 0 or options.seconds <= 0 or options.times < 1:
        parser.error("--rate, --seconds and --times are more than 0")
    if not set(options.only) <= {"together", "spread", "most"}:
        parser.error("--only takes some of together,spread,most")
    return options


def processor_time(pid: int) -> float:
    """Seconds in user space and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


class Child:
    """A process whose output is read line by line, and which is ended with the measurement."""

    def __init__(self, command: list[str], **more):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more)
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def line(self, what: str, timeout: float = 60) -> str:
        try:
            line = self.lines.get(timeout=timeout)
        except queue.Empty:
            line = None
        if line is None:
            sys.exit(f"mqtt: {what} did not come")
        return line

    def event(self, wanted, what: str) -> dict:
        while True:
            event = json.loads(self.line(what))
            if wanted(event):
                return event

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Bench:
    def __init__(self, options: argparse.Namespace, folder: str):
        self.options, self.folder = options, folder
        self.children: list[Child] = []
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def start(self, command: list[str], **more) -> Child:
        child = Child(command, **more)
        self.children.append(child)
        return child

    def start_broker(self) -> None:
        settings = Path(self.folder, "mosquitto.conf")
        lines = [f"listener {self.port} 127.0.0.1", "allow_anonymous true", "persistence false", "log_dest none"]
        settings.write_text("\n".join(lines + ["user root"] * (os.geteuid() == 0)) + "\n")
        program = self.options.root / ".build/mqtt-peers/mosquitto"
        self.broker = self.start([str(program), "-c", str(settings)]).process.pid
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.05)
        sys.exit("mqtt: mosquitto does not listen")

    def start_services(self) -> None:
        program = self.options.root / ".build/release/mqtt-load"
        self.load = self.start([str(program), str(self.options.services), str(self.options.elements)])
        self.ports = self.load.line("the services' ports").split()[1:]

    def start_bridge(self, rate: float) -> Child:
        targets = [f"127.0.0.1:{port}" for port in self.ports]
        command = [self.options.elemental, "mqtt", *targets, "--broker", f"mqtt://127.0.0.1:{self.port}", "--json"]
        environment = dict(os.environ, ELEMENTAL_STATE=str(Path(self.folder, "state")))
        bridge = self.start(command + ["--rate", f"{rate:g}", "--timeout", "30"], env=environment)
        connected: set[str] = set()
        while len(connected) < len(targets):
            event = bridge.event(lambda event: event["event"] == "serviceState", "the connection to a service")
            if event["state"] == "connected":
                connected.add(event["instance"])
        return bridge

    def run(self, bridge: Child, kind: str, rate: float, seconds: float) -> dict:
        """Sends values and reports what the bridge and the broker took and what arrived."""
        received = Path(self.folder, "received")
        with open(received, "wb") as file:
            topics = ["-t", "elemental/address/+/+"]
            subscriber = subprocess.Popen(
                ["mosquitto_sub", "-p", str(self.port), *topics, "-F", "%U %r %p"], stdout=file)
            time.sleep(0.5)
            pids = [bridge.process.pid, self.broker]
            before, start = [processor_time(pid) for pid in pids], time.time()
            self.load.process.stdin.write(f"{kind} {rate} {seconds}\n")
            self.load.process.stdin.flush()
            sent = int(self.load.line("the end of the values", seconds * 3 + 60).split()[1])
            elapsed = time.time() - start
            used = [processor_time(pid) - one for pid, one in zip(pids, before)]
            memory = resident(bridge.process.pid)
            # What is still on its way.
            time.sleep(1)
            subscriber.terminate()
            subscriber.wait()
        latencies = []
        for line in received.read_text().splitlines():
            at, was_retained, payload = line.split(" ", 2)
            if was_retained == "0" and payload not in ("online", "offline"):
                latencies.append((float(at) - float(payload)) * 1000)
        if not latencies:
            sys.exit("mqtt: no value arrived")
        latencies.sort()
        return {
            "sent": sent, "arrived": len(latencies), "seconds": elapsed, "messagesPerSecond": len(latencies) / elapsed,
            "bridgePercent": 100 * used[0] / elapsed, "brokerPercent": 100 * used[1] / elapsed, "memoryMiB": memory,
            "bridgeMicroseconds": 1e6 * used[0] / len(latencies), "brokerMicroseconds": 1e6 * used[1] / len(latencies),
            "medianMilliseconds": latencies[len(latencies) // 2],
            "p99Milliseconds": latencies[len(latencies) * 99 // 100],
        }

    def publish(self, count: int) -> dict:
        """The same messages from mosquitto_pub, straight to the broker."""
        payloads = Path(self.folder, "payloads")
        payloads.write_text("".join(f"{time.time()}\n" for _ in range(count)))
        before = processor_time(self.broker)
        with open(payloads, "rb") as file:
            start = time.time()
            command = ["mosquitto_pub", "-p", str(self.port), "-q", "1", "-r", "-t", "elemental/address/x/value", "-l"]
            publisher = subprocess.Popen(command, stdin=file)
            _, status, usage = os.wait4(publisher.pid, 0)
            elapsed = time.time() - start
        publisher.returncode = status
        if status != 0:
            sys.exit("mqtt: mosquitto_pub failed")
        return {
            "messagesPerSecond": count / elapsed,
            "publisherMicroseconds": 1e6 * (usage.ru_utime + usage.ru_stime) / count,
            "brokerMicroseconds": 1e6 * (processor_time(self.broker) - before) / count,
        }

    def end(self) -> None:
        for child in reversed(self.children):
            child.end()


def figures(runs: list[dict], key: str) -> list[float]:
    return [run[key] for run in runs]


def spread(values: list[float], digits: int = 1) -> str:
    text = f"{statistics.median(values):,.{digits}f}"
    return text if len(values) == 1 else f"{text} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def table(rows: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"  {name.ljust(width)}  {text}")


def against(values: list[float], target: float, unit: str) -> str:
    verdict = "reached" if statistics.median(values) <= target else "MISSED"
    return f"{spread(values)} {unit}; the target is at most {target:g} {unit}: {verdict}"


def main() -> int:
    options = arguments()
    folder = tempfile.mkdtemp(prefix="mqtt-bench.")
    bench = Bench(options, folder)
    results: dict[str, list[dict]] = {}
    # Figures are for people, unless the whole of standard output is JSON.
    if options.json == "-":
        sys.stdout = sys.stderr
    try:
        bench.start_broker()
        bench.start_services()
        titles = {"together": "those of a service together", "spread": "all evenly spread"}
        kinds = [kind for kind in titles if kind in options.only]
        if kinds:
            # Its limit is above what comes: one at the limit would wait for as long as any before it came late.
            bridge = bench.start_bridge(2 * options.rate)
            bench.run(bridge, "together", options.rate, 2)
            for _ in range(options.times):
                for kind in kinds:
                    results.setdefault(kind, []).append(bench.run(bridge, kind, options.rate, options.seconds))
            bridge.end()
        if "most" in options.only:
            bridge = bench.start_bridge(0)
            bench.run(bridge, "together", options.rate, 1)
            for _ in range(options.times):
                run = bench.run(bridge, "together", MOST, min(options.seconds, 5))
                results.setdefault("most", []).append(run)
                results.setdefault("mosquitto_pub", []).append(bench.publish(min(run["arrived"], 200_000)))
            bridge.end()
    finally:
        bench.end()
        shutil.rmtree(folder, ignore_errors=True)

    count = options.services * options.elements
    missed = False
    for kind in kinds:
        runs = results[kind]
        print(f"\n{count:,} elements of {options.services} services at {options.rate:g} Hz, {titles[kind]}")
        processor, memory = figures(runs, "bridgePercent"), figures(runs, "memoryMiB")
        arrived = [100 * run["arrived"] / run["sent"] for run in runs]
        table([
            ("bridge, processor", against(processor, PROCESSOR_TARGET, "% of a core")),
            ("bridge, memory", against(memory, MEMORY_TARGET, "MiB")),
            ("mosquitto, processor", spread(figures(runs, "brokerPercent")) + " % of a core"),
            ("messages a second", spread(figures(runs, "messagesPerSecond"), 0)),
            ("values that arrived", spread(arrived) + " %"),
            ("to the subscriber, median", spread(figures(runs, "medianMilliseconds"), 2) + " ms"),
            ("to the subscriber, p99", spread(figures(runs, "p99Milliseconds"), 2) + " ms"),
        ])
        if kind == "together":
            missed = statistics.median(processor) > PROCESSOR_TARGET or statistics.median(memory) > MEMORY_TARGET
    if "most" in results:
        runs, rivals = results["most"], results["mosquitto_pub"]
        print(f"\nas many as pass, of {count * MOST:,.0f} values a second offered; older ones give way to newer ones")
        table([
            ("messages a second", spread(figures(runs, "messagesPerSecond"), 0)),
            ("bridge, processor a message", spread(figures(runs, "bridgeMicroseconds")) + " µs"),
            ("mosquitto, processor a message", spread(figures(runs, "brokerMicroseconds")) + " µs"),
            ("bridge, memory", spread(figures(runs, "memoryMiB")) + " MiB"),
            ("mosquitto_pub, messages a second", spread(figures(rivals, "messagesPerSecond"), 0)),
            ("mosquitto_pub, processor a message", spread(figures(rivals, "publisherMicroseconds")) + " µs"),
            ("mosquitto then, processor a message", spread(figures(rivals, "brokerMicroseconds")) + " µs"),
        ])
    if options.json:
        report = {
            "services": options.services, "elements": options.elements, "rate": options.rate,
            "targets": {"bridgePercent": PROCESSOR_TARGET, "memoryMiB": MEMORY_TARGET}, "runs": results,
        }
        text = json.dumps(report, indent=2) + "\n"
        if options.json == "-":
            sys.__stdout__.write(text)
        else:
            Path(options.json).write_text(text)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
