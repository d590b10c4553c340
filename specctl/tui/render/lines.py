"""Lines of (text, token) spans, measured in terminal cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.errors import SpecctlError

Span = tuple[str, str]
Line = list[Span]

UNKNOWN: Span = ("—", "faint")
BLANK: Span = (" ", "")
LONGEST_SPAN = 4096
NARROW = re.compile(
    r"[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff"
    r"\u2500-\u25fc\u2713-\u271f\u2800-\u28ff]*"
)
"""Text in which every character takes one cell."""

SHORTEST_CUT = 5
"""Below this a name that loses its middle tells nothing."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a panel shows: its lines, and what its frame says."""

    title: str
    body: list[Line]
    summary: Line = field(default_factory=list)
    """Right in the top edge."""

    note: Line = field(default_factory=list)
    """Right in the bottom edge; left out where the frame is one rule."""

    cursor: int | None = None
    """The row of `body` that is selected."""

    is_stale: bool = False


def width(line: Line) -> int:
    """Cells a line takes."""
    text = line[0][0] if len(line) == 1 else "".join([text for text, _ in line])
    return len(text) if NARROW.fullmatch(text) else sum(cell_len(text) for text, _ in line)


def safe(text: str) -> str:
    """`text` without what a terminal would act on: controls, escapes, direction marks."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text)


def guard(line: Line) -> Line:
    """The line with every span made `safe`, and none longer than any screen is wide."""
    text = "".join([text for text, _ in line])
    if len(text) <= LONGEST_SPAN and text.isprintable():
        return line
    return [(safe(text[:LONGEST_SPAN]), token) for text, token in line]


def clip(line: Line, cells: int) -> Line:
    """Cut to `cells`, marking a cut with an ellipsis."""
    if width(line) <= cells:
        return line
    out: Line = []
    left = cells - 1
    if left < 0:
        return out
    for text, token in line:
        size = cell_len(text)
        if size > left:
            out.append((set_cell_size(text, left).rstrip() + "…", token))
            return out
        out.append((text, token))
        left -= size
    return out


def fit(line: Line | str, cells: int, align: str = "<", tone: str = "text") -> Line:
    """Exactly `cells` wide: clipped, or padded at the side `align` leaves free."""
    spans = [(line, tone)] if isinstance(line, str) else line
    size = width(spans)
    if size > cells:
        spans = clip(spans, cells)
        size = width(spans)
    gap = " " * (cells - size)
    if not gap:
        return spans
    return [(gap, ""), *spans] if align == ">" else [*spans, (gap, "")]


def middle(text: str, cells: int) -> str:
    """A name that is too long loses its middle: its ends tell it from others."""
    if len(text) > 4 * cells:
        text = text[: 2 * cells] + text[-2 * cells :] if cells > 0 else ""
    return _middle(text, cells)


def ending(text: str, cells: int) -> str:
    """What is left of a text that is too long when its beginning goes."""
    if cell_len(text) <= cells:
        return text
    end = text[max(0, len(text) - cells) :]
    while end and cell_len(end) > cells - 1:
        end = end[1:]
    return "…" + end


@lru_cache(maxsize=512)
def _middle(text: str, cells: int) -> str:
    if cell_len(text) <= cells:
        return text
    if cells < SHORTEST_CUT:
        return set_cell_size(text, max(0, cells - 1)).rstrip() + "…"[:cells]
    end = text[-cells:]
    while cell_len(end) > (cells - 1) // 2:
        end = end[1:]
    return set_cell_size(text, cells - 1 - cell_len(end)).rstrip() + "…" + end


def spread(left: Line, right: Line, cells: int) -> Line:
    """Left and right parts at the two ends; the left one yields when they meet."""
    room = cells - width(right)
    return [*fit(left, max(0, room)), *right]


Cell = tuple[Line, int] | tuple[Line, int, str]


def row(*cells: Cell, gap: int = 2) -> Line:
    """Cells of fixed width beside each other: (content, width[, alignment]).

    What is blank between two of them is one span: each costs the terminal a sequence.
    """
    out: Line = []
    blank = -gap
    for content, size, *align in cells:
        spans, taken = content, width(content)
        if taken > size:
            spans = clip(spans, size)
            taken = width(spans)
        is_right = align == [">"]
        blank += gap + (size - taken if is_right else 0)
        if spans:
            if blank > 0:
                out.append((" " * blank, ""))
            out += spans
            blank = 0
        blank += 0 if is_right else size - taken
    return [*out, (" " * blank, "")] if blank > 0 else out


def few(items: list[Line], cells: int, gap: int = 3) -> Line:
    """As many whole items as fit; never half of one."""
    out: Line = []
    used = 0
    for item in items:
        extra = (gap if out else 0) + width(item)
        if used + extra > cells:
            break
        out += [(" " * gap, ""), *item] if out else item
        used += extra
    return out


def merge(spans: Sequence[Span]) -> Line:
    """Neighbours of one token become one span."""
    out: Line = []
    texts: list[str] = []
    token: str | None = None
    for text, own in spans:
        if own != token:
            if token is not None:
                out.append(("".join(texts), token))
            texts, token = [], own
        texts.append(text)
    return [*out, ("".join(texts), token)] if token is not None else out


def picked(line: Line, cells: int) -> Line:
    """The selected row: one ground over the full width."""
    return grounded(line, cells, "select")


def grounded(line: Line, cells: int, ground: str) -> Line:
    """The line on a coloured ground over the full width; what has its own ground keeps it."""
    return [
        (text, token if " on " in token else f"{token or 'text'} on {ground}")
        for text, token in fit(line, cells)
    ]


def beside(left: list[Line], left_cells: int, right: list[Line], rows: int) -> list[Line]:
    """Two blocks next to each other."""
    return [
        [*fit(left[y] if y < len(left) else [], left_cells), *(right[y] if y < len(right) else [])]
        for y in range(rows)
    ]


def wrap(text: str, cells: int) -> list[str]:
    """Words into lines of at most `cells`; a word longer than that is cut."""
    out: list[str] = []
    current = ""
    for word in safe(text).split():
        piece = word if cell_len(word) <= cells else set_cell_size(word, max(1, cells - 1)) + "…"
        if not current:
            current = piece
        elif cell_len(current) + 1 + cell_len(piece) <= cells:
            current += " " + piece
        else:
            out.append(current)
            current = piece
    return [*out, current] if current else out


def error_lines(error: SpecctlError, cells: int) -> list[Line]:
    """What happened, then what to do next."""
    out: list[Line] = [
        [("✗ " if i == 0 else "  ", "bad"), (text, "text")]
        for i, text in enumerate(wrap(error.message, cells - 2))
    ]
    return [*out, *[[("  ", ""), (text, "dim")] for text in wrap(error.hint, cells - 2)]]


def plain(lines: list[Line]) -> str:
    """The text alone, for tests and for copying."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


STAYS = {"", "faint", "track", "dim", "border", "key", "prompt"}


def aged(line: Line) -> Line:
    """The line as an old value: the words stay, the colours go."""
    return [(text, token if token in STAYS else "stale") for text, token in line]
