"""What a peer can send, to both ends: each ends in a typed error or is tolerated, costs bounded memory, and others go on."""

import asyncio
import random
import socket
import struct
import tracemalloc

from elemental import (Catalogue, Disconnected, Element, ElementalError, InvalidCatalogue, Limits, ProtocolViolation, Service,
                       connect)
from peers import (CATALOGUE, HELLO, NAME, PIECE, PING, PONG, REFUSED, TAKEN, UDP_IDENTIFIER, Raw, beside, check, frame, hello,
                   piece, raises, raw_service, until)
from waits import patience

MIB = 1 << 20
SPEED, NAMED, PICTURE = Element(1, "Speed", "float"), Element(2, "Name", "string", access="ro"), Element(3, "Picture", "data")
EVERY = [SPEED, NAMED, PICTURE, Element(4, "Fast", "float", transport="udp")]
SMALL = Limits(value_bytes=MIB, queue_bytes=256 << 10, unknown_in_a_row=5000, close_timeout=patience())

# What ends the connection as a violation, whoever sends it, after a hello.
VIOLATIONS = {
    "a long value": struct.pack("<bI", 3, MIB + 1),
    "a long value of an unknown element": struct.pack("<bI", 99, 0xFFFFFFFF),
    "a long element of the system": struct.pack("<bI", -99, 2 * MIB + 1),
    "a long piece": struct.pack("<bI", PIECE, 9 + 65537) + bytes(9 + 65537),
    "an empty piece": piece(3, 10, 0, b""),
    "a piece without its head": frame(PIECE, b"123"),
    "a piece of the system": piece(-4, 10, 0, b"x"),
    "a piece that does not begin": piece(3, 10, 1, b"x"),
    "a piece beyond its total": piece(3, 2, 0, b"xyz"),
    "a piece of a total beyond the limit": piece(3, MIB + 1, 0, b"x"),
    "a piece of another value": piece(3, 10, 0, b"x") + piece(1, 10, 1, b"x"),
    "a piece of another total": piece(3, 10, 0, b"x") + piece(3, 11, 1, b"x"),
    "a piece left out": piece(3, 10, 0, b"x") + piece(3, 10, 2, b"x"),
    "a piece twice": piece(3, 10, 0, b"x") + piece(3, 10, 0, b"x"),
    "a flood of unknown elements": frame(99) * 6000,
    "a flood of unknown elements of the system": frame(-99) * 6000,
    "two long incomplete values": piece(3, MIB, 0, bytes(65536)) + b"".join(
        piece(3, MIB, place, bytes(65536)) for place in range(65536, MIB - 65536, 65536))
        + struct.pack("<bI", 3, MIB) + bytes(MIB - 1),
}
# What is counted and skipped.
TOLERATED = {
    "a short value": frame(1, b"abc"),
    "a long fixed value": frame(1, bytes(100)),
    "unknown elements": frame(99, b"x") + frame(-99, bytes(5000)) + frame(-13, b"\x01\x01") + frame(-14, bytes(33)) + frame(-10),
    "a second hello": hello() + hello(),
    "a hello that is too short": frame(HELLO, b"\x01\x02"),
    "an acknowledgement of what was never sent": frame(TAKEN, struct.pack("<I", 5)) + frame(TAKEN, b"x"),
    "an empty ping": frame(PING),
    "a long ping": frame(PING, bytes(1025)),
    "pongs of nothing": frame(PONG, b"abc") * 100,
    "a refusal that is too short": frame(REFUSED, b"\x01"),
    "long unknown values": struct.pack("<bI", 99, MIB) + bytes(MIB),
    "long values in pieces of an unknown element": b"".join(
        piece(99, MIB, place, bytes(65536)) for place in range(0, MIB, 65536)),
    "a second identifier and name": frame(UDP_IDENTIFIER, b"\x05") + frame(NAME, b"other"),
}


