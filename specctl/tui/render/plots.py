"""Bars, sparks, traces and block areas: values in, spans out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from specctl.tui.render.lines import BLANK, Line, Span, merge

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCKS = " ▁▂▃▄▅▆▇█"
EIGHTHS = 8
DOTS = ((0x40, 0x80), (0x04, 0x20), (0x02, 0x10), (0x01, 0x08))
"""Braille bits by level from the bottom, left and right half."""

HALVES = ((0, 0), *DOTS)
TRACED = {
    (left, right): chr(0x2800 + (HALVES[left][0] | HALVES[right][1])) if left or right else " "
    for left in range(len(HALVES))
    for right in range(len(HALVES))
}
"""One cell of a trace by what its halves show: nothing, or a level counted from 1."""

SCALE_TOPS = (1.2, 1.6, 2.2, 3.0, 4.5, 6.0, 8.0)
"""Tops of the accept-length axis; a scale changes in steps, never per frame."""

GUTTER = 6


def bar(share: float | None, cells: int, tone: str = "data") -> Line:
    """A thin bar in half-cell steps; heavy against light, so it reads without colour."""
    if share is None:
        return [("╌" * cells, "faint")]
    halves = min(cells * 2, max(0, round(share * cells * 2)))
    if share > 0 and halves == 0:
        halves = 1
    full, half = divmod(halves, 2)
    text = "━" * full + ("╸" if half else "")
    return [(text, tone), ("─" * (cells - len(text)), "track")]


def level(value: float, low: float, high: float, levels: int) -> int:
    """Which of `levels` steps a value is on, 0 the lowest."""
    return min(levels - 1, max(0, int((value - low) / (high - low) * levels)))


def spark(value: float, low: float, high: float) -> str:
    """One cell of seven heights; never the full block, so that stacked rows do not fuse."""
    return BLOCKS[min(7, max(1, round((value - low) / (high - low) * 7)))]


def trace(values: Sequence[float | None], low: float, high: float) -> str:
    """A thin one-row line, two samples a cell and four levels."""
    first, second, third = (low + (high - low) * n / 4 for n in (1, 2, 3))
    dots = [
        0 if v is None else 1 if v < first else 2 if v < second else 3 if v < third else 4
        for v in values
    ]
    if len(dots) % 2:
        dots.append(0)
    return "".join([TRACED[pair] for pair in zip(dots[::2], dots[1::2], strict=True)])


def area(
    values: Sequence[float | None],
    rows: int,
    *,
    low: float,
    high: float,
    tone: str = "data",
    line_at: float | None = None,
) -> list[Line]:
    """Block columns in eighth steps, a dashed line behind; what passes the line turns green."""
    return list(_area(tuple(values), rows, (low, high), tone, line_at))


@lru_cache(maxsize=8)
def _area(
    values: tuple[float | None, ...],
    rows: int,
    ends: tuple[float, float],
    tone: str,
    line_at: float | None,
) -> list[Line]:
    """As long as nothing was measured a plot stays what it was."""
    low, high = ends
    at_row = None if line_at is None else level(line_at, low, high, rows)
    scale = rows / (high - low) * EIGHTHS
    columns = [
        _column(
            None if v is None else min(EIGHTHS * rows, max(0, round((v - low) * scale))),
            rows,
            tone,
            at_row,
            reached=line_at is not None and v is not None and v >= line_at,
        )
        for v in values
    ]
    return (
        [merge(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(rows)]
    )


@lru_cache(maxsize=1024)
def _column(
    height: int | None, rows: int, tone: str, at_row: int | None, *, reached: bool
) -> tuple[Span, ...]:
    """One column of an area, from the top; its height in eighths of a row."""
    return tuple(_cell(height, r, tone, at_row, reached=reached) for r in reversed(range(rows)))


def _cell(height: int | None, r: int, tone: str, at_row: int | None, *, reached: bool) -> Span:
    """One cell of an area: dash, block or nothing."""
    eighth = 0 if height is None else min(EIGHTHS, max(0, height - r * EIGHTHS))
    if r == 0 and height is not None:
        eighth = max(1, eighth)
    if r == at_row and height is not None and eighth == EIGHTHS:
        return ("╌", f"ref on {tone}")
    if r == at_row and not reached:
        return ("╌", "ref")
    if eighth == 0:
        return BLANK
    over = reached and at_row is not None and r >= at_row
    return (BLOCKS[eighth], "ok" if over else tone)


def accept_top(values: Sequence[float | None], even: float | None) -> float:
    """Top of the accept-length axis: the first step that holds the data and the line."""
    most = max([v for v in values if v is not None] + ([even * 1.08] if even else []), default=1.0)
    return next((top for top in SCALE_TOPS if most <= top), float(int(most) + 1))


def rate_top(values: Sequence[float | None], line: float | None) -> float:
    """Top of a tok/s axis: 1, 2, 4 or 8 times a power of ten."""
    most = max([v for v in values if v is not None] + ([line * 1.08] if line else []), default=1.0)
    power = 1.0
    while power * 10 < most:
        power *= 10
    return next((step * power for step in (1, 2, 4, 8, 10) if most <= step * power), power * 10)


def axis(rows: list[Line], labels: dict[int, tuple[str, str]]) -> list[Line]:
    """Number labels in the gutter at the left of a plot, by row from the top."""
    out: list[Line] = []
    for y, line in enumerate(rows):
        text, token = labels.get(y, ("", "faint"))
        out.append([(f"{text:>{GUTTER - 1}} ", token), *line])
    return out


def labels(
    rows: int, low: tuple[float, str], high: tuple[float, str], line: tuple[float, str] | None
) -> dict[int, tuple[str, str]]:
    """Three labels of an axis: top, the line to beat, bottom; the line wins a shared row."""
    out = {0: (high[1], "faint"), rows - 1: (low[1], "faint")}
    if line is not None:
        out[rows - 1 - level(line[0], low[0], high[0], rows)] = (line[1], "ref")
    return out


def time_axis(cells: int, minutes: int) -> Line:
    """The time row under a plot of `cells` columns."""
    left, center, right = f"-{minutes} min", f"-{minutes / 2:g}", "now"
    room = cells - len(left) - len(center) - len(right)
    if room <= 1:
        return [(" " * GUTTER + left, "faint")]
    gap = room // 2
    text = left + " " * gap + center + " " * (room - gap) + right
    return [(" " * GUTTER, ""), (text, "faint")]
