#!/usr/bin/env python3
"""A link between two network namespaces that loses, delays, reorders and throttles frames as it is told.

    bad-link.py NAMESPACE NAMESPACE DEVICE

Makes a device of that name in each namespace (TAP, which every kernel has, unlike tc's netem) and carries frames
between the two. Takes a JSON object a line at standard input and answers each with a line; what is left out is no
fault:

    loss     share of frames that are lost, 0...1
    delay    seconds that each is late
    jitter   seconds by which that is more or less, drawn for each
    hurry    share of frames that are not late, and so overtake those that are
    rate     bits a second, each way; what does not fit a queue of 20 frames is lost

The answer has the counts so far: frames, lost, hurried. Ends with its input.
"""
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
QUEUE = 20


def make_device(name, namespace, final_name):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    subprocess.run(["ip", "link", "set", name, "netns", namespace, "name", final_name], check=True)
    return descriptor


def main():
    namespaces, name = sys.argv[1:3], sys.argv[3]
    ends = [make_device(f"bad{os.getpid()}{side}", namespace, name) for side, namespace in zip("ab", namespaces)]
    faults = {}
    counts = {"frames": 0, "lost": 0, "hurried": 0}
    chance = random.Random(1)
    waiting = []  # due, number, end to write to, frame
    free = [0.0, 0.0]  # when the link has carried what it was given, each way
    queued = [0, 0]
    newest = [0.0, 0.0]  # when the last frame in order is due
    number = 0
    say = lambda event: print(json.dumps({"event": event, **counts}), flush=True)
    say("ready")
    text = b""
    while True:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select([*ends, sys.stdin], [], [], timeout)
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, end, frame = heapq.heappop(waiting)
            queued[end] -= 1
            write(ends[end], frame)
        if sys.stdin in readable:
            part = os.read(sys.stdin.fileno(), 65536)
            if not part:
                return
            text += part
            while b"\n" in text:
                line, text = text.split(b"\n", 1)
                faults = json.loads(line)
                say("set")
        for source, descriptor in enumerate(ends):
            if descriptor not in readable:
                continue
            try:
                frame = os.read(descriptor, 65536)
            except OSError:
                continue  # the device is down
            end = 1 - source
            counts["frames"] += 1
            rate = faults.get("rate")
            if chance.random() < faults.get("loss", 0) or (rate and queued[end] >= QUEUE):
                counts["lost"] += 1
                continue
            due = now
            if rate:
                free[end] = due = max(now, free[end]) + len(frame) * 8 / rate
            if faults.get("delay"):
                if chance.random() < faults.get("hurry", 0):
                    counts["hurried"] += 1
                else:
                    jitter = faults.get("jitter", 0)
                    due += faults["delay"] + chance.uniform(-jitter, jitter)
            if not faults.get("hurry"):
                newest[end] = due = max(due, newest[end])
            if due <= now and not waiting:
                write(descriptor=ends[end], frame=frame)
                continue
            number += 1
            queued[end] += 1
            heapq.heappush(waiting, (due, number, end, frame))


def write(descriptor, frame):
    try:
        os.write(descriptor, frame)
    except OSError:
        pass  # the device is down, or its queue is full: the frame is lost, as on any link


main()
