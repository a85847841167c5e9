"""Connections that break, peers that fall silent or are slow, and many at a time."""

import asyncio
import signal
import struct
import sys

from elemental import (ClosedByPeer, ConnectionFailed, Disconnected, Element, Limits, QueueFull, Reconnected, Reconnection,
                       Service, ShutDown, TimedOut, Unconfirmed, WillReconnect, connect)
from peers import (HELLO, NAME, PING, PONG, UDP_IDENTIFIER, Raw, beside, check, frame, hello, raises, raw_service, until)

SPEED = Element(1, "Speed", "float", range=(0, 1))
MOTION = Element(2, "Motion", "float", latest=True)
SPECS = ["1:Speed:float:0...1=0.25", "2:Motion:float:latest"]


async def reconnection(bed, ok):
    service = await beside(bed.publish, "robot", *SPECS)
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
    python = await beside(bed.program, *_publish(), state="service")
    port = (await beside(python.event, "listening"))["port"]
    watcher = bed.start("watch", f"127.0.0.1:{port}", "--reconnect", "--json", state="watcher")
    await beside(watcher.event, "value", value=0.25)
    python.end(signal.SIGKILL)
    await beside(watcher.event, "willReconnect")
    python = await beside(bed.program, *_publish(port, "0.75"), state="service")
    await beside(watcher.event, "value", value=0.75)
    status = await beside(python.end)
    check(status == 0, f"SIGTERM ends it with {status}")
    await until(lambda: any("the service was stopped" in f"{event['reason']}{event['error']}" for event in watcher.take()
                            if event["event"] == "willReconnect"), "the client is told why")
    ok("our service killed, back, and ended: a client of the command line follows")


def _publish(port=0, value="0.25"):
    return [sys.executable, "-B", "-m", "elemental", "publish", "robot", "--element", f"1:Speed:float={value}", "--unlisted",
            "--address", "127.0.0.1", "--port", str(port), "--json", "--stay"]


QUICK = Limits(ping_interval=0.2, silence_timeout=0.8, handshake_timeout=0.5, close_timeout=0.2)


async def heartbeat(bed, ok):
    pings = []

    async def serve(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b000101))
        while (found := await raw.frame(60)) is not None:
            if found[0] == PING:
                pings.append(found[1])
                if len(pings) < 4:
                    raw.send(frame(PONG, found[1]))

    async with raw_service(serve) as port:
        device = await connect(f"127.0.0.1:{port}", elements=[SPEED], limits=QUICK)
        error = await raises(TimedOut, device.values("Speed").__anext__())
        check(len(pings) >= 4, "it was pinged")
        await raises(Unconfirmed if device.is_connected else TimedOut, device.set("Speed", 0.5, 0.3))
        await device.close()
        ok(f"a service that falls silent: {error}")

    async with Service("robot", [SPEED], publish=False, address="127.0.0.1", limits=QUICK) as ours:
        silent, named, answering = await Raw.connect(ours.port), await Raw.connect(ours.port), await Raw.connect(ours.port)
        named.send(frame(NAME, b"named"), hello())
        answering.send(frame(NAME, b"answering"), hello())
        async def answer():
            while (found := await answering.frame(60)) is not None:
                if found[0] == PING:
                    answering.send(frame(PONG, found[1]))
        answers = asyncio.ensure_future(answer())
        reason = await silent.ended()
        check(reason is not None and "neither" in reason, f"{reason}")
        async def until_closed():
            while await named.frame() is not None:
                pass
        await until_closed()
        check([each.name for each in ours.clients] == ["answering"], "who answers stays")
        answers.cancel()
        for each in (silent, named, answering):
            each.close()
        ok("clients that say nothing, fall silent, or answer")

    async def nothing(raw):
        while await raw.frame(60) is not None:
            pass

    async with raw_service(nothing) as port:
        await raises(ConnectionFailed, connect(f"127.0.0.1:{port}", timeout=0.3)._open())
        ok("a service that says nothing")
    await raises(ConnectionFailed, connect("127.0.0.1:1", timeout=2)._open())
    await raises(ConnectionFailed, connect("no-such-host.invalid:5000", timeout=5)._open())
    ok("a port at which nothing listens, and a host that does not exist")

    async def flooding_pings(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b000001))
        while await raw.frame(60) is not None:
            pass

    async with raw_service(flooding_pings) as port:
        async with connect(f"127.0.0.1:{port}", elements=[SPEED], limits=QUICK) as device:
            await device.set("Speed", 0.5)
            waiting = [asyncio.ensure_future(device.ping(timeout=0.2)) for _ in range(70)]
            results = await asyncio.gather(*waiting, return_exceptions=True)
            check({type(each) for each in results} == {TimedOut, QueueFull}, f"{ {type(each) for each in results} }")
            ok("pings that nobody answers are bounded")


