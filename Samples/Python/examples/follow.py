"""Follows what `publish_pi.py`, or any service, has: `python examples/follow.py machine`, or HOST:PORT."""

import asyncio
import sys

from elemental import Reconnection, connect


async def main(target: str) -> None:
    async with connect(target, reconnect=Reconnection(forever=True)) as device:
        print("connected to", device.name, "at", device.address[0])
        device.on_event(print)

        async def follow(name: str) -> None:
            async for value in device.values(name):
                print(name, "is", value, device.elements.find(name).unit, flush=True)

        await asyncio.gather(*(follow(element.name) for element in device.elements if element.is_readable))


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "machine"))
