"""Values with the time of their measurement, both ways, and the times of clocks that both ends exchange."""

import asyncio
import itertools
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time

from elemental import (Catalogue, Element, InvalidValue, Limits, Reconnection, Service, State, WillReconnect, connect,
                       machine_time, pair)
from elemental.clock import FIRST_EXCHANGES
from elemental.frames import DATAGRAM_BYTES, MESSAGE, WHOLE_BYTES, ClockFrame, Frame, message, timed
from peers import (CATALOGUE, HELLO, NAME, PIECE, PING, PONG, TAKEN, UDP_IDENTIFIER, Raw, SteeredLoop, beside, check, frame,
                   hello, piece, raises, raw_service, until)
from waits import Failure, patience

CLOCK, TIMED = -16, -17
SPECS = ["1:Pose:float:timed", "2:Motion:float:udp:timed", "3:Picture:data:timed", "4:Plain:float",
         "5:Level:float:latest:timed"]
ELEMENTS = [Element(1, "Pose", "float", timed=True), Element(2, "Motion", "float", transport="udp", timed=True),
            Element(3, "Picture", "data", timed=True), Element(4, "Plain", "float"),
            Element(5, "Level", "float", latest=True, timed=True), Element(6, "Frame", "data", transport="udp", timed=True)]
HOUR = 3600
LONGEST = DATAGRAM_BYTES - MESSAGE.size - 9
"""The longest value of a datagram with a time."""
CENTURY = 100 * 366 * 24 * HOUR
ONE = struct.pack("<f", 1)


async def following(stream):
    """The next value of a stream."""
    return await asyncio.wait_for(stream.__anext__(), patience())


def measured_at(received, wanted, doubt=0.0):
    """Whether a received time can be this one of this machine's clock."""
    return received is not None and abs(received.time - wanted) <= received.error + doubt + 2e-6


def measured_since(received, before):
    """Whether a received time can lie between this one and now."""
    return received is not None and before - received.error <= received.time <= machine_time() + received.error


def told_at(event, wanted):
    """Whether an event tells this time of this machine's clock."""
    # The time of day may be corrected meanwhile.
    return "timeError" in event and abs(event["time"] - _day(wanted)) <= event["timeError"] + 0.01


def _day(moment):
    return time.time() - (machine_time() - moment)


def _knows(device):
    """Whether both ends know each other's clock: the service by the second request."""
    return device._session.clock.count >= FIRST_EXCHANGES and device._session.clock.is_known


async def times(bed, ok):
    service = await beside(bed.publish, "robot", *SPECS)
    await _client(bed, ok, service, None)
    await _watchers(bed, ok, service)
    service = await beside(bed.publish, "robot", *SPECS, security="paired-to-control", state="encrypted")
    state = State(os.path.join(bed.folder, "python"))
    await pair(service.place, (await beside(service.event, "pairing"))["code"], state=state)
    await _client(bed, ok, service, state)
    await _service(bed, ok)
    await _published(bed, ok)
    await _other_clocks(bed, ok)


