"""A chat client of the tests on pysignalr. Prints "open" and "USER: MESSAGE"; sends each line of its input."""

import asyncio
import sys

from pysignalr.client import SignalRClient


async def main() -> None:
    client = SignalRClient(sys.argv[1])

    async def opened() -> None:
        print("open", flush=True)

    async def message(arguments) -> None:
        print(f"{arguments[0]}: {arguments[1]}", flush=True)

    client.on_open(opened)
    client.on("AddMessage", message)
    running = asyncio.create_task(client.run())
    while line := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
        await client.send("Say", ["pysignalr", line.rstrip("\n")])
    running.cancel()


asyncio.run(main())
