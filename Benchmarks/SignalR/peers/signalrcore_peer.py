"""signalrcore's client as a contender: URL json|messagepack roundtrip|send|receive COUNT.

It asks for an answer to each message; others can leave that out when they send.
"""

import os
import sys
import threading
import time

from signalrcore.hub_connection_builder import HubConnectionBuilder
from signalrcore.types import HubProtocolEncoding

from run import Run


def main(url: str, protocol: str, measure: str, count: int) -> None:
    builder = HubConnectionBuilder().with_url(url)
    if protocol == "messagepack":
        builder = builder.with_hub_protocol(HubProtocolEncoding.binary)
    connection = builder.build()
    opened, all_arrived = threading.Event(), threading.Event()
    arrived = 0

    def number(_) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == count:
            all_arrived.set()

    connection.on("Number", number)
    connection.on_open(opened.set)
    connection.start()
    if not opened.wait(20):
        raise SystemExit("it did not connect")

    answers = []
    answered = threading.Event()

    def answer(message) -> None:
        answers.append(message.result)
        answered.set()

    def invoke(method: str, *arguments):
        answers.clear()
        answered.clear()
        connection.invoke(method, list(arguments), on_invocation=answer)
        if not answered.wait(15):
            raise SystemExit(f"{method} was not answered")
        return answers[0]

    if measure == "roundtrip":
        for index in range(200):
            invoke("Echo", index)
        times = []
        run = Run()
        for index in range(count):
            start = time.perf_counter()
            same = invoke("Echo", index)
            times.append(time.perf_counter() - start)
            assert same == index
        run.finish(times)
    elif measure == "send":
        run = Run()
        for index in range(count):
            connection.invoke("Take", [index])
        assert invoke("Taken") == count
        run.finish()
    else:
        run = Run()
        connection.invoke("Flood", [count])
        if not all_arrived.wait(15):
            raise SystemExit(f"{arrived} of {count} came")
        run.finish()
    # Stopping waits for its keep-alive of 15 s.
    os._exit(0)


main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
