"""What the scenarios share: waiting, blocking calls of the bed, and peers that speak bytes."""

import asyncio
import contextlib
import math
import struct
import time

from processes import Failure

UDP_IDENTIFIER, NAME, SHUTDOWN, HELLO, CATALOGUE, PING, PONG, PIECE, TAKEN, REFUSED = range(-1, -11, -1)
REFUSED = -11


async def until(check, what, seconds=20.0):
    """Asks again and again until `check` returns something true, which is returned."""
    deadline = time.monotonic() + seconds
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > deadline:
            raise Failure(f"not within {seconds:g} s: {what}")
        await asyncio.sleep(0.01)


async def beside(call, *arguments, **named):
    """A call that blocks, in a thread."""
    return await asyncio.to_thread(call, *arguments, **named)


def check(condition, what):
    if not condition:
        raise Failure(what)


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
    """A connection that is written and read as bytes."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, port, limit=65536):
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=limit))

    def send(self, *parts):
        self.writer.write(b"".join(parts))

    async def frame(self, seconds=10):
        """The next frame: identifier and value. None at the end."""
        async def read():
            id, length = struct.unpack("<bI", await self.reader.readexactly(5))
            return id, await self.reader.readexactly(length)
        try:
            return await asyncio.wait_for(read(), seconds)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def until(self, id, seconds=10):
        """The value of the next frame with this identifier."""
        while True:
            found = await self.frame(seconds)
            if found is None:
                raise Failure(f"the connection ended before the frame {id}")
            if found[0] == id:
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
