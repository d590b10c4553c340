"""What a click on a line means: keys are written on the screen, and a click on one presses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from specctl.tui.render.lines import Line

KEYS = ("key", "keybox", "tab")
"""Tokens of the span that names a key; what it does stands right of it."""

BUTTONS = ("button", "chosen")
OFF = "strike"
"""Key and words in one span, of what is off: pressing it says why."""

EDGES = ("border", "focus")
ACTION = "action"
"""The button that does what a dialog asks for; it has no key of its own."""

BACK = "esc"


def hit(line: Line, cell: int) -> str:
    """The key that is written at `cell`, as it is written there; `ACTION`, or empty for nothing."""
    start, found, has_words = 0, "", False
    for text, token in line:
        name, inside = token.partition(" on ")[0], cell - start
        start += cell_len(text)
        own = _named(text, name, inside)
        if own:
            found, has_words = own, name not in KEYS
        elif name in EDGES or (has_words and (not name or text.startswith("  "))):
            found = ""  # what a key does ends with a gap, and a button at its own end
        else:
            has_words = has_words or bool(text.strip())
        if cell < start:
            return found
    return ""


def _named(text: str, name: str, inside: int) -> str:
    """The key that a span names; empty for one that names none."""
    words = text.split()
    if not words:
        return ""
    if name in BUTTONS:
        return BACK if BACK in words else ACTION
    if name == OFF:
        return words[0]
    return words[_nearest(text, inside)] if name in KEYS else ""


def _nearest(text: str, inside: int) -> int:
    """Which of several keys, such as those of `{ }`, is meant at a cell; the last beyond them."""
    before = len(text[: max(0, inside) + 1].split())
    return max(0, before - 1)


def text_at(line: Line, cell: int) -> str:
    """The words of the column at `cell`: a head, and the blanks that pad it."""
    start, words = 0, ""
    for text, _ in line:
        words = text.strip() or words
        start += cell_len(text)
        if cell < start:
            return words
    return ""


def crumb(line: Line, cell: int) -> int | None:
    """Which crumb of a header is at `cell`, counted from the last, which is 1; None for none."""
    start, at, seen = 0, None, 0
    for text, token in line:
        if token in {"crumb", "here"}:
            seen += 1
            if start <= cell < start + cell_len(text):
                at = seen
        start += cell_len(text)
    return None if at is None else seen - at + 1


def is_count(line: Line, cell: int) -> bool:
    """The alert counts of a header are at `cell`."""
    start = 0
    for text, token in line:
        start += cell_len(text)
        if cell < start:
            return token in {"warn", "bad"}
    return False