async def _client(bed, ok, service, state):
    kind = "over TLS and in sealed datagrams" if state else "over TCP and UDP"
    ago, seen, handled = machine_time() - HOUR, [], []
    picture = random.Random(3).randbytes(300_000)
    async with connect(service.place, state=state) as device:
        check(device.is_encrypted == bool(state), "encrypted, or not")
        await until(lambda: _knows(device), "the clocks")
        offset, error = device._session.clock.peer.offset(int(machine_time() * 1e9))
        check(abs(offset) <= error, f"it is the same clock: {offset} ± {error}")
        take = device._session.take_timed
        device._session.take_timed = lambda data, length, via: seen.append((data[0], via)) or take(data, length, via)
        device.on_value("Pose", lambda value: handled.append((value, device.time("Pose"))))
        stream = device.values("Pose")
        for name, value in (("Pose", 1.5), ("Motion", 2.5), ("Level", 3.5)):
            await device.set(name, value, at=ago)
            event = await beside(service.event, "value", element=name, value=value)
            check(told_at(event, ago), f"{name}, measured at {_day(ago)}: {event}")
            await until(lambda: device[name] == value, "the service's echo")
            check(measured_at(device.time(name), ago, event["timeError"]), f"{name}, at {ago}: {device.time(name)}")
        check(await following(stream) == 1.5 and measured_at(stream.time, ago, 1), f"a stream has the time too: {stream.time}")
        ok(f"{kind}: what was measured an hour ago, to a service and back")
        for number, name in enumerate(("Pose", "Motion")):
            before = machine_time()
            service.write(f"{name}={number + 7}")
            await until(lambda: device[name] == number + 7, "the service's own")
            check(measured_since(device.time(name), before), f"{name}: {device.time(name)}")
        check(await following(stream) == 7 and stream.time == device.time("Pose"), "in the stream")
        check([each[0] for each in handled] == [1.5, 7] and measured_at(handled[0][1], ago, 1)
              and handled[1][1] == device.time("Pose"), f"a handler gets the time of its value: {handled}")
        await device.set("Plain", 1, at=ago)
        event = await beside(service.event, "value", element="Plain", value=1)
        await until(lambda: device["Plain"] == 1, "the value")
        check("timeError" not in event and device.time("Plain") is None, "no time where none is announced")
        for at in (ago - CENTURY, ago + CENTURY):
            await device.set("Pose", 8, at=at)
            event = await beside(service.event, "value", element="Pose", value=8)
            check("timeError" not in event and abs(event["time"] - time.time()) < 2 * patience(), f"{event}")
        ok(f"{kind}: the time of sending; none without the mark, before 1970 or after 2100")
        for number, count in enumerate((0, WHOLE_BYTES - 9, WHOLE_BYTES - 8, WHOLE_BYTES, WHOLE_BYTES + 1, 300_000)):
            value, at = picture[:count], ago - 60 * number
            await device.set("Picture", value, at=at)
            await until(lambda: device["Picture"] == value, f"{count} bytes")
            check(measured_at(device.time("Picture"), at, 1), f"{count} bytes at {at}: {device.time('Picture')}")
        check({(1, "tcp"), (2, "udp"), (3, "tcp"), (0x83, "tcp"), (5, "tcp")} == set(seen), f"{set(seen)}")
        check(device.statistics.malformed == device.statistics.unknown == device.statistics.times_rejected == 0, "no mistakes")
        ok(f"{kind}: values of any length, those in pieces with their time ahead")
        newest = device.time("Picture")
    async with connect(service.place, state=state) as device:
        for name in ("Pose", "Motion", "Level"):
            check(device.time(name) is not None, f"the time of {name}")
        check(measured_at(device.time("Level"), ago, 1), f"{device.time('Level')}")
        await until(lambda: device["Picture"] == picture, "the value in pieces")
        check(measured_at(device.time("Picture"), newest.time, newest.error), f"{device.time('Picture')}, not {newest}")
    ok(f"{kind}: the current values have their times when the device is connected")


async def _watchers(bed, ok, service):
    """Both commands print the same."""
    watchers = [bed.start("watch", service.place, "Pose", "Plain", "--json", state="watcher"),
                bed.program(sys.executable, "-B", "-m", "elemental", "watch", service.place, "Pose", "Plain", "--json",
                            state="watcher")]
    for each in watchers:
        await beside(each.event, "value", element="Plain")
    numbers = itertools.count(100)

    async def both():
        number = next(numbers)
        before = _day(machine_time())
        service.write(f"Pose={number}")
        events = [await beside(each.event, "value", element="Pose", value=number) for each in watchers]
        # The first ones may come before the clocks were compared.
        return [before, *events] if all("timeError" in each for each in events) else None

    before, *events = await until(both, "both know the time")
    for each in events:
        error = each["timeError"] + 0.01
        check(0 < each["timeError"] < 10 and before - error <= each["time"] <= _day(machine_time()) + error, f"{each}")
    service.write("Plain=5")
    plain = [await beside(each.event, "value", element="Plain", value=5) for each in watchers]
    check("timeError" not in plain[0] and abs(plain[0]["time"] - plain[1]["time"]) < 2 * patience(), f"{plain}")
    for theirs, ours in (events, plain):
        check(list(theirs) == [each for each in ours if each != "choice"], f"{ours} is not like {theirs}")
    said = json.loads(subprocess.run([sys.executable, "-B", "-m", "elemental", "get", service.place, "Pose", "--json"],
                                     capture_output=True, text=True, timeout=patience()).stdout)
    check(abs(said["time"] - events[1]["time"]) < 2 * patience(), f"{said}")
    ok("`watch --json` of both commands tells the same times, in the same members")