async def slow(bed, ok):
    block = b"x" * 4096
    log = Element(3, "Log", "data")
    async with Service("robot", [SPEED, MOTION, log], publish=False, address="127.0.0.1",
                       limits=Limits(queue_bytes=256 << 10)) as ours:
        stuck = await Raw.connect(ours.port, limit=4096)
        stuck.writer.transport.pause_reading()
        stuck.send(frame(NAME, b"stuck"), hello(0b001001))
        seen = []
        async with connect(f"127.0.0.1:{ours.port}", name="quick") as device:
            device.on_value("Log", seen.append)
            await until(lambda: len(ours.clients) == 2, "both are there")
            for number in range(4000):
                ours.set("Log", struct.pack("<I", number) + block)
                ours.set("Speed", number % 2)
                if not number % 10:
                    await asyncio.sleep(0)
            await until(lambda: seen and seen[-1][:4] == struct.pack("<I", 3999), "the quick one gets the newest")
            session = next(each for each in ours._sessions if each.client.name == "stuck")
            check(session.outbox.size <= 256 << 10 and set(session.stale) == {1, 3},
                  f"{session.outbox.size} bytes, {list(session.stale)}")
            check(session.statistics.replaced > 1000, "what it missed is counted")
            stuck.writer.transport.resume_reading()
            newest = {}
            while newest.get(3, b"")[:4] != struct.pack("<I", 3999) or newest.get(1) != struct.pack("<f", 1):
                id, value = await stuck.frame()
                newest[id] = value
            check(not session.stale, "nothing is left")
        stuck.close()
        ok("a client that does not read: bounded, others are served, and it gets the newest when it reads again")

    # Sending to a service that does not read.
    go = asyncio.Event()
    taken = []

    async def lazy(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b010001))
        await raw.writer.drain()
        await go.wait()
        while (found := await raw.frame(60)) is not None:
            if found[0] in (1, 2, 3):
                taken.append(found)

    async with raw_service(lazy) as port:
        async with connect(f"127.0.0.1:{port}", elements=[SPEED, MOTION, log], limits=Limits(queue_bytes=64 << 10, close_timeout=5)) as device:
            async def fill():
                """Sends until the system takes no more either."""
                number = tries = 0
                while tries < 20:
                    try:
                        device.send_now("Log", struct.pack("<I", number) + block)
                    except QueueFull:
                        tries += 1
                        await asyncio.sleep(0.01)
                    else:
                        number, tries = number + 1, 0

            await asyncio.wait_for(fill(), 60)
            check(device._session.outbox.size <= 64 << 10, "what waits is bounded")
            await raises(QueueFull, _now(device, "Log", block))
            waiting = asyncio.ensure_future(device.send("Log", b"\xff" * 5000))
            for number in range(1000):
                device["Motion"] = number
            await asyncio.sleep(0.05)
            check(not waiting.done(), "send waits")
            check(device.statistics.replaced >= 990, "of a latest element the newest is kept")
            go.set()
            await waiting
            ok("a service that does not read: send waits, send_now raises, the newest of a latest element is kept")
        await until(lambda: taken and taken[-1] == (3, b"\xff" * 5000), "all that was sent arrives")
        numbers = [struct.unpack("<I", value[:4])[0] for id, value in taken if id == 3 and value != b"\xff" * 5000]
        check(numbers == list(range(len(numbers))), "in order")
        check([value for id, value in taken if id == 2][-1] == struct.pack("<f", 999), "the newest")
        ok("closing sends what waits")

    # An end that closes while the other one's values are unread loses nothing of its own.
    arrived, closed = [], asyncio.Event()

    async def talks(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        await raw.until(HELLO)
        raw.send(hello(0b000001), *[frame(1, struct.pack("<f", 0.5))] * 100_000)
        raw.writer.transport.pause_reading()
        await closed.wait()
        await asyncio.sleep(0.2)
        raw.writer.transport.resume_reading()
        while (found := await raw.frame(60)) is not None:
            arrived.append(found)

    async with raw_service(talks) as port:
        device = await connect(f"127.0.0.1:{port}", elements=[SPEED, log])
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

    # A reader of values that is slower than its service holds it up, and loses nothing over TCP.
    counter = Element(1, "Counter", "uint32")
    async with Service("robot", [counter, log], publish=False, address="127.0.0.1") as ours:
        async with connect(f"127.0.0.1:{ours.port}") as device:
            await until(lambda: ours.clients, "it is there")
            stream, newest = device.values("Counter", limit=16), device.values("Counter", newest=True)
            for number in range(20_000):
                ours.set("Counter", number)
            await until(lambda: stream.is_full, "the reader is full")
            await asyncio.sleep(0.05)
            check(len(stream._items) == 16, f"{len(stream._items)} wait")
            for number in range(20_000):
                check(await stream.__anext__() == number, f"the value {number}")
            check(stream.dropped == 0 and await newest.__anext__() == 19_999, "nothing was lost, and the newest is the newest")
            del stream
            held = device.values("Counter", limit=1)
            for number in range(100):
                ours.set("Counter", number)
            await until(lambda: held.is_full, "a reader that will never read")
            del held
            check((await device.ping()) < 5, "a reader that was dropped holds nothing up")
            ok("a slow reader loses nothing, and one that was dropped holds nothing up")


async def _now(device, name, value):
    device.send_now(name, value)


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
