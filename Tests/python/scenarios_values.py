"""Values of every type both ways, the catalogue, refusals, and older peers."""

import asyncio
import json
import math
import os
import random
import struct
import unittest.mock

import elemental.client_session
from elemental import (CatalogueMismatch, Element, InvalidValue, NotAChoice, NotAllowed, OutOfRange, Refuse, Service,
                       ShutDown, TYPES, UnknownElement, ValueRefused, connect)
from elemental.spec import format_value
from peers import (HELLO, NAME, SHUTDOWN, UDP_IDENTIFIER, Raw, beside, check, frame, raises, raw_service, same, until)

INFINITE = (math.inf, -math.inf, math.nan)
EXTREMES = {
    **{name: list(kind.bounds) + [1] for name, kind in TYPES.items() if kind.is_integer},
    "float": [0.5, struct.unpack("<f", b"\xff\xff\x7f\x7f")[0], 1.401298464324817e-45, *INFINITE],
    "double": [-2.25, 1.7976931348623157e308, 5e-324, *INFINITE],
    "string": ["hé", "", "😀\u0000\x1b[2J\u202e", "x" * 1000],
    "data": [b"\x00\x01\xff", b"", bytes(range(256))],
    "bool": [True, False],
    "float2": [(1.5, -2.0), (math.nan, math.inf)],
    "float3": [(1.5, -2.0, 0.0), (math.nan, math.inf, -math.inf)],
    "float4": [(1.5, -2.0, 0.0, 2.0**100), (math.nan, math.inf, -math.inf, 0.0)],
    "float4x4": [tuple(float(each) for each in range(16)), (math.nan,) * 16],
}
ROUNDS = max(len(each) for each in EXTREMES.values())


def elements():
    """One of each type for each transport."""
    names = list(TYPES)
    return [
        Element(number + first, f"{name} {transport}", name, transport=transport)
        for transport, first in (("tcp", 0), ("udp", 40))
        for number, name in enumerate(names)
    ]


def specs(elements):
    return [f"{each.id}:{each.name}:{each.type}:{each.transport}" for each in elements]


def in_round(number, name):
    return EXTREMES[name][number % len(EXTREMES[name])]


async def types(bed, ok):
    every = elements()
    service = await beside(bed.publish, "robot", *specs(every))
    async with connect(service.place, name="tester") as device:
        check(list(device.elements) == every, "the catalogue is what was published")
        left, send = [], device._session.udp.send
        device._session.udp.send = lambda data, address=None: left.append(data[0]) or send(data, address)
        for number in range(ROUNDS):
            streams = {each.id: device.values(each, newest=True) for each in every}
            for each in every:
                await device.set(each, in_round(number, each.type))
            for each in every:
                # The service's echo, over the transport of the element; an older value may be there first.
                wanted = in_round(number, each.type)
                async for value in streams[each.id]:
                    if same(value, wanted):
                        break
                check(same(device[each], wanted), f"{each.name}: {wanted!r} came back as {device[each]!r}")
            for each in every:
                wanted = in_round(number, each.type)
                await beside(service.value, each.name, lambda value: _is(each, value, wanted))
        check(sum(each >= 40 and each < 60 for each in left) >= 17 * ROUNDS, "values over UDP left in datagrams")
        check(device.statistics.malformed == 0 and device.statistics.unknown == 0, "nothing was malformed")
        ok("all types and extremes to a service and back, over both transports")
        ping = await device.ping("tcp"), await device.ping("udp")
        check(all(each >= 0 for each in ping), "pings over both transports")
        for value in (128, 1.5, "1", True):
            await raises(InvalidValue, device.send("int8 tcp", value))
        await raises(UnknownElement, device.send("nothing", 1))
        ok("what a type cannot hold is refused before it is sent")

    # The other way round: our service, and the command line's clients.
    sent = []
    async with Service("robot", every, address="127.0.0.1", publish=False) as ours:
        arrived = ours.values(limit=4096)
        send = ours._udp.send
        ours._udp.send = lambda data, address=None: sent.append(len(data)) or send(data, address)
        place = f"127.0.0.1:{ours.port}"
        watcher = bed.start("watch", place, "--json", state="watcher")
        await until(lambda: any(each.has_hello for each in ours.clients), "the watcher says hello")
        for number in range(ROUNDS):
            wanted = {each.id: _argument(in_round(number, each.type)) for each in every}
            await beside(bed.run, "set", place, *[f"{each.name}={_word(each, wanted[each.id])}" for each in every])
            for each in every:
                check(same(ours[each], wanted[each.id]), f"{each.name}: {wanted[each.id]!r} arrived as {ours[each]!r}")
        count = 0
        while arrived._items:
            value, client, element = await arrived.__anext__()
            check(client.name.startswith("elemental@"), "the client's name")
            count += 1
        check(count >= ROUNDS * len(every), "each value was told")
        ok("all types and extremes from the command line, over both transports")
        # What the watcher has seen last is what was set last.
        for each in every:
            wanted = _argument(in_round(ROUNDS - 1, each.type))
            await until(lambda: _newest_is(watcher, each, wanted), f"the watcher sees {each.name} as {wanted!r}")
        check(len(sent) >= 17, "values over UDP left in datagrams")
        ok("all types to a client of the command line, those over UDP in datagrams")