async def _service(bed, ok):
    ago, sent = machine_time() - HOUR, []
    picture = random.Random(4).randbytes(300_000)
    async with Service("robot", ELEMENTS, publish=False, address="127.0.0.1") as ours:
        send = ours._udp.send
        ours._udp.send = lambda data, address=None: sent.append(data[0]) or send(data, address)
        place = f"127.0.0.1:{ours.port}"
        watcher = bed.start("watch", place, "--json", state="watcher")
        await until(lambda: ours.clients and ours.clients[0]._session.clock.is_known, "the watcher's clock")
        offset, error = ours.clients[0]._session.clock.peer.offset(int(machine_time() * 1e9))
        check(abs(offset) <= error, f"it is the same clock: {offset} ± {error}")
        for name in ("Pose", "Motion", "Level"):
            ours.set(name, 2, at=ago)
            event = await beside(watcher.event, "value", element=name, value=2)
            check(told_at(event, ago), f"{name}, measured at {_day(ago)}: {event}")
        check(sent == [TIMED & 0xFF], f"over UDP in a datagram: {sent}")
        before = _day(machine_time())
        ours["Pose"] = 3
        event = await beside(watcher.event, "value", element="Pose", value=3)
        check(before - 0.01 <= event["time"] + event["timeError"] and event["time"] <= _day(machine_time()) + 0.01, f"{event}")
        ours.set("Picture", picture, at=ago)
        event = await beside(watcher.event, "value", element="Picture")
        check(told_at(event, ago) and bytes.fromhex(event["value"]) == picture, f"{event['time']}: a value in pieces")
        ok("`watch --json` of the command line tells when our service's values were measured")
        received, handled = ours.values(), []
        ours.on_value("Pose", lambda value, client: handled.append(client.time("Pose")))
        async with connect(place) as device:
            await until(lambda: _knows(device), "the clocks")
            check(measured_at(device.time("Level"), ago), "the time of a current value")
            for name in ("Pose", "Motion", "Level"):
                await device.set(name, 4, at=ago)
                value, client, _ = await following(received)
                check(value == 4 and measured_at(client.time(name), ago) and received.time == client.time(name), name)
                # By two clocks, each as wrong as it may be.
                event = await beside(watcher.event, "value", element=name, value=4)
                check(told_at({**event, "timeError": event["timeError"] + client.time(name).error}, ago), f"{name}: {event}")
            check(measured_at(handled[0], ago), f"{handled}")
        ok("our service passes on the time of what a client sets")


async def _published(bed, ok):
    served = bed.program(
        sys.executable, "-B", "-m", "elemental", "publish", "robot", "--element", SPECS[0], "--element", SPECS[3], "--unlisted",
        "--address", "127.0.0.1", "--json", state="served")
    place = f"127.0.0.1:{(await beside(served.event, 'listening'))['port']}"
    ago = machine_time() - HOUR
    async with connect(place) as device:
        await until(lambda: _knows(device), "the clocks")
        await device.set("Pose", 2, at=ago)
        check(told_at(event := await beside(served.event, "value", element="Pose"), ago), f"{event}")
        await device.set("Plain", 2)
        event = await beside(served.event, "value", element="Plain")
        check("timeError" not in event and abs(event["time"] - time.time()) < 2 * patience(), f"{event}")
    ok("`publish --json` of our command tells when a client's values were measured")


