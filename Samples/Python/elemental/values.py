"""The value types of the wire and their bytes."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Dict, Optional, Tuple, Union, cast

from .errors import InvalidValue

Value = Union[bool, int, float, str, bytes, Tuple[float, ...]]
"""What an element holds: an int, float, bool, str or bytes, or a tuple of 2, 3, 4 or 16 floats (a matrix column by column)."""


@dataclass(frozen=True)
class ValueType:
    """A type of values: its name, its code in catalogues, and its size in bytes, None for any."""

    name: str
    code: int
    size: Optional[int]
    form: str = ""
    """For `struct`; empty for those of any size."""

    @property
    def is_integer(self) -> bool:
        return 1 <= self.code <= 8

    @property
    def is_number(self) -> bool:
        return 1 <= self.code <= 10

    @property
    def is_vector(self) -> bool:
        """Whether a range holds for each component."""
        return 14 <= self.code <= 16

    @property
    def components(self) -> int:
        """How many floats a vector or a matrix has; 0 for other types."""
        return {14: 2, 15: 3, 16: 4, 17: 16}.get(self.code, 0)

    @property
    def bounds(self) -> Tuple[int, int]:
        """The least and the greatest value of an integer type."""
        bits = 8 * (self.size or 0)
        return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if self.form.islower() else (0, (1 << bits) - 1)

    def shortest(self, number: float) -> float:
        """The number with the fewest digits that stand for it: of floats of 32 bits fewer are enough."""
        if self.code == 10 or not math.isfinite(number):
            return number
        for digits in range(1, 10):
            short = float(f"{number:.{digits}g}")
            try:
                if self._float(short) == number:
                    return short
            except InvalidValue:
                continue
        return number

    def bound(self, number: float) -> Union[int, float]:
        """A bound or step as values of this type are written: whole numbers without a fraction."""
        return int(number) if number.is_integer() and abs(number) < 1e15 else self.shortest(number)

    def check(self, value: object) -> Value:
        """The value as this type has it: an int for a float becomes a float, a list a tuple.

        Raises InvalidValue if the type cannot have it. Nothing is rounded but what a float of 32 bits cannot hold.
        """
        if self.is_integer:
            # bool is a subclass of int, and meant as something else.
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise InvalidValue(f"{value!r} is not an integer, which {self.name} needs")
            number = value.__index__()
            low, high = self.bounds
            if not low <= number <= high:
                raise InvalidValue(f"{number} is not within {low}...{high}, as {self.name} needs")
            return cast(int, number)
        if self.code in (9, 10):
            return self._float(value)
        if self.code == 11:
            if not isinstance(value, str):
                raise InvalidValue(f"{value!r} is not a text (str)")
            return value
        if self.code == 12:
            if not isinstance(value, (bytes, bytearray, memoryview)):
                raise InvalidValue(f"{type(value).__name__} is not data (bytes)")
            return bytes(value)
        if self.code == 13:
            if not isinstance(value, bool):
                raise InvalidValue(f"{value!r} is neither True nor False")
            return value
        if not isinstance(value, (tuple, list)) or len(value) != self.components:
            raise InvalidValue(f"{self.name} needs {self.components} numbers")
        return tuple(self._float(each) for each in value)

    def _float(self, value: object) -> float:
        if isinstance(value, (bool, str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
            raise InvalidValue(f"{value!r} is not a number, which {self.name} needs")
        try:
            number = float(cast(float, value))
            if self.code != 10:
                number = cast(float, struct.unpack("<f", struct.pack("<f", number))[0])
        except (OverflowError, TypeError, ValueError):
            raise InvalidValue(f"{self.name} cannot hold {value!r}") from None
        return number

    def encode(self, value: object) -> bytes:
        """The bytes of a value. Raises InvalidValue if the type cannot have it."""
        checked = self.check(value)
        if isinstance(checked, str):
            try:
                return checked.encode()
            except UnicodeEncodeError:
                raise InvalidValue("the text has half of a surrogate pair, which UTF-8 cannot have") from None
        if isinstance(checked, bytes):
            return checked
        if isinstance(checked, tuple):
            return struct.pack(self.form, *checked)
        return struct.pack(self.form, checked)

    def decode(self, data: bytes) -> Value:
        """The value of these bytes. Raises InvalidValue if their number or form is wrong."""
        if self.size is not None and len(data) != self.size:
            raise InvalidValue(f"{self.name} has {self.size} bytes, not {len(data)}")
        if self.code == 11:
            try:
                return data.decode()
            except UnicodeDecodeError:
                raise InvalidValue("the text is not UTF-8") from None
        if self.code == 12:
            return bytes(data)
        if self.code == 13:
            if data[0] > 1:
                raise InvalidValue(f"a bool is 0 or 1, not {data[0]}")
            return data[0] == 1
        numbers = struct.unpack(self.form, data)
        return cast(Value, numbers if self.components else numbers[0])


TYPES: Dict[str, ValueType] = {
    each.name: each
    for each in (
        ValueType("int8", 1, 1, "<b"),
        ValueType("uint8", 2, 1, "<B"),
        ValueType("int16", 3, 2, "<h"),
        ValueType("uint16", 4, 2, "<H"),
        ValueType("int32", 5, 4, "<i"),
        ValueType("uint32", 6, 4, "<I"),
        ValueType("int64", 7, 8, "<q"),
        ValueType("uint64", 8, 8, "<Q"),
        ValueType("float", 9, 4, "<f"),
        ValueType("double", 10, 8, "<d"),
        ValueType("string", 11, None),
        ValueType("data", 12, None),
        ValueType("bool", 13, 1, "<B"),
        ValueType("float2", 14, 8, "<2f"),
        ValueType("float3", 15, 12, "<3f"),
        ValueType("float4", 16, 16, "<4f"),
        ValueType("float4x4", 17, 64, "<16f"),
    )
}
"""The value types by name."""

TYPES_BY_CODE: Dict[int, ValueType] = {each.code: each for each in TYPES.values()}
