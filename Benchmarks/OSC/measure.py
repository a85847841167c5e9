"""Measures how much later motion arrives for going through `elemental osc`. Started by Benchmarks/osc."""

import argparse
import json
import multiprocessing
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

# What the project wants at p99, in milliseconds.
TARGET = 1.0
ELEMENT = 1
# Its option that stamps what is received with the time of day, in nanoseconds (asm-generic/socket.h).
SO_TIMESTAMPNS = 35


def arguments():
    parser = argparse.ArgumentParser(prog="Benchmarks/osc", allow_abbrev=False)
    parser.add_argument("--elemental", required=True)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.rate <= 0 or options.seconds <= 0 or options.times < 1:
        parser.error("--rate, --seconds and --times are more than 0")
    return options


# MARK: OSC and the wire, as little of them as is needed


def osc(address, *numbers):
    def text(bytes):
        return bytes + b"\0" * (4 - len(bytes) % 4)

    return text(address.encode()) + text(b"," + b"d" * len(numbers)) + struct.pack(f">{len(numbers)}d", *numbers)


def connected_client(port, name):
    """A client as the older ElementalController is one: it says its name, and values come."""
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.sendall(struct.pack("<bI", -2, len(name)) + name.encode())
    return client


def stamped(receiver):
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    return receiver


def received(receiver):
    """What came next, and when the kernel had it."""
    data, notes, _, _ = receiver.recvmsg(65536, 256)
    for _, kind, note in notes:
        if kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("@qq", note[:16])
            return data, seconds * 1_000_000_000 + nanoseconds
    return data, time.time_ns()


class Watcher:
    """A process that notes which values come to a socket, and when, until the last one or nothing more."""

    def __init__(self, receiver, read, last):
        self.result, there = multiprocessing.Pipe(False)
        self.process = multiprocessing.get_context("fork").Process(
            target=self.watch, args=(receiver, read, last, there), daemon=True)
        self.process.start()

    @staticmethod
    def watch(receiver, read, last, there):
        receiver.settimeout(5)
        arrivals = []
        try:
            while not arrivals or arrivals[-1][0] < last:
                data, at = received(receiver)
                if not data:
                    break
                arrivals += [(value, at) for value in read(data)]
        except TimeoutError:
            pass
        there.send(arrivals)

    def arrivals(self):
        found = self.result.recv()
        self.process.join()
        return found


class FrameReader:
    """Takes the element's values out of the frames of a TCP connection."""

    def __init__(self):
        self.buffer = bytearray()

    def __call__(self, data):
        self.buffer += data
        values = []
        while len(self.buffer) >= 5:
            identifier, length = struct.unpack_from("<bI", self.buffer)
            if len(self.buffer) < 5 + length:
                break
            if identifier == ELEMENT:
                values.append(struct.unpack_from("<d", self.buffer, 5)[0])
            del self.buffer[:5 + length]
        return values


def osc_values(data):
    return [struct.unpack(">d", data[-8:])[0]] if b",d\0\0" in data else []


