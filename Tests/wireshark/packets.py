"""Captures for the tests: written here packet by packet, or of what passes an interface."""

import os
import socket
import struct
import threading
import time

ETHERNET = 1
HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, ETHERNET)
# What is sent through the kernel to say that all before it has been captured.
MARK = b"the capture ends here"


def frame(id, value=b""):
    return struct.pack("<bI", id, len(value)) + value


def datagram(identifier, *messages):
    return b"".join(struct.pack("<bIB", id, len(value), identifier) + value for id, value in messages)


def hello(features=0x3F, port=0):
    return frame(-4, struct.pack("<BIH", 1, features, port))


def text(string):
    string = string.encode() if isinstance(string, str) else string
    return bytes([len(string)]) + string


def entry(id, type, name, unit="", flags=0b1100, more=b""):
    """An element of a catalogue; `more` has its range, step, choices and extensions."""
    rest = struct.pack("<bBB", id, type, flags) + text(name) + text(unit) + more
    return struct.pack("<H", len(rest)) + rest


def component_range(lower, upper):
    """The extension with a vector's range."""
    return struct.pack("<BBdd", 1, 16, lower, upper)


def catalogue(*entries):
    return frame(-5, bytes([1, len(entries)]) + b"".join(entries))


class Written:
    """A capture that a test writes: `with Written(path) as capture:`."""

    def __init__(self, path):
        self.path = path
        self.time = 1_700_000_000.0
        self.count = 0
        self.cut = None

    def __enter__(self):
        self.file = open(self.path, "wb")
        self.file.write(HEADER)
        return self

    def __exit__(self, *_):
        self.file.close()

    def packet(self, protocol, source, destination, rest):
        """Writes a packet, of which `cut` bytes were captured."""
        address = lambda end: socket.inet_aton(end[0])
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(rest), 0, 0, 64, protocol, 0) + address(source) + address(destination)
        whole = b"\0" * 12 + b"\x08\x00" + header + rest
        self.time += 0.001
        self.count += 1
        kept = whole[:self.cut]
        self.file.write(struct.pack("<IIII", int(self.time), int(self.time % 1 * 1e6), len(kept), len(whole)) + kept)

    def datagram(self, source, destination, value):
        self.packet(17, source, destination, struct.pack("!HHHH", source[1], destination[1], 8 + len(value), 0) + value)

    def connection(self, client, service, handshake=True):
        return Connection(self, client, service, handshake)


class Connection:
    """A TCP connection in a written capture."""

    def __init__(self, capture, client, service, handshake):
        self.capture, self.ends, self.numbers = capture, (client, service), [1000, 5000]
        if handshake:
            self.segment(0, b"", 0x02)
            self.numbers[0] += 1
            self.segment(1, b"", 0x12)
            self.numbers[1] += 1
            self.segment(0, b"", 0x10)

    def segment(self, side, value, flags=0x18):
        source, destination = self.ends[side], self.ends[1 - side]
        header = struct.pack("!HHIIBBHHH", source[1], destination[1], self.numbers[side], self.numbers[1 - side], 0x50, flags, 65535, 0, 0)
        self.capture.packet(6, source, destination, header + value)
        self.numbers[side] = (self.numbers[side] + len(value)) % 2**32

    def client(self, *frames, size=32768):
        self._send(0, b"".join(frames), size)

    def service(self, *frames, size=32768):
        self._send(1, b"".join(frames), size)

    def _send(self, side, value, size):
        for start in range(0, len(value), size):
            self.segment(side, value[start:start + size])

    def begin(self, *catalogue, identifier=1, features=0x3F, port=0):
        """A connection's first frames."""
        self.service(frame(-1, bytes([identifier])))
        self.client(frame(-2, b"test"), hello(features, port))
        self.service(hello(), *catalogue)


class Live:
    """Captures what leaves through loopback: `with Live(path) as capture:`. Needs root, and a namespace of its own."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self.packets.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE
        self.packets.bind(("lo", 0))
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.thread.start()
        return self

    def _write(self):
        with open(self.path, "wb") as file:
            file.write(HEADER)
            while True:
                packet, source = self.packets.recvfrom(0x40000)
                # On loopback each packet comes twice, as it leaves and as it arrives.
                if source[2] != socket.PACKET_OUTGOING:
                    continue
                if packet.endswith(MARK):
                    return
                now = time.time()
                file.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(packet), len(packet)) + packet)

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as marker:
            marker.sendto(MARK, ("127.0.0.1", 9))
        self.thread.join()
        lost = struct.unpack("II", self.packets.getsockopt(263, 6, 8))[1]  # PACKET_STATISTICS
        self.packets.close()
        if lost:
            raise RuntimeError(f"the kernel dropped {lost} packets of the capture")
