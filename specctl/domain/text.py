"""Remote text made safe to show, and measured in terminal cells."""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC: titles, links, clipboard
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f]).*?(?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?",  # any other escape, also one cut off
    re.DOTALL,
)
"""Control sequences as ECMA-48 writes them, in their 7-bit and 8-bit forms."""

_BREAKS = re.compile(r"[\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"  # C0 and C1
    "\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"  # bidi and invisible
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ELLIPSIS = "…"


def clean(text: str) -> str:
    """One line of remote text, safe to show: no escapes, no controls, no bidi, one line.

    Of a line redrawn with carriage returns (a progress bar) only the last drawing is kept.
    """
    if text.isascii() and text.isprintable():
        return text
    plain = _SEQUENCE.sub("", text).rstrip("\r\n").rsplit("\r", 1)[-1]
    plain = _UNSAFE.sub("", _BREAKS.sub(" ", plain.expandtabs(8)))
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", plain)


def clean_lines(text: str) -> list[str]:
    """The lines of remote text, each made safe; empty ones are kept."""
    return [clean(line) for line in text.removesuffix("\n").split("\n")] if text else []


def cell_width(text: str) -> int:
    """How many terminal cells `text` takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def shorten(text: str, cells: int, *, middle: bool = False) -> str:
    """`text` in at most `cells` cells, with an ellipsis where something was left out."""
    if cell_width(text) <= cells:
        return text
    if cells <= 0:
        return ""
    room = cells - 1
    if not middle:
        return _first_cells(text, room) + _ELLIPSIS
    head = _first_cells(text, (room + 1) // 2)
    tail = _first_cells(text[::-1], room - cell_width(head))[::-1]
    return head + _ELLIPSIS + tail


def _first_cells(text: str, cells: int) -> str:
    width = 0
    for index, character in enumerate(text):
        width += _character_width(character)
        if width > cells:
            return text[:index]
    return text
