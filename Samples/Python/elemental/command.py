"""The command `elemental-py`, also `python -m elemental`: find, read, set, watch, publish and pair from a shell."""

from __future__ import annotations

import argparse
import asyncio
import codecs
import getpass
import math
import os
import select
import signal
import stat
import sys
import threading
import time
from typing import Any, Awaitable, Callable, Dict, List, Optional, Tuple

from .client import Device, Reconnected, Reconnection, WillReconnect, connect
from .clock import ReceivedTime, machine_time
from .discovery import browse
from .elements import Element
from .errors import ElementalError, InvalidValue, NotAllowed
from .admission import Offer
from .history import HistoryGap
from .pairing import pair
from .resume import Positions, parse_name
from .service import Client, Service
from .spec import (format_value, json_line, json_value, parse_element, parse_integer, parse_number, parse_span, parse_value,
                   printable)
from .state import State, show_fingerprint
from .streams import Stream
from .values import Value


class Output:
    """Results on standard output, as lines for people or as JSON."""

    def __init__(self, is_json: bool) -> None:
        self.is_json = is_json
        self.is_gone = False
        """Whether nobody reads it any more, as behind `| head`."""
        self.when_gone: Callable[[], object] = lambda: None

    def tell(self, line: str, event: str, **members: object) -> None:
        if self.is_gone:
            return
        try:
            print(json_line(event, **members) if self.is_json else line, flush=True)
        except BrokenPipeError:
            self.gone()

    def gone(self) -> None:
        """Nothing is written any more, at the exit neither."""
        if self.is_gone:
            return
        self.is_gone = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        self.when_gone()

    def follow_reader(self) -> None:
        """Notices on a thread that the reader goes, also while there is nothing to write."""
        loop = asyncio.get_running_loop()
        try:
            mode = os.fstat(sys.stdout.fileno()).st_mode
        except (OSError, ValueError):
            return
        if not (hasattr(select, "poll") and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))):
            return
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)  # Errors are told in any case.

        def wait() -> None:
            try:
                poll.poll()
                loop.call_soon_threadsafe(self.gone)
            except (OSError, RuntimeError):
                pass  # The loop has ended.

        threading.Thread(target=wait, daemon=True).start()

    def value(
        self,
        element: Element,
        value: Value,
        measured: Optional[ReceivedTime],
        arrived: float,
        position: Optional[str] = None,
        **where: object,
    ) -> None:
        """A value that arrived; with a position, one of the element's history, which is shown with its time."""
        times = {"time": arrived}
        if measured is not None:
            times = {"time": measured.seconds_here, "timeError": math.ceil(measured.error * 1e6) / 1e6}
        unit = f" {printable(element.unit)}" if element.unit else ""
        self.tell(
            ("" if position is None else f"{_timestamp(times['time'])} ")
            + f"{printable(element.name)}={format_value(element, value)}{unit}",
            "value",
            **where,
            element=element.name,
            value=json_value(element, value),
            choice=element.choice(value),
            **times,
            **({} if position is None else {"position": position}),
        )

    def gap(self, element: Element, gap: HistoryGap, **where: object) -> None:
        """Values of the element's history that are missing."""
        count = "" if gap.at_most is None else f"at most {gap.at_most} "
        if gap.count is not None:
            count = f"{gap.count} "
        self.tell(
            f"{printable(element.name)}: {count}values are missing here",
            "gap",
            **where,
            element=element.name,
            gap=gap.count,
            atMost=gap.at_most,
        )


