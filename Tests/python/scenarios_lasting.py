"""Connections that break, peers that fall silent or are slow, and many at a time."""

import asyncio
import signal
import struct
import sys
import tracemalloc

from elemental import (ClosedByPeer, ConnectionFailed, Disconnected, Element, Limits, QueueFull, Reconnected, Reconnection,
                       Service, ShutDown, TimedOut, Unconfirmed, WillReconnect, connect)
from peers import (HELLO, NAME, PING, PONG, UDP_IDENTIFIER, Raw, SteeredLoop, beside, check, frame, hello, raises,
                   raw_service, turns, until)
from waits import lease, patience

SPEED = Element(1, "Speed", "float", range=(0, 1))
MOTION = Element(2, "Motion", "float", latest=True)
SPECS = ["1:Speed:float:0...1=0.25", "2:Motion:float:latest"]


async def reconnection(bed, ok):
    service = await beside(bed.publish, "robot", *SPECS, port=lease())
    events, values = [], []
    async with connect(service.place, reconnect=Reconnection((0, 0.2), forever=True)) as device:
        device.on_event(events.append)

        async def follow():
            async for value in device.values("Speed"):
                values.append(value)

        following = asyncio.ensure_future(follow())
        await until(lambda: values == [0.25], "the current value")
        service.end(signal.SIGKILL)
        await until(lambda: any(isinstance(each, WillReconnect) and each.attempt > 1 for each in events), "a failed attempt")
        first = events[0]
        check(first.attempt == 1 and first.delay == 0 and isinstance(first.reason, ClosedByPeer), f"{first}")
        check(isinstance(events[1].error, ConnectionFailed), f"{events[1]}")
        await raises(Disconnected, device.send("Speed", 0.5))
        device["Motion"] = 1
        device["Motion"] = 2
        service = await beside(bed.publish, "robot", "1:Speed:float:0...1=0.75", SPECS[1], port=service.port)
        await until(lambda: values == [0.25, 0.75], "the value of the service that is back")
        await until(lambda: isinstance(events[-1], Reconnected), "it says so")
        await until(lambda: device["Motion"] == 2, "what was kept for it")
        await device.set("Speed", 0.5)
        await until(lambda: values == [0.25, 0.75, 0.5], "values go on")
        ok("a killed service: the device is connected again, its iteration goes on, the newest value was kept")
        await beside(service.end)
        await until(lambda: isinstance(events[-1], WillReconnect) and isinstance(events[-1].reason, ShutDown), "a shutdown")
        ok("a service that shuts down")
    await following
    ok("the iteration ends when the device is closed here")

    service = await beside(bed.publish, "robot", *SPECS)
    device = await connect(service.place, reconnect=Reconnection((0, 0.01)))
    stream, events = device.values("Speed"), []
    device.on_event(events.append)
    await stream.__anext__()
    service.end(signal.SIGKILL)
    await raises(ClosedByPeer, stream.__anext__())
    check([type(each) for each in events] == [WillReconnect, WillReconnect, ClosedByPeer], f"{events}")
    await raises(ClosedByPeer, device.set("Speed", 0.5))
    await raises(ClosedByPeer, device.get("Motion"))
    await device.close()
    ok("after the last attempt it gives up, with the reason of the loss")

    # The other way round: our service, killed and back, and a client of the command line.
    port = lease()
    python = await beside(bed.program, *_publish(port), state="service")
    await beside(python.event, "listening")
    watcher = bed.start("watch", f"127.0.0.1:{port}", "--reconnect", "--json", state="watcher")
    await beside(watcher.value, "Speed", lambda value: value == 0.25)
    python.end(signal.SIGKILL)
    await beside(watcher.event, "willReconnect")
    python = await beside(bed.program, *_publish(port, "0.75"), state="service")
    await beside(watcher.value, "Speed", lambda value: value == 0.75)
    status = await beside(python.end)
    check(status == 0, f"SIGTERM ends it with {status}")
    await beside(lambda: watcher.event("willReconnect", where=lambda event: "the service was stopped" in event["message"]))
    ok("our service killed, back, and ended: a client of the command line follows")


