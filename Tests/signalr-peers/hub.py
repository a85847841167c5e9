"""A hub for the tests, on aiosignalr, which nobody of this project wrote.

Prints "listening PORT" when it is ready. Its methods have return annotations where they answer: aiosignalr sends no
result otherwise.
"""

import argparse
import asyncio
import ssl

from aiohttp import web
from aiosignalr.errors import HubException
from aiosignalr.server import Hub, IncomingStream, ServerOptions, SignalRServer

left = {"streams": 0}


class TestHub(Hub):
    async def add(self, a: int, b: int) -> int:
        return a + b

    async def echo(self, value: object) -> object:
        return value

    async def nothing(self) -> None:
        pass

    async def refuse(self, why: str) -> int:
        raise HubException(why)

    async def header(self, name: str) -> str:
        return self.context.http_headers.get(name.lower(), "")

    async def slow(self) -> int:
        """Never answers."""
        await asyncio.Event().wait()
        return 0

    async def counter(self, count: int):
        for number in range(count):
            yield number

    async def endless(self):
        try:
            number = 0
            while True:
                yield number
                number += 1
                await asyncio.sleep(0.001)
        finally:
            left["streams"] += 1

    async def streams_left(self) -> int:
        return left["streams"]

    async def failing(self, count: int):
        for number in range(count):
            yield number
        raise HubException("Ran out of data!")

    async def total(self, start: int, numbers: IncomingStream) -> int:
        async for number in numbers:
            start += number
        return start

    async def say(self, user: str, message: str) -> None:
        await self.clients.all_.send("AddMessage", user, message)

    async def broadcast(self, name: str, text: str) -> None:
        """What the chat program of a Commodore calls, and what it waits for."""
        await self.clients.all_.send("NewMessage", name, text)

    async def tell(self, method: str, value: object) -> None:
        """Calls a method of the other clients, such as a bridge."""
        await self.clients.others.send(method, value)

    async def flood(self, count: int) -> None:
        for number in range(count):
            await self.clients.caller.send("Number", number)

    async def ask(self, question: str) -> object:
        try:
            return await self.clients.caller.invoke("Answer", question)
        except HubException as error:
            return f"refused: {error}"

    async def hang_up(self) -> None:
        """Ends the connection in good order."""
        await self.context.close()

    async def break_off(self) -> None:
        """Breaks the connection's socket, which the server did not mean to."""
        connection = server.get_connection(self.context.connection_id)
        connection._transport._socket._ws._req.transport.abort()


def relay(method: str):
    """A method of the hub that calls the other clients' of that name: what a bridge tells."""

    async def call(self, value: object) -> None:
        await self.clients.others.send(method, value)

    return call


for method in ["Speed", "Level", "LeftArm"] + [
    "V" + name
    for name in "Int8 Uint8 Int16 Uint16 Int32 Uint32 Int64 Uint64 Float Double String Data Bool".split()
    + ["Float2", "Float3", "Float4", "Float4x4"]
]:
    setattr(TestHub, method.lower(), relay(method))


async def main() -> None:
    global server
    parser = argparse.ArgumentParser()
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    context = None
    if arguments.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.certificate, arguments.key)
    server = SignalRServer(
        TestHub,
        options=ServerOptions(
            maximum_receive_message_size=8 << 20, allow_stateful_reconnects=True, maximum_parallel_invocations=8
        ),
    )
    application = server.create_application(path="/hub")
    application._client_max_size = 8 << 20
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, arguments.address, arguments.port, ssl_context=context)
    await site.start()
    print("listening", runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
