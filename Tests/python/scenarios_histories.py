"""Values of the past that services keep: each once and in order, and what is missing is told."""

import asyncio
import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
from datetime import datetime

from elemental import (Catalogue, ClosedHere, Disconnected, Element, HistoryGap, HistoryLimits, HistoryValue, InvalidValue,
                       Limits, NotAllowed, Reconnection, Refuse, Service, ShutDown, State, TimedOut, UnknownElement, ValueRefused,
                       connect, machine_time, pair)
from elemental.clock import FIRST_EXCHANGES
from elemental.history import (ALL, MAXIMUM_ANSWER_BYTES, TOO_MANY, UNKNOWN, HistoryAnswer, HistoryPosition, Newest,
                               request)
from peers import (CATALOGUE, HELLO, NAME, PIECE, PING, PONG, TAKEN, UDP_IDENTIFIER, Raw, beside, check, frame, hello, raises,
                   raw_service, turns, until)
from scenarios_times import CLOCK, HOUR, Clock, following, measured_at, measured_since
from waits import lease, patience

HISTORY = -18
SPECS = ["1:Count:uint64:ro:history", "2:Fast:uint64:udp:timed:history", "3:Short:uint64:ro:history 5",
         "4:Text:string:ro:history", "5:Plain:uint64", "6:Secret:uint64:ro:readers control:history", "7:Log:uint8:timed:history 1MB"]
KEPT = Element(1, "Count", "uint8", access="ro", history=HistoryLimits())
AGAIN = Reconnection((0, 0.05), forever=True)
LIFE, OTHER = b"L" * 16, b"O" * 16
UNKNOWN_TIME, NOT_KNOWN = -1 << 63, (1 << 64) - 1


async def take(history, count):
    """So many values and gaps."""
    return [await following(history) for _ in range(count)]


async def rest(history):
    """All that is left of a history that does not follow."""
    async def read():
        return [item async for item in history]
    return await asyncio.wait_for(read(), patience())


def values(items):
    """The values; fails if something is missing."""
    check(all(isinstance(each, HistoryValue) for each in items), f"a gap: {items[:20]}")
    return [each.value for each in items]


def write(service, name, numbers):
    for number in numbers:
        service.write(f"{name}={number}")


async def histories(bed, ok):
    service = await beside(bed.publish, "weather", *SPECS)
    await _client(ok, service, None)
    await _limits(ok, service)
    await _resumed(ok, service)
    await _watchers(bed, ok, service)
    state = State(os.path.join(bed.folder, "python"))
    service = await beside(bed.publish, "weather", *SPECS, security="paired-to-control", state="encrypted")
    code = (await beside(service.event, "pairing"))["code"]
    await _refused(ok, service)
    await pair(service.place, code, state=state)
    await _client(ok, service, state)
    await _reconnection(ok, service, state)
    await _restarted(bed, ok)
    await _resuming(bed, ok)
    await _own_command(bed, ok)
    await _own_swift_clients(bed, ok)
    await _own_restarted(ok)
    await _own_values(ok)
    await _own_requests(ok)
    await _own_slow_client(ok)
    await _raw_service(ok)
    await _raw_reconnection(ok)
    await _raw_clocks(ok)


async def _client(ok, service, state):
    kind = "over TLS" if state else "over TCP"
    async with connect(service.place, state=state) as device:
        check(device.is_encrypted == bool(state), "encrypted, or not")
        for name in ("Count", "Fast"):
            element = device.elements.find(name)
            check(element.history == HistoryLimits(), f"{element}")
            check(await rest(device.history(name, follows=False)) == [], "there is nothing yet")
            before = machine_time()
            write(service, name, range(1, 1001))
            # Datagrams may be lost; lines are handled in order.
            service.write(f"Plain={element.id}")
            await until(lambda: device["Plain"] == element.id, "the line behind them")
            history = device.history(name)
            items = await take(history, 400)
            # The service goes on while the past is read.
            write(service, name, range(1001, 2001))
            items += await take(history, 1600)
            check(values(items) == list(range(1, 2001)), f"{name}: {values(items)}")
            check(items[999].is_past and sorted(items, key=lambda item: not item.is_past) == items, "the past comes first")
            check(all(measured_since(each.time, before) for each in items), f"{name}: {items[0]}, {items[-1]}")
            waiting = asyncio.ensure_future(following(history))
            await until(lambda: not history._is_past, "all that was kept")
            before = machine_time()
            write(service, name, [2001])
            last = await waiting
            check(last.value == 2001 and not last.is_past and measured_since(last.time, before), f"{last}")
            for start, first in (({"newest": 10}, 1992), ({"newest": 0}, 2002), ({"newest": 1 << 40}, 1), ({}, 1),
                                 ({"since": before - HOUR}, 1), ({"since": before + HOUR}, 2002),
                                 ({"position": items[1499].position}, 1501), ({"position": last.position}, 2002)):
                found = await rest(device.history(name, **start, follows=False))
                check(values(found) == list(range(first, 2002)), f"{name} from {start}: {found[:3]}")
                check(all(each.is_past for each in found), "of the past")
            check({each.position for each in await rest(device.history(name, follows=False))}
                  == {each.position for each in [*items, last]}, "positions do not depend on where one began")
        counts = device.statistics
        check(counts.malformed == counts.unknown == 0, f"{counts}")
        ok(f"{kind} and of an element over UDP: the past, and then what follows, each once and in order")

        # What was measured long ago is found by its time.
        now = machine_time()
        for ago, value in ((HOUR, 1), (HOUR / 2, 2), (0, 3)):
            await device.set("Log", value, at=now - ago)
        for since, wanted in ((now - HOUR * 2, [1, 2, 3]), (now - HOUR * 0.75, [2, 3]), (now - HOUR / 4, [3])):
            found = await rest(device.history("Log", since=since, follows=False))
            check(values(found) == wanted, f"since {since}: {found}")
            check(measured_at(found[-1].time, now, found[-1].time.error), f"{found}")
        found = await rest(device.history("Log", since=found[0].time, newest=None, follows=False))
        check(values(found) in ([3], []), f"by a received time, which has an error: {found}")
        ok(f"{kind}: what a client sets is kept with its time, and found by it")

        for key, start, error in (("Nothing", {}, UnknownElement), ("Count", {"since": 1, "newest": 1}, ValueError),
                                  ("Count", {"newest": -1}, InvalidValue), ("Count", {"position": "00"}, InvalidValue),
                                  ("Count", {"since": float("inf")}, InvalidValue)):
            try:
                device.history(key, **start)
            except error:
                continue
            check(False, f"{key} {start} is accepted")
        await raises(NotAllowed, following(device.history("Plain")))
        history = device.history("Count", newest=0)
        waiting = [asyncio.ensure_future(history.__anext__()) for _ in range(2)]
        await raises(RuntimeError, asyncio.wait_for(waiting[1], patience()))
        # A read that is cancelled leaves its request to the next one: the service has one at a time.
        await until(lambda: not history._is_past, "the service knows where it begins")
        for _ in range(40):
            await until(lambda: history._asked is not None, "the request")
            waiting[0].cancel()
            await asyncio.wait(waiting[:1])
            waiting[0] = asyncio.ensure_future(history.__anext__())
            await asyncio.sleep(0)
        await device.ping()
        write(service, "Count", [2002])
        check((await asyncio.wait_for(waiting[0], patience())).value == 2002, "the value")
        ok(f"{kind}: what cannot be asked for, and reads that are cancelled")
        unread, unfollowed = device.history("Count"), device.history("Count", follows=False)
        waiting = asyncio.ensure_future(rest(history))
        await until(lambda: history._asked is not None, "the request")
    check(await waiting == [], "the iteration ends when the device is closed here")
    check(await rest(unread) == [], "one that was not begun too")
    await raises(ClosedHere, following(unfollowed))
    ok(f"{kind}: the end")


