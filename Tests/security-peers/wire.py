"""What both ends of an encrypted connection say, from the page Wire.md: frames, identities, TLS by Python's ssl, and
sealed datagrams by the package cryptography."""

import datetime
import hashlib
import json
import os
import ssl
import struct

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import NameOID

CONNECT, PAIR, OFFER, INITIATION, RESPONSE, CONFIRMATION, GRANTED, REFUSED = 1, 2, 3, 4, 5, 6, 7, 255
IDENTIFIER, NAME, SHUTDOWN, HELLO, CATALOGUE, ADMISSION, SECRET = -1, -2, -3, -4, -5, -13, -14
PING, PONG = -6, -7
CODE = 1


def say(event, **members):
    print(json.dumps({"event": event, **members}), flush=True)


# Identities.


def make_identity(path, kind="ed25519"):
    """Writes a key and a certificate of it into a file, whose dates are long past. Returns the fingerprint."""
    key = {
        "ed25519": ed25519.Ed25519PrivateKey.generate,
        "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
    }[kind]()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime.datetime(1999, 1, 1))
        .not_valid_after(datetime.datetime(2001, 1, 1))
        .sign(key, None if kind == "ed25519" else hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    with open(path, "wb") as file:
        file.write(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
            + certificate.public_bytes(pem)
        )
    return fingerprint(certificate.public_bytes(serialization.Encoding.DER))


def fingerprint(certificate):
    public_key = x509.load_der_x509_certificate(certificate).public_key()
    return hashlib.sha256(
        public_key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    ).digest()


def context(side, identity, peers=None):
    """TLS 1.3 with an identity. A service's ssl asks for certificates only of clients that are known: peers has theirs."""
    context = ssl.SSLContext(side)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["elemental/1"])
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE if peers is None else ssl.CERT_REQUIRED
    if peers is not None:
        context.load_verify_locations(peers)
    context.load_cert_chain(identity)
    return context


# Frames.


def text(string):
    return bytes([len(string.encode())]) + string.encode()


def frame(id, value=b""):
    return struct.pack("<bI", id, len(value)) + value


def admission(message, *fields):
    return frame(ADMISSION, bytes([1, message]) + b"".join(fields))


class Fields:
    """Reads a value from its beginning."""

    def __init__(self, value):
        self.value = value

    def take(self, count):
        assert len(self.value) >= count, "too short"
        taken, self.value = self.value[:count], self.value[count:]
        return taken

    def byte(self):
        return self.take(1)[0]

    def text(self):
        return self.take(self.byte()).decode()


class Ended(Exception):
    """The other end refused, or has closed the connection."""


class Connection:
    """A TLS connection that is read frame by frame."""

    def __init__(self, tls):
        self.tls = tls
        self.received = b""

    def send(self, *frames):
        self.tls.sendall(b"".join(frames))

    def next_is_there(self):
        return len(self.received) >= 5 and len(self.received) >= 5 + struct.unpack_from("<bI", self.received)[1]

    def next(self):
        """A frame that is there."""
        if not self.next_is_there():
            return None
        id, length = struct.unpack_from("<bI", self.received)
        value, self.received = self.received[5 : 5 + length], self.received[5 + length :]
        return id, value

    def read(self):
        """Takes what has arrived. False at the end."""
        data = self.tls.recv(65536)
        self.received += data
        return bool(data)

    def frame(self):
        while True:
            if found := self.next():
                return found
            if not self.read():
                raise Ended("closed")

    def admission(self, *wanted):
        """The next message of admission, its fields."""
        id, value = self.frame()
        assert id == ADMISSION, f"frame {id} before admission"
        fields = Fields(value)
        assert fields.byte() == 1, "another version"
        message = fields.byte()
        if message == REFUSED and REFUSED not in wanted:
            raise Ended(f"refused: {fields.byte()}, {fields.text()}")
        assert message in wanted, f"message {message}"
        return message, fields


class Datagrams:
    """Seals and opens the datagrams of one connection."""

    def __init__(self, client_secret, service_secret, client, service, identifier, is_service):
        info = b"elemental datagrams 1" + client + service
        both = HKDF(hashes.SHA256(), 64, b"", info).derive(client_secret + service_secret)
        keys = [ChaCha20Poly1305(both[:32]), ChaCha20Poly1305(both[32:])]
        self.sealer, self.opener = reversed(keys) if is_service else keys
        self.identifier = identifier
        self.counter = 0

    def seal(self, id, value):
        self.counter += 1
        header = bytes([0xF4, self.identifier]) + struct.pack("<Q", self.counter)[:6]
        inner = struct.pack("<bIB", id, len(value), self.identifier) + value
        return header + self.sealer.encrypt(bytes(4) + struct.pack("<Q", self.counter), inner, header)

    def open(self, datagram):
        """The values in a datagram."""
        header = datagram[:8]
        assert header[0] == 0xF4 and header[1] == self.identifier, "not a sealed datagram of this connection"
        inner = self.opener.decrypt(bytes(4) + header[2:] + bytes(2), datagram[8:], header)
        values = []
        while inner:
            id, length, identifier = struct.unpack_from("<bIB", inner)
            assert identifier == self.identifier, "another identifier inside"
            values.append((id, inner[6 : 6 + length]))
            inner = inner[6 + length :]
        return values


def hello(features, port):
    return frame(HELLO, struct.pack("<BIH", 1, features, port))


def secret():
    return os.urandom(32)
