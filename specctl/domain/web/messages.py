"""What a browser's terminal says over its socket, read strictly."""

from __future__ import annotations

import json
from dataclasses import dataclass

MESSAGE_BYTES_MAX = 64 * 1024
"""More than anybody types or pastes at once."""

COLUMNS, ROWS = (20, 500), (5, 200)
"""The least and the most of a terminal."""

_PING_MAX = 32


@dataclass(frozen=True, slots=True)
class Size:
    """Of a terminal, in cells."""

    columns: int = 80
    rows: int = 24


@dataclass(frozen=True, slots=True)
class Typed:
    """Keys, mouse and paste, as a terminal writes them."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Focused:
    """The window was turned to, or away from."""

    is_focused: bool


@dataclass(frozen=True, slots=True)
class Pinged:
    """To be said back."""

    text: str


Message = Typed | Size | Focused | Pinged


def read_message(text: str) -> Message | None:
    """One message, or None for what no terminal says."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match said:
        case ["stdin", str() as keys]:
            return _typed(keys)
        case ["resize", {"width": columns, "height": rows}]:
            return read_size(columns, rows)
        case ["ping", str() as words] if len(words) <= _PING_MAX:
            return Pinged(words)
        case ["focus" | "blur" as word]:
            return Focused(word == "focus")
        case _:
            return None


def _typed(keys: str) -> Typed | None:
    try:
        return Typed(keys.encode())
    except UnicodeEncodeError:  # half of a surrogate pair
        return None


def read_size(columns: object, rows: object) -> Size | None:
    """A size within bounds; None when it is not given in whole numbers."""
    try:
        asked = int(str(columns)), int(str(rows))
    except ValueError:
        return None
    return Size(_within(asked[0], COLUMNS), _within(asked[1], ROWS))


def _within(asked: int, bounds: tuple[int, int]) -> int:
    return min(max(asked, bounds[0]), bounds[1])