async def _limits(ok, service):
    async with connect(service.place) as device:
        longest = "x" * 65_536
        write(service, "Text", ["first", longest, longest + "x", "", "last"])
        await until(lambda: device["Text"] == "last", "the last one")
        items = await rest(device.history("Text", follows=False))
        check(items[2] == HistoryGap(1, 1), f"{items[2]}")
        check(values(items[:2] + items[3:]) == ["first", longest, "", "last"], "the others")
        ok("a value of the maximum length; one that is longer is a gap of one")
        write(service, "Short", range(1, 4))
        await until(lambda: device["Short"] == 3, "the newest one")
        history = device.history("Short")
        check(values(await take(history, 3)) == [1, 2, 3], "all")
        # Nobody reads meanwhile.
        write(service, "Short", range(4, 31))
        await until(lambda: device["Short"] == 30, "the newest one")
        gap, *items = await take(history, 6)
        check(gap == HistoryGap(22, 22) and values(items) == list(range(26, 31)), f"{gap}, {items}")
        gap, *items = await rest(device.history("Short", since=machine_time() - HOUR, follows=False))
        check(gap == HistoryGap(None, 25) and values(items) == list(range(26, 31)), f"{gap}, {items}")
        ok("a gap where the limits dropped values")


RESUME = """
import asyncio, json, sys
from elemental import HistoryValue, connect

async def main(place, name, position):
    async with connect(place) as device:
        async for item in device.history(name, position=position, follows=False):
            print(json.dumps([item.value, item.position] if isinstance(item, HistoryValue) else [None, item.count]))

asyncio.run(main(*sys.argv[1:]))
"""


async def _resumed(ok, service):
    async def resumed(name, position):
        done = await beside(subprocess.run, [sys.executable, "-B", "-c", RESUME, service.place, name, position],
                            capture_output=True, text=True, timeout=patience())
        check(done.returncode == 0, done.stderr)
        return [tuple(json.loads(line)) for line in done.stdout.splitlines()]

    async with connect(service.place) as device:
        items = await rest(device.history("Count", follows=False))
        check(await resumed("Count", items[699].position) == [(each.value, each.position) for each in items[700:]], "the rest")
        check(await resumed("Count", items[-1].position) == [], "nothing")
        last = (await rest(device.history("Short", follows=False)))[-1]
        write(service, "Short", range(31, 40))
        await until(lambda: device["Short"] == 39, "the newest one")
        gap, *items = await resumed("Short", last.position)
        check(gap == (None, 4) and [each[0] for each in items] == list(range(35, 40)), f"{gap}, {items}")
    ok("another process resumes by a position, with no gap and with one")


