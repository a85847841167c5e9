"""Services on the network, by the package `zeroconf`, and the ways to name one."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, List, Optional, Sequence, Tuple

from .errors import (
    AmbiguousService,
    DiscoveryError,
    ElementalError,
    InvalidElement,
    MissingExtra,
    NotPaired,
    ServiceNotFound,
)

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

COMMON_TYPE = "_elemental._tcp.local."
MAXIMUM_SERVICES = 256
"""How many services a browser follows; anybody can publish any number."""
TAKEN_DELAY = 1.5
"""How long another service of the name is looked for before one is published, in seconds."""
OTHERS_DELAY = 0.5
"""How long others of the same name are waited for, once one is found, in seconds."""


@dataclass(frozen=True)
class Target:
    """What a program wants to connect to: a service, an instance of it, or a host and port."""

    text: str
    service: Optional[str] = None
    instance: Optional[str] = None
    host: str = ""
    port: int = 0


def parse_target(text: str) -> Target:
    """The target of "robot", "robot/Rover", "pi.local:5000" or "[fe80::1%eth0]:5000". Raises ValueError."""
    if "/" in text:
        service, _, instance = text.partition("/")
        if not is_service_name(service) or not instance:
            raise ValueError(f"{text!r} is not SERVICE/INSTANCE")
        return Target(text, service, instance)
    found = re.fullmatch(r"\[([^\]]+)\]:([0-9]{1,5})|([^:]+):([0-9]{1,5})", text)
    if found:
        port = int(found[2] or found[4])
        if not 1 <= port <= 65535:
            raise ValueError(f"{port} is not a port")
        return Target(text, host=found[1] or found[3], port=port)
    if not is_service_name(text):
        raise ValueError(f"{text!r} is neither a service's name (2 to 15 letters, digits, hyphens, underscores) nor HOST:PORT")
    return Target(text, text)


def is_service_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_-]{2,15}", text) is not None


@dataclass(frozen=True)
class Place:
    """A service that was found. What its TXT record says is hearsay: anybody can publish anything."""

    name: str
    service: Optional[str]
    instance: Optional[str]
    host: str
    addresses: Tuple[Tuple[str, int], ...]
    """To be tried one after the other."""
    txt: Dict[str, str] = field(default_factory=dict)
    says_hello: Optional[bool] = None
    """Whether it speaks the extensions; None if that is not known."""

    @property
    def security(self) -> Optional[str]:
        """"open", "paired-to-control", "paired", or None for what is not known."""
        if self.service is None:
            return None
        return {"0": "open", "1": "paired-to-control", "2": "paired"}.get(self.txt.get("sec", "0"))

    @property
    def short_id(self) -> str:
        return self.txt.get("id", "")

    @property
    def is_pairing(self) -> bool:
        return self.txt.get("pair") == "1"

    def not_paired(self) -> NotPaired:
        return NotPaired(f"{self.name} has to be paired first: elemental-py pair '{self._written}'")

    @property
    def _written(self) -> str:
        return f"{self.service}/{self.instance}" if self.service else f"{self.host}:{self.addresses[0][1]}"

    def lasting_target(self, target: Target) -> Target:
        """The target of the very same service, to be found again at another address or port."""
        return Target(target.text, self.service, self.instance) if self.service else target


async def resolve(target: Target, timeout: float) -> Place:
    """Finds what a target names. Raises ServiceNotFound, AmbiguousService, DiscoveryError or MissingExtra."""
    if target.service is None:
        return Place(target.text, None, None, target.host, ((target.host, target.port),))
    async with _zeroconf() as zeroconf:
        if target.instance is not None:
            place = await _look_up(zeroconf, target.service, target.instance, timeout)
            if place is None:
                raise ServiceNotFound(f"no service {target.service}/{target.instance} answered within {timeout:g} s")
            return place
        found: Dict[str, Place] = {}
        async with _browsing(zeroconf, f"_{target.service}._tcp.local.") as names:
            deadline = asyncio.get_running_loop().time() + timeout
            while (left := deadline - asyncio.get_running_loop().time()) > 0:
                try:
                    name, is_there = await asyncio.wait_for(names.get(), left)
                except asyncio.TimeoutError:
                    break
                if is_there and name not in found:
                    place = await _look_up(zeroconf, target.service, name, left)
                    if place is not None:
                        found[name] = place
                        deadline = min(deadline, asyncio.get_running_loop().time() + OTHERS_DELAY)
        if not found:
            raise ServiceNotFound(f"no service {target.service!r} was found within {timeout:g} s")
        if len(found) > 1:
            listed = ", ".join(repr(f"{target.service}/{each}") for each in sorted(found)[:16])
            raise AmbiguousService(f"there are several; choose one: {listed}")
        return next(iter(found.values()))


@dataclass(frozen=True)
class Found:
    """A service that a browser has found, or, if not `is_there`, one that has gone."""

    place: Place
    is_there: bool


async def browse(service: Optional[str] = None) -> AsyncIterator[Found]:
    """Services as they come and go, without end: all element services, or those of one name.

    A claim of the common listing is checked, as the page "Discovery" says; what does not hold is left out. Raises
    DiscoveryError or MissingExtra.
    """
    known: Dict[str, Place] = {}
    async with _zeroconf() as zeroconf:
        async with _browsing(zeroconf, f"_{service}._tcp.local." if service else COMMON_TYPE) as names:
            while True:
                name, is_there = await names.get()
                if not is_there:
                    gone = known.pop(name, None)
                    if gone is not None:
                        yield Found(gone, False)
                    continue
                if len(known) >= MAXIMUM_SERVICES:
                    continue
                if service:
                    place = await _look_up(zeroconf, service, name, 3)
                else:
                    place = await _verified(zeroconf, name)
                if place is not None and known.get(name) != place:
                    known[name] = place
                    yield Found(place, True)


async def _verified(zeroconf: AsyncZeroconf, listing: str) -> Optional[Place]:
    """The service that an entry of the common listing claims to be, if that has the same host and port."""
    entry = await _look_up(zeroconf, "elemental", listing, 3)
    if entry is None:
        return None
    service, instance = entry.txt.get("service"), entry.txt.get("instance")
    if service is None or instance is None:
        return entry
    if not is_service_name(service) or not 1 <= len(instance.encode()) <= 63:
        return None
    claimed = await _look_up(zeroconf, service, instance, 3)
    if claimed is None or claimed.host != entry.host or claimed.addresses[0][1] != entry.addresses[0][1]:
        return None
    return claimed


async def _look_up(zeroconf: AsyncZeroconf, service: str, instance: str, timeout: float) -> Optional[Place]:
    from zeroconf import BadTypeInNameException
    from zeroconf.asyncio import AsyncServiceInfo

    kind = f"_{service}._tcp.local."
    try:
        if "." in instance and not await _has_listed(zeroconf, kind, instance, timeout):
            return None
        info = AsyncServiceInfo(kind, f"{instance}.{kind}")
        if not await info.async_request(zeroconf.zeroconf, max(0.1, timeout) * 1000) or not info.port:
            return None
    except BadTypeInNameException:
        return None
    port = info.port
    addresses = sorted(info.parsed_scoped_addresses(), key=lambda each: ":" in each)
    if not addresses:
        return None
    txt = {
        key.decode(errors="replace"): (value or b"").decode(errors="replace") for key, value in info.properties.items()
    }
    return Place(
        instance,
        service,
        instance,
        (info.server or "").rstrip("."),
        tuple((each, port) for each in addresses),
        txt,
        # An older service has a TXT record without that.
        txt.get("elemental") is not None,
    )


async def _has_listed(zeroconf: AsyncZeroconf, kind: str, instance: str, timeout: float) -> bool:
    """Waits for an instance among those of its type, and with it for its records.

    The package zeroconf takes a dot in a name for a boundary in the question, and understands it in the answer.
    """

    async def listed(names: asyncio.Queue[Tuple[str, bool]]) -> None:
        while await names.get() != (instance, True):
            pass

    async with _browsing(zeroconf, kind) as names:
        try:
            await asyncio.wait_for(listed(names), timeout)
        except asyncio.TimeoutError:
            return False
    return True


@contextlib.asynccontextmanager
async def _zeroconf() -> AsyncIterator[AsyncZeroconf]:
    try:
        from zeroconf.asyncio import AsyncZeroconf
    except ImportError:
        raise MissingExtra("finding services by name", "zeroconf") from None
    try:
        made = AsyncZeroconf()
    except OSError as error:
        raise DiscoveryError(f"services cannot be looked for on this network: {error.strerror or error}") from error
    try:
        yield made
    finally:
        await made.async_close()


@contextlib.asynccontextmanager
async def _browsing(zeroconf: AsyncZeroconf, kind: str) -> AsyncIterator[asyncio.Queue[Tuple[str, bool]]]:
    """The instances of a type as they come and go; of a flood the first ones."""
    from zeroconf import ServiceStateChange
    from zeroconf.asyncio import AsyncServiceBrowser

    names: asyncio.Queue[Tuple[str, bool]] = asyncio.Queue(MAXIMUM_SERVICES)

    def changed(name: str, state_change: ServiceStateChange, **_: object) -> None:
        if name.endswith("." + kind):
            with contextlib.suppress(asyncio.QueueFull):
                names.put_nowait((name[: -len(kind) - 1], state_change is not ServiceStateChange.Removed))

    browser = AsyncServiceBrowser(zeroconf.zeroconf, [kind], handlers=[changed])
    try:
        yield names
    finally:
        await browser.async_cancel()


class Publication:
    """Publishes a service, under its own type and in the common listing, until it is withdrawn."""

    def __init__(
        self,
        service: str,
        instance: str,
        port: int,
        address: Optional[str],
        txt: Dict[str, str],
        published: Callable[[str], None],
    ) -> None:
        self._service = service
        self._wanted = instance
        self._port = port
        self._address = address
        self._txt = txt
        self._published = published
        # A name of its own, so that the addresses of the host's other responder, avahi-daemon say, are left alone.
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname().partition(".")[0]).strip("-") or "python"
        self._server = f"{host[:40]}-{secrets.token_hex(3)}.local."
        self._stack = contextlib.AsyncExitStack()

    async def publish(self) -> None:
        """Raises DiscoveryError or MissingExtra."""
        from zeroconf import NonUniqueNameException

        zeroconf = await self._stack.enter_async_context(_zeroconf())
        try:
            name = self._wanted
            for count in range(2, 22):
                try:
                    # The package zeroconf misses one on the same host, whose answer another socket there may get.
                    if not await _has_listed(zeroconf, f"_{self._service}._tcp.local.", name, TAKEN_DELAY):
                        await self._register(zeroconf, name)
                        break
                except NonUniqueNameException:
                    pass
                suffix = f" ({count})"
                name = cut(self._wanted, 63 - len(suffix)) + suffix
            else:
                raise DiscoveryError(f"there are 20 services named {self._wanted!r} already")
        except (OSError, ElementalError) as error:
            await self.withdraw()
            if isinstance(error, ElementalError):
                raise
            raise DiscoveryError(f"the service cannot be published: {error.strerror or error}") from error
        self._published(name)

    async def _register(self, zeroconf: AsyncZeroconf, name: str) -> None:
        common = cut(name, 63 - len(self._service) - 3) + f" ({self._service})"
        claims = {"service": self._service, "instance": name}
        # The announcements go on beside what the program does.
        await asyncio.gather(
            zeroconf.async_register_service(self._info(self._service, name, {}), strict=False),
            zeroconf.async_register_service(self._info("elemental", common, claims), strict=False),
        )

    def _info(self, service: str, name: str, more: Dict[str, str]) -> AsyncServiceInfo:
        from zeroconf.asyncio import AsyncServiceInfo

        kind = f"_{service}._tcp.local."
        properties: Dict[Any, Any] = {"elemental": "1", **self._txt, **more}
        return AsyncServiceInfo(
            kind,
            f"{name}.{kind}",
            port=self._port,
            properties=properties,
            server=self._server,
            parsed_addresses=list(self._addresses()),
        )

    def _addresses(self) -> Sequence[str]:
        import ifaddr

        if self._address is not None:
            return [self._address]
        found: List[str] = []
        for adapter in ifaddr.get_adapters():
            for each in adapter.ips:
                found.append(each.ip if isinstance(each.ip, str) else each.ip[0])
        reachable = [each for each in found if not each.startswith("127.") and each != "::1"]
        return reachable or [each for each in found if ":" not in each] or ["127.0.0.1"]

    async def withdraw(self) -> None:
        await self._stack.aclose()


def cut(text: str, count: int) -> str:
    """A text of at most so many bytes."""
    return text.encode()[: max(0, count)].decode(errors="ignore")


def check_published(service: str, instance: str, txt: Dict[str, str], is_published: bool) -> None:
    """Raises InvalidElement for what cannot be published."""
    if is_published and "." in instance:
        raise InvalidElement(f"{instance!r}: the package zeroconf cannot publish a name with a dot; choose another")
    if not is_service_name(service):
        raise InvalidElement(f"{service!r}: a service's name has 2 to 15 letters, digits, hyphens or underscores")
    if not 1 <= len(instance.encode()) <= 63:
        raise InvalidElement("the name of an instance has 1 to 63 bytes")
    for key, value in txt.items():
        if key in ("elemental", "service", "instance", "sec", "id", "pair"):
            raise InvalidElement(f"the TXT entry {key!r} is the framework's own")
        if not key or not key.isascii() or "=" in key or len(f"{key}={value}".encode()) > 255:
            raise InvalidElement(f"the TXT entry {key!r} is not a key of ASCII letters, or is longer than 255 bytes")
    if sum(len(f"{key}={value}".encode()) + 1 for key, value in txt.items()) > 1100:
        raise InvalidElement("the TXT entries have more than 1,100 bytes in all")