async def clients(bed, ok):
    """Hostile clients of our service."""
    async with Service("robot", EVERY, publish=False, address="127.0.0.1", limits=SMALL) as ours:
        ours["Speed"] = 0.25

        async def open_raw():
            raw = await Raw.connect(ours.port)
            raw.send(frame(NAME, b"hostile"), hello())
            await raw.until(CATALOGUE)
            return raw

        async with connect(f"127.0.0.1:{ours.port}", name="good") as good:
            for what, data in VIOLATIONS.items():
                raw = await open_raw()
                raw.send(data)
                reason = await raw.ended()
                check(reason is not None and ("rules" in reason or "other end" in reason), f"{what}: {reason}")
                raw.close()
            await until(lambda: len(ours.clients) == 1, "they are gone")
            ok(f"{len(VIOLATIONS)} violations by clients, each told why")
            for what, data in TOLERATED.items():
                raw = await open_raw()
                raw.send(data, frame(1, struct.pack("<f", 0.5)), frame(PING, b"still"))
                check(await raw.until(PONG) == b"still", what)
                raw.close()
            ok(f"{len(TOLERATED)} things that are tolerated of clients")
            chance = random.Random(2026)
            for number in range(60):
                raw = await Raw.connect(ours.port)
                if number % 2:
                    raw.send(frame(NAME, b"x"), hello())
                raw.send(chance.randbytes(chance.choice([1, 7, 300, 70_000])))
                raw.close()
            for cut in range(0, 12):
                raw = await Raw.connect(ours.port)
                raw.send((frame(NAME, b"cut") + hello())[:cut])
                raw.close()
            ok("noise, and frames that are cut off")

            # A ClientHello of TLS at a service that is not encrypted.
            raw = await Raw.connect(ours.port)
            raw.send(bytes([22, 3, 1, 2, 0, 1]) + bytes(512))
            raw.close()

            tracemalloc.start()
            raw = await open_raw()
            raw.writer.transport.pause_reading()
            for _ in range(200):
                raw.send(frame(PING, bytes(1024)) * 64)
                await asyncio.sleep(0)
            session = next(each for each in ours._sessions if each.client.name == "hostile")
            await until(lambda: session.statistics.messages_received > 12_000, "all pings were read")
            check(session.outbox.size <= SMALL.queue_bytes, f"{session.outbox.size} bytes of pongs")
            _, peak = tracemalloc.get_traced_memory()
            check(peak < 24 * MIB, f"{peak} bytes")  # Ours, the attacker's and the test's.
            raw.close()
            ok("pings of a client that never reads")
            tracemalloc.reset_peak()
            begin, _ = tracemalloc.get_traced_memory()
            attackers = [await open_raw() for _ in range(8)]
            for raw in attackers:
                raw.send(struct.pack("<bI", 3, MIB), b"x")
                raw.send(struct.pack("<bI", 99, MIB)[:3])
            await until(lambda: sum(each._decoder.buffered for each in ours._sessions) >= 8, "what was announced")
            now, _ = tracemalloc.get_traced_memory()
            check(now - begin < 2 * MIB, f"{now - begin} bytes for what was only announced")
            # Nothing is kept of what cannot be accepted: unknown, read-only, of another length.
            for raw, id in zip(attackers, (99, 2, 1)):
                raw.close()
                unwanted = await open_raw()
                session = list(ours._sessions)[-1]
                unwanted.send(struct.pack("<bI", id, MIB), bytes(MIB // 2 + 1))
                await until(lambda: session.statistics.bytes_received > MIB // 2, "half of it was read")
                check(session._decoder.buffered == 0, f"{session._decoder.buffered} bytes of element {id} are kept")
                unwanted.close()
                unwanted = await open_raw()
                session = list(ours._sessions)[-1]
                unwanted.send(piece(id, MIB, 0, bytes(65536)), piece(id, MIB, 65536, bytes(65536)))
                await until(lambda: session._taken == 131_072, "two pieces were taken")
                check(len(session._large.value) == 0, f"pieces of element {id} are kept")
                unwanted.close()
            for raw in attackers:
                raw.close()
            tracemalloc.stop()
            ok("long values that are announced cost nothing")
            await good.set("Speed", 0.75)
            check(ours["Speed"] == 0.75 and await good.ping() >= 0, "a good client goes on")
        check(ours._incomplete.count == 0 or not ours.clients, "nothing is left")
        await until(lambda: not ours._sessions, "all are gone")
        check(ours._incomplete.count == 0, f"{ours._incomplete.count} bytes are still counted")
    async with Service("robot", EVERY, publish=False, address="127.0.0.1", maximum_incomplete_bytes=3 * MIB) as ours:
        attackers = []
        for _ in range(5):
            raw = await Raw.connect(ours.port)
            raw.send(frame(NAME, b"x"), hello(), struct.pack("<bI", 3, 2 * MIB), bytes(MIB))
            await raw.writer.drain()
            attackers.append(raw)
        await until(lambda: len(ours._sessions) < 5, "some are disconnected")
        # What one read brings is counted before its connection is ended.
        check(ours._incomplete.count <= 3 * MIB + 256 * 1024, f"{ours._incomplete.count} bytes")
        for raw in attackers:
            raw.close()
        ok("incomplete values of all clients together are bounded")


async def services(bed, ok):
    """Hostile services of our client."""
    valid = Catalogue(EVERY).encode()

    async def against(data, *, catalogue=valid, first=frame(UDP_IDENTIFIER, b"\x01"), elements=None, body=None):
        async def serve(raw):
            raw.send(first)
            await raw.until(HELLO)
            raw.send(hello(0b110111), frame(CATALOGUE, catalogue))
            ready = await raw.until(PING)
            raw.send(frame(PONG, ready), data)
            while (found := await raw.frame()) is not None:
                if found[0] == PING:
                    raw.send(frame(PONG, found[1]))

        async with raw_service(serve) as port:
            device = await connect(f"127.0.0.1:{port}", limits=SMALL, elements=elements)
            try:
                return await body(device)
            finally:
                await device.close()

    async def fails(device):
        return await raises(ProtocolViolation, device.values("Speed", newest=True).__anext__())

    for what, data in VIOLATIONS.items():
        try:
            await against(data, body=fails)
        except Exception as error:
            raise type(error)(f"{what}: {error}") from error
    ok(f"{len(VIOLATIONS)} violations by services, each a typed error")

    async def goes_on(device):
        check(await device.ping() >= 0, "it goes on")

    for what, data in TOLERATED.items():
        try:
            await against(data, body=goes_on)
        except ElementalError as error:
            raise AssertionError(f"{what}: {error}") from error
    ok(f"{len(TOLERATED)} things that are tolerated of services")

    # Catalogues that are cut at each place, changed at each byte, or say too much.
    rich = Catalogue([Element(1, "S", "float", range=(0, 1), step=0.5), Element(2, "M", "uint8", choices=["a", "b"]),
                      Element(3, "T", "string", choices=["x", "y"])]).encode()
    chance = random.Random(20)
    for cut in range(len(rich)):
        try:
            Catalogue.decode(rich[:cut])
        except InvalidCatalogue:
            continue
        check(False, f"a catalogue of {cut} bytes of {len(rich)} was taken")
    for _ in range(20_000):
        changed = bytearray(rich)
        for _ in range(chance.choice([1, 1, 2, 5])):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            again = Catalogue.decode(bytes(changed))
            check(Catalogue.decode(again.encode()) == again or "nan" in repr(again), "what was taken can be told again")
        except InvalidCatalogue:
            pass
    for bad in (b"", b"\x02\x00", b"\x01\x81" + bytes(3 * 0x81), rich[:1] + b"\x04" + rich[2:]):
        try:
            Catalogue.decode(bad)
        except InvalidCatalogue:
            continue
        check(False, f"{bad!r} was taken")
    ok("catalogues that are cut or changed are refused or valid")

    async def serve_bad(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\x01"))
        await raw.until(HELLO)
        raw.send(hello(0b110111), frame(CATALOGUE, rich[:-1]))
        while (found := await raw.frame()) is not None:
            if found[0] == PING:
                raw.send(frame(PONG, found[1]))

    async with raw_service(serve_bad) as port:
        await raises(InvalidCatalogue, connect(f"127.0.0.1:{port}")._open())
        async with connect(f"127.0.0.1:{port}", elements=[SPEED]) as device:
            check(device.statistics.malformed == 1 and await device.ping() >= 0, "it goes on without it")
        ok("an invalid catalogue: an error without elements of one's own, and nothing with them")

    chance = random.Random(2026)
    for _ in range(40):
        noise = chance.randbytes(chance.choice([1, 50, 5000]))

        async def noisy(raw):
            raw.send(noise)
            raw.close()

        async with raw_service(noisy) as port:
            await raises((Disconnected, ElementalError), connect(f"127.0.0.1:{port}")._open())
    ok("services that are noise end in typed errors")

    tracemalloc.start()
    async def announces(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\x01"))
        await raw.until(HELLO)
        raw.send(hello(0b110111), struct.pack("<bI", CATALOGUE, MIB), b"\x01")
        while await raw.frame() is not None:
            pass

    async with raw_service(announces) as port:
        await raises(ElementalError, connect(f"127.0.0.1:{port}", timeout=0.3)._open())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    check(peak < MIB, f"{peak} bytes")
    ok("a catalogue that is only announced costs nothing")


async def datagrams(bed, ok):
    """Datagrams of others, and broken ones."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        async with Service("robot", EVERY, publish=False, limits=SMALL) as ours:
            async with connect(f"127.0.0.1:{ours.port}") as device:
                own = device.udp_identifier
                await device.set("Fast", 0.25)
                def send(data, address="127.0.0.1"):
                    udp.sendto(data, (address, ours.port))
                value = struct.pack("<f", 0.5)
                def message(id, data, identifier=own, length=None):
                    return struct.pack("<bIB", id, len(data) if length is None else length, identifier) + data
                session = next(iter(ours._sessions))
                before, values = session.statistics.malformed, []
                ours.on_value("Fast", lambda value, client: values.append(value))
                for bad in (b"", b"x", message(4, value, 200), message(4, value, 0), message(4, value, length=5),
                            message(4, b"abc"), message(-5, b"x"), message(-3, b"bye"), message(99, b"x"),
                            b"\xf4" + bytes(100), message(4, value, length=0xFFFFFFFF)):
                    send(bad)
                # From another address of this host: it is not the client's.
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                    other.bind(("127.0.0.9", 0))
                    other.sendto(message(4, struct.pack("<f", 0.125)), ("127.0.0.1", ours.port))
                # Whole messages before one that is cut off count.
                send(message(4, value) + message(4, value)[:-1])
                await until(lambda: ours["Fast"] == 0.5, "the good one")
                check(values == [0.5], f"{values}")
                check(session.statistics.malformed > before, "the bad ones are counted")
                check(device.is_connected and await device.ping("udp") >= 0, "the client goes on")
                ok("datagrams to our service: cut off, of others, from elsewhere")
                chance = random.Random(7)
                for number in range(1, 11):
                    for _ in range(50):
                        send(chance.randbytes(chance.randrange(64)))
                    # A good one behind them, when all of them are read: the socket holds a few hundred.
                    send(message(4, struct.pack("<f", number / 16)))
                    await until(lambda: ours["Fast"] == number / 16, "the good one")
                await device.set("Fast", 0.75)
                check(ours["Fast"] == 0.75, "it goes on")
                ok("noise in datagrams")

    # A service whose datagrams are broken, and others that pretend to be it.
    received = []

    async def serve(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\x07"))
        port = struct.unpack("<H", (await raw.until(HELLO))[5:7])[0]
        received.append(port)
        raw.send(hello(0b110111), frame(CATALOGUE, Catalogue(EVERY).encode()))
        while (found := await raw.frame()) is not None:
            if found[0] == PING:
                raw.send(frame(PONG, found[1]))

    async with raw_service(serve) as port:
        async with connect(f"127.0.0.1:{port}") as device:
            good, values = struct.pack("<bIBf", 4, 4, 7, 0.5), []
            device.on_value("Fast", values.append)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as service, socket.socket(
                    socket.AF_INET, socket.SOCK_DGRAM) as other:
                service.bind(("127.0.0.1", port))
                other.sendto(struct.pack("<bIBf", 4, 4, 7, 0.125), ("127.0.0.1", received[0]))
                for bad in (b"", b"abc", good[:-1], struct.pack("<bIBf", 4, 4, 8, 0.25), struct.pack("<bIB", -3, 0, 7)):
                    service.sendto(bad, ("127.0.0.1", received[0]))
                service.sendto(good, ("127.0.0.1", received[0]))
                await until(lambda: device["Fast"] == 0.5, "the good one")
                check(values == [0.5], f"{values}")
                check(device.statistics.malformed >= 3 and device.statistics.unknown == 1, f"{device.statistics}")
                check(await device.ping() >= 0, "it goes on")
        ok("datagrams to our client: cut off, with another identifier, from another port")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        await raises(OSError, Service("robot", EVERY, publish=False, address="127.0.0.1", port=port).start())
    async with Service("robot", EVERY, publish=False, address="127.0.0.1", udp=False) as ours:
        async with connect(f"127.0.0.1:{ours.port}") as device:
            await device.set("Fast", 0.5)
            check(device.udp_identifier == 0 and ours["Fast"] == 0.5, "over TCP")
        async with connect(f"127.0.0.1:{ours.port}", udp=False) as device:
            check(device["Fast"] == 0.5, "over TCP")
    service = await beside(bed.publish, "robot", "4:Fast:float:udp=0.25")
    async with connect(service.place, udp=False) as device:
        await device.set("Fast", 0.5)
        await beside(service.value, "Fast", lambda value: value == 0.5)
    ok("without datagrams values go over TCP; a port that is taken")