async def _watchers(bed, ok, service):
    """Both commands print the same."""
    def start(*words, state="watcher"):
        words = ("watch", service.place, *words, "--since", "2h")
        return (bed.start(*words, state=state), bed.program(sys.executable, "-B", "-m", "elemental", *words, state=state))

    def shape(event):
        """What does not depend on the clocks, with the names of all members in order."""
        names = [name for name in event if name not in ("choice", "timeError")]
        return names, {name: event[name] for name in names if name != "time"}

    both = start("Short", "Plain", "Text", "--json")
    service.write("Plain=7")
    for each in both:
        await beside(each.event, "value", element="Plain", value=7)
        await beside(each.event, "value", element="Short", value=39)
        await beside(each.event, "value", element="Text", value="last")
    write(service, "Short", [40])
    for each in both:
        await beside(each.event, "value", element="Short", value=40)
    for name, count in (("Short", 7), ("Text", 5)):
        theirs, ours = ([event for kind in ("gap", "value") for event in each.events(kind) if event["element"] == name]
                        for each in both)
        check(len(ours) == count and list(map(shape, ours)) == list(map(shape, theirs)), f"{ours} is not {theirs}")
        for event, other in zip(ours, theirs):
            if event["event"] == "value":
                check(abs(event["time"] - other["time"]) <= event["timeError"] + other["timeError"] + 0.01, f"{event}, {other}")
    gap = both[1].events("gap")[0]
    check((gap["element"], gap["gap"], gap["atMost"]) == ("Short", None, 34), f"{gap}")
    plain = [event for each in both for event in each.events("value") if event["element"] == "Plain"]
    check(all("position" not in event for event in plain), f"{plain}")
    texts = ["Short: at most 35 values are missing here", *(f" Short={number}" for number in range(36, 41))]
    lines = [[await beside(each.output.next, text, lambda line, text=text: isinstance(line, str) and line.endswith(text))
              for text in texts] for each in start("Short")]
    check(lines[0][0] == lines[1][0], f"{lines}")
    for theirs, ours in zip(lines[0][1:], lines[1][1:]):
        # By two clocks, at about one time.
        apart = datetime.fromisoformat(ours[:26]) - datetime.fromisoformat(theirs[:26])
        check(ours[26:] == theirs[26:] and abs(apart.total_seconds()) < patience(), f"{ours} is not {theirs}")
    for words, part in ((("Short", "--count", "3"), None), (("Plain",), "keeps no values of what is watched; leave out")):
        done = await beside(subprocess.run, [sys.executable, "-B", "-m", "elemental", "watch", service.place, *words, "--since",
                                             "2h", "--json"], capture_output=True, text=True, timeout=patience())
        events = [json.loads(line) for line in done.stdout.splitlines()]
        if part is None:
            check(done.returncode == 0 and [each["event"] for each in events] == ["gap"] + ["value"] * 3, f"{done}")
        else:
            check(done.returncode == 1 and events[-1]["code"] == "notAllowed" and part in events[-1]["message"], f"{done}")
    ok("`watch --since` of both commands prints the same values, gaps and positions")


async def _refused(ok, service):
    """A client that may only observe."""
    service.write("Secret=5")
    service.write("Short=1")
    async with connect(service.place, elements=[Element(6, "Secret", "uint64"), Element(3, "Short", "uint64"),
                                                Element(77, "Other", "uint64")]) as device:
        await until(lambda: device["Short"] == 1, "the newest one")
        check(values(await rest(device.history("Short", follows=False))) == [1], "what it may read")
        for name in ("Secret", "Other"):
            for follows in (False, True):
                error = await raises(NotAllowed, following(device.history(name, follows=follows)))
                check(name in str(error), f"{error}")
        check(device.is_connected and device.statistics.malformed == 0, "the connection stands")
    ok("refusals of what a client may not read, and of what there is not")


@contextlib.asynccontextmanager
async def relayed(port):
    """A way to a service whose connections a test breaks. Gives its port and what breaks them."""
    writers, tasks = [], set()

    async def pump(reader, writer):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def accepted(reader, writer):
        tasks.add(asyncio.current_task())
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writers.extend((writer, back))
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(pump(reader, back), pump(there, writer))

    def cut():
        for each in writers:
            each.transport.abort()
        writers.clear()

    server = await asyncio.start_server(accepted, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], cut
    finally:
        server.close()
        cut()
        for each in tasks:
            each.cancel()


async def _reconnection(ok, service, state):
    async with relayed(service.port) as (port, cut):
        async with connect(f"127.0.0.1:{port}", state=state, reconnect=AGAIN, udp=False) as device:
            for name in ("Count", "Fast"):
                history = device.history(name, newest=0)
                waiting = asyncio.ensure_future(following(history))
                await until(lambda: not history._is_past, "all that was kept")
                for begin in (5000, 6000, 7000):
                    # While it waits, and between two values.
                    cut()
                    write(service, name, range(begin, begin + 500))
                    items = [await waiting, *await take(history, 249)]
                    cut()
                    items += await take(history, 250)
                    check(values(items) == list(range(begin, begin + 500)), f"{name}: {items}")
                    waiting = asyncio.ensure_future(following(history))
                write(service, name, [1])
                check((await waiting).value == 1, "the last one")
        async with connect(f"127.0.0.1:{port}", state=state, udp=False) as device:
            history = device.history("Count", newest=1)
            check(values(await take(history, 1)) == [1], "the last one")
            waiting = asyncio.ensure_future(following(history))
            await until(lambda: not history._is_past, "all that was kept")
            cut()
            await raises(Disconnected, waiting)
            await raises(Disconnected, following(history))
    ok("it continues over connections that break, with no gap and no value twice; without reconnection it fails")


async def _restarted(bed, ok):
    service = await beside(bed.publish, "weather", *SPECS, port=lease(), state="restarted")
    async with connect(service.place, reconnect=AGAIN) as device, connect(service.place) as other:
        write(service, "Count", range(10))
        history, ending = device.history("Count"), other.history("Count")
        old = await take(history, 10)
        check(values(old) == values(await take(ending, 10)) == list(range(10)), "all")
        waiting, failing = (asyncio.ensure_future(following(each)) for each in (history, ending))
        service.end()
        await raises(ShutDown, failing)
        service = await beside(bed.publish, "weather", *SPECS, port=service.port, state="restarted")
        write(service, "Count", [10])
        item = await waiting
        check(item.value == 10 and not item.is_past, f"{item}")
        found = await rest(device.history("Count", position=old[3].position, follows=False))
        check(values(found) == list(range(4, 11)), f"{found}")
        ok("a service whose program was restarted, and has its files: nothing is missing")
        waiting = asyncio.ensure_future(following(history))
        service.end(signal.SIGKILL)
        service = await beside(bed.publish, "weather", *SPECS, port=service.port, state="restarted")
        write(service, "Count", [11])
        gap, item = await waiting, await following(history)
        check(gap.count is None and gap.at_most and item.value == 11, f"{gap}, {item}")
        ok("one that was killed: how many values are missing at most is known")
        waiting = asyncio.ensure_future(following(history))
        service.end()
        service = await beside(bed.publish, "weather", *SPECS, port=service.port, state="without files")
        write(service, "Count", [7])
        items = [await waiting, *await take(history, 1)]
        check(items[0] == HistoryGap(None, None) and items[1].value == 7, f"{items}")
        found = await rest(device.history("Count", position=old[3].position, follows=False))
        check(found[0] == HistoryGap(None, None) and values(found[1:]) == [7], f"{found}")
    ok("a service that does not have its files any more: how many values are missing is not known")


