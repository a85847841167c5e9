"""A chat client of the tests on signalrcore. Prints "open" and "USER: MESSAGE"; sends each line of its input.

Behind the address may stand the hub's method and the client's, which are "Say" and "AddMessage" otherwise.
"""

import sys

from signalrcore.hub_connection_builder import HubConnectionBuilder

say, heard = sys.argv[2:4] or ("Say", "AddMessage")
connection = HubConnectionBuilder().with_url(sys.argv[1]).build()
connection.on(heard, lambda arguments: print(f"{arguments[0]}: {arguments[1]}", flush=True))
connection.on_open(lambda: print("open", flush=True))
connection.start()
for line in sys.stdin:
    connection.send(say, ["signalrcore", line.rstrip("\n")])
connection.stop()
