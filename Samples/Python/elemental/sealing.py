"""Datagrams of encrypted connections."""

from __future__ import annotations

import struct
import time
from typing import Optional, Tuple

from .errors import MissingExtra

WINDOW = 960
"""So many counters back a datagram is accepted, once."""
OVERHEAD = 24
"""By how many bytes a sealed datagram is longer."""
ADVANCE = 1 << 40
"""A counter further ahead of the newest than this cannot have been reached."""
BYTES_IN_A_SECOND = 8 * 1024 * 1024
"""So many bytes of forged datagrams are tried in a second."""
COST = 256
"""What trying a datagram costs besides its length, in bytes."""
TRIES_IN_ALL = 1 << 32


class Sealing:
    """Seals and opens the datagrams of one connection."""

    def __init__(
        self,
        client_secret: bytes,
        service_secret: bytes,
        client: bytes,
        service: bytes,
        identifier: int,
        is_service: bool = False,
    ) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives import hashes
            from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF
        except ImportError:
            raise MissingExtra("an encrypted connection", "encryption") from None
        info = b"elemental datagrams 1" + client + service
        both = HKDF(hashes.SHA256(), 64, b"", info).derive(client_secret + service_secret)
        keys = ChaCha20Poly1305(both[:32]), ChaCha20Poly1305(both[32:])
        self._sealer, self._opener = reversed(keys) if is_service else keys
        self._invalid = InvalidTag
        self.identifier = identifier
        self._counter = 0
        self._newest = 0
        self._seen = 0
        self._failures = 0
        self._second = 0
        self._spent = 0

    def seal(self, datagram: bytes) -> bytes:
        """A datagram as it is sent."""
        self._counter += 1
        number = struct.pack("<Q", self._counter)
        header = bytes([0xF4, self.identifier]) + number[:6]
        return header + self._sealer.encrypt(bytes(4) + number, datagram, header)

    def open(self, datagram: bytes) -> Optional[Tuple[bytes, bool]]:
        """What a sealed datagram holds, and whether it is the newest so far. None if it counts for nothing."""
        if len(datagram) < OVERHEAD or datagram[0] != 0xF4 or datagram[1] != self.identifier:
            return None
        counter = int.from_bytes(datagram[2:8], "little")
        behind = self._newest - counter
        if not counter or -behind > ADVANCE or behind >= WINDOW or (behind >= 0 and self._seen >> behind & 1):
            return None
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._spent = second, 0
        if self._spent + len(datagram) + COST > BYTES_IN_A_SECOND or self._failures >= TRIES_IN_ALL:
            return None
        try:
            opened = self._opener.decrypt(bytes(4) + struct.pack("<Q", counter), datagram[8:], datagram[:8])
        except self._invalid:
            self._failures += 1
            self._spent += len(datagram) + COST
            return None
        if behind < 0:
            # Shifted no further than the window is wide, however far the counter has jumped.
            self._seen = (self._seen << -behind | 1) & ((1 << WINDOW) - 1) if -behind < WINDOW else 1
            self._newest = counter
        else:
            self._seen |= 1 << behind
        return opened, behind < 0