async def _resuming(bed, ok):
    """`watch --resume`"""
    specs = ["1:Count:uint64:ro:history", "5:Plain:uint64", "7:Log:uint8:timed:history"]
    folder = os.path.join(bed.folder, "resuming")
    service = await beside(bed.publish, "weather", *specs, port=lease(), state="resumed")

    def watch(*words, name="log"):
        return bed.program(sys.executable, "-B", "-m", "elemental", "watch", service.place, *words, "--resume", name, "--json",
                           "--state", folder, state="watcher")

    def told(watching):
        return [each.get("value", "gap") for each in watching.events() if each["event"] in ("value", "gap")]

    async def ended(*words, status=0, **how):
        watching = watch(*words, **how)
        check(await beside(watching.process.wait, patience()) == status, f"{words}: {watching.process.returncode}")
        watching.end()
        return watching

    def kept(name="log"):
        with open(os.path.join(folder, "resume", f"{name}.json")) as file:
            return json.load(file)

    write(service, "Count", range(1, 11))
    watching = await ended("Count", "Plain", "--count", "4")
    check(told(watching) == [1, 2, 3, 4], f"the oldest first: {told(watching)}")
    position = watching.events("value")[-1]["position"]
    check(kept() == {"version": 1, "positions": {f"{service.place}/1": position}}, f"{kept()}")
    modes = [os.stat(os.path.join(folder, each)).st_mode & 0o777 for each in ("resume", "resume/log.json")]
    check(modes == [0o700, 0o600], f"{modes}")
    watching = watch("Count", "Plain")
    position = (await beside(watching.event, "value", element="Count", value=10))["position"]
    service.write("Plain=7")
    await beside(watching.event, "value", element="Plain", value=7)
    check(told(watching) == [5, 6, 7, 8, 9, 10, 7], f"{told(watching)}")
    await until(lambda: kept()["positions"] == {f"{service.place}/1": position}, "it is written before the end")
    await beside(watching.end, signal.SIGKILL)
    write(service, "Count", [11, 12])
    watching = watch("Count", "--since", "1h")
    position = (await beside(watching.event, "value", element="Count", value=12))["position"]
    check(await beside(watching.end) == 0 and told(watching) == [11, 12], f"{told(watching)}")
    check(kept()["positions"] == {f"{service.place}/1": position}, f"at the end: {kept()}")
    ok("`watch --resume` goes on behind what it has printed, and prints elements without a history as they come")

    async with connect(service.place) as device:
        await device.set("Log", 1, at=machine_time() - HOUR)
        await device.set("Log", 2)
    watching = await ended("Log", "--since", "30m", "--count", "1", name="late")
    check(told(watching) == [2], f"the first time with --since: {told(watching)}")
    service.end()
    service = await beside(bed.publish, "weather", *specs, port=service.port, state="resumed")
    write(service, "Count", [13])
    watching = await ended("Count", "Log", "--count", "3")
    check(sorted(told(watching)) == [1, 2, 13], f"the service was restarted: {told(watching)}")
    check(len(kept()["positions"]) == 2 and len(kept("late")["positions"]) == 1, f"{kept()}")
    service.end()
    service = await beside(bed.publish, "weather", *specs, port=service.port, state="resumed without files")
    write(service, "Count", [1, 2])
    watching = await ended("Count", "--count", "2")
    check(told(watching) == ["gap", 1, 2] and watching.events("gap")[0]["atMost"] is None, f"another history: {told(watching)}")
    ok("`watch --resume` begins with --since, goes on after the service was restarted, and tells when it cannot")

    service.write("Plain=8")
    for words, name, code, parts in ((["Plain"], "log", "notAllowed", ["leave out --resume"]),
                                     (["Count"], "damaged", "securityError", ["damaged.json", "remove it", "another name"])):
        with open(os.path.join(folder, "resume/damaged.json"), "w") as file:
            file.write('{"version": 2}')
        [error] = (await ended(*words, "--count", "1", name=name, status=1)).events()
        check(error["code"] == code and all(part in error["message"] for part in parts), f"{error}")
    ok("`watch --resume` refuses a file that is damaged, and elements of which none has a history")


# Services of this package.


async def _published(bed, *specs, port=0):
    """A service of our command."""
    service = bed.program(
        sys.executable, "-B", "-m", "elemental", "publish", "weather", *[word for spec in specs for word in ("--element", spec)],
        "--unlisted", "--address", "127.0.0.1", "--port", str(port), "--stay", "--json", state="published")
    service.port = (await beside(service.event, "listening"))["port"]
    service.place = f"127.0.0.1:{service.port}"
    return service


async def _own_command(bed, ok):
    """What holds of `elemental publish` holds of our command."""
    def told(what):
        ok(f"a service of this package: {what}")

    service = await _published(bed, *[spec for spec in SPECS if "readers" not in spec])
    await _client(told, service, None)
    await _limits(told, service)
    await _resumed(told, service)
    await _watchers(bed, told, service)
    await _reconnection(told, service, None)