def _is(element, told, wanted):
    """Whether a process has told a value."""
    return same(TYPES[element.type].check(_typed(element, told)), wanted)


def _newest_is(process, element, wanted):
    told = [event["value"] for event in process.events("value") if event["element"] == element.name]
    return told and _is(element, told[-1], wanted)


def _floats(value):
    """JSON's words for numbers that are not finite, as numbers."""
    return [_floats(each) for each in value] if isinstance(value, list) else float(value)


def _typed(element, value):
    kind = TYPES[element.type]
    if kind.components or element.type in ("float", "double"):
        return _floats(value)
    return bytes.fromhex(value) if element.type == "data" else value


def _argument(value):
    """A text without the zero byte, which arguments cannot have."""
    return value.replace("\0", "") if isinstance(value, str) else value


def _word(element, value):
    return value if isinstance(value, str) else format_value(element, value)


async def large(bed, ok):
    kinds = ["1:Picture:data", "2:Text:string", "3:Speed:float"]
    service = await beside(bed.publish, "robot", *kinds)
    picture = random.Random(1).randbytes(2 << 20)
    text = "hé😀" * 300_000
    async with connect(service.place) as device:
        sending = asyncio.ensure_future(device.set("Picture", picture))
        await device.set("Speed", 1.5)
        await sending
        await device.set("Text", text)
        check(device.statistics.messages_sent > (2 << 20) / 65536, "it went in pieces")
        await until(lambda: device["Picture"] == picture and device["Text"] == text, "both come back")
        ok("2 MiB of data and of text there and back, in pieces, and others between them")
        await device.set("Picture", b"")
        await device.set("Text", "")
        await until(lambda: device["Picture"] == b"" and device["Text"] == "", "empty values come back")
        ok("empty values there and back")
    async with connect(service.place) as device:
        check(device["Text"] == "" and device["Speed"] == 1.5, "the current values are there at once")
        ok("the current values are there when the device is")

    file = os.path.join(bed.folder, "picture")
    with open(file, "wb") as out:
        out.write(picture)
    async with Service("robot", [Element(1, "Picture", "data"), Element(2, "Text", "string")], publish=False,
                       address="127.0.0.1") as ours:
        place = f"127.0.0.1:{ours.port}"
        await beside(bed.run, "set", place, f"Picture=@{file}")
        check(ours["Picture"] == picture, "the service has all of it")
        got = await asyncio.create_subprocess_exec(
            bed.elemental, "get", place, "Picture", "--raw", stdout=asyncio.subprocess.PIPE, env=bed.environment("client"))
        out, _ = await got.communicate()
        check(out == picture, "a client of the command line gets all of it")
        await beside(bed.run, "set", place, "Picture=", "Text=")
        check(ours["Picture"] == b"" and ours["Text"] == "", "empty values arrive")
        ok("2 MiB from and to the command line, and empty values")
        # Our own ends with each other, at the limit of what a datagram holds too.
        async with connect(place) as device:
            await device.set("Picture", picture[:131_073])
            await until(lambda: device["Picture"] == picture[:131_073], "just long enough for pieces")
            await device.set("Picture", picture[:131_072])
            await until(lambda: device["Picture"] == picture[:131_072], "just short enough for a frame")
        ok("the border between frames and pieces")
    element = Element(1, "Long", "data", transport="udp")
    async with Service("robot", [element], publish=False, address="127.0.0.1") as ours:
        async with connect(f"127.0.0.1:{ours.port}") as device:
            await device.set("Long", picture[:65_501])
            await until(lambda: device["Long"] == picture[:65_501], "the longest datagram")
            await raises(InvalidValue, device.send("Long", picture[:65_502]))
        ok("the longest datagram, and one byte more")


