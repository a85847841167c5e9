"""Where `watch --resume NAME` goes on: positions in histories, in a file of the program's state."""

from __future__ import annotations

import json
import re
from typing import Dict, Optional

from .errors import SecurityError
from .history import HistoryPosition
from .state import State

_VERSION = 1


def parse_name(text: str) -> str:
    """Returns a name of kept positions. Raises ValueError."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,63}", text):
        raise ValueError(f"{text!r} is not a name of 1 to 63 letters, digits, hyphens and underscores")
    return text


class Positions:
    """The position of the newest value that was printed, for each element.

    `save` leaves the positions of other programs in the file: two that watch different services may use the same name. It may
    be called on any thread. Raises SecurityError if the file is damaged or cannot be written.
    """

    def __init__(self, state: State, name: str) -> None:
        self._state = state
        self._file = state.folder / "resume" / f"{name}.json"
        self._found = self._read()
        self._noted: Dict[str, str] = {}
        self._saved: Dict[str, str] = {}

    def find(self, element: str) -> Optional[str]:
        """The position of an element; None if none of its values was printed. Elements are SERVICE/INSTANCE/ELEMENT-ID."""
        return self._found.get(element)

    def note(self, element: str, position: str) -> None:
        self._noted[element] = position

    def save(self) -> None:
        """Writes the positions that were noted since the last time."""
        try:
            with self._state._locked():
                noted = dict(self._noted)
                if noted == self._saved:
                    return
                content = {"version": _VERSION, "positions": {**self._read(), **noted}}
                self._file.parent.mkdir(mode=0o700, exist_ok=True)
                self._state._write(self._file, json.dumps(content).encode())
                self._saved = noted
        except OSError as error:
            raise SecurityError(f"{self._file} cannot be written: {error.strerror}") from error

    def _read(self) -> Dict[str, str]:
        try:
            content = json.loads(self._file.read_bytes())
            if content["version"] != _VERSION:
                raise ValueError(f"its version is {content['version']!r}, not {_VERSION}")
            positions: Dict[str, str] = content["positions"]
            for position in positions.values():
                HistoryPosition.parse(position)
            return positions
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SecurityError(f"{self._file} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise SecurityError(f"{self._file} is damaged: {error}; remove it to begin with the oldest values again, or give"
                                " --resume another name") from None
