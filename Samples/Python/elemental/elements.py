"""Elements, and the catalogue in which a service tells them."""

from __future__ import annotations

import math
import struct
import unicodedata
from dataclasses import dataclass
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import InvalidCatalogue, InvalidElement, InvalidValue, NotAChoice, OutOfRange, UnknownElement
from .history import LIMITS, HistoryLimits
from .values import TYPES, TYPES_BY_CODE, Value, ValueType

_UDP, _LATEST, _READ, _WRITE, _RANGE, _STEP, _CHOICES, _TIMED = (1 << bit for bit in range(8))
_COMPONENT_RANGE, _KIND, _HISTORY = 1, 2, 3
KINDS = ("state", "momentary", "urgent")
"""What a person does with an element; the place is the number on the wire."""
MAXIMUM_CATALOGUE_BYTES = 1 << 20
"""What a client takes of a catalogue; a valid one has at most 595,458 bytes."""


@dataclass(frozen=True)
class Choice:
    """An allowed value and its name; of a text they are the same."""

    value: Union[int, str]
    name: str


@dataclass(frozen=True, init=False)
class Element:
    """A typed, named, numbered control or reading, the same at both ends.

    - id: 0 to 127
    - name: what is displayed; unique in a service, 1 to 255 bytes of UTF-8
    - type: "int8" "uint8" "int16" "uint16" "int32" "uint32" "int64" "uint64" "float" "double" "string" "data" "bool"
      "float2" "float3" "float4" "float4x4"
    - transport: "tcp", or "udp" for values of which a lost one does not matter
    - access: "rw", "ro" or "wo": what clients may do
    - unit: of the value, such as "m/s"
    - range: the least and the greatest value of a number, or of each component of a vector
    - step: in which a control should move
    - choices: the allowed values: of a string its texts; of an integer names, which count from 0, or {name: value}
    - latest: only the newest unsent value is kept when a connection is slower than its sender
    - timed: values carry the time at which they were measured
    - history: how many values the service keeps; None for the newest one only. A service of this package keeps them in memory
    - kind: "state"; of a bool also "momentary", a push button, or "urgent", an emergency stop

    Raises InvalidElement if the wire cannot carry that.
    """

    id: int
    name: str
    type: str
    transport: str
    access: str
    unit: str
    range: Optional[Tuple[float, float]]
    step: Optional[float]
    choices: Tuple[Choice, ...]
    latest: bool
    timed: bool
    history: Optional[HistoryLimits]
    kind: str

    def __init__(
        self,
        id: int,
        name: str,
        type: str,
        *,
        transport: str = "tcp",
        access: str = "rw",
        unit: str = "",
        range: Optional[Sequence[float]] = None,
        step: Optional[float] = None,
        choices: Union[Sequence[Choice], Sequence[str], Mapping[str, int], None] = None,
        latest: bool = False,
        timed: bool = False,
        history: Optional[HistoryLimits] = None,
        kind: str = "state",
    ) -> None:
        def store(field: str, value: object) -> None:
            object.__setattr__(self, field, value)

        store("id", id)
        store("name", name)
        store("type", type)
        store("transport", transport)
        store("access", access)
        store("unit", unit)
        store("range", None if range is None else tuple(float(each) for each in range))
        store("step", None if step is None else float(step))
        store("choices", _choices(type, choices))
        store("latest", latest)
        store("timed", timed)
        store("history", history)
        store("kind", kind)
        self._check()

    def _check(self) -> None:
        def fail(what: str) -> None:
            raise InvalidElement(f"element {self.id} {self.name!r}: {what}")

        if self.type not in TYPES:
            fail(f"there is no type {self.type!r}; there are: {', '.join(TYPES)}")
        if not 0 <= self.id <= 127:
            fail("an identifier is 0 to 127")
        if not 1 <= len(self.name.encode()) <= 255:
            fail("a name has 1 to 255 bytes")
        if len(self.unit.encode()) > 255:
            fail("a unit has at most 255 bytes")
        if self.transport not in ("tcp", "udp"):
            fail("a transport is 'tcp' or 'udp'")
        if self.access not in ("rw", "ro", "wo"):
            fail("an access is 'rw', 'ro' or 'wo'")
        if self.kind not in KINDS:
            fail(f"a kind is one of {', '.join(map(repr, KINDS))}")
        if self.kind != "state" and self.type != "bool":
            fail(f"only a bool is {self.kind}")
        if self.history is not None and not isinstance(self.history, HistoryLimits):
            fail("a history is given by HistoryLimits")
        if self.range is not None:
            if not (self.value_type.is_number or self.value_type.is_vector):
                fail("only numbers and vectors have a range")
            if len(self.range) != 2 or not self.range[0] <= self.range[1] or math.inf in map(abs, self.range):
                fail("a range is its least and its greatest value, which are finite")
        if self.step is not None:
            if not self.value_type.is_number:
                fail("only numbers have a step")
            if not (self.step > 0 and math.isfinite(self.step)):
                fail("a step is a number above 0")
        if self.choices:
            self._check_choices()

    def _check_choices(self) -> None:
        def wrong(what: str) -> InvalidElement:
            return InvalidElement(f"element {self.id} {self.name!r}: {what}")

        kind = self.value_type
        if not (kind.is_integer or kind.name == "string"):
            raise wrong("only integers and texts have choices")
        if len(self.choices) > 255:
            raise wrong("there are at most 255 choices")
        size = 0
        for choice in self.choices:
            if not 1 <= len(choice.name.encode()) <= 255:
                raise wrong("the name of a choice has 1 to 255 bytes")
            try:
                kind.check(choice.value)
            except InvalidValue as error:
                raise wrong(f"the choice {choice.name!r}: {error}") from None
            if self.range is not None and not self._is_in_range(choice.value):
                raise wrong(f"the choice {choice.name!r} is outside the range")
            size += 1 + len(choice.name.encode()) + (kind.size or 0)
        if size > 4096:
            raise wrong("the choices have more than 4,096 bytes in all")
        if len({choice.name for choice in self.choices}) < len(self.choices):
            raise wrong("two choices have one name")
        if len({choice.value for choice in self.choices}) < len(self.choices):
            raise wrong("two choices have one value")

    @property
    def value_type(self) -> ValueType:
        return TYPES[self.type]

    @property
    def is_udp(self) -> bool:
        return self.transport == "udp"

    @property
    def is_readable(self) -> bool:
        """Whether clients may read it."""
        return self.access != "wo"

    @property
    def is_writable(self) -> bool:
        """Whether clients may set it."""
        return self.access != "ro"

    def choice(self, value: object) -> Optional[str]:
        """The name of a value that is one of the choices."""
        for choice in self.choices:
            if choice.value == value and not isinstance(value, bool):
                return choice.name
        return None

    def _is_in_range(self, value: object) -> bool:
        # NaN is in no range. Integers are compared as doubles, which is what the bounds are.
        if isinstance(value, tuple):
            return all(self._is_in_range(each) for each in value)
        return self.range is None or (
            isinstance(value, (int, float)) and self.range[0] <= float(value) <= self.range[1]
        )

    def check(self, value: object) -> Value:
        """The value as the element has it. The name of a choice stands for its value, upper or lower case.

        Raises InvalidValue, OutOfRange or NotAChoice.
        """
        if self.choices and isinstance(value, str) and self.type != "string":
            for choice in self.choices:
                if choice.name.lower() == value.lower():
                    value = choice.value
                    break
            else:
                raise NotAChoice(f"{self.name}: {value!r} is none of {self._listed_choices()}")
        try:
            checked = self.value_type.check(value)
        except InvalidValue as error:
            raise InvalidValue(f"{self.name}: {error}") from None
        if not self._is_in_range(checked) and self.range is not None:
            low, high = (self.value_type.bound(each) for each in self.range)
            shown: object = self.value_type.shortest(checked) if isinstance(checked, float) else checked
            if isinstance(checked, tuple):
                shown = tuple(self.value_type.shortest(each) for each in checked)
            raise OutOfRange(f"{self.name}: {shown!r} is not within {low!r}...{high!r}")
        if self.choices and self.choice(checked) is None:
            raise NotAChoice(f"{self.name}: {checked!r} is none of {self._listed_choices()}")
        return checked

    def _listed_choices(self) -> str:
        return ", ".join(choice.name for choice in self.choices[:16]) + (", …" if len(self.choices) > 16 else "")

    def encode(self, value: object) -> bytes:
        """The bytes of a value that the element may have. Raises as `check` does."""
        return self.value_type.encode(self.check(value))