async def _other_clocks(bed, ok):
    """Programs of the command line on a machine whose clock is an hour ahead: a time namespace."""
    elsewhere = ["--time", "--boottime", str(HOUR)]
    if (await beside(subprocess.run, ["unshare", *elsewhere, "true"], capture_output=True)).returncode:
        print("left out times: a clock that is an hour ahead: time namespaces cannot be made here", flush=True)
        return
    service = bed.program(
        "unshare", *elsewhere, bed.elemental, "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--security", "open",
        "--stay", "--json", *[word for spec in SPECS for word in ("--element", spec)], state="ahead")
    async with connect(f"127.0.0.1:{(await beside(service.event, 'listening'))['port']}") as device:
        await until(lambda: _knows(device), "the clocks")
        for name in ("Pose", "Motion"):
            before = machine_time()
            service.write(f"{name}=1")
            await until(lambda: device[name] == 1, "the value")
            check(measured_since(device.time(name), before), f"{name}: {device.time(name)}")
            ago = machine_time() - HOUR
            await device.set(name, 2, at=ago)
            check(told_at(event := await beside(service.event, "value", element=name, value=2), ago), f"{name}: {event}")
            await until(lambda: device[name] == 2, "the echo")
            check(measured_at(device.time(name), ago, event["timeError"]), f"{name}: {device.time(name)}")
    async with Service("robot", ELEMENTS, publish=False, address="127.0.0.1") as ours:
        watcher = bed.program("unshare", *elsewhere, bed.elemental, "watch", f"127.0.0.1:{ours.port}", "--json", state="ahead")
        await until(lambda: ours.clients and ours.clients[0]._session.clock.is_known, "the watcher's clock")
        offset, error = ours.clients[0]._session.clock.peer.offset(int(machine_time() * 1e9))
        check(abs(offset - HOUR * 1_000_000_000) <= error, f"it is an hour ahead: {offset} ± {error}")
        for name in ("Pose", "Motion"):
            ago = machine_time() - HOUR
            ours.set(name, 1, at=ago)
            check(told_at(event := await beside(watcher.event, "value", element=name, value=1), ago), f"{name}: {event}")
    ok("services and clients whose clocks are an hour ahead")


# Peers that speak bytes.


def _decoded(value, kind):
    return ClockFrame.decode(Frame(CLOCK, len(value), value), kind)


class Clock:
    """A peer's end of the exchange. Its clock is ahead of this machine's."""

    def __init__(self, ahead=HOUR):
        self.ahead = ahead
        self.requests = []

    def now(self):
        return int((machine_time() + self.ahead) * 1e9)

    def answer(self, value):
        request = _decoded(value, 1)
        self.requests.append(request)
        now = self.now()
        return frame(CLOCK, ClockFrame(2, request.nonce, now, now, 0, 0).encode())


async def _serve(raw, clock, features=0b11110111, elements=ELEMENTS, first=b"", told=None):
    """Greets a client, and answers pings and what it asks of the clock. Other frames are told."""
    raw.send(frame(UDP_IDENTIFIER, b"\1"))
    await raw.until(NAME)
    value = await raw.until(HELLO)
    check(value[1] & 0b11000000 == 0b11000000, "a client announces both")
    raw.send(hello(features), frame(CATALOGUE, Catalogue(elements).encode()), first)
    while (found := await raw.frame()) is not None:
        if found[0] == CLOCK and features & 0b01000000:
            raw.send(clock.answer(found[1]))
        elif found[0] == PING:
            raw.send(frame(PONG, found[1]))
        elif told is not None:
            told.append(found)


async def clocks(bed, ok):
    await _raw_service(ok)
    await _raw_service_without(ok)
    await _kept(ok)
    await SteeredLoop.run(_asking)
    ok("a client asks eight times, then once a second while values carry times")
    await _raw_client(ok)