async def catalogue(bed, ok):
    every = [
        Element(0, "Speed", "float", unit="m/s", range=(-1, 1), step=0.25, latest=True, timed=True, transport="udp"),
        Element(127, "Größe", "uint16", access="ro", range=(0, 60000)),
        Element(5, "Mode", "int8", choices={"slow": -1, "fast": 5, "far out": 6}),
        Element(6, "Colour", "string", choices=["red", "green"]),
        Element(7, "Bell", "bool", access="wo"),
    ]
    def spec(each):
        parts = [str(each.id), each.name, each.type, each.transport, each.access]
        parts += [f"unit {each.unit}"] if each.unit else []
        parts += ["{:g}...{:g}".format(*each.range)] if each.range else []
        parts += [f"step {each.step:g}"] if each.step else []
        if each.choices:
            parts.append("choices " + ",".join(
                choice.name if each.type == "string" else f"{choice.value} {choice.name}" for choice in each.choices))
        return ":".join(parts + [word for word in ("latest", "timed") if getattr(each, word)])

    service = await beside(bed.publish, "robot", *[spec(each) for each in every])
    async with connect(service.place) as device:
        check(list(device.elements) == every, f"{list(device.elements)}")
        check(device.has_hello and device.udp_identifier > 0 and not device.is_encrypted, "what the hello says")
        check(device.elements.find("größe").id == 127, "names in lower case")
        ok("the catalogue of the command line's service, with everything that it can say")
    async with Service("robot", every, publish=False, address="127.0.0.1") as ours:
        ours.set("Speed", 0.5)
        said = await beside(bed.run, "describe", f"127.0.0.1:{ours.port}", "--json")
        theirs = await beside(bed.run, "describe", service.place, "--json")
        lists = [[each for each in map(json.loads, text.splitlines()) if each["event"] == "element"] for text in (said, theirs)]
        check(lists[0][0].pop("value") == 0.5 and lists[1][0].pop("value") is None, "the value")
        check(lists[0] == lists[1], f"{lists[0]} is not {lists[1]}")
        ok("our service's catalogue, as the command line describes it, is the same")
    own = [Element(0, "Velocity", "float"), Element(77, "New", "bool")]
    async with connect(service.place, elements=own) as device:
        await device.set("Velocity", 0.5)
        await raises(UnknownElement, device.send("New", True))
        ok("a program's own elements: others' names do not matter, what the service has not is unknown")
    error = await raises(CatalogueMismatch, connect(service.place, elements=[Element(0, "Speed", "int8")])._open())
    check("float" in str(error), "it says which type")
    ok("a program's own elements of another type")


