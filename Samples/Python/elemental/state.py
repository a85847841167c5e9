"""This program's key, and the services with which it is paired, in a folder that nobody else may read."""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import json
import os
import ssl
import stat
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, Union

from .errors import MissingExtra, SecurityError

if TYPE_CHECKING:
    from .discovery import Place

ROLES = ("observe", "control", "admin")
"""What a client may do, from the least; on the wire they count from 1."""


@dataclass(frozen=True)
class Pin:
    """A service with which this program is paired."""

    service: str
    instance: str
    """Empty if it was paired by its host and port."""
    fingerprint: str
    """The SHA-256 of its public key, in hexadecimal digits."""
    role: str
    hosts: Tuple[str, ...] = ()
    """Where it was paired: a host and port that name one of these are spoken to in TLS only."""


def show_fingerprint(fingerprint: Union[bytes, str]) -> str:
    """A fingerprint as `elemental trust` shows it: base32 in groups of four."""
    data = bytes.fromhex(fingerprint) if isinstance(fingerprint, str) else fingerprint
    digits = base64.b32encode(data).decode().lower().rstrip("=")
    return "-".join(digits[place : place + 4] for place in range(0, len(digits), 4))


def is_same_name(one: str, other: str) -> bool:
    """Whether both name the same service or instance: as DNS compares them, ASCII letters without case."""
    return one.encode().lower() == other.encode().lower()


def short_fingerprint(fingerprint: str) -> str:
    """The 16 characters that a service publishes."""
    return show_fingerprint(fingerprint).replace("-", "")[:16]


