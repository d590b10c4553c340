"""Every mark on the screen and its stand-in for terminals and fonts that have only ASCII."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.tui.render.lines import Line

STATES: dict[str, tuple[str, str]] = {
    # state: glyph, token
    "ready": ("●", "ok"),
    "busy": ("◉", "ok"),
    "starting": ("◐", "data"),
    "connecting": ("◐", "data"),
    "draining": ("◑", "data"),
    "stalled": ("◌", "warn"),
    "stale": ("◌", "warn"),
    "crashed": ("✗", "bad"),
    "refused": ("✗", "bad"),
    "unknown": ("?", "warn"),
    "foreign": ("◆", "dim"),
    "absent": ("·", "faint"),
}

ORDER = (
    "crashed", "refused", "stale", "stalled", "unknown", "starting", "connecting", "draining",
    "busy", "ready", "foreign", "absent",
)  # fmt: skip
"""From worst to best: a host with several servers shows its worst."""

SPINNER = "◐◓◑◒"

_PAIRS = {"≠": "<>", "→": "->", "≥": ">=", "≤": "<="}
"""Two cells for one: they take the space after them, else one of the next wide gap."""

GAP = re.compile(" {3,}")

_SINGLE = {
    "●": "*", "◉": "@", "◐": "~", "◓": "~", "◑": "~", "◒": "~", "◌": "o", "✗": "X", "✓": "+",
    "◆": "#", "·": ".", "▲": "!", "▼": "v", "◇": "d", "○": "o", "▾": "v", "▸": ">", "‖": "=",
    "—": "-", "–": "-", "…": "~", "›": ">", "•": "*", "▌": ">", "▏": "|", "┊": ":", "╌": "-",
    "━": "=", "╸": "-", "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "├": "+",
    "┏": "+", "┓": "+", "┗": "+", "┛": "+", "┃": "|",
    "└": "+", "┤": "+", "↑": "^", "↓": "v", "←": "<", "▁": "_", "▂": ".", "▃": ":", "▄": "-",
    "▅": "=", "▆": "+", "▇": "#", "█": "#",
}  # fmt: skip


def _braille(dots: int) -> str:
    for bits, char in ((0x09, "'"), (0x12, "-"), (0x24, "."), (0xC0, "_")):
        if dots & bits:
            return char
    return " "


_TABLE = str.maketrans(_SINGLE | {chr(0x2800 + n): _braille(n) for n in range(256)})


def ascii_text(text: str) -> str:
    """`text` with every mark of ours replaced, as wide as before where a space follows."""
    for mark, pair in _PAIRS.items():
        if mark in text:
            text = text.replace(mark + " ", pair).replace(mark, pair)
    return text.translate(_TABLE)


def ascii_line(line: Line) -> Line:
    """The line with every mark of ours replaced; where it grew, the next wide gap yields."""
    out: Line = []
    over = 0
    for text, token in line:
        if text.isascii():
            kept = _narrowed(text, over) if over > 0 else text
            over -= len(text) - len(kept)
        else:
            kept = ascii_text(text)
            over += len(kept) - len(text)
        out.append((kept, token))
    return out


def _narrowed(text: str, over: int) -> str:
    """`text` with up to `over` blanks less; columns stay two cells apart."""
    gap = GAP.search(text)
    if gap is None:
        return text
    return text[: gap.start()] + text[gap.start() + min(over, len(gap[0]) - 2) :]