def _publish(port, value="0.25"):
    return [sys.executable, "-B", "-m", "elemental", "publish", "robot", "--element", f"1:Speed:float={value}", "--unlisted",
            "--address", "127.0.0.1", "--port", str(port), "--json", "--stay"]


async def heartbeat(bed, ok):
    reason = await SteeredLoop.run(_silent_service)
    ok(f"a service that falls silent: {reason}")
    await SteeredLoop.run(_silent_clients)
    ok("clients that say nothing, fall silent, or answer")

    # The limits hold by the clock of the system too.
    limits = Limits(ping_interval=0.2, silence_timeout=0.8, handshake_timeout=0.5)

    async def serve(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b000101))
        raw.send(frame(PONG, await raw.until(PING)))
        await raw.ended()

    async def falls_silent(port):
        device = await connect(f"127.0.0.1:{port}", elements=[SPEED], limits=limits)
        try:
            await device.values("Speed").__anext__()
        finally:
            await device.close()

    async with raw_service(serve) as port:
        await raises(TimedOut, falls_silent(port))
    async with Service("robot", [SPEED], publish=False, address="127.0.0.1", limits=limits) as ours:
        silent = await Raw.connect(ours.port)
        check("neither" in (await silent.ended() or ""), "it was not told why")
        silent.close()
    ok("both ends give up by themselves")

    async def nothing(raw):
        await raw.ended()

    async with raw_service(nothing) as port:
        await raises(ConnectionFailed, connect(f"127.0.0.1:{port}", timeout=0.3)._open())
        ok("a service that says nothing")
    await raises(ConnectionFailed, connect(f"127.0.0.1:{lease()}")._open())
    await raises(ConnectionFailed, connect("no-such-host.invalid:5000")._open())
    ok("a port at which nothing listens, and a host that does not exist")

    async def flooding_pings(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b000001))
        await raw.ended()

    async with raw_service(flooding_pings) as port:
        async with connect(f"127.0.0.1:{port}", elements=[SPEED]) as device:
            await device.set("Speed", 0.5)
            waiting = [asyncio.ensure_future(device.ping(timeout=0.2)) for _ in range(70)]
            results = await asyncio.gather(*waiting, return_exceptions=True)
            check({type(each) for each in results} == {TimedOut, QueueFull}, f"{ {type(each) for each in results} }")
            ok("pings that nobody answers are bounded")


async def _silent_service(loop):
    """A service that answers four pings, the first of them that of the handshake. Returns the error."""
    limits, pings, pongs = Limits(), [], []

    async def serve(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b000101))
        while (found := await raw.frame()) is not None:
            if found[0] == PING:
                pings.append(found[1])
                if len(pings) <= 4:
                    raw.send(frame(PONG, found[1]))
                    pongs.append(found[1])

    async with raw_service(serve) as port:
        device = await connect(f"127.0.0.1:{port}", elements=[SPEED], limits=limits)
        heard = asyncio.ensure_future(raises(TimedOut, device.values("Speed").__anext__()))
        for number in range(2, 5):
            before = device.statistics.bytes_received
            await loop.advance(limits.ping_interval)
            await until(lambda: len(pongs) == number and device.statistics.bytes_received > before, f"the pong {number}")
        await loop.advance(limits.silence_timeout - 1)
        await until(lambda: len(pings) == 5, "a ping that is not answered")
        check(device.is_connected, "it was given up too early")
        await loop.advance(limits.ping_interval)
        await until(heard.done, "the silence is noticed")
        error = heard.result()
        await raises(TimedOut, device.set("Speed", 0.5))
        await device.close()
    return error