# MARK: Processes


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="osc-bench.")
        self.children = []
        self.next = 1.0
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start(
            "publish", "synth", "--name", "Synth", "--unlisted", "--address", "127.0.0.1", "--port", str(self.port),
            "--element", f"{ELEMENT}:Fader:double=0", "--stay", stdin=subprocess.PIPE)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        else:
            sys.exit("osc: the service does not listen")
        self.bridge = self.start(
            "osc", f"127.0.0.1:{self.port}", "--control", "--port", "0", "--json", "--state",
            os.path.join(self.folder, "state"), stdout=subprocess.PIPE, text=True)
        listening, shown = self.event("listening"), self.event("shown")
        threading.Thread(target=self.bridge.stdout.read, daemon=True).start()
        self.osc, self.address = ("127.0.0.1", listening["port"]), shown["prefix"] + "Fader"

    def start(self, *command, **more):
        more = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more}
        child = subprocess.Popen([self.options.elemental, *command], **more)
        self.children.append(child)
        return child

    def event(self, name):
        for line in self.bridge.stdout:
            event = json.loads(line)
            if event["event"] == name:
                return event
        sys.exit(f"osc: the bridge has ended, and told no '{name}'")

    def send(self, transmit):
        """Sends values, each by its time, and returns when each was sent."""
        count, interval = int(self.options.rate * self.options.seconds), 1e9 / self.options.rate
        first, sent = self.next, {}
        self.next += count
        start = time.monotonic_ns() + 1_000_000
        for number in range(count):
            due = start + int(number * interval)
            # The last of it awake: a sleep lasts some 60 microseconds longer than it should.
            while (left := due - time.monotonic_ns()) > 0:
                if left > 100_000:
                    time.sleep((left - 100_000) / 1e9)
            sent[first + number] = time.time_ns()
            transmit(first + number)
        return sent

    @property
    def last(self):
        return self.next + int(self.options.rate * self.options.seconds) - 1

    def without_bridge(self):
        with connected_client(self.port, "fader") as fader, connected_client(self.port, "watcher") as client:
            watcher = Watcher(stamped(client), FrameReader(), self.last)
            threading.Thread(target=discard, args=(fader,), daemon=True).start()
            time.sleep(0.3)
            sent = self.send(lambda value: fader.sendall(struct.pack("<bId", ELEMENT, 8, value)))
            return {"client": figures(sent, watcher.arrivals())}

    def with_bridge(self):
        fader, surface = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        with fader, surface, connected_client(self.port, "watcher") as client:
            # Who asks for a value is a surface.
            surface.bind(("127.0.0.1", 0))
            surface.sendto(osc(self.address), self.osc)
            surface.recv(65536)
            watchers = {
                "client": Watcher(stamped(client), FrameReader(), self.last),
                "surface": Watcher(stamped(surface), osc_values, self.last)}
            time.sleep(0.3)
            before, start = processor_time(self.bridge.pid), time.monotonic()
            sent = self.send(lambda value: fader.sendto(osc(self.address, value), self.osc))
            used = 100 * (processor_time(self.bridge.pid) - before) / (time.monotonic() - start)
            found = {name: figures(sent, watcher.arrivals()) for name, watcher in watchers.items()}
            return {**found, "bridgePercent": used}

    def end(self):
        for child in reversed(self.children):
            child.terminate()
            child.wait()
        shutil.rmtree(self.folder)


def discard(connection):
    try:
        while connection.recv(65536):
            pass
    except OSError:
        pass


def processor_time(pid):
    """Seconds in user space and in the kernel."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def figures(sent, arrivals):
    """Milliseconds, and how many values were sent and did not come, or not in their order."""
    ours = [(value, at) for value, at in arrivals if value in sent]
    delays = sorted((at - sent[value]) / 1e6 for value, at in ours)
    order = [value for value, _ in ours]
    if not delays:
        sys.exit("osc: no value arrived")
    return {
        "sent": len(sent), "lost": len(sent) - len(set(order)), "inOrder": order == sorted(order),
        "p50": delays[len(delays) // 2], "p99": delays[len(delays) * 99 // 100], "max": delays[-1]}


# MARK: Figures


def spread(values, unit="ms"):
    low, high = min(values), max(values)
    return f"{statistics.median(values):7.3f} {unit} ({low:.3f}–{high:.3f})"


def main():
    options = arguments()
    bench = Bench(options)
    turns = []
    try:
        for number in range(options.times):
            turns.append({"without": bench.without_bridge(), "with": bench.with_bridge()})
            print(f"turn {number + 1} of {options.times}", file=sys.stderr)
    finally:
        bench.end()
    out = sys.stderr if options.json == "-" else sys.stdout
    ways = [("client → service → client", "without", "client"), ("surface → bridge → service → client", "with", "client"),
            ("surface → bridge → service → bridge → surface", "with", "surface")]
    missed = False
    for title, kind, end in ways:
        runs = [turn[kind][end] for turn in turns]
        lost = sum(run["lost"] for run in runs)
        in_order = all(run["inOrder"] for run in runs)
        print(f"\n{title}: {sum(run['sent'] for run in runs):,} values, {lost} lost{'' if in_order else ', OUT OF ORDER'}", file=out)
        for key in ("p50", "p99", "max"):
            line = f"  {key.ljust(4)}{spread([run[key] for run in runs])}"
            if kind == "with" and key != "max":
                added = [turn[kind][end][key] - turn["without"]["client"][key] for turn in turns]
                line += f"   added {spread(added)}"
                if key == "p99":
                    reached = statistics.median(added) < TARGET
                    line += f"   target under {TARGET:g} ms: {'reached' if reached else 'MISSED'}"
                    missed |= not reached
            print(line, file=out)
        missed |= lost > 0 or not in_order
    print(f"\nthe bridge's share of one processor: {spread([turn['with']['bridgePercent'] for turn in turns], '%')}", file=out)
    if options.json:
        text = json.dumps(turns, indent=1)
        if options.json == "-":
            print(text)
        else:
            with open(options.json, "w") as file:
                file.write(text + "\n")
    return 1 if options.check and missed else 0


sys.exit(main())
