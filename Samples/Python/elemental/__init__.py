"""Devices on a local network, controlled from Python: a client and a service of Elemental, with asyncio.

    async with connect("robot") as device:
        await device.set("Speed", 0.5)
        async for value in device.values("Position"):
            print(value)
"""

from .admission import Offer
from .client import (
    Device,
    Event,
    Reconnected,
    Reconnection,
    WillReconnect,
    connect,
)
from .clock import ReceivedTime, machine_time
from .discovery import Found, Place, browse
from .elements import Catalogue, Choice, Element
from .errors import (
    AdmissionRefused,
    AmbiguousService,
    CatalogueMismatch,
    ClosedByPeer,
    ClosedHere,
    ConnectionFailed,
    Disconnected,
    DiscoveryError,
    ElementalError,
    IdentityChanged,
    InvalidCatalogue,
    InvalidElement,
    InvalidValue,
    MissingExtra,
    NetworkError,
    NotAChoice,
    NotAllowed,
    NotPaired,
    NotSupported,
    OutOfRange,
    ProtocolViolation,
    QueueFull,
    Refuse,
    SecurityError,
    ServiceNotFound,
    ShutDown,
    TimedOut,
    Unconfirmed,
    UnknownElement,
    ValueRefused,
    WrongCode,
)
from .history import History, HistoryGap, HistoryItem, HistoryLimits, HistoryValue
from .pairing import pair
from .service import Client, Received, Service
from .session import Limits, Statistics
from .state import Pin, State
from .streams import Stream
from .values import TYPES, Value, ValueType

__version__ = "1.0"

__all__ = [
    "TYPES",
    "AdmissionRefused",
    "AmbiguousService",
    "Catalogue",
    "CatalogueMismatch",
    "Choice",
    "Client",
    "ClosedByPeer",
    "ClosedHere",
    "ConnectionFailed",
    "Device",
    "Disconnected",
    "DiscoveryError",
    "Element",
    "ElementalError",
    "Event",
    "Found",
    "History",
    "HistoryGap",
    "HistoryItem",
    "HistoryLimits",
    "HistoryValue",
    "IdentityChanged",
    "InvalidCatalogue",
    "InvalidElement",
    "InvalidValue",
    "Limits",
    "MissingExtra",
    "NetworkError",
    "NotAChoice",
    "NotAllowed",
    "NotPaired",
    "NotSupported",
    "Offer",
    "OutOfRange",
    "Pin",
    "Place",
    "ProtocolViolation",
    "QueueFull",
    "Received",
    "ReceivedTime",
    "Reconnected",
    "Reconnection",
    "Refuse",
    "SecurityError",
    "Service",
    "ServiceNotFound",
    "ShutDown",
    "State",
    "Statistics",
    "Stream",
    "TimedOut",
    "Unconfirmed",
    "UnknownElement",
    "Value",
    "ValueRefused",
    "ValueType",
    "WillReconnect",
    "WrongCode",
    "browse",
    "connect",
    "machine_time",
    "pair",
]