async def _own_swift_clients(bed, ok):
    service = await _published(bed, "1:Count:uint64:ro:history 8", "2:Log:uint8:udp:timed:history",
                               "3:Brief:uint64:ro:history 1s", "4:Begun:uint8:history=5")

    def watch(*words, name=None):
        resume = () if name is None else ("--resume", name)
        return bed.start("watch", service.place, *words, *resume, "--json", state="resuming")

    async def told(watching, count):
        """So many values and gaps, and the events."""
        def found():
            return [each for each in watching.events() if each["event"] in ("value", "gap")]

        events = await until(lambda: found() if len(found()) >= count else None, f"{count} values")
        return [each.get("value", (each.get("gap"), each.get("atMost"))) for each in events], events

    write(service, "Count", range(1, 6))
    watching = watch("Count", name="laptop")
    values_told, events = await told(watching, 5)
    check(values_told == [1, 2, 3, 4, 5], f"{values_told}")
    # Positions are those of the package's own client.
    async with connect(service.place) as device:
        items = await rest(device.history("Count", follows=False))
        check([each["position"] for each in events] == [each.position for each in items], f"{events}")
        for event, item in zip(events, items):
            check(abs(event["time"] - item.time.seconds_here) <= event["timeError"] + item.time.error + 0.01, f"{event}, {item}")
        write(service, "Count", [6])
        check((await told(watching, 6))[0][5] == 6, "what follows")
        check(await beside(watching.end) == 0, "the end")
        write(service, "Count", range(7, 17))
        await until(lambda: device["Count"] == 16, "the newest one")
        watching = watch("Count", name="laptop")
        check((await told(watching, 9))[0] == [(2, 2), *range(9, 17)], f"{watching.events()}")
        check(await beside(watching.end) == 0, "the end")
        ok("`elemental watch --resume` goes on at a service of this package, and is told how many values were dropped")

        for ago, value in ((HOUR * 3, 1), (HOUR, 2), (0, 3)):
            await device.set("Log", value, at=machine_time() - ago)
        watching = watch("Log", "--since", "2h")
        values_told, events = await told(watching, 2)
        check(values_told == [2, 3], f"{values_told}")
        check(abs(events[1]["time"] - events[0]["time"] - HOUR) < patience(), f"{events}")
        write(service, "Log", [9])
        check((await told(watching, 3))[0] == [2, 3, 9], f"{watching.events()}")
        watching.end()
        ok("`elemental watch --since` finds what was measured within that time, of an element over UDP too")

        check(values(await rest(device.history("Begun", follows=False))) == [5], "a value from the beginning")
        write(service, "Brief", [1, 2])
        await until(lambda: device["Brief"] == 2, "the newest one")
        first, _ = await rest(device.history("Brief", follows=False)) or (None, None)
        await asyncio.sleep(1.1)
        check(await rest(device.history("Brief", follows=False)) == [], "both are too old")
        if first is not None:
            gap = await rest(device.history("Brief", position=first.position, follows=False))
            check(gap == [HistoryGap(1, 1)], f"{gap}")
    ok("values are dropped after their seconds")


async def _own_restarted(ok):
    """Another service at the same port has other histories."""
    port = lease()
    element = Element(1, "Count", "uint64", history=HistoryLimits())
    async with contextlib.AsyncExitStack() as stack:
        first = Service("robot", [element], publish=False, address="127.0.0.1", port=port, udp=False)
        await first.start()
        device = await stack.enter_async_context(connect(f"127.0.0.1:{port}", reconnect=AGAIN))
        for value in (1, 2, 3):
            first.set("Count", value)
        history = device.history("Count")
        items = await take(history, 3)
        waiting = asyncio.ensure_future(following(history))
        for other in (element, Element(1, "Number", "uint64", history=HistoryLimits()),
                      Element(1, "Count", "int64", history=HistoryLimits())):
            await first.stop()
            first = Service("robot", [other], publish=False, address="127.0.0.1", port=port, udp=False)
            first.set(1, 7)
            await first.start()
            check(await waiting == HistoryGap(None, None), "how many are missing is not known")
            check((await following(history)).value == 7, "all that there is")
            waiting = asyncio.ensure_future(following(history))
        waiting.cancel()
        found = await rest(device.history(1, position=items[0].position, follows=False))
        check(found[0] == HistoryGap(None, None) and values(found[1:]) == [7], f"{found}")
        await first.stop()
    ok("a service of this package that was started again, or has another element, has another history")


async def _own_values(ok):
    """Which values are kept, and with which time."""
    elements = [Element(1, "Adopted", "uint8", timed=True, history=HistoryLimits()),
                Element(2, "Set", "uint8", history=HistoryLimits()), Element(3, "Plain", "uint8")]
    for adopts in (True, False):
        async with Service("robot", elements, publish=False, address="127.0.0.1", adopt=adopts) as ours:
            def drive(value, client):
                if value == 66:
                    raise Refuse("no")

            ours.on_value("Adopted", drive)
            now = machine_time()
            ours.set("Set", 1, at=now - HOUR)
            await raises(InvalidValue, asyncio.ensure_future(_calling(ours.set, "Set", 2, at=float("nan"))))
            async with connect(f"127.0.0.1:{ours.port}") as device:
                check(device.elements.find("Set").history == HistoryLimits(), "the catalogue tells it")
                await until(lambda: device._session.clock.count >= FIRST_EXCHANGES, "the clocks")
                with contextlib.suppress(ValueRefused):
                    await device.set("Adopted", 66)
                await device.set("Adopted", 5, at=now - HOUR)
                found = await rest(device.history("Adopted", follows=False))
                check(values(found) == ([5] if adopts else []), f"{found}")
                check(not adopts or measured_at(found[0].time, now - HOUR, found[0].time.error), f"{found}")
                [item] = await rest(device.history("Set", follows=False))
                check(item.value == 1 and measured_at(item.time, now - HOUR), f"{item}")
                check("Plain" in str(await raises(NotAllowed, following(device.history("Plain")))), "no history")
    ok("a service of this package keeps what it sends, with the time of its measurement, and not what it refuses")


async def _calling(function, *arguments, **named):
    return function(*arguments, **named)


async def _greeted(ours, features=0b1_1011_1111):
    """A raw client of a service, and the service's session."""
    before = set(ours._sessions)
    raw = await Raw.connect(ours.port)
    await raw.until(UDP_IDENTIFIER)
    raw.send(frame(NAME, b"raw"), hello(features))
    _, theirs, _ = struct.unpack("<BIH", await raw.until(HELLO))
    check(theirs & 1 << 8, f"it announces that it answers: {theirs:b}")
    if features & 1 << 3:
        check(await raw.until(CATALOGUE) == ours.elements.encode(), "the catalogue")
    [session] = set(ours._sessions) - before
    return raw, session


