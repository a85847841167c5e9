"""The hub that all contenders use, on aiosignalr. Prints "listening PORT" when it is ready."""

import asyncio

from aiohttp import web
from aiosignalr.server import Hub, ServerOptions, SignalRServer

taken: dict[str, int] = {}


class BenchHub(Hub):
    async def echo(self, value: object) -> object:
        return value

    async def take(self, value: object) -> None:
        taken[self.context.connection_id] = taken.get(self.context.connection_id, 0) + 1

    async def taken(self) -> int:
        return taken.pop(self.context.connection_id, 0)

    async def flood(self, count: int) -> None:
        for number in range(count):
            await self.clients.caller.send("Number", number)


async def main() -> None:
    # One invocation after the other, as ASP.NET Core has it: "taken" comes behind what was sent before it.
    server = SignalRServer(BenchHub, options=ServerOptions(maximum_parallel_invocations=1))
    runner = web.AppRunner(server.create_application(path="/hub"), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print("listening", runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