def _choices(
    type: str, choices: Union[Sequence[Choice], Sequence[str], Mapping[str, int], None]
) -> Tuple[Choice, ...]:
    if choices is None:
        return ()
    if isinstance(choices, Mapping):
        return tuple(Choice(value, name) for name, value in choices.items())
    listed: List[Union[Choice, str]] = list(choices)
    return tuple(
        each if isinstance(each, Choice) else Choice(each if type == "string" else index, each)
        for index, each in enumerate(listed)
    )


class Catalogue:
    """The elements of a service, which have unique identifiers and names."""

    def __init__(self, elements: Sequence[Element] = ()) -> None:
        self._by_id: Dict[int, Element] = {}
        self._by_name: Dict[str, Element] = {}
        names = set()
        for element in elements:
            if element.id in self._by_id:
                raise InvalidElement(f"two elements have the identifier {element.id}")
            # What looks the same is the same, however its accents are written.
            name = unicodedata.normalize("NFC", element.name)
            if name in names:
                raise InvalidElement(f"two elements have the name {element.name!r}")
            names.add(name)
            self._by_id[element.id] = element
            self._by_name[element.name] = element

    def __iter__(self) -> Iterator[Element]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def __repr__(self) -> str:
        return f"Catalogue({list(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalogue) and list(self) == list(other)

    def by_id(self, id: int) -> Optional[Element]:
        """The element with this identifier, if there is one."""
        return self._by_id.get(id)

    def find(self, key: Union[Element, str, int]) -> Element:
        """The element of a name, in upper or lower case where that is clear, or an identifier. Raises UnknownElement."""
        found: Optional[Element] = None
        if isinstance(key, Element):
            found = self._by_id.get(key.id)
        elif isinstance(key, str):
            found = self._by_name.get(key)
            if found is None:
                similar = [each for each in self if each.name.lower() == key.lower()]
                found = similar[0] if len(similar) == 1 else None
        else:
            found = self._by_id.get(key)
        if found is None:
            raise UnknownElement(key.name if isinstance(key, Element) else key, [each.name for each in self])
        return found

    def encode(self) -> bytes:
        """The value of the system element -5."""
        entries = [_encode_entry(element) for element in self]
        return bytes([1, len(entries)]) + b"".join(struct.pack("<H", len(each)) + each for each in entries)

    @classmethod
    def decode(cls, data: bytes) -> Catalogue:
        """The catalogue of such a value. Elements of an unknown type are left out. Raises InvalidCatalogue."""
        try:
            reader = Reader(data)
            if reader.byte() != 1:
                raise InvalidCatalogue("the catalogue has a form that this version does not know")
            count = reader.byte()
            if count > 128:
                raise InvalidCatalogue(f"the catalogue has {count} elements")
            decoded = (_decode_entry(reader.take(reader.uint16())) for _ in range(count))
            return cls([each for each in decoded if each is not None])
        except (InvalidElement, UnicodeDecodeError) as error:
            raise InvalidCatalogue(f"the catalogue has an invalid element: {error}") from None
        except EOFError:
            raise InvalidCatalogue("the catalogue is truncated") from None