def default_folder() -> Path:
    """$ELEMENTAL_PYTHON_STATE, else elemental-python in the user's folder of states.

    It is not the folder of the Swift programs: each has a key of its own, and is paired for itself.
    """
    named = os.environ.get("ELEMENTAL_PYTHON_STATE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "elemental-python"


class State:
    """A folder with `identity.pem`, `trusted.json` and the positions of `watch --resume`.

    A file that is damaged, or that others can read, is an error that names it: nothing is made anew in its place. Needs the
    extra "encryption" as soon as there is something to encrypt.
    """

    def __init__(self, folder: Union[str, Path, None] = None) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()

    # The key.

    @property
    def identity_file(self) -> Path:
        return self.folder / "identity.pem"

    @property
    def trust_file(self) -> Path:
        return self.folder / "trusted.json"

    def make_identity(self) -> None:
        """Makes the key and a certificate of it, unless they are there."""
        if self.identity_file.exists():
            return
        if self.trust_file.exists():
            raise SecurityError(f"{self.identity_file} is missing, though {self.trust_file} is there; remove both to begin anew")
        x509, hashes, serialization, ec = _cryptography()
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "elemental")])
        certificate = (
            x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
            # Dates count for nothing, and a Pi has no clock.
            .not_valid_before(datetime.datetime(1970, 1, 1))
            .not_valid_after(datetime.datetime(9999, 12, 31))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        content = key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ) + certificate.public_bytes(pem)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._write(self.identity_file, content, is_new=True)

    def fingerprint(self) -> str:
        """This program's own, in hexadecimal digits. Raises SecurityError."""
        self._check(self.identity_file)
        try:
            pem = self.identity_file.read_text()
            certificate = ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE") :].strip())
            return fingerprint_of(certificate).hex()
        except (OSError, ValueError) as error:
            raise SecurityError(f"{self.identity_file} cannot be read: {error}") from None

    def context(self) -> ssl.SSLContext:
        """TLS as the wire has it, with this program's key. Raises SecurityError or MissingExtra."""
        _cryptography()
        self._check(self.identity_file)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.set_alpn_protocols(["elemental/1"])
        # Names and dates of certificates count for nothing: the key is compared, before anything is said.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        try:
            context.load_cert_chain(self.identity_file)
        except (OSError, ssl.SSLError) as error:
            raise SecurityError(f"{self.identity_file} cannot be used: {error}") from None
        return context

    # Trust.

    def pins(self) -> List[Pin]:
        """The paired services. Raises SecurityError if the file is damaged, or others can change it."""
        if not self.trust_file.exists():
            return []
        self._check(self.trust_file)
        try:
            content = self.trust_file.read_bytes()
            if len(content) > 1 << 20:
                raise ValueError("it is longer than 1 MiB")
            listed: List[Dict[str, Any]] = json.loads(content)["services"]
            pins = [Pin(**{**each, "hosts": tuple(each.get("hosts", ()))}) for each in listed]
            for pin in pins:
                if len(bytes.fromhex(pin.fingerprint)) != 32 or pin.role not in ROLES or not pin.service:
                    raise ValueError("an entry is damaged")
            return pins
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise SecurityError(f"{self.trust_file} is damaged: {error}; remove it to pair anew") from None

    def matching(self, place: Place) -> List[Pin]:
        """The pins of which one has to be proven at a place: none means that it is not paired."""
        pins = self.pins()
        if place.service is None:
            hosts = {each[0] for each in place.addresses} | {place.host}
            return [each for each in pins if hosts & set(each.hosts)]
        same = [each for each in pins if is_same_name(each.service, place.service)]
        named = [each for each in same if each.instance and place.instance and is_same_name(each.instance, place.instance)]
        if named:
            return named
        told = [each for each in same if place.short_id and short_fingerprint(each.fingerprint) == place.short_id]
        hosts = {each[0] for each in place.addresses}
        return told or [each for each in same if not each.instance and hosts & set(each.hosts)]

    def trust(self, pin: Pin) -> None:
        """Pins a service. One of the same name, or the same key, makes way."""
        with self._locked():
            others = [
                each
                for each in self.pins()
                if not (
                    is_same_name(each.service, pin.service)
                    and (each.fingerprint == pin.fingerprint or (each.instance and is_same_name(each.instance, pin.instance)))
                )
            ]
            self._save([*others, pin])

    def forget(self, pin: Pin) -> None:
        """No longer trusts a service."""
        with self._locked():
            self._save([each for each in self.pins() if each != pin])

    def _save(self, pins: List[Pin]) -> None:
        content = json.dumps({"services": [asdict(each) for each in pins]}, indent=1).encode()
        self._write(self.trust_file, content)

    # Files.

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            import fcntl
        except ImportError:  # Not on Windows: there the last writer wins.
            yield
            return
        descriptor = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @staticmethod
    def _check(path: Path) -> None:
        try:
            found = os.lstat(path)
        except OSError as error:
            raise SecurityError(f"{path} cannot be read: {error.strerror}; pair first") from None
        if not stat.S_ISREG(found.st_mode):
            raise SecurityError(f"{path} is not a file of its own")
        if os.name == "posix" and (found.st_mode & 0o077 or found.st_uid != os.geteuid()):
            raise SecurityError(f"{path} can be reached by others; it has to be yours alone: chmod 600 '{path}'")

    def _write(self, path: Path, content: bytes, is_new: bool = False) -> None:
        """Writes a file as a whole, or not at all."""
        try:
            descriptor, temporary = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                if is_new:
                    os.link(temporary, path)
                else:
                    os.replace(temporary, path)
                    temporary = ""
            finally:
                if temporary:
                    os.unlink(temporary)
        except OSError as error:
            raise SecurityError(f"{path} cannot be written: {error.strerror}") from error


def fingerprint_of(certificate: bytes) -> bytes:
    """The SHA-256 of the public key of a certificate, of DER. Raises SecurityError for a kind of key that is not taken."""
    x509, _, serialization, ec = _cryptography()
    from cryptography.hazmat.primitives.asymmetric import ed25519

    try:
        key = x509.load_der_x509_certificate(certificate).public_key()
    except ValueError as error:
        raise SecurityError(f"the certificate cannot be read: {error}") from None
    is_p256 = isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name == "secp256r1"
    if not is_p256 and not isinstance(key, ed25519.Ed25519PublicKey):
        raise SecurityError("the other end's key is neither of Ed25519 nor of P-256")
    return hashlib.sha256(
        key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    ).digest()


def proven_fingerprint(connection: Optional[ssl.SSLObject]) -> bytes:
    """The fingerprint that the other end of a TLS connection has proven. Raises SecurityError."""
    if connection is None or connection.version() != "TLSv1.3" or connection.selected_alpn_protocol() != "elemental/1":
        raise SecurityError("the other end does not speak 'elemental/1' over TLS 1.3")
    certificate = connection.getpeercert(binary_form=True)
    if not certificate:
        raise SecurityError("the other end has no certificate")
    return fingerprint_of(certificate)


def _cryptography() -> Tuple[Any, Any, Any, Any]:
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError:
        raise MissingExtra("an encrypted connection", "encryption") from None
    return x509, hashes, serialization, ec
