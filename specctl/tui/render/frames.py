"""The frame around a panel: a box, or one rule where rows are scarce."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from specctl.tui.render.lines import BLANK, Drawing, Line, aged, clip, few, fit, guard, width

if TYPE_CHECKING:
    from collections.abc import Callable


THIN, HEAVY = "╭─╮│╰╯", "┏━┓┃┗┛"


class _Look(NamedTuple):
    """What a row in a frame depends on beside its line."""

    cells: int
    token: str
    rule: bool
    is_stale: bool
    box: str
    """Top left, across, top right, down, bottom left and bottom right."""


class Kept:
    """Rows as they were framed: one that would be the same again stays the same list."""

    def __init__(self) -> None:
        self._rows: dict[str | int, tuple[object, Line]] = {}

    def row(self, place: str | int, key: object, make: Callable[[], Line]) -> Line:
        """The row at a place of the frame, made again when `key` differs from the last one."""
        known = self._rows.get(place)
        if known is not None and known[0] == key:
            return known[1]
        row = make()
        self._rows[place] = key, row
        return row


def framed(
    drawing: Drawing,
    cells: int,
    rows: int,
    *,
    number: str,
    has_focus: bool,
    rule: bool,
    is_heavy: bool = False,
    kept: Kept | None = None,
) -> list[Line]:
    """The drawing in its frame, `rows` lines of `cells`; `kept` gives back those of before."""
    kept = kept or Kept()
    token, box = "focus" if has_focus else "border", HEAVY if is_heavy else THIN
    look = _Look(cells, token, rule, drawing.is_stale, box)
    out = [
        kept.row(
            "top",
            (drawing.title, drawing.summary, number, look),
            lambda: _top(_heading(drawing.title, number, has_focus=has_focus), drawing, look),
        )
    ]
    for y in range(rows - (1 if rule else 2)):
        line = drawing.body[y] if y < len(drawing.body) else []
        is_at = y == drawing.cursor
        out.append(kept.row(y, (line, is_at, look), partial(_row, line, look, is_at=is_at)))
    if rule or rows <= 1:
        return out[:rows]
    bottom = kept.row("bottom", (drawing.note, look), lambda: _bottom(drawing, look))
    return [*out[: rows - 1], bottom]


def _top(left: Line, drawing: Drawing, look: _Look) -> Line:
    right = guard(drawing.summary)
    if look.rule:
        return _edge(left, right, look.cells, look)
    return [
        (look.box[0], look.token),
        *_edge(left, right, look.cells - 2, look),
        (look.box[2], look.token),
    ]


def _bottom(drawing: Drawing, look: _Look) -> Line:
    edge = _edge([], guard(drawing.note), look.cells - 2, look)
    return [(look.box[4], look.token), *edge, (look.box[5], look.token)]


def _row(line: Line, look: _Look, *, is_at: bool) -> Line:
    line = guard(line)
    if look.is_stale:
        line = aged(line)
    if look.rule:
        return [("▌", "accent") if is_at else BLANK, *fit(line, look.cells - 2), BLANK]
    side = ("▌", "accent") if is_at else (look.box[3], look.token)
    return [side, BLANK, *fit(line, look.cells - 4), BLANK, (look.box[3], look.token)]


def _heading(title: str, number: str, *, has_focus: bool) -> Line:
    words: Line = guard([(title, "bright" if has_focus else "title")])
    if not number:
        return words
    if has_focus:
        return [(f" {number} ", "keybox"), BLANK, *words]
    return [(number + " ", "faint"), *words]


def _edge(left: Line, right: Line, cells: int, look: _Look) -> Line:
    """Titles in a horizontal edge; the right one goes before the left one is cut."""
    across, token = look.box[1], look.token
    if left:
        left = [(f"{across} ", token), *left, (" ", token)]
    left = clip(left, max(0, cells - 2))
    room = cells - width(left) - 1
    if right and width(right) + 3 > room:
        right = few(_items(right), max(0, room - 3), gap=2)
    if right:
        right = [(" ", token), *right, (f" {across}", token)]
    return [*left, (across * max(0, cells - width(left) - width(right)), token), *right]


def _items(line: Line) -> list[Line]:
    """The line split at its double spaces, so that it can lose whole items."""
    items: list[Line] = [[]]
    for text, token in line:
        if text == "  ":
            items.append([])
        elif text.startswith("  "):
            items.append([(text[2:], token)])
        else:
            items[-1].append((text, token))
    return [item for item in items if item]