async def _raw_service(ok):
    clock, told, connections = Clock(), [], []
    at = int((machine_time() - 60 + clock.ahead) * 1e6)
    true = at / 1e6 - HOUR

    async def serve(raw):
        connections.append(raw)
        await _serve(raw, clock, first=frame(TIMED, timed(1, at) + ONE), told=told)

    async with raw_service(serve) as port, connect(f"127.0.0.1:{port}") as device:
        check(measured_at(device.time("Pose"), true), f"the current value's time: {device.time('Pose')}")
        await until(lambda: _knows(device), "all exchanges")
        check(len({each.nonce for each in clock.requests}) >= FIRST_EXCHANGES, "nonces are random")
        first, *others = clock.requests
        check((first.first, first.second) == (0, 0), f"{first}")
        check(all(0 < each.first <= each.second for each in others), "each tells the times of the one before")
        offset, error = device._session.clock.peer.offset(int(machine_time() * 1e9))
        check(abs(offset - HOUR * 1_000_000_000) <= error, f"{offset} ± {error}")
        ok("a service with a clock that is an hour ahead")

        [raw] = connections
        counts = device.statistics
        values = device.values("Picture")

        async def arrives(wanted, *data):
            """Sends frames, and returns the time of the picture that they bring."""
            raw.send(*data)
            check(await following(values) == wanted, "the picture")
            return values.time

        large = random.Random(5).randbytes(WHOLE_BYTES + 1)
        pieces = [piece(3, len(large), place, large[place : place + 65_536]) for place in range(0, len(large), 65_536)]
        check(measured_at(await arrives(b"a", frame(TIMED, timed(3, at) + b"a")), true), "with its time")
        check(await arrives(b"b", frame(3, b"b")) is None and device.time("Picture") is None, "a plain value has none")
        check(measured_at(await arrives(large, frame(TIMED, timed(3, at, True)), frame(1, ONE), *pieces), true),
              "a time ahead of pieces")
        check(device.time("Pose") is None, "the time is not that of another element")
        check(await arrives(large, *pieces) is None, "and it counts once")
        check(measured_at(await arrives(large, frame(TIMED, timed(3, at, True)), frame(3, large)), true), "or of a frame")
        check(measured_at(await arrives(large[:-1], frame(TIMED, timed(3, at) + large[:-1])), true), "the longest one inside")
        cut = frame(TIMED, timed(3, 5 - at)[:-1])
        check(measured_at(await arrives(b"c", frame(TIMED, timed(3, at, True)), cut, frame(3, b"c")), true),
              "what is malformed does not take the time")
        check(counts.malformed == 1, f"{counts}")
        for name, wrong, malformed, unknown in (
            ("a value follows a time ahead", frame(TIMED, timed(3, at, True) + b"x"), 1, 0),
            ("a value of another length", frame(TIMED, timed(1, at) + b"xyz"), 1, 0),
            ("a long value", frame(TIMED, timed(3, at) + large), 1, 0),
            ("an unknown element", frame(TIMED, timed(77, at) + b"x"), 0, 1),
            ("a time ahead of an element without the mark", frame(TIMED, timed(4, at, True)), 0, 1),
            ("a request of a service", frame(CLOCK, ClockFrame(1, 1, 0, 0, 0, 0).encode()), 1, 0),
            ("an answer of another length", frame(CLOCK, ClockFrame(2, 1, 0, 0, 0, 0).encode()[:-1]), 1, 0),
            ("a longer answer", frame(CLOCK, ClockFrame(2, 1, 0, 0, 0, 0).encode() + b"x"), 1, 0),
            ("an answer to no request", frame(CLOCK, ClockFrame(2, 1, 0, 0, 0, 0).encode()), 0, 1),
        ):
            before = counts.malformed, counts.unknown
            await arrives(b"d", wrong, frame(3, b"d"))
            check((counts.malformed, counts.unknown) == (before[0] + malformed, before[1] + unknown), f"{name}: {counts}")
        for far in (-CENTURY * 10**6, CENTURY * 10**6, -(1 << 63) - at, (1 << 63) - 1 - at):
            before = counts.times_rejected
            check(await arrives(b"e", frame(TIMED, timed(3, at + far) + b"e")) is None, "no time")
            check(counts.times_rejected == before + 1, f"it is counted: {counts}")
        check(measured_at(await arrives(b"f", frame(TIMED, timed(4, at) + ONE), frame(TIMED, timed(3, at) + b"f")), true)
              and device["Plain"] == 1 and device.time("Plain") is None, "a value without the mark is one without a time")
        ok("times inside, ahead, malformed, misplaced, before 1970 and after 2100")

        take, before = device._session.take_datagram, counts.malformed
        take(message(TIMED, timed(2, at) + ONE, 1), ())
        check(device["Motion"] == 1 and measured_at(device.time("Motion"), true), "in a datagram")
        for wrong in (timed(2, at, True), timed(2, at, True) + ONE, timed(2, at), timed(2, at)[:-1], b""):
            take(message(TIMED, wrong, 1), ())
        check(counts.malformed == before + 5 and device.time("Motion") is not None, f"{counts}")
        before = counts.unknown
        take(message(CLOCK, bytes(37), 1), ())
        check(counts.unknown == before + 1 and device.is_connected, "the clock's frames are not for datagrams")
        device.send_now("Frame", bytes(LONGEST))
        await raises(InvalidValue, device.send("Frame", bytes(LONGEST + 1)))
        ok("datagrams with times, malformed ones, and the longest")

        told.clear()
        device.send_now("Pose", 1, at=258e-6)
        device.send_now("Plain", 1, at=258e-6)
        device.send_now("Picture", large, at=-258e-6)
        await device.ping()
        await until(lambda: any(each[0] == PIECE for each in told), "the piece")
        check(told[:2] == [(TIMED, timed(1, 258) + ONE), (4, ONE)], f"{told[:2]}")
        check([each for each in told if each[0] not in (PIECE, TAKEN)][2:] == [(TIMED, timed(3, -258, True))], "the time ahead")
        ok("the bytes of what a client sends")