async def refusals(bed, ok):
    service = await beside(bed.publish, "robot", "1:Speed:float:0...1=0.25", "2:Name:string:ro=Rover", "3:Mode:uint8:choices a,b,c=b",
                           "4:Bell:bool:wo")
    async with connect(service.place) as device:
        for key, value, kind in (("Speed", 1.5, OutOfRange), ("Speed", math.nan, OutOfRange), ("Name", "x", NotAllowed),
                                 ("Mode", 3, NotAChoice), ("Mode", "d", NotAChoice), ("Speed", "x", InvalidValue)):
            await raises(kind, device.set(key, value))
        await raises(NotAllowed, device.get("Bell"))
        await device.set("Mode", "C")
        await until(lambda: device["Mode"] == 2, "a choice by its name")
        check(device.statistics.rejected == 0, "nothing was rejected here")
        ok("what the catalogue does not allow is refused before it is sent")
    loose = [Element(1, "Speed", "float"), Element(2, "Name", "string"), Element(3, "Mode", "uint8")]
    async with connect(service.place, elements=loose) as device:
        for key, value, reason in (("Speed", 1.5, "range"), ("Speed", math.nan, "range"), ("Name", "x", "read-only"),
                                   ("Mode", 3, "choice")):
            before = device[key]
            stream = device.values(key, newest=True)
            await stream.__anext__()
            refusal = await raises(ValueRefused, device.set(key, value))
            check(refusal.reason == reason, f"{key}={value}: {refusal.reason}")
            check(same(await stream.__anext__(), before), "the current value follows")
        told = []
        device.on_refused(told.append)
        await device.send("Speed", 7)
        await until(lambda: told and told[0].reason == "range", "a refusal of what was only sent")
        await device.set("Speed", 0.75)
        ok("what the service refuses, with the reason and the current value")

    every = [Element(1, "Speed", "float", range=(0, 1)), Element(2, "Name", "string", access="ro"),
             Element(3, "Mode", "uint8", choices=["a", "b", "c"]), Element(4, "Moody", "int8"),
             Element(5, "Fast", "float", transport="udp", range=(0, 1))]
    async with Service("robot", every, publish=False, address="127.0.0.1") as ours:
        ours["Speed"] = 0.25
        ours["Name"] = "Rover"

        def moody(value, client):
            if value < 0:
                raise Refuse(f"not today, {client.name}")

        ours.on_value("Moody", moody)
        place = f"127.0.0.1:{ours.port}"
        for word, spec, part in (("Speed=1.5", "1:Speed:float", "range"), ("Name=x", "2:Name:string", "cannot set"),
                                 ("Mode=9", "3:Mode:uint8", "choice"), ("Moody=-1", "4:Moody:int8", "not today"),
                                 ("Fast=2", "5:Fast:float:udp", "range")):
            try:
                await beside(bed.run, "set", place, word, "--element", spec)
            except Exception as error:
                check(part in str(error), f"{word}: {error}")
            else:
                check(False, f"{word} was taken")
        await beside(bed.run, "set", place, "Moody=1", "Fast=0.5")
        check(ours["Moody"] == 1 and ours["Speed"] == 0.25 and ours["Fast"] == 0.5, "the values")
        check(ours["Mode"] is None, "what was refused is not kept")
        ok("what our service refuses, as the command line tells it")


async def older(bed, ok):
    # These services say no hello.
    with unittest.mock.patch.object(elemental.client_session, "OLDER_SERVICE_DELAY", 0.1):
        await _older(ok)


async def _older(ok):
    received = []

    async def serve(raw):
        raw.send(frame(UDP_IDENTIFIER, b"\0"))
        while (found := await raw.frame()) is not None:
            received.append(found)
            if found[0] == 1:
                raw.send(frame(1, found[1]))

    async with raw_service(serve) as port:
        await raises(CatalogueMismatch, connect(f"127.0.0.1:{port}")._open())
        received.clear()
        async with connect(f"127.0.0.1:{port}", elements=[Element(1, "Speed", "float"), Element(2, "Name", "string"),
                                                          Element(3, "Fast", "float", transport="udp")]) as device:
            check(not device.has_hello and device.udp_identifier == 0, "it is an older one")
            await device.set("Speed", 0.5)
            check(await device.get("Speed") == 0.5, "the echo")
            await raises(InvalidValue, device.send("Name", ""))
            await device.set("Fast", 1.5)
        await until(lambda: any(each[0] == 3 for each in received), "without an identifier it goes over TCP")
        check([each[0] for each in received] == [NAME, HELLO, 1, 3], f"nothing but the hello is an extension: {received}")
        ok("a service of the older implementation, with elements of the program's own")

    every = [Element(1, "Speed", "float"), Element(2, "Name", "string")]
    async with Service("robot", every, publish=False, address="127.0.0.1") as ours:
        ours["Speed"] = 0.25
        client = await Raw.connect(ours.port)
        check((await client.frame())[0] == UDP_IDENTIFIER, "the identifier comes at once")
        client.send(frame(NAME, b"old"), frame(1, struct.pack("<f", 0.5)), frame(99, b"x"), frame(2, b""), frame(-99, b"y"),
                    frame(1, b"short"))
        found = await client.frame()
        check(found == (1, struct.pack("<f", 0.5)), f"{found}")
        await until(lambda: ours.clients[0].statistics.malformed == 2 and ours.clients[0].statistics.unknown == 2, "the counts")
        ours["Name"] = ""
        ours["Name"] = "x"
        check(await client.frame() == (2, b"x"), "no empty value, and no extension")
        client.close()
        ok("a client of the older implementation")

    async def refuse(raw):
        raw.send(frame(SHUTDOWN, "full of\x1b[2J devices".encode()))
        await raw.frame()

    async with raw_service(refuse) as port:
        error = await raises(ShutDown, connect(f"127.0.0.1:{port}")._open())
        check(error.reason == "full of\x1b[2J devices", "the reason")
        ok("a service that refuses, and says why")
