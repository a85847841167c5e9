"""A chat client of the tests on signalrcore. Prints "open" and "USER: MESSAGE"; sends each line of its input."""

import sys

from signalrcore.hub_connection_builder import HubConnectionBuilder

connection = HubConnectionBuilder().with_url(sys.argv[1]).build()
connection.on("AddMessage", lambda arguments: print(f"{arguments[0]}: {arguments[1]}", flush=True))
connection.on_open(lambda: print("open", flush=True))
connection.start()
for line in sys.stdin:
    connection.send("Say", ["signalrcore", line.rstrip("\n")])
connection.stop()
