"""A log on a screen of its own: times, marks, ranks, words, what is searched for marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.tui.reel import chopped, ranges
from specctl.tui.render.chrome import hints
from specctl.tui.render.lines import Drawing, Line, middle, picked, safe, width, wrap
from specctl.tui.render.log import MARKS, STAMP, WORDS, kind
from specctl.tui.render.syntax import marked

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.tui.reel import Entry, Found, Reel

STAMP_CELLS = 8


class Times(StrEnum):
    """Which time stands before a line."""

    LOG = "of the log"
    ARRIVAL = "of arrival"
    NONE = "none"

    @property
    def next(self) -> Times:
        """The one that follows, round and round."""
        members = tuple(Times)
        return members[(members.index(self) + 1) % len(members)]


@dataclass(frozen=True, slots=True)
class LogView:
    """How a log is looked at."""

    bottom: int | None = None
    """Number of the last line in sight; None follows the log as it grows."""

    chosen: int | None = None
    """The line that was jumped to."""

    times: Times = Times.LOG
    wraps: bool = False
    left: int = 0
    """Characters of each line that are out of sight on the left."""

    offset_s: int = 0
    """Of local time from UTC."""


@dataclass(frozen=True, slots=True)
class LogStanding:
    """What is known of the log beside its lines."""

    title: str = "Log"
    path: str = ""
    is_reading: bool = False
    has_earlier: bool = False
    """The file has more before the first line read."""

    is_over: bool = False
    """Nothing more will be written: it is that of an ended launch."""

    lost: str = ""
    """Why it is no longer followed; empty while it is."""

    error: SpecctlError | None = None
    cause: tuple[str, str] = ("", "")
    """The first cause of a failure in words, and what to do about it."""

    note: Line = field(default_factory=list)


def log_rows(
    entry: Entry, cells: int, view: LogView, found: Found | None, *, is_chosen: bool
) -> list[Line]:
    """One line of the log, on as many rows as it takes."""
    text = safe(entry.text)
    match = STAMP.match(text)
    stamp, ranks = ("", "") if match is None else (match[1], match[2].strip())
    rest = text if match is None else text[match.end() :]
    what = kind(rest)
    head = [*_time(entry, stamp, view), MARKS[what], (" ", "")]
    if ranks:
        head.append((ranks + " ", "faint"))
    ground = "ref" if is_chosen else "select"
    words = marked([(rest, WORDS[what])], ranges(found, rest), ground)
    if not view.wraps:
        rows = [[*head, *_from(words, view.left)]]
    else:
        indent = width(head[:-1] if ranks else head)
        rows = _wrapped(words, rest, head, indent, cells)
    return [picked(line, cells) for line in rows] if is_chosen else rows


def _time(entry: Entry, stamp: str, view: LogView) -> Line:
    match view.times:
        case Times.LOG:
            return [(f"{stamp:<{STAMP_CELLS}} ", "faint")]
        case Times.ARRIVAL:
            at_s = entry.arrived_s
            text = "—" if at_s is None else figures.clock(at_s, view.offset_s)
            return [(f"{text:<{STAMP_CELLS}} ", "faint")]
        case _:
            return []


def _from(words: Line, left: int) -> Line:
    out: Line = []
    for text, token in words:
        out.append((text[left:], token))
        left = max(0, left - len(text))
    return [span for span in out if span[0]]


def _wrapped(words: Line, text: str, head: Line, indent: int, cells: int) -> list[Line]:
    """The words broken at the edge, further rows under the first."""
    rows: list[Line] = []
    start = 0
    for end in chopped(text, cells - width(head), cells - indent):
        before: Line = head if not rows else [(" " * indent, "")]
        rows.append([*before, *_between(words, start, end)])
        start = end
    return rows


def _between(words: Line, start: int, end: int) -> Line:
    out: Line = []
    at = 0
    for text, token in words:
        piece = text[max(0, start - at) : max(0, end - at)]
        if piece:
            out.append((piece, token))
        at += len(text)
    return out


def draw_log_text(
    reel: Reel, standing: LogStanding, view: LogView, cells: int, rows: int
) -> tuple[Drawing, int]:
    """The lines in sight, and the number of the first of them."""
    summary = _summary(reel, standing, view)
    path = middle(safe(standing.path), max(12, cells - width(summary) - 20))
    title = f"{standing.title}  {path}" if path else standing.title
    if not len(reel):
        return Drawing(title, _nothing(standing, cells), summary, standing.note), reel.first
    cause = cause_lines(standing, cells)
    room = max(1, rows - len(cause))
    body, first, cursor = lines_in_sight(reel, view, cells, room)
    if first == reel.first and (len(body) < room or view.bottom is not None):
        body = [_top_words(standing, reel), *body][:room]
        cursor = None if cursor is None else min(room - 1, cursor + 1)
    body += [[] for _ in range(room - len(body))] if cause else []
    note = _note(reel, standing, view)
    return Drawing(title, [*body, *cause], summary, note, cursor), first


def lines_in_sight(
    reel: Reel, view: LogView, cells: int, rows: int
) -> tuple[list[Line], int, int | None]:
    """Rows from the bottom line upwards; the number of the first, the row of the chosen line."""
    number = reel.last if view.bottom is None else min(max(view.bottom, reel.first), reel.last)
    body: list[Line] = []
    first, cursor = number, None
    while number >= reel.first and len(body) < rows:
        is_chosen = number == view.chosen
        part = log_rows(reel.entry(number), cells, view, reel.found, is_chosen=is_chosen)
        body = [*part, *body]
        cursor = 0 if is_chosen else None if cursor is None else cursor + len(part)
        first = number
        number -= 1
    over = len(body) - rows
    if over > 0:
        body = body[over:]
        cursor = None if cursor is None else max(0, cursor - over)
    return body, first, cursor


def line_at(
    reel: Reel, standing: LogStanding, view: LogView, cells: int, *, rows: int, row: int
) -> int | None:
    """The number of the line that is drawn in a row; None where there is none."""
    room = max(1, rows - len(cause_lines(standing, cells)))
    body, first, _ = lines_in_sight(reel, view, cells, room)
    last = reel.last if view.bottom is None else min(max(view.bottom, reel.first), reel.last)
    owners: list[int | None] = [
        number
        for number in range(first, last + 1)
        for _ in log_rows(reel.entry(number), cells, view, None, is_chosen=False)
    ]
    owners = owners[len(owners) - len(body) :]
    if first == reel.first and (len(body) < room or view.bottom is not None):
        owners = [None, *owners][:room]
    return owners[row] if 0 <= row < len(owners) else None


def bottom_for(reel: Reel, top: int, view: LogView, cells: int, rows: int) -> int:
    """The last line in sight when `top` is the first."""
    number, used = max(top, reel.first), 0
    while number <= reel.last:
        used += len(log_rows(reel.entry(number), cells, view, None, is_chosen=False))
        if used >= rows:
            return number if used == rows or number == top else number - 1
        number += 1
    return reel.last


def _summary(reel: Reel, standing: LogStanding, view: LogView) -> Line:
    out: Line = []
    if reel.found is not None:
        terms = safe(reel.found.terms)
        total = len(reel.hits)
        at = reel.rank(view.chosen) if view.chosen is not None else 0
        words = f" {at:,} of {total:,}" if at else f" {total:,} lines" if total else " not found"
        out = [("/" + terms, "prompt"), (words, "text" if total else "warn"), ("  ", "")]
    if standing.is_reading:
        return [*out, ("◐ reading", "data")]
    if standing.lost:
        return [*out, ("◌ not followed", "warn")]
    if view.bottom is not None and view.bottom < reel.last:
        back = reel.last - view.bottom
        return [
            *out,
            (f"{back:,} lines back", "text"),
            ("  ", ""),
            ("G", "key"),
            (" follows", "dim"),
        ]
    return [*out, ("ended", "dim") if standing.is_over else ("● following", "ok")]


def _note(reel: Reel, standing: LogStanding, view: LogView) -> Line:
    out = [*standing.note, ("  ", "")] if standing.note else []
    out += [(f"{len(reel):,}", "text"), (" lines", "dim")]
    if view.times is not Times.LOG:
        out += [("  ", ""), (f"times {view.times.value}", "dim")]
    return out


def _nothing(standing: LogStanding, cells: int) -> list[Line]:
    if standing.error is not None:
        lines: list[Line] = [
            [("✗ " if i == 0 else "  ", "bad"), (text, "text")]
            for i, text in enumerate(wrap(standing.error.message, cells - 2))
        ]
        return [*lines, *[[("  " + text, "dim")] for text in wrap(standing.error.hint, cells - 2)]]
    if standing.is_reading:
        return [[("◐ ", "data"), (f"Reading {safe(standing.path) or 'the log'}", "text")]]
    return [[(f"Nothing is written yet to {safe(standing.path)}.", "dim")]]


def _top_words(standing: LogStanding, reel: Reel) -> Line:
    """What lies before the first line."""
    if standing.is_reading:
        return [("◐ ", "data"), ("reading what was before", "dim")]
    if standing.has_earlier and not reel.is_full:
        return hints([("k", "reads what was before")])
    if standing.has_earlier:
        return [("No more lines are kept here. ", "dim"), *hints([("ctrl+s", "saves all of it")])]
    return [("the beginning of the log", "faint")]


def cause_lines(standing: LogStanding, cells: int) -> list[Line]:
    """The answer of `!`, under the lines."""
    words, hint = standing.cause
    if not words:
        return []
    lines: list[Line] = [
        [("✗ " if i == 0 else "  ", "bad"), (text, "strong")]
        for i, text in enumerate(wrap(words, cells - 2))
    ]
    return [[], *lines, *[[("  " + text, "dim")] for text in wrap(hint, cells - 2)]]