async def _raw_service_without(ok):
    told = []

    async def serve(raw):
        await _serve(raw, None, 0b00110111, told=told)

    async with raw_service(serve) as port, connect(f"127.0.0.1:{port}", udp=False) as device:
        for name in ("Pose", "Motion", "Level", "Plain"):
            device.send_now(name, 1, at=5)
        await device.ping()
        check(told == [(1, ONE), (2, ONE), (5, ONE), (4, ONE)], f"{told}")
        check(device.time("Pose") is None, "no time")
    ok("a service that announces neither is asked for nothing, and gets the plain values")


async def _kept(ok):
    told, first = [], []

    async def serve(raw):
        first.append(raw)
        await _serve(raw, Clock(), told=told if len(first) > 1 else None)

    async with raw_service(serve) as port:
        async with connect(f"127.0.0.1:{port}", reconnect=Reconnection((0,), forever=True)) as device:

            def away(event):
                if isinstance(event, WillReconnect):
                    device.send_now("Level", 2, at=7e-6)
                    device.send_now("Level", 1, at=8e-6)

            device.on_event(away)
            first[0].close()
            await until(lambda: told, "what was kept")
            check(told == [(TIMED, timed(5, 8) + ONE)], f"{told}")
    ok("the newest value that is kept while a device reconnects keeps its time")


async def _asking(loop):
    for elements in (ELEMENTS, [ELEMENTS[3]]):
        clock, told = Clock(), []

        async def serve(raw):
            await _serve(raw, clock, elements=elements, told=told)

        async with raw_service(serve) as port, connect(f"127.0.0.1:{port}") as device:
            session = device._session
            await until(lambda: session.clock.count >= FIRST_EXCHANGES, "the first exchanges")
            for count in range(FIRST_EXCHANGES, FIRST_EXCHANGES + 3):
                check(len(clock.requests) == count, f"{len(clock.requests)} requests, not {count}")
                if elements is not ELEMENTS:
                    check(session._clock_timer is None, "it does not ask again")
                    break
                await loop.advance(0.9)
                await device.ping()
                check(len(clock.requests) == count, "not before a second has passed")
                await loop.advance(0.2)
                await until(lambda: session.clock.count == count + 1, "the next exchange")
            # A device that reads nothing does not ask.
            session.hold(clock)
            before = len(clock.requests)
            for _ in range(3):
                await loop.advance(1)
            device.send_now("Plain", 1)
            await until(lambda: told, "what is sent behind a request")
            check(len(clock.requests) == before, "no request while nothing is read")
            session.let_go(clock)
            await device.ping()
        check(session._clock_timer is None, "and none after the end")


