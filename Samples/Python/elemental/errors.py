"""What can go wrong. Every error is an `ElementalError` with a sentence that says what to do."""

from __future__ import annotations

from typing import Optional, Sequence


class ElementalError(Exception):
    """The base of all errors of this package."""


# Values and elements.


class InvalidElement(ElementalError, ValueError):
    """A definition of an element, or of several, that the wire cannot carry."""


class InvalidCatalogue(ElementalError):
    """A catalogue from the other end that is truncated, of another form, or has an invalid element."""


class UnknownElement(ElementalError, LookupError):
    """There is no element of that name or identifier."""

    def __init__(self, name: object, known: Sequence[str] = ()) -> None:
        self.name = name
        self.known = tuple(known)
        listed = ", ".join(repr(each) for each in known[:16]) or "none"
        super().__init__(f"there is no element {name!r}; there are: {listed}")


class InvalidValue(ElementalError, ValueError):
    """A value that an element cannot have. Nothing was sent."""


class OutOfRange(InvalidValue):
    """A value outside an element's range."""


class NotAChoice(InvalidValue):
    """A value that is not one of an element's choices."""


class NotAllowed(ElementalError):
    """This end may not write, or not read, that element."""


class ValueRefused(ElementalError):
    """The service refused a value, and says why.

    `reason` is one of "range", "choice", "read-only", "role" and "service"; `message` is the service's own text, which
    may be empty.
    """

    SENTENCES = {
        "range": "the value is outside the element's range",
        "choice": "the value is not one of the element's choices",
        "read-only": "clients may not write the element",
        "role": "this client's role does not permit setting it",
        "service": "the service refused it",
    }

    def __init__(self, element: str, reason: str, message: str = "") -> None:
        self.element = element
        self.reason = reason
        self.message = message
        super().__init__(f"{element}: {self.SENTENCES[reason]}" + (f": {message}" if message else ""))


class Refuse(ElementalError):
    """Raised by a service's handler to refuse a value, with a text for the client, of which 1,024 bytes are sent."""


class QueueFull(ElementalError):
    """The other end is slower than this one, and what waits for it has reached its limit. `await` a `send` to wait."""


class Unconfirmed(ElementalError):
    """The service did not confirm a value in time. It may have arrived all the same."""


# Connections.


class DiscoveryError(ElementalError):
    """Services cannot be looked for."""


class ServiceNotFound(DiscoveryError):
    """No such service answers on this network."""


class AmbiguousService(DiscoveryError):
    """Several services have that name: choose one, as SERVICE/INSTANCE."""


class MissingExtra(ElementalError, ImportError):
    """What was asked for needs a package that is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs another package; install it with: pip install './Samples/Python[{extra}]'")


class NotSupported(ElementalError, NotImplementedError):
    """This package cannot do that."""


class ConnectionFailed(ElementalError, ConnectionError):
    """A connection could not be made. `__cause__` has the error of the network, if there is one."""


class CatalogueMismatch(ElementalError):
    """The service's elements are not those that the client was written for."""


class Disconnected(ElementalError, ConnectionError):
    """The connection has ended. The class says how."""


class ClosedByPeer(Disconnected):
    """The other end closed the connection without a word, or its process ended."""


class ClosedHere(Disconnected):
    """This end closed the connection."""


class ShutDown(Disconnected):
    """The service closed the connection, or refused it, and said why: `reason`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the service ended the connection: {reason}" if reason else "the service ended the connection")


class TimedOut(Disconnected):
    """Nothing was heard of the other end for too long."""


class ProtocolViolation(Disconnected):
    """The other end broke the rules of the wire in a way that is not tolerated."""


class NetworkError(Disconnected):
    """The network failed. `__cause__` has the error."""


# Encryption.


class SecurityError(ElementalError):
    """Something about keys, trust or pairing is not as it should be."""


class NotPaired(SecurityError):
    """The service accepts, or the caller demands, paired ends only: pair first."""


class IdentityChanged(SecurityError):
    """The service has another key than the one that was paired. Nothing was told to it."""


class AdmissionRefused(SecurityError):
    """The service did not admit this client: `code` as on the wire, `sentence` from the service."""

    MEANINGS = {
        1: "this client broke the rules",
        2: "the service speaks another version",
        3: "it is not the service that was asked for",
        4: "this client is not paired with it",
        5: "this client's role does not permit it",
        6: "no pairing window is open",
        7: "another client is pairing at this moment",
        8: "the code is wrong",
        9: "this client was too slow",
        10: "already paired: revoke that first",
        11: "it cannot be done now",
        12: "another client of the service has that name: pair under another one",
    }

    def __init__(self, code: int, sentence: str) -> None:
        self.code = code
        self.sentence = sentence
        super().__init__(sentence or self.MEANINGS.get(code, f"refused with code {code}"))


class WrongCode(AdmissionRefused):
    """The code is not the one that the service shows."""

    def __init__(self, sentence: str = "the code is wrong") -> None:
        super().__init__(8, sentence)


def closing_error(cause: Optional[BaseException]) -> Disconnected:
    """The error that says how a transport ended."""
    if cause is None or isinstance(cause, (ConnectionResetError, BrokenPipeError)):
        return ClosedByPeer("the other end closed the connection")
    error = NetworkError(f"the connection failed: {cause}")
    error.__cause__ = cause
    return error
