"""Elements and values as texts, as on the command line of the Swift command `elemental`."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Dict, List, Optional, Tuple, Union

from .elements import Choice, Element
from .errors import InvalidElement, InvalidValue, NotAChoice
from .history import HistoryLimits
from .values import TYPES, Value, ValueType

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_ESCAPED = re.compile(r"\\(.)", re.S)
# What Python takes besides, such as 1_000 and the digits of other scripts, the Swift command does not.
_INTEGER = re.compile(r"[+-]?[0-9]+")
_HEXADECIMAL = re.compile(r"-?0[xX][0-9a-fA-F]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BYTES = re.compile(r"([+-]?[0-9]+)([kM])B")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.I)


def parse_integer(text: str) -> int:
    """The integer of a text, in decimal or behind 0x. Raises ValueError."""
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def parse_number(text: str) -> float:
    """The number of a text, also nan and inf. Raises ValueError, for numbers that are too large too."""
    if not (_FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text)):
        raise ValueError(f"{text!r} is not a number")
    number = float(text)
    if math.isinf(number) and _FLOAT.fullmatch(text):
        raise ValueError(f"{text!r} is too large")
    return number


def printable(text: str) -> str:
    """A text from elsewhere without what a terminal would act upon: control and invisible characters as escapes."""
    return "".join(each if each.isprintable() else f"\\u{{{ord(each):X}}}" for each in text)


def parse_element(spec: str) -> Tuple[Element, Optional[str]]:
    """The element of ID:NAME:TYPE[:OPTION…][=INITIAL], and the text of its initial value. Raises InvalidElement."""
    head, initial = _split_initial(spec)
    parts = _split(head, ":")
    if len(parts) < 3:
        raise InvalidElement(f"{spec!r} is not ID:NAME:TYPE[:OPTION…][=INITIAL]")
    id, name, kind = parts[0], parts[1], parts[2]
    if not (id.isascii() and id.isdigit()):
        raise InvalidElement(f"{id!r} is not an identifier, 0 to 127")
    if kind not in TYPES:
        raise InvalidElement(f"there is no type {kind!r}; there are: {', '.join(TYPES)}")
    options: Dict[str, Any] = {}
    for part in parts[3:]:
        word, _, rest = part.partition(" ")
        limits = re.fullmatch(r"(.+?)\.\.\.(.+)", part)
        if part in ("tcp", "udp"):
            options["transport"] = part
        elif part in ("rw", "ro", "wo"):
            options["access"] = part
        elif part in ("momentary", "urgent"):
            options["kind"] = part
        elif part in ("latest", "timed"):
            options[part] = True
        elif word == "history":
            options["history"] = _history(rest, part)
        elif word == "unit":
            options["unit"] = _unescaped(rest)
        elif word == "step":
            options["step"] = _number(rest)
        elif word == "choices":
            options["choices"] = _choices(rest, TYPES[kind])
        elif limits:
            options["range"] = (_number(limits[1]), _number(limits[2]))
        else:
            raise InvalidElement(f"{part!r} is no option of an element")
    return Element(int(id), name, kind, **options), initial


def _split_initial(spec: str) -> Tuple[str, Optional[str]]:
    """Divides at the first "=" behind the type; a name may contain some."""
    found = re.match(r"[^:]*:[^:]*:", spec)
    place = found.end() if found else 0
    while place < len(spec):
        if spec[place] == "\\":
            place += 2
        elif spec[place] == "=":
            return spec[:place], spec[place + 1 :]
        else:
            place += 1
    return spec, None


def _split(text: str, separator: str) -> List[str]:
    """The parts between separators that no backslash is in front of; backslashes stay."""
    parts, place, begin = [], 0, 0
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == separator:
            parts.append(text[begin:place])
            begin = place + 1
        place += 1
    return [*parts, text[begin:]]


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _number(text: str) -> float:
    try:
        return parse_number(text)
    except ValueError:
        raise InvalidElement(f"{text!r} is not a number") from None


def parse_span(text: str) -> float:
    """The seconds of a duration with a unit: 90s, 10m, 2h, 1d. Raises ValueError."""
    unit = {"s": 1, "m": 60, "h": 3600, "d": 86_400}.get(text[-1:])
    seconds = math.nan if unit is None else parse_number(text[:-1]) * unit
    if not 0 < seconds < 1e9:
        raise ValueError(f"{text!r} is not a duration such as 90s, 10m, 2h or 1d")
    return seconds


def _history(text: str, part: str) -> HistoryLimits:
    """How many values, how long and how many bytes, in any order: 24h 1000 4MB."""
    limits: Dict[str, int] = {}
    for each in text.split(" "):
        if not each:
            continue
        size = _BYTES.fullmatch(each)
        if _INTEGER.fullmatch(each):
            name, limit = "count", int(each)
        elif size:
            name, limit = "byte_count", int(size[1]) * (1000 if size[2] == "k" else 1_000_000)
        else:
            try:
                name, limit = "seconds", int(parse_span(each))
            except ValueError:
                raise InvalidElement(f"{each!r} is no limit of a history, such as 24h, 1000 (values) or 4MB") from None
        if name in limits:
            raise InvalidElement(f"{part!r} has two limits of one kind; give one of them")
        limits[name] = limit
    return HistoryLimits(**limits)


def _choices(text: str, kind: ValueType) -> List[Choice]:
    made: List[Choice] = []
    following = 0
    for part in _split(text, ","):
        numbered = re.fullmatch(r"\s*(-?[0-9]+) (.+)", part, re.S)
        if kind.name == "string":
            name = _unescaped(part.strip())
            made.append(Choice(name, name))
        elif numbered:
            following = int(numbered[1])
            made.append(Choice(following, _unescaped(numbered[2])))
        else:
            made.append(Choice(following, _unescaped(part.strip())))
        following += 1
    return made


def parse_value(element: Element, text: str) -> Value:
    """The value of a text. Raises InvalidValue, OutOfRange or NotAChoice."""
    if element.choices and element.type != "string":
        try:
            return element.check(text.strip())
        except NotAChoice:
            pass  # A number stands for itself.
    return element.check(_plain_value(element.value_type, text))


def _plain_value(kind: ValueType, text: str) -> object:
    compact = text.strip()
    try:
        if kind.is_integer:
            return parse_integer(compact)
        if kind.components:
            return tuple(parse_number(each.strip()) for each in compact.split(","))
        if kind.is_number:
            return parse_number(compact)
        if kind.name == "data":
            return bytes.fromhex(compact)
    except ValueError:
        raise InvalidValue(f"{text!r} is not a value of the type {kind.name}") from None
    if kind.name == "bool":
        if compact.lower() not in _WORDS:
            raise InvalidValue(f"{text!r} is neither on nor off")
        return _WORDS[compact.lower()]
    return text


def format_value(element: Element, value: Value) -> str:
    """A value as a text for a terminal."""
    name = element.choice(value)
    if name is not None:
        return printable(name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return ",".join(repr(element.value_type.shortest(each)) for each in value)
    if isinstance(value, float):
        return repr(element.value_type.shortest(value))
    return printable(str(value))


def json_value(element: Element, value: Value) -> Union[bool, int, float, str, List[Any]]:
    """A value for JSON, which has no bytes and no numbers that are not finite."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [json_value(element, each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return element.value_type.shortest(value) if isinstance(value, float) else value


def json_line(event: str, **members: object) -> str:
    """A line of JSON whose invisible characters are escaped."""
    text = json.dumps({"event": event, **members}, ensure_ascii=False, separators=(",", ":"))
    return "".join(
        each
        if each.isprintable()
        else (f"\\u{ord(each):04x}" if ord(each) < 0x10000 else json.dumps(each)[1:-1])
        for each in text
    )