def ask(token, start=Newest(ALL), element=1, waits=False, flags=0):
    data = request(token, element, start, waits)
    return frame(HISTORY, data[:10] + bytes([data[10] | flags]) + data[11:])


async def _own_requests(ok):
    elements = [Element(1, "Count", "uint8", access="ro", history=HistoryLimits(200, 3600, 90_000)),
                Element(2, "Plain", "uint8"), Element(3, "Hidden", "uint8", access="wo", history=HistoryLimits())]
    async with Service("robot", elements, publish=False, address="127.0.0.1") as ours:
        ours.set("Count", 5)
        ours.set("Hidden", 5)
        raw, session = await _greeted(ours, 0b1011_1111)
        raw.send(ask(1), frame(PING, b"1"))
        await raw.until(PONG)
        ours.set("Count", 5)
        raw.send(frame(PING, b"2"))
        await raw.until(PONG)
        check(raw.log.take(lambda each: each[0] == HISTORY) == () and session.statistics.unknown == 1, "no answer without the bit")
        raw.close()
        raw, session = await _greeted(ours)

        async def answer_of(token):
            answer = HistoryAnswer.decode((await raw.frame(
                lambda each: each[0] == HISTORY and each[1][1:9] == struct.pack("<Q", token)))[1])
            return answer.refusal, [data for _, data in answer.values]

        good = ask(2)[5:]
        for count, wrong in enumerate((b"", good[:-1], good + b"\0", b"\2" + good[1:], good[:9] + b"\x80" + good[10:],
                                       good[:11] + b"\4" + good[12:], bytes(44), bytes(45), bytes(1 << 20),
                                       answer(good, 1, 5)[5:]), 1):
            raw.send(frame(HISTORY, wrong), ask(count))
            check(await answer_of(count) == (0, [b"\5", b"\5"]), "the next request is answered")
            check(session.statistics.malformed == count, f"{wrong[:60]}: {session.statistics}")
        ok("malformed requests are counted, and ignored")

        for element in (2, 3, 99):
            raw.send(ask(40 + element, element=element))
            check(await answer_of(40 + element) == (UNKNOWN, []), "no history, or none that may be read")
        end = HistoryPosition(ours._histories._logs[1].life, 2, 0)
        raw.send(*[ask(100 + number, end, waits=True) for number in range(150)])
        for number in range(144, 150):
            check(await answer_of(100 + number) == (TOO_MANY, []), f"{number}")
        raw.send(ask(100, flags=2), ask(777, end))
        check(await answer_of(777) == (0, []), "there is room for another one")
        ours.set("Count", 6)
        for number in range(1, 144):
            check(await answer_of(100 + number) == (0, [b"\6"]), f"{number}")
        raw.send(ask(778), frame(PING, b"3"))
        check(await answer_of(778) == (0, [b"\5", b"\5", b"\6"]), "all")
        check(raw.log.take(lambda each: each[0] == HISTORY) == (), "one that was cancelled is not answered")
        check(session.system_limit(HISTORY) == 44, "no more is buffered")
        check(session.statistics.unknown == 0 and session.statistics.malformed == count, f"{session.statistics}")
        raw.close()
    ok("144 requests of a client wait, each is answered once, and further ones are refused")


async def _own_slow_client(ok):
    """A client that asks for much and reads nothing."""
    elements = [Element(1, "Long", "data", access="ro", history=HistoryLimits()),
                Element(2, "Short", "uint64", access="ro", history=HistoryLimits()),
                Element(3, "Live", "uint8"), Element(4, "Picture", "data")]
    queue = 80_000
    for element in (1, 2):
        async with Service("robot", elements, publish=False, address="127.0.0.1", limits=Limits(queue_bytes=queue)) as ours:
            for number in range(200):
                ours.set("Long", bytes([number]) * 65_536)
            for number in range(20_000):
                ours.set("Short", number)
            raw, session = await _greeted(ours)
            for id in (1, 2):
                await raw.until(id)
            raw.writer.transport.pause_reading()
            begin, before = session.statistics.bytes_sent, session.statistics.messages_received

            def waits():
                return session.outbox.size + session._transport.get_write_buffer_size()

            tokens = 0
            while not session._is_writing_paused:
                raw.send(*[ask(tokens + number, element=element) for number in range(16)])
                tokens += 16
                await until(lambda: session._is_writing_paused or session.statistics.messages_received == before + tokens
                            and not session._history_requests.is_due, "answers")
            # Those that are too many are refused, as long as there is room for that.
            raw.send(*[ask(tokens + number, element=element) for number in range(8000)])
            await until(lambda: session.statistics.messages_received == before + tokens + 8000, "all were read")
            check(session.outbox.size <= queue, f"{session.outbox.size} bytes wait")
            most = 4095 + 5 + (MAXIMUM_ANSWER_BYTES if element == 1 else 65 + 4096)
            written = session.statistics.bytes_sent - session._transport.get_write_buffer_size()
            due = {each.token for each in session._history_requests._due}
            check(100 < len(due) <= 144, f"{len(due)} requests wait")
            ours.set("Live", 9)
            raw.writer.transport.resume_reading()
            place = begin
            while (found := await raw.frame())[0] != 3:
                place += 5 + len(found[1]) if found[1][0] == 2 else 0
                due.discard(struct.unpack_from("<Q", found[1], 1)[0])
            check(place - written <= most, f"{element}: the live value waits behind {place - written} bytes of answers")
            while due:
                due.remove(struct.unpack_from("<BQ", await raw.until(HISTORY))[1])
            raw.send(frame(PING, b"end"))
            check(await raw.until(PONG) == b"end", "the end")
            # A value in pieces that waits for the client.
            ours.set("Picture", bytes(1 << 20))
            raw.send(ask(1, element=element))
            await until(lambda: session._history_requests.is_due, "the request")
            await turns()
            check(session._history_requests.is_due, "no answer while more than 4 KiB wait")
            taken = 0
            while taken < 1 << 20:
                taken += len(await raw.until(PIECE)) - 9
                raw.send(frame(TAKEN, struct.pack("<I", taken)))
            check(raw.log.take(lambda each: each[0] == HISTORY) == (), "it comes behind the value")
            await raw.until(HISTORY)
            raw.close()
    ok("a client that asks and does not read costs two answers, and a live value waits behind them at most")


