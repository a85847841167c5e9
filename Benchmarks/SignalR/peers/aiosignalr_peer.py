"""aiosignalr's client as a contender: URL json|messagepack roundtrip|send|receive COUNT."""

import asyncio
import sys
import time

from aiosignalr.client import HubConnection

from run import Run


async def main(url: str, protocol: str, measure: str, count: int) -> None:
    connection = HubConnection(protocol=protocol)
    arrived = 0
    all_arrived = asyncio.Event()

    def number(_: int) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == count:
            all_arrived.set()

    connection.on("Number", number)
    await connection.start(url)
    if measure == "roundtrip":
        for index in range(200):
            await connection.invoke("Echo", index)
        times = []
        run = Run()
        for index in range(count):
            start = time.perf_counter()
            same = await connection.invoke("Echo", index)
            times.append(time.perf_counter() - start)
            assert same == index
        run.finish(times)
    elif measure == "send":
        run = Run()
        for index in range(count):
            await connection.send("Take", index)
        assert await connection.invoke("Taken") == count
        run.finish()
    else:
        run = Run()
        await connection.send("Flood", count)
        await all_arrived.wait()
        run.finish()
    await connection.stop()


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