async def _raw_client(ok):
    clock = Clock()
    ago = machine_time() - HOUR
    large = random.Random(6).randbytes(WHOLE_BYTES + 1)
    async with Service("robot", ELEMENTS, publish=False, address="127.0.0.1", adopt=False) as ours:
        ours.set("Pose", 1, at=258e-6)
        request = ClockFrame(1, 7, 0, 0, 0, 0)
        for features, value in ((0b00111111, (1, ONE)), (0b01111111, (1, ONE)), (0b10111111, (TIMED, timed(1, 258) + ONE))):
            raw = await Raw.connect(ours.port)
            await raw.until(UDP_IDENTIFIER)
            raw.send(frame(-2, b"raw"), hello(features))
            check((await raw.until(HELLO))[1] & 0b11000000 == 0b11000000, "a service announces both")
            await raw.until(CATALOGUE)
            check(await raw.frame() == value, f"the current value for {features:b}")
            ours.set("Picture", large, at=9e-6)
            # Of those with its pieces the value comes in pieces.
            if features & 0b10000000:
                check(await raw.frame() == (TIMED, timed(3, 9, True)), "the time ahead")
            first = await raw.frame()
            check(first[0] == PIECE and first[1][:9] == struct.pack("<bII", 3, len(large), 0), f"{first[0]}")
            raw.send(frame(CLOCK, request.encode()), frame(PING, b"1"))
            answer = await raw.frame(lambda frame: frame[0] in (CLOCK, PONG))
            check((answer[0] == CLOCK) == bool(features & 0b01000000), f"{answer}")
            client = ours.clients[-1]
            check(client.statistics.unknown == (0 if answer[0] == CLOCK else 1), f"{client.statistics}")
            if answer[0] == CLOCK:
                found = _decoded(answer[1], 2)
                check(found.nonce == 7 and found.first == found.second and 0 < found.first <= machine_time() * 1e9, f"{found}")
                for wrong in (found.encode(), request.encode()[:-1], request.encode() + b"x", bytes(37)):
                    raw.send(frame(CLOCK, wrong))
                await until(lambda: client.statistics.malformed == 4, "answers to a service and other lengths are malformed")
            raw.close()
            await until(lambda: not ours.clients, "it has gone")
        # One that takes no pieces.
        raw = await Raw.connect(ours.port)
        await raw.until(UDP_IDENTIFIER)
        raw.send(frame(-2, b"raw"), hello(0b10000001))
        await raw.until(HELLO)
        wanted = [(TIMED, timed(1, 258) + ONE), (TIMED, timed(3, 9, True)), (3, large)]
        check([await raw.frame() for _ in wanted] == wanted, "whole, with its time ahead")
        raw.close()
        await until(lambda: not ours.clients, "it has gone")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.bind(("127.0.0.1", 0))
            datagrams.settimeout(patience())
            for features, longest in ((0b10111111, LONGEST), (0b00111111, LONGEST + 9)):
                raw = await Raw.connect(ours.port)
                [identifier] = await raw.until(UDP_IDENTIFIER)
                raw.send(frame(-2, b"raw"), hello(features, datagrams.getsockname()[1]))
                await until(lambda: ours.clients and ours.clients[-1].has_hello, "the hello")
                for count in (1, longest):
                    ours.set("Frame", bytes(count), at=7e-6)
                    told = await beside(datagrams.recv, 1 << 16)
                    wanted = message(TIMED, timed(6, 7) + bytes(count), identifier)
                    check(told == (wanted if features & 0b10000000 else message(6, bytes(count), identifier)), f"{told[:20]}")
                ours.set("Frame", bytes(longest + 1), at=7e-6)
                found = await raw.frame(lambda frame: len(frame[1]) == LONGEST + 10)
                check(found[0] == (TIMED if features & 0b10000000 else 6), "what is too long for a datagram goes over TCP")
                raw.close()
                await until(lambda: not ours.clients, "it has gone")
        ok("clients that announce one, the other or none, to the byte")

        raw = await Raw.connect(ours.port)
        raw.send(frame(-2, b"raw"), hello(0b11111111))
        sent = clock.now()
        raw.send(frame(CLOCK, ClockFrame(1, 1, 0, 0, 0, 0).encode()))
        await raw.until(CLOCK)
        returned = clock.now()
        stream = ours.values()
        raw.send(frame(TIMED, timed(1, int((ago + HOUR) * 1e6)) + ONE))
        value, client, _ = await following(stream)
        check(value == 1 and client.time("Pose") is None, "the clock is not known yet")
        raw.send(frame(CLOCK, ClockFrame(1, 2, sent, returned, 0, 0).encode()))
        await raw.until(CLOCK)
        check(measured_at(client.time("Pose"), ago) and measured_at(stream.time, ago), f"now it is: {client.time('Pose')}")
        raw.send(frame(CLOCK, ClockFrame(1, 3, 0, 0, 0, 10).encode()))
        await raw.until(CLOCK)
        check(client.time("Pose") is None, "the client has slept")
        raw.close()
        ok("a client with a clock that is an hour ahead, and sleeps")
    async with Service("robot", ELEMENTS, publish=False, address="127.0.0.1", limits=Limits(value_bytes=64)) as ours:
        for count in (64, 65):
            raw = await Raw.connect(ours.port)
            raw.send(frame(-2, b"raw"), hello(0b10111111), frame(TIMED, timed(3, 5) + bytes(count)), frame(PING, b"1"))
            if count == 64:
                await raw.until(PONG)
            elif "65 bytes" not in (await raw.ended() or ""):
                raise Failure("the longer value does not end the connection")
            raw.close()
        ok("the limit for values holds for one with its time")