async def _silent_clients(loop):
    limits = Limits()
    async with Service("robot", [SPEED], publish=False, address="127.0.0.1", limits=limits) as ours:
        silent, named, answering = await Raw.connect(ours.port), await Raw.connect(ours.port), await Raw.connect(ours.port)
        named.send(frame(NAME, b"named"), hello())
        answering.send(frame(NAME, b"answering"), hello())

        def client(name):
            return next((each for each in ours.clients if each.name == name and each.has_hello), None)

        await until(lambda: client("named") and client("answering"), "both have introduced themselves")
        await silent.until(UDP_IDENTIFIER)
        await loop.advance(limits.handshake_timeout)
        reason = await silent.ended()
        check(reason is not None and "neither" in reason, f"{reason}")

        # A ping whenever an interval has passed without a word, until the silence is too long.
        passed = 0
        while passed + limits.ping_interval < limits.silence_timeout:
            check(client("named"), f"it was given up after {passed} s")
            before = client("answering").statistics.bytes_received
            await loop.advance(limits.ping_interval)
            passed += limits.ping_interval
            answering.send(frame(PONG, await answering.until(PING)))
            await until(lambda: client("answering").statistics.bytes_received > before, "the answer")
        await loop.advance(limits.ping_interval)
        await named.ended()
        check([each.name for each in ours.clients] == ["answering"], "who answers stays")
        for each in (silent, named, answering):
            each.close()


async def slow(bed, ok):
    await _slow_client(ok)
    await _slow_service(ok)
    await _closing_unread(ok)
    await _slow_reader(ok)


BLOCK = b"x" * 4096
LOG = Element(3, "Log", "data")


def numbered(number):
    return struct.pack("<I", number) + BLOCK


async def _slow_client(ok):
    async with Service("robot", [SPEED, MOTION, LOG], publish=False, address="127.0.0.1",
                       limits=Limits(queue_bytes=256 << 10)) as ours:
        stuck = await Raw.connect(ours.port, limit=4096)
        stuck.writer.transport.pause_reading()
        stuck.send(frame(NAME, b"stuck"), hello(0b001001))
        newest = {}
        async with connect(f"127.0.0.1:{ours.port}", name="quick") as device:
            device.on_value("Log", lambda value: newest.update(quick=value))
            await until(lambda: len(ours.clients) == 2, "both are there")
            tracemalloc.start()
            for number in range(4000):
                ours.set("Log", numbered(number))
                ours.set("Speed", number / 4000)
                if not number % 10:
                    await asyncio.sleep(0)
            await until(lambda: newest.get("quick") == numbered(3999), "the quick one gets the newest")
            # All values have 16 MiB; what the system takes of them is not counted.
            held, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            check(held < 4 << 20, f"{held} bytes are held for who does not read")
            missed = next(each for each in ours.clients if each.name == "stuck").statistics.replaced
            check(missed > 1000, f"it missed {missed}")
            stuck.writer.transport.resume_reading()
            last = {3: numbered(3999), 1: struct.pack("<f", 3999 / 4000)}
            while newest.get(3) != last[3] or newest.get(1) != last[1]:
                id, newest[id] = await stuck.frame()
            ours.set("Speed", 0.25)
            check(await stuck.frame() == (1, struct.pack("<f", 0.25)), "more came than the newest")
        stuck.close()
        ok("a client that does not read: bounded, others are served, and it gets the newest when it reads again")


async def _slow_service(ok):
    go = asyncio.Event()
    taken = []

    async def lazy(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b010001))
        await raw.writer.drain()
        await go.wait()
        while (found := await raw.frame()) is not None:
            if found[0] in (1, 2, 3):
                taken.append(found)

    last = b"\xff" * 5000
    async with raw_service(lazy) as port:
        async with connect(f"127.0.0.1:{port}", elements=[SPEED, MOTION, LOG],
                           limits=Limits(queue_bytes=64 << 10, close_timeout=patience())) as device:
            number, waiting = 0, None
            # The system takes some megabytes, and sometimes a little more later.
            while waiting is None or waiting.done():
                try:
                    for number in range(number, number + 1_000_000):
                        device.send_now("Log", numbered(number))
                        if not number % 16:
                            await asyncio.sleep(0)
                except QueueFull:
                    await turns()
                waiting = asyncio.ensure_future(device.send("Log", last))
                await turns()
            for each in range(1000):
                device["Motion"] = each
            check(device.statistics.replaced >= 990, "of a latest element the newest is kept")
            check(not go.is_set() and not taken, "it reads nothing")
            go.set()
            await waiting
            ok("a service that does not read: send waits, send_now raises, the newest of a latest element is kept")
        await until(lambda: taken and taken[-1] == (3, last), "all that was sent arrives")
        numbers = [struct.unpack("<I", value[:4])[0] for id, value in taken if id == 3 and value != last]
        check(numbers == list(range(len(numbers))), "in order")
        check([value for id, value in taken if id == 2][-1] == struct.pack("<f", 999), "the newest")
        ok("closing sends what waits")