class Reader:
    """Reads a value from its beginning. Raises EOFError where it is too short."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    @property
    def is_at_end(self) -> bool:
        return self._place == len(self._data)

    def take(self, count: int) -> bytes:
        if len(self._data) - self._place < count:
            raise EOFError
        taken = self._data[self._place : self._place + count]
        self._place += count
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def uint16(self) -> int:
        return int.from_bytes(self.take(2), "little")

    def double(self) -> float:
        return float(struct.unpack("<d", self.take(8))[0])

    def text(self) -> str:
        """A text with its length in front. Raises UnicodeDecodeError."""
        return self.take(self.byte()).decode()


def text(string: str) -> bytes:
    """A text with its length in front, of at most 255 bytes."""
    data = string.encode()
    return bytes([len(data)]) + data


def _encode_entry(element: Element) -> bytes:
    kind = element.value_type
    flags = (
        (_UDP if element.is_udp else 0)
        | (_LATEST if element.latest else 0)
        | (_READ if element.is_readable else 0)
        | (_WRITE if element.is_writable else 0)
        | (_RANGE if element.range is not None and not kind.is_vector else 0)
        | (_STEP if element.step is not None else 0)
        | (_CHOICES if element.choices else 0)
        | (_TIMED if element.timed else 0)
    )
    entry = struct.pack("<bBB", element.id, kind.code, flags) + text(element.name) + text(element.unit)
    if element.range is not None and kind.is_vector:
        # Earlier readers reject a vector with the flag, and ignore extensions.
        entry += bytes([_COMPONENT_RANGE, 16])
    if element.range is not None:
        entry += struct.pack("<dd", *element.range)
    if element.step is not None:
        entry += struct.pack("<d", element.step)
    if element.choices:
        entry += bytes([len(element.choices)])
        for choice in element.choices:
            entry += (kind.encode(choice.value) if kind.is_integer else b"") + text(choice.name)
    if element.kind != "state":
        entry += bytes([_KIND, 1, KINDS.index(element.kind)])
    if element.history is not None:
        entry += bytes([_HISTORY, LIMITS.size]) + element.history.encode()
    return entry


def _decode_entry(entry: bytes) -> Optional[Element]:
    reader = Reader(entry)
    id = int.from_bytes(reader.take(1), "little", signed=True)
    kind = TYPES_BY_CODE.get(reader.byte())
    if kind is None:
        return None
    flags = reader.byte()
    name, unit = reader.text(), reader.text()
    if flags & _RANGE and kind.is_vector:
        raise InvalidElement(f"element {id} is a vector with the range of a number")
    limits = (reader.double(), reader.double()) if flags & _RANGE else None
    step = reader.double() if flags & _STEP else None
    choices: List[Choice] = []
    if flags & _CHOICES and (kind.is_integer or kind.name == "string"):
        for _ in range(reader.byte()):
            value = kind.decode(reader.take(kind.size or 0)) if kind.is_integer else None
            label = reader.text()
            choices.append(Choice(value if isinstance(value, int) else label, label))
    if flags & _CHOICES and (kind.is_integer or kind.name == "string") and not choices:
        raise InvalidElement(f"the choices of element {id} are missing")
    purpose, history = "state", None
    # Where choices end that were left out is not known, so neither is where extensions begin.
    if choices or not flags & _CHOICES:
        for tag, data in _extensions(reader):
            if tag == _COMPONENT_RANGE and kind.is_vector:
                if len(data) != 16:
                    raise InvalidElement(f"the range of element {id} has {len(data)} bytes, not 16")
                bounds = Reader(data)
                limits = (bounds.double(), bounds.double())
            elif tag == _KIND and kind.name == "bool":
                purpose = KINDS[data[0]] if data and data[0] < len(KINDS) else "state"
            elif tag == _HISTORY:
                history = HistoryLimits.decode(data)
    access = {_READ: "ro", _WRITE: "wo"}.get(flags & (_READ | _WRITE), "rw")
    if not flags & (_READ | _WRITE):
        raise InvalidElement(f"element {id} can neither be read nor written")
    return Element(
        id,
        name,
        kind.name,
        transport="udp" if flags & _UDP else "tcp",
        access=access,
        unit=unit,
        range=limits,
        step=step,
        choices=choices,
        latest=bool(flags & _LATEST),
        timed=bool(flags & _TIMED),
        history=history,
        kind=purpose,
    )


def _extensions(reader: Reader) -> Iterator[Tuple[int, bytes]]:
    """The tags and bytes of the extensions behind an entry's choices. What is cut off is left out."""
    try:
        while True:
            yield reader.byte(), reader.take(reader.byte())
    except EOFError:
        return