# Peers that speak bytes.


def kept(*items):
    return b"".join(struct.pack("<qI", time, len(data)) + data for time, data in items)


def answer(request, first, check, items=(), life=LIFE, missing=(0, 0), more=0):
    token = struct.unpack_from("<BQ", request)[1]
    head = struct.pack("<BQ16s5Q", 2, token, life, first, first + len(items) + more, check, *missing)
    return frame(HISTORY, head + kept(*items))


def asked(request):
    """The element, flags, form and place of a request."""
    kind, _, element, flags, form = struct.unpack_from("<BQBBB", request)
    check(kind == 1, f"a request: {request.hex()}")
    return element, flags, form, request[12:]


async def _serve(raw, features=0b1_0011_0111, clock=None):
    """Greets a client, and answers all but its requests for values, which are left to the test."""
    raw.send(frame(UDP_IDENTIFIER, b"\0"))
    await raw.until(NAME)
    _, theirs, _ = struct.unpack("<BIH", await raw.until(HELLO))
    check(theirs & 1 << 8, f"a client announces that it may ask: {theirs:b}")
    raw.send(hello(features), frame(CATALOGUE, Catalogue([KEPT, Element(2, "Text", "data", history=HistoryLimits())]).encode()))
    while (found := await raw.frame(lambda each: each[0] in (PING, CLOCK))) is not None:
        raw.send(clock.answer(found[1]) if found[0] == CLOCK else frame(PONG, found[1]))


class Asked:
    """A raw service's requests, each as it comes."""

    def __init__(self, **how):
        self.how, self.raws, self._log = how, [], asyncio.Queue()

    async def serve(self, raw):
        self.raws.append(raw)
        frame_before = raw._read

        async def read():
            while True:
                found = await frame_before()
                if found[0] != HISTORY:
                    return found
                self._log.put_nowait(found[1])

        raw._read = read
        await _serve(raw, **(self.how if len(self.raws) == 1 else self.how.get("later", self.how)))

    async def next(self):
        return await asyncio.wait_for(self._log.get(), patience())

    @property
    def count(self):
        return self._log.qsize()


async def _raw_service(ok):
    service = Asked()
    async with raw_service(service.serve) as port, connect(f"127.0.0.1:{port}") as device:
        [raw] = service.raws
        counts = device.statistics
        history = device.history("Count")

        def begin(of=history):
            return asyncio.ensure_future(following(of))

        waiting = begin()
        request = await service.next()
        check(asked(request) == (1, 0, 2, b"\xff" * 4), f"all: {request.hex()}")
        whole = answer(request, 1, 0, [(5, b"\1"), (6, b"\2"), (-7, b"\3")])[5:]
        for name, wrong, malformed, unknown in (
            ("a cut one", whole[:-1], 1, 0), ("a header that is cut", whole[:64], 1, 0), ("nothing", b"", 1, 0),
            ("a request", b"\1" + whole[1:], 1, 0), ("another kind", b"\4" + whole[1:], 1, 0),
            ("an unknown reason", b"\3" + whole[1:9] + b"\7", 1, 0),
            ("a first number of 0", whole[:25] + b"\0" + whole[26:], 1, 0), ("a number that is too great", whole[:40] + b"\x40" + whole[41:], 1, 0),
            ("a value that is too long", whole[:65] + kept((5, bytes(65_537))), 1, 0),
            ("one that is too long", whole[:65] + kept((5, bytes(65_536)), (6, b"")), 1, 0),
            ("one that nobody asked for", b"\2" + b"\xee" * 8 + whole[9:], 0, 1),
            ("a refusal of nothing", b"\3" + b"\xee" * 8 + b"\1", 0, 1),
        ):
            before = counts.malformed, counts.unknown
            raw.send(frame(HISTORY, wrong))
            await until(lambda: (counts.malformed, counts.unknown) != before, name)
            check((counts.malformed, counts.unknown) == (before[0] + malformed, before[1] + unknown), f"{name}: {counts}")
        check(not waiting.done() and device.is_connected, "it still waits")
        ok("answers that are malformed or that nobody asked for are counted, and ignored")

        raw.send(frame(HISTORY, whole))
        items = [await waiting, *await take(history, 1)]
        await device.ping()
        check(service.count == 0, "it asks only when all is consumed")
        items += await take(history, 1)
        place = HistoryPosition(LIFE, 0, 0)
        for number, item in enumerate(items, 1):
            place = place.behind(bytes([number]))
            check(item == HistoryValue(number, None, True, str(place)), f"{item}")
        before = counts.unknown
        raw.send(frame(HISTORY, whole))
        await until(lambda: counts.unknown == before + 1, "an answer that comes twice")
        waiting = begin()
        request = await service.next()
        check(asked(request) == (1, 1, 3, struct.pack("<16sQQ", *place)), f"the place, and a wait: {request.hex()}")
        # Of another length than the type's.
        raw.send(answer(request, 4, place.check, [(8, b"xx"), (9, b"\4")]))
        place = place.behind(b"xx").behind(b"\4")
        items = [await waiting, *await take(history, 1)]
        check(items == [HistoryGap(1, 1), HistoryValue(4, None, False, str(place))], f"{items}")
        ok("requests and answers to the byte; the check is that of the value")

        # The past ended in front of the fourth value; where it ends in a history that does not know the position is new.
        number, life, end = 5, LIFE, 4
        for first, next_life, missing, gap, more in (
            (6, LIFE, (0, 0), None, 0), (8, LIFE, (1, 1), (1, 1), 0), (90, LIFE, (NOT_KNOWN, 81), (None, 81), 9),
            (91, OTHER, (0, 0), None, 9), (99, OTHER, (0, 7), (0, 7), 0), (1, LIFE, (NOT_KNOWN, NOT_KNOWN), (None, None), 5),
            (4, OTHER, (2, 2), (2, 2), 9), (6, OTHER, (1, 1), (1, 1), 9), (7, OTHER, (0, 0), None, 0),
            (2, LIFE, (NOT_KNOWN, NOT_KNOWN), (None, None), 0), ((1 << 62) - 2, LIFE, (1 << 61, 1 << 61), (1 << 61, 1 << 61), 0),
        ):
            waiting = begin()
            request = await service.next()
            check(asked(request)[1:3] == (number + 1 >= end, 3), f"{number}: {request.hex()}")
            check(struct.unpack_from("<16sQ", request, 12) == (life, number), f"{request.hex()}")
            raw.send(answer(request, first, 5, [(1, b"\5")], next_life, missing, more))
            if gap is not None:
                found = await waiting
                check(found == HistoryGap(*gap), f"{first}: {found}")
                waiting = begin()
            if gap == (None, None):
                end = first + 1 + more
            item = await waiting
            check((item.value, item.is_past) == (5, first < end), f"{first}: {item}")
            number, life = first, next_life
        longest = bytes(65_536)
        text = device.history("Text", newest=3, follows=False)
        waiting = begin(text)
        request = await service.next()
        check(asked(request) == (2, 0, 2, struct.pack("<I", 3)), f"{request.hex()}")
        data = answer(request, 8, 5, [(1, longest)], more=1)
        check(len(data) == 5 + MAXIMUM_ANSWER_BYTES == 5 + 65 + 12 + 65_536, "the longest answer")
        raw.send(data)
        check((await waiting).value == longest, "the longest value")
        waiting = begin(text)
        request = await service.next()
        raw.send(frame(HISTORY, b"\3" + request[1:9] + b"\2"))
        check("too many" in str(await raises(NotAllowed, waiting)), "too many requests")
        waiting = asyncio.ensure_future(rest(text))
        raw.send(answer(await service.next(), 10, 6, missing=(1, 1)))
        check(await waiting == [HistoryGap(1, 1)] and await rest(text) == [], "it asks again, and ends")
        waiting = begin(device.history("Text", newest=0))
        raw.send(answer(await service.next(), 10, 6))
        request = await service.next()
        check(asked(request) == (2, 1, 3, struct.pack("<16sQQ", LIFE, 9, 6)), f"behind the newest: {request.hex()}")
        raw.send(answer(request, 10, 0, [(1, b"new")]))
        check((await waiting).value == b"new", "a new value")
        ok("gaps, the longest answer, and a refusal")

        await raises(TimedOut, following(device.history("Count", since=machine_time())))
        check(device.is_connected and service.count == 0, "no request without a time")
        raw.send(frame(HISTORY, bytes(1 << 20)))
        await device.ping()
        check(device.is_connected and counts.malformed >= 10, f"{counts}")
    ok("a service that does not tell its time is not asked for one")