async def _closing_unread(ok):
    """An end that closes while the other one's values are unread loses nothing of its own."""
    arrived, closed = [], asyncio.Event()

    async def talks(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b000001), *[frame(1, struct.pack("<f", 0.5))] * 100_000)
        raw.writer.transport.pause_reading()
        await closed.wait()
        await turns()
        raw.writer.transport.resume_reading()
        while (found := await raw.frame(lambda frame: frame[0] == 3)) is not None:
            arrived.append(found)

    async with raw_service(talks) as port:
        device = await connect(f"127.0.0.1:{port}", elements=[SPEED, LOG], limits=Limits(close_timeout=patience()))
        stream = device.values("Speed", limit=1)
        await until(lambda: stream.is_full, "its reader is slow")
        for number in range(20):
            device["Log"] = bytes([number]) * 4096
        closing = asyncio.ensure_future(device.close())
        await asyncio.sleep(0)
        closed.set()
        await closing
        await until(lambda: len(arrived) == 20, "what was sent before closing arrives")
        del stream
        ok("an end that closes while values are unread loses nothing of its own")


async def _slow_reader(ok):
    """A reader of values that is slower than its service holds it up, and loses nothing over TCP."""
    counter = Element(1, "Counter", "uint32")
    async with Service("robot", [counter, LOG], publish=False, address="127.0.0.1") as ours:
        async with connect(f"127.0.0.1:{ours.port}") as device:
            await until(lambda: ours.clients, "it is there")
            stream, newest = device.values("Counter", limit=16), device.values("Counter", newest=True)
            for number in range(20_000):
                ours.set("Counter", number)
            await until(lambda: stream.is_full, "the reader is full")
            await turns(1000)
            held = []
            while (value := _at_once(stream.__anext__())) is not None:
                held.append(value)
            check(held == list(range(16)), f"{held} wait")
            for number in range(16, 20_000):
                check(await stream.__anext__() == number, f"the value {number}")
            check(stream.dropped == 0 and await newest.__anext__() == 19_999, "nothing was lost, and the newest is the newest")
            del stream
            held = device.values("Counter", limit=1)
            for number in range(100):
                ours.set("Counter", number)
            await until(lambda: held.is_full, "a reader that will never read")
            del held
            check(await device.ping() >= 0, "a reader that was dropped holds nothing up")
            ok("a slow reader loses nothing, and one that was dropped holds nothing up")


def _at_once(coroutine):
    """What a coroutine returns without waiting; None if it would wait."""
    try:
        coroutine.send(None)
    except StopIteration as result:
        return result.value
    coroutine.close()
    return None


async def crowd(bed, ok):
    async with Service("robot", [SPEED], publish=False, address="127.0.0.1", maximum_clients=40,
                       maximum_clients_per_address=30) as ours:
        comings = []
        ours.on_client(lambda client, has_come: comings.append(has_come))
        target = f"127.0.0.1:{ours.port}"
        devices = await asyncio.gather(*(connect(target, name=f"client {number}")._open() for number in range(30)))
        check(len({each.udp_identifier for each in devices}) == 30, "an identifier each")
        error = await raises(ShutDown, connect(target)._open())
        check("one address" in error.reason, error.reason)
        ours.set("Speed", 0.5)
        await until(lambda: all(each["Speed"] == 0.5 for each in devices), "all are told")
        await asyncio.gather(*(each.set("Speed", 1) for each in devices))
        ours.clients[0].disconnect("go away")
        await asyncio.gather(*(each.close() for each in devices[1:]))
        await until(lambda: not ours.clients, "all are gone")
        await devices[0].close()
        check(comings.count(True) == 30 and comings.count(False) == 30, f"{comings}")
        again = await connect(target)
        await ours.stop("bye")
        error = await raises(ShutDown, again.get("Speed", 1) if again["Speed"] is None else again.set("Speed", 0))
        check(error.reason == "bye", error.reason)
        await again.close()
    ok("thirty clients, one too many, and a service that stops")
