"""The sockets of datagrams."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Callable, Optional, Tuple, cast

MAXIMUM_WAITING = 262_144
"""How many bytes of datagrams may wait for the system; beyond it they are dropped and counted, as the network would."""


def plain_address(address: str) -> str:
    """An address as it is compared: of an IPv4 one within IPv6 the IPv4 one, without a zone."""
    address = address.partition("%")[0]
    return address[7:] if address.startswith("::ffff:") and "." in address else address


class DatagramSocket(asyncio.DatagramProtocol):
    """A UDP socket that hands over what it receives, and never lets more wait than it may."""

    def __init__(self, received: Callable[[bytes, Tuple[Any, ...]], None]) -> None:
        self._received = received
        self._transport: Optional[asyncio.DatagramTransport] = None
        self.port = 0

    @classmethod
    async def open(cls, sock: socket.socket, received: Callable[[bytes, Tuple[Any, ...]], None]) -> DatagramSocket:
        """Takes over a bound socket."""
        sock.setblocking(False)
        _, made = await asyncio.get_running_loop().create_datagram_endpoint(lambda: cls(received), sock=sock)
        return made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: Tuple[Any, ...]) -> None:
        self._received(data, addr)

    def error_received(self, exc: Exception) -> None:
        """An earlier datagram was not taken by anybody, which the TCP connection tells better."""

    def send(self, data: bytes, address: Optional[Tuple[Any, ...]] = None) -> bool:
        """Sends a datagram. False if it was dropped, because too many wait."""
        transport: Any = self._transport
        if transport is None or transport.is_closing() or transport.get_write_buffer_size() > MAXIMUM_WAITING:
            return False
        transport.sendto(data, address)
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def client_socket(tcp: socket.socket) -> socket.socket:
    """A UDP socket between the addresses of a TCP connection, so that only its service reaches it.

    Raises OSError.
    """
    made = socket.socket(tcp.family, socket.SOCK_DGRAM)
    try:
        own, peer = tcp.getsockname(), tcp.getpeername()
        made.bind((own[0], 0, *own[2:]))
        made.connect(peer)
    except OSError:
        made.close()
        raise
    return made
