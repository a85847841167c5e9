"""Reads MessagePack values in hexadecimal digits, a line each, and says them again by msgpack.

A line is answered with the value's Python form, a tab, and its MessagePack as msgpack writes it.
"""

import sys

import msgpack

for line in sys.stdin:
    value = msgpack.unpackb(bytes.fromhex(line), strict_map_key=False)
    print(f"{value!r}\t{msgpack.packb(value).hex()}", flush=True)
