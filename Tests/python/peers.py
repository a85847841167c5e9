"""What the scenarios share: blocking calls of the bed, peers that speak bytes, and a loop whose time a test steers."""

import asyncio
import contextlib
import math
import struct

import elemental.client_session
from elemental.client import Device
from elemental.service import Client
from waits import Failure, Log, check, patience
from waits import until_async as until  # noqa: F401

UDP_IDENTIFIER, NAME, SHUTDOWN, HELLO, CATALOGUE, PING, PONG, PIECE, TAKEN, REFUSED = range(-1, -11, -1)
REFUSED = -11


async def beside(call, *arguments, **named):
    """A call that blocks, in a thread."""
    return await asyncio.to_thread(call, *arguments, **named)


# The limits that the package has by default are for people. The tests have more patience.
for each in (Device.get, Device.set, Device.ping, Client.ping):
    each.__defaults__ = (*each.__defaults__[:-1], patience())
for each in (elemental.connect, elemental.pair):
    each.__kwdefaults__["timeout"] = patience()
# How long a client waits for a hello before it takes a service for an older one.
elemental.client_session.OLDER_SERVICE_DELAY = patience()


async def turns(count=20):
    """Lets the loop do what it can do at once."""
    for _ in range(count):
        await asyncio.sleep(0)


class SteeredLoop(asyncio.SelectorEventLoop):
    """A loop whose time stands still until a test puts it forward. Sockets are real."""

    _now = 0.0

    def time(self):
        return self._now

    async def advance(self, seconds):
        """Puts the time forward, and does what is due then."""
        self._now += seconds
        await turns()

    @classmethod
    async def run(cls, body):
        """Runs `body(loop)` in such a loop, in a thread of its own."""
        def run():
            loop = cls()
            try:
                return loop.run_until_complete(body(loop))
            finally:
                loop.close()
        return await beside(run)


def same(a, b):
    """Whether two values are equal, NaN to itself."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(same(*each) for each in zip(a, b))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return a == b and type(a) is type(b)


async def raises(kind, awaitable):
    """Awaits what has to raise this kind of error, and returns it."""
    try:
        await awaitable
    except kind as error:
        return error
    raise Failure(f"no {kind.__name__}")


def frame(id, value=b""):
    return struct.pack("<bI", id, len(value)) + value


def hello(features=0b111111, port=0, version=1):
    return frame(HELLO, struct.pack("<BIH", version, features, port))


def piece(id, total, offset, data):
    return frame(PIECE, struct.pack("<bII", id, total, offset) + data)


class Raw:
    """A connection that is written and read as bytes. A frame is read when a wait needs it, and those that a wait passes over
    are kept for later ones."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.log = Log(f"raw {writer.get_extra_info('sockname')[1]}", lambda frame: f"{frame[0]} {frame[1][:64].hex()}")

    @classmethod
    async def connect(cls, port, limit=65536):
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=limit))

    def send(self, *parts):
        self.writer.write(b"".join(parts))

    async def frame(self, matches=lambda frame: True):
        """Takes the first frame that matches: identifier and value. None if the connection ends before."""
        while not (found := self.log.take(matches)):
            try:
                self.log.add(await self._next())
            except (asyncio.IncompleteReadError, ConnectionError):
                return None
            except asyncio.TimeoutError:
                raise Failure(f"{self.log.name}: no such frame within {patience():g} s") from None
        return found[0]

    async def _next(self):
        if not isinstance(asyncio.get_running_loop(), SteeredLoop):
            return await asyncio.wait_for(self._read(), patience())
        # A steered time is not for the test's own waits.
        reading = asyncio.ensure_future(self._read())
        try:
            await until(reading.done, f"{self.log.name}: such a frame")
            return reading.result()
        finally:
            reading.cancel()

    async def _read(self):
        id, length = struct.unpack("<bI", await self.reader.readexactly(5))
        return id, await self.reader.readexactly(length)

    async def until(self, id):
        """Takes the first frame with this identifier and returns its value."""
        found = await self.frame(lambda frame: frame[0] == id)
        if found is None:
            raise Failure(f"the connection ended before the frame {id}")
        return found[1]

    async def ended(self):
        """Reads to the end; returns the reason of the shutdown, if there was one."""
        reason = None
        while (found := await self.frame()) is not None:
            if found[0] == SHUTDOWN:
                reason = found[1].decode()
        return reason

    def close(self):
        self.writer.close()


@contextlib.asynccontextmanager
async def raw_service(serve):
    """A service that is a function of its connections. Gives its port."""
    tasks = set()

    async def accepted(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            await serve(Raw(reader, writer))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(accepted, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