async def _raw_reconnection(ok):
    service = Asked()
    async with raw_service(service.serve) as port:
        async with connect(f"127.0.0.1:{port}", reconnect=AGAIN) as device:
            history = device.history("Count", newest=7)
            waiting = asyncio.ensure_future(following(history))
            for _ in range(2):
                request = await service.next()
                check(asked(request) == (1, 0, 2, struct.pack("<I", 7)), f"{request.hex()}")
                service.raws[-1].close()
            raw_answer = answer(await service.next(), 1, 0, [(5, b"\1")])
            service.raws[-1].send(raw_answer)
            item = await waiting
            service.raws[-1].close()
            waiting = asyncio.ensure_future(following(history))
            while asked(request := await service.next())[2] != 3:
                pass
            check(asked(request)[3].hex() == item.position, f"it continues: {request.hex()}")
            service.how["later"] = {"features": 0b0011_0111}
            service.raws[-1].close()
            check("keeps no values" in str(await raises(NotAllowed, waiting)), "a service that keeps nothing any more")
            check(service.count == 0, "and is asked for nothing")
    ok("a request that the end of its connection left unanswered is repeated")


async def _raw_clocks(ok):
    clock = Clock()
    service = Asked(features=0b1_0111_0111, clock=clock)
    async with raw_service(service.serve) as port, connect(f"127.0.0.1:{port}") as device:
        session = device._session
        await until(lambda: session.clock.count >= FIRST_EXCHANGES, "the first exchanges")
        check(session._clock_timer is not None, "it asks for the time again, since values are kept with times")
        since = machine_time() - 60
        history = device.history("Count", since=since)
        waiting = asyncio.ensure_future(following(history))
        request = await service.next()
        _, _, form, place = asked(request)
        time, error = struct.unpack("<q", place)[0] / 1e6, device._session.clock.peer.offset(int(machine_time() * 1e9))[1] / 1e9
        check(form == 1 and abs(time - clock.ahead - since) <= error + 2e-6, f"{time} is not {since} ± {error}")
        kept = [(int((since + 5 + clock.ahead) * 1e6), b"\1"), (UNKNOWN_TIME, b"\2")]
        service.raws[0].send(answer(request, 9, 5, kept, missing=(NOT_KNOWN, 8)))
        gap, item = await waiting, await following(history)
        check(gap == HistoryGap(None, 8), f"some of those that were dropped may be of that time: {gap}")
        check(item.value == 1 and measured_at(item.time, since + 5), f"{item}")
        item = await following(history)
        check((item.value, item.time) == (2, None), f"a time that is not known: {item}")
        # 64 bits are enough for all times that can be asked for.
        for far in (-4e9, 4e9):
            waiting = asyncio.ensure_future(following(device.history("Count", since=far)))
            request = await service.next()
            check(abs(struct.unpack("<q", request[12:])[0] / 1e6 - clock.ahead - far) < 1, f"{request.hex()}")
            waiting.cancel()
    ok("a service whose clock is an hour ahead is asked by its clock")