def _timestamp(seconds: float) -> str:
    """Seconds since 1970 in ISO 8601, in UTC."""
    whole, rest = divmod(round(max(0.0, seconds) * 1e6), 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{rest:06}Z"


def _escape(error: UnicodeError) -> Tuple[str, int]:
    """A character that the terminal's encoding does not have, as JSON escapes it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)), error.end


codecs.register_error("elemental.escape", _escape)


def _seconds(text: str) -> float:
    try:
        seconds = parse_number(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not (math.isfinite(seconds) and seconds >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time in seconds")
    return seconds


def _span(text: str) -> float:
    try:
        return parse_span(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _resume(text: str) -> str:
    try:
        return parse_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _count(text: str) -> int:
    try:
        return parse_integer(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def note(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def _key(device: Device) -> Dict[str, Optional[str]]:
    """Which service an event is about, as `elemental` says it: the service's name, none for a host and port, and the instance's."""
    return {"service": device._target.service, "instance": device.name}


def _options(arguments: argparse.Namespace) -> Dict[str, Any]:
    state = State(arguments.state)
    return {
        "timeout": arguments.timeout,
        "name": arguments.name,
        "elements": [parse_element(each)[0] for each in arguments.element] or None,
        "state": state if state.trust_file.exists() or arguments.security == "paired" else None,
        "security": arguments.security,
        "role": arguments.role,
    }


async def _browse(arguments: argparse.Namespace, output: Output) -> None:
    async def follow() -> None:
        async for found in browse(arguments.service):
            place = found.place
            host, port = place.addresses[0]
            output.tell(
                f"{'+' if found.is_there else '-'} {printable(place.service or '')}/{printable(place.name):<24} {host}:{port}",
                "found" if found.is_there else "gone",
                service=place.service,
                instance=place.name,
                host=place.host,
                port=port,
                addresses=[each[0] for each in place.addresses],
                txt=place.txt,
                security=place.security,
                pairing=place.is_pairing,
            )

    try:
        await asyncio.wait_for(follow(), arguments.duration)
    except asyncio.TimeoutError:
        pass


def _access(element: Element) -> str:
    """What clients may do with an element, and its marks."""
    marks = {"latest": element.latest, "timed": element.timed, "history": element.history is not None,
             element.kind: element.kind != "state"}
    return " ".join([element.access, *(mark for mark, is_set in marks.items() if is_set)])


async def _describe(arguments: argparse.Namespace, output: Output) -> None:
    async with connect(arguments.target, **_options(arguments)) as device:
        kind = f" [encrypted, {device.role}]" if device.is_encrypted else ""
        host, port = device.address
        output.tell(
            f"{printable(device.name)}{kind} at {host}:{port}, {len(device.elements)} elements",
            "service",
            **_key(device),
            address=f"{host}:{port}",
            elements=len(device.elements),
            hello=device.has_hello,
            udpIdentifier=device.udp_identifier,
            role=device.role,
        )
        for element in device.elements:
            value = device[element]
            shown = "" if value is None else format_value(element, value)
            output.tell(
                f"{element.id:4} {printable(element.name):<20} {element.type:<9} {element.transport} {_access(element)}"
                f" {shown} {printable(element.unit)}".rstrip(),
                "element",
                id=element.id,
                element=element.name,
                type=element.type,
                transport=element.transport,
                access=element.access,
                latest=element.latest,
                timed=element.timed,
                history=None if element.history is None else {
                    "count": element.history.count,
                    "seconds": element.history.seconds,
                    "byteCount": element.history.byte_count,
                },
                kind=element.kind,
                unit=element.unit,
                range=None if element.range is None else [element.value_type.bound(each) for each in element.range],
                step=None if element.step is None else element.value_type.bound(element.step),
                choices=[each.name if element.type == "string" else {"value": each.value, "name": each.name}
                         for each in element.choices] or None,
                value=None if value is None else json_value(element, value),
            )


async def _get(arguments: argparse.Namespace, output: Output) -> None:
    async with connect(arguments.target, **_options(arguments)) as device:
        for name in arguments.names:
            value = await device.get(name, arguments.timeout)
            output.value(device.elements.find(name), value, device.time(name), time.time(), **_key(device))


async def _set(arguments: argparse.Namespace, output: Output) -> None:
    async with connect(arguments.target, **_options(arguments)) as device:
        # All are parsed before the first is sent.
        wanted: List[Tuple[Element, Value]] = []
        for each in arguments.values:
            name, equals, text = each.partition("=")
            if not equals:
                raise InvalidValue(f"{each!r} is not NAME=VALUE")
            element = device.elements.find(name)
            wanted.append((element, parse_value(element, text)))
        for element, value in wanted:
            await device.set(element, value, arguments.timeout)
            output.tell(
                f"{printable(element.name)}={format_value(element, value)}",
                "set",
                **_key(device),
                element=element.name,
                value=json_value(element, value),
            )


async def _watch(arguments: argparse.Namespace, output: Output) -> None:
    reconnect = Reconnection((1, 2, 4, 8, 16, 30), forever=True) if arguments.reconnect else False
    positions = None if arguments.resume is None else Positions(State(arguments.state), arguments.resume)
    async with connect(arguments.target, reconnect=reconnect, **_options(arguments)) as device:

        def tell(event: object) -> None:
            if isinstance(event, WillReconnect):
                note(f"{device.name} is away: {event.error or event.reason}; attempt {event.attempt} in {event.delay:g} s")
            elif isinstance(event, Reconnected):
                note(f"connected to {device.name} again at {event.address}")

        device.on_event(tell)
        wanted = [device.elements.find(each) for each in arguments.names] or [
            each for each in device.elements if each.is_readable
        ]
        option = "--resume" if positions is not None else "--since" if arguments.since is not None else None
        kept = [each for each in wanted if each.history is not None] if option else []
        if option and not kept:
            raise NotAllowed(f"{device.name} keeps no values of what is watched; leave out {option}, or publish the element"
                             " with ':history 24h'")
        begin = None if arguments.since is None else machine_time() - arguments.since
        streams = [(element, device.values(element)) for element in wanted if element not in kept]
        left = arguments.count
        done = asyncio.Event()

        async def follow(element: Element, stream: Stream[Value]) -> None:
            nonlocal left
            async for value in stream:
                if left is not None:
                    if left <= 0:
                        return
                    left -= 1
                output.value(element, value, stream.time, stream.arrived, **_key(device))
                if left == 0:
                    done.set()
                    return

        async def follow_history(element: Element) -> None:
            nonlocal left
            key = "/".join([*filter(None, _key(device).values()), str(element.id)])
            position = positions.find(key) if positions is not None else None
            async for item in device.history(element, since=begin if position is None else None, position=position):
                if left is not None and left <= 0:
                    return
                if isinstance(item, HistoryGap):
                    output.gap(element, item, **_key(device))
                    continue
                if left is not None:
                    left -= 1
                output.value(element, item.value, item.time, time.time(), item.position, **_key(device))
                if positions is not None and not output.is_gone:
                    positions.note(key, item.position)
                if left == 0:
                    done.set()
                    return

        tasks: List[asyncio.Future[Any]] = [asyncio.ensure_future(follow(*each)) for each in streams]
        tasks += [asyncio.ensure_future(follow_history(each)) for each in kept]
        if positions is not None:
            tasks.append(asyncio.ensure_future(_save(positions)))
        finished: asyncio.Future[Any] = asyncio.ensure_future(done.wait())
        try:
            await asyncio.wait([finished, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            for task in (finished, *tasks):
                task.cancel()
            if positions is not None:
                positions.save()


async def _save(positions: Positions) -> None:
    """Saves them once a second."""
    while True:
        await asyncio.sleep(1)
        await asyncio.get_running_loop().run_in_executor(None, positions.save)


async def _publish(arguments: argparse.Namespace, output: Output) -> None:
    parsed = [parse_element(each) for each in arguments.element]
    service = Service(
        arguments.service,
        [element for element, _ in parsed],
        name=arguments.name,
        port=arguments.port,
        address=arguments.address,
        udp=not arguments.no_udp,
        publish=False if arguments.unlisted else None,
    )
    for element, initial in parsed:
        if initial is not None:
            service.set(element, parse_value(element, initial))

    def changed(element: Element) -> Callable[[Any, Client], None]:
        return lambda value, client: output.value(
            element, value, client.time(element), time.time(), service=service.service, client=client.name
        )

    def client(client: Client, has_come: bool) -> None:
        output.tell(
            f"{printable(client.name)} at {client.address} has {'come' if has_come else 'gone'}",
            "connected" if has_come else "disconnected",
            service=service.service,
            client=client.name,
            address=client.address,
        )

    for element, _ in parsed:
        service.on_value(element, changed(element))
    service.on_client(client)
    async with service:
        output.tell(
            f"{service.service} listens at port {service.port}", "listening", service=service.service, port=service.port
        )
        if service._publishes:
            name = await service.published()
            output.tell(f"published as {printable(name)}", "published", service=service.service, instance=name, port=service.port)
        await _lines(service)
        if arguments.stay:
            await asyncio.get_running_loop().create_future()


async def _lines(service: Service) -> None:
    """NAME=VALUE of standard input, until it ends."""
    loop = asyncio.get_running_loop()
    free = threading.Semaphore(64)  # Lines that were read and not handled yet.
    ended = asyncio.Event()

    def handle(line: str) -> None:
        free.release()
        name, equals, text = line.rstrip("\n").partition("=")
        if not equals:
            if name.strip():
                note(f"{name!r} is not NAME=VALUE")
            return
        try:
            element = service.elements.find(name)
            service.set(element, parse_value(element, text))
        except ElementalError as error:
            note(str(error))

    def read() -> None:
        try:
            for number, line in enumerate(sys.stdin):
                free.acquire()
                # Files from Windows may begin with a byte-order mark.
                loop.call_soon_threadsafe(handle, line if number else line.lstrip("\ufeff"))
            loop.call_soon_threadsafe(ended.set)
        except (RuntimeError, ValueError):
            pass  # The loop has ended.

    threading.Thread(target=read, daemon=True).start()
    await ended.wait()


async def _pair(arguments: argparse.Namespace, output: Output) -> None:
    state = State(arguments.state)

    async def ask(offer: Offer) -> str:
        what = "The six digits" if offer.wants_digits else "The secret"
        prompt = f"{what} that {printable(offer.service)} shows (not displayed while you type): "
        if sys.stdin.isatty():
            return await asyncio.get_running_loop().run_in_executor(None, getpass.getpass, prompt)
        line: str = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        return line.strip()

    pin = await pair(
        arguments.target,
        arguments.code or ask,
        state=state,
        name=arguments.name,
        role=arguments.role,
        timeout=arguments.timeout,
    )
    output.tell(
        f"paired with {printable(pin.service)}, as {pin.role}\n  its fingerprint: {show_fingerprint(pin.fingerprint)}",
        "paired",
        service=pin.service,
        fingerprint=pin.fingerprint,
        role=pin.role,
    )


async def _trust(arguments: argparse.Namespace, output: Output) -> None:
    state = State(arguments.state)
    for pin in state.pins():
        if arguments.forget in (f"{pin.service}/{pin.instance}", pin.fingerprint, pin.service):
            state.forget(pin)
    state.make_identity()
    own = state.fingerprint()
    output.tell(f"this program: {show_fingerprint(own)}", "identity", fingerprint=own, state=str(state.folder))
    for pin in state.pins():
        name = printable(f"{pin.service}/{pin.instance}" if pin.instance else pin.service)
        output.tell(
            f"{name}, as {pin.role}: {show_fingerprint(pin.fingerprint)}",
            "trusted",
            name=name,
            fingerprint=pin.fingerprint,
            role=pin.role,
        )


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    made = argparse.ArgumentParser(
        prog="elemental-py",
        description="Find, read, set, watch and publish devices on the local network.",
        epilog="TARGET is a service's name such as robot, an instance such as robot/Rover, or HOST:PORT. Finding services by"
        " name needs the package zeroconf, pairing the package cryptography.",
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace, Output], Awaitable[None]], about: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        command.set_defaults(run=run)
        command.add_argument("--json", action="store_true", help="one JSON object per line, as `elemental` prints them")
        return command

    def add_client(command: argparse.ArgumentParser) -> None:
        command.add_argument("target", metavar="TARGET")
        command.add_argument("--timeout", type=_seconds, default=5, metavar="SECONDS", help="for each step; 5 by default")
        command.add_argument("--name", help="this client's name")
        command.add_argument("--element", action="append", default=[], metavar="SPEC",
                             help="an element, ID:NAME:TYPE, of a service that tells no catalogue")
        command.add_argument("--security", choices=["automatic", "paired", "open"], default="automatic")
        add_state(command)

    def add_state(command: argparse.ArgumentParser) -> None:
        command.add_argument("--role", choices=["observe", "control", "admin"], default="control")
        command.add_argument("--state", metavar="DIR",
                             help="the folder of this program's key, its paired services and the positions of --resume")

    command = add("browse", _browse, "show services as they come (+) and go (-)")
    command.add_argument("service", nargs="?", metavar="SERVICE", help="only those of this name")
    command.add_argument("--for", dest="duration", type=_seconds, metavar="SECONDS")
    add_client(add("describe", _describe, "show a service's elements and their values"))
    command = add("get", _get, "print values")
    add_client(command)
    command.add_argument("names", nargs="+", metavar="NAME")
    command = add("set", _set, "set values, and wait until the service has handled them")
    add_client(command)
    command.add_argument("values", nargs="+", metavar="NAME=VALUE")
    command = add("watch", _watch, "print values as they arrive")
    add_client(command)
    command.add_argument("names", nargs="*", metavar="NAME")
    command.add_argument("--count", type=_count, metavar="N", help="end after so many values")
    command.add_argument("--since", type=_span, metavar="TIME",
                         help="begin with the values of that time, such as 90s, 10m, 2h or 1d, of elements that the service"
                         " keeps values of")
    command.add_argument("--resume", type=_resume, metavar="NAME",
                         help="go on behind the values that `watch --resume NAME` has printed before; the first time, begin with"
                         " the oldest value that the service keeps, or with --since")
    command.add_argument("--reconnect", action="store_true", help="connect again when the connection breaks")
    command = add("publish", _publish, "publish a service; lines NAME=VALUE on standard input set its elements")
    command.add_argument("service", metavar="SERVICE")
    command.add_argument("--element", action="append", required=True, metavar="SPEC",
                         help="ID:NAME:TYPE[:OPTION…][=INITIAL], as for `elemental publish`")
    command.add_argument("--name", help="the instance's name; the host's by default")
    command.add_argument("--port", type=_count, default=0)
    command.add_argument("--address", help="listen on this local address only")
    command.add_argument("--no-udp", action="store_true")
    command.add_argument("--unlisted", action="store_true", help="do not publish by Zeroconf")
    command.add_argument("--stay", action="store_true", help="serve on when standard input has ended")
    command = add("pair", _pair, "pair with a service, by what it shows")
    command.add_argument("target", metavar="TARGET")
    command.add_argument("--code", help="the digits, which other users of this machine can then see; otherwise it asks")
    command.add_argument("--timeout", type=_seconds, default=5, metavar="SECONDS")
    command.add_argument("--name", help="this client's name")
    add_state(command)
    command = add("trust", _trust, "show this program's fingerprint and the services that it is paired with")
    command.add_argument("--forget", metavar="SERVICE/INSTANCE", help="no longer trust a service")
    add_state(command)
    return made


async def _run(arguments: argparse.Namespace) -> int:
    output = Output(arguments.json)
    task = asyncio.ensure_future(arguments.run(arguments, output))
    loop = asyncio.get_running_loop()
    stopped: List[int] = []
    # What only writes on ends with its reader; what sets something is carried out.
    runs_on = arguments.command in ("browse", "publish") or (arguments.command == "watch" and arguments.count is None)
    if runs_on or arguments.command == "watch":
        output.when_gone = task.cancel
        output.follow_reader()

    def stop(number: int) -> None:
        stopped.append(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop, number)
        except NotImplementedError:  # On Windows Ctrl-C raises KeyboardInterrupt.
            pass
    try:
        await task
    except asyncio.CancelledError:
        if output.is_gone:
            return 0
        if not stopped:
            raise
        # What runs until it is stopped has ended well.
        return 0 if runs_on else 128 + stopped[0]
    except (ElementalError, OSError, ValueError) as error:
        if output.is_json:
            output.tell("", "error", code=_code(error), message=str(error))
        note(f"elemental-py: {error}")
        return 1
    return 0


def _code(error: BaseException) -> str:
    name = type(error).__name__
    return name[0].lower() + name[1:]


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the command and returns its status."""
    for stream, errors in ((sys.stdout, "elemental.escape"), (sys.stderr, "elemental.escape"), (sys.stdin, "surrogateescape")):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=errors)
    parsed = parser().parse_args(arguments)
    try:
        return asyncio.run(_run(parsed))
    except KeyboardInterrupt:
        return 130


