#!/usr/bin/env python3
"""Finds the faders of Samples/Synth by Zeroconf and OSCQuery, plays them with python-osc, and listens to the recording.

Usage: play_synth.py --elemental PROGRAM --synth PROGRAM"""

import argparse
import array
import json
import math
import os
import urllib.request
import wave

# The first import puts the folder of the others on the path.
from bed import check, isolated, patience, until
from pythonosc.udp_client import SimpleUDPClient
from waits import Bed, Log

RATE = 48_000
# How much of each sound is recorded, in bytes of two channels of 16 bits.
PART = RATE * 4 // 2


def browse():
    """The address of the first OSCQuery server that Zeroconf finds."""
    from zeroconf import ServiceBrowser, Zeroconf
    found = []

    class Listener:
        def add_service(self, zeroconf, kind, name):
            info = zeroconf.get_service_info(kind, name)
            if info:
                found.append((info.parsed_addresses()[0], info.port))

        def update_service(self, *_):
            pass

        remove_service = update_service

    zeroconf = Zeroconf()
    try:
        ServiceBrowser(zeroconf, "_oscjson._tcp.local.", Listener())
        return until(lambda: found, "an OSCQuery server")[0]
    finally:
        zeroconf.close()


def get(server, path):
    with urllib.request.urlopen(f"http://{server[0]}:{server[1]}{path}", timeout=patience()) as answer:
        return json.load(answer)


def faders(node):
    """What can be set, by its name."""
    if "CONTENTS" not in node:
        return {node["DESCRIPTION"]: node} if node["ACCESS"] & 2 else {}
    return {name: fader for child in node["CONTENTS"].values() for name, fader in faders(child).items()}


def pitch(samples):
    """Which of two notes a sound is, or "silence"; None where it is something between."""
    loudness = math.sqrt(sum(sample * sample for sample in samples) / len(samples))
    if loudness < 10:
        return "silence"
    for note, hertz in [(69, 440.0), (81, 880.0)]:
        turn = 2 * math.pi * hertz / RATE
        real, imaginary = (sum(s * part(turn * i) for i, s in enumerate(samples)) for part in (math.cos, math.sin))
        if 2 * math.hypot(real, imaginary) / len(samples) > loudness:
            return note
    return None


def heard(path):
    with wave.open(path) as file:
        channels = file.getnchannels()
        samples = array.array("h", file.readframes(file.getnframes()))[::channels]
    found = []
    for start in range(0, len(samples) - 4799, 4800):
        what = pitch(samples[start:start + 4800])
        if what and found[-1:] != [what]:
            found.append(what)
    return found


def play(bed, synth):
    path = os.path.join(bed.folder, "synth.wav")
    process = bed.program(synth, "--address", "127.0.0.1", "--security", "open", "--device", f"file:FILE={path},FORMAT=wav",
                          state="service")
    bridge = bed.start("osc", "synth", "--control", "--port", "0", "--json", state="bridge")
    bridge.event("shown")
    server = browse()
    tree = until(lambda: get(server, "/")["CONTENTS"].get("Synth"), "the synthesizer in the tree")
    found = faders(tree)
    check(len(found) == 21, f"the faders are {sorted(found)}")
    cutoff = found["Cutoff"]
    check(cutoff["TYPE"] == "f" and cutoff["RANGE"] == [{"MIN": 20, "MAX": 18000}], f"{cutoff}")
    client = SimpleUDPClient(server[0], get(server, "/?HOST_INFO")["OSC_PORT"])

    def turn(name, *values):
        client.send_message(found[name]["FULL_PATH"], list(values))

    def value(name):
        return get(server, tree["CONTENTS"][name]["FULL_PATH"] + "?VALUE")["VALUE"][0]

    def wait_for_sound(what):
        end = os.path.getsize(path) + PART
        until(lambda: os.path.getsize(path) >= end, what)

    # A sine with nothing added.
    for name, number in [
        ("Waveform", 0), ("Sub octave", 0), ("Detune", 0), ("Cutoff", 18000), ("Chorus", 0), ("Echo", 0), ("Reverb", 0),
        ("Sustain", 100), ("Release", 0.005),
    ]:
        turn(name, float(number))
        until(lambda: abs(value(name.replace(" ", "_")) - number) < 0.01, f"{name} at {number}")
    wait_for_sound("silence")
    turn("Note", 69.0, 0.8)
    until(lambda: value("Voices") == 1, "a voice")
    wait_for_sound("the first note")
    turn("Note", 69.0, 0.0)
    turn("Note", 81.0, 0.8)
    wait_for_sound("the second note")
    turn("Volume", 0.0)
    until(lambda: value("Volume") == 0, "no volume")
    wait_for_sound("a voice without volume")
    check(value("Voices") == 1, "the key was let go")
    bridge.end()
    status = process.end()
    check(status == 0, f"the synthesizer ended with {status}")
    sounds = heard(path)
    check(sounds == ["silence", 69, 81, "silence"], f"heard: {sounds}")
    print(f"python-osc found {len(found)} faders by OSCQuery and played: {sounds}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--elemental", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--here", action="store_true", help="in this network, and with its avahi-daemon")
    options = parser.parse_args()
    if options.here:
        with Bed(options.elemental) as bed:
            try:
                return play(bed, options.synth)
            except BaseException:
                print(Log.transcript())
                raise
    missing = isolated("play_synth.py", "--here", "--elemental", options.elemental, "--synth", options.synth)
    print(f"left out: {missing}" if missing else "the synthesizer was played by OSC")


main()
