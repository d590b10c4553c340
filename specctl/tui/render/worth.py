"""The map of a trial: accept length against speedup, with lines of equal step cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.tui.render.arms import word_tone
from specctl.tui.render.lines import Drawing, Line, few, merge, middle, safe, spread, width
from specctl.tui.render.plots import GUTTER

if TYPE_CHECKING:
    from specctl.domain.report.references import Published
    from specctl.domain.trial.summary import ConcurrencySummary
    from specctl.tui.render.lines import Span
    from specctl.tui.trials import TrialSheet

COSTS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
NEAR = 0.12
"""A line this close to ours, as a share, is left out."""

MOST_NAMED = 6
"""Published points with a name; the nearest to ours."""

TOPS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 12.0)
BRAILLE = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits by row from the top, left and right half."""


@dataclass(slots=True)
class Canvas:
    """Cells of a plot: dots of lines below, marks and labels over them; no label over another."""

    cells: int
    rows: int
    x: tuple[float, float]
    y: tuple[float, float]
    dots: dict[tuple[int, int], tuple[int, str]] = field(default_factory=dict)
    marks: dict[tuple[int, int], Span] = field(default_factory=dict)

    def across(self, value: float, steps: int) -> int:
        """Which of `steps` columns an accept length is in."""
        return round((value - self.x[0]) / (self.x[1] - self.x[0]) * (steps - 1))

    def down(self, value: float, steps: int) -> int:
        """Which of `steps` rows from the top a speedup is in."""
        return round((self.y[1] - value) / (self.y[1] - self.y[0]) * (steps - 1))

    def dot(self, x: int, y: int, token: str) -> None:
        """A dot, in half columns and quarter rows."""
        if not (0 <= x < 2 * self.cells and 0 <= y < 4 * self.rows):
            return
        at = (x // 2, y // 4)
        bits, kept = self.dots.get(at, (0, token))
        self.dots[at] = (bits | BRAILLE[y % 4][x % 2], "ref" if "ref" in (kept, token) else kept)

    def line(self, cost: float, token: str, every: int) -> tuple[int, int] | None:
        """Speedup = accept length / cost; returns the cell of its end, None when out of sight."""
        end = None
        for x in range(0, 2 * self.cells, every):
            length = self.x[0] + (self.x[1] - self.x[0]) * x / (2 * self.cells - 1)
            y = self.down(length / cost, 4 * self.rows)
            if 0 <= y < 4 * self.rows:
                self.dot(x, y, token)
                end = (x // 2, y // 4)
        return end

    def is_free(self, x: int, y: int, size: int) -> bool:
        """No mark is there, and it is inside."""
        inside = 0 <= y < self.rows and x >= 0 and x + size <= self.cells
        return inside and not any((at, y) in self.marks for at in range(x, x + size))

    def write(self, x: int, y: int, text: str, token: str) -> bool:
        """A label, unless something is in its way."""
        size = len(text)
        if not self.is_free(x, y, size):
            return False
        for at in (x - 1, x + size):
            self.marks.setdefault((at, y), (" ", ""))
        for at, char in enumerate(text):
            self.marks[x + at, y] = (char, token)
        return True

    def point(self, where: tuple[float, float], glyph: Span, label: Span | None) -> None:
        """A point with its label right, left, under or over it; without where none fits."""
        x, y = self.across(where[0], self.cells), self.down(where[1], self.rows)
        if not (0 <= x < self.cells and 0 <= y < self.rows):
            return
        self.marks[x, y] = glyph
        if label is None:
            return
        text, token = label
        size = len(text)
        places = ((x + 2, y), (x - size - 1, y), (x + 2, y + 1), (x + 2, y - 1),
                  (x - size - 1, y + 1), (x - size - 1, y - 1))  # fmt: skip
        any(self.write(at, row, text, token) for at, row in places)

    def lines(self) -> list[Line]:
        """The rows."""
        return [merge([self._cell(x, y) for x in range(self.cells)]) for y in range(self.rows)]

    def _cell(self, x: int, y: int) -> Span:
        if (x, y) in self.marks:
            return self.marks[x, y]
        bits, token = self.dots.get((x, y), (0, ""))
        return (chr(0x2800 + bits), token) if bits else (" ", "")


def draw_map(sheet: TrialSheet, cells: int, rows: int) -> Drawing:
    """Ours, what it would take, and what others published."""
    title = "Accept length × speedup"
    summary: Line = [("lines of equal step cost", "dim")]
    measured = [one for one in sheet.summary.concurrencies if _is_measured(one)]
    if not measured:
        return Drawing(title, _nothing(sheet), summary)
    canvas = _canvas(sheet, measured, max(20, cells - GUTTER), max(4, rows - 2))
    one = measured[0]
    _draw_costs(canvas, one)
    _draw_points(canvas, sheet, measured)
    _draw_expected(canvas, sheet)
    ghosts = _draw_published(canvas, sheet)
    lines = _with_axis(canvas)
    legend = _legend(canvas, cells, ghosts=ghosts, is_predicted=bool(_expected(sheet)))
    return Drawing(title, [*lines, *legend], summary)


def _is_measured(one: ConcurrencySummary) -> bool:
    return one.break_even is not None and one.ratio is not None


def _nothing(sheet: TrialSheet) -> list[Line]:
    """Why there is no point."""
    if not any(block.results for block in sheet.blocks):
        return [[("No launch was measured yet.", "text")]]
    return [[("No accept length and ratio of both arms yet.", "text")]]


def _canvas(sheet: TrialSheet, measured: list[ConcurrencySummary], cells: int, rows: int) -> Canvas:
    expected = _expected(sheet)
    lengths = [1.0, *(length for length, _, _ in expected)]
    ratios = [1.0, *(ratio for _, ratio, _ in expected)]
    for one in measured:
        if one.break_even is not None and one.ratio is not None:
            lengths += [one.break_even.accept_length, one.break_even.break_even]
            ratios.append(one.ratio)
    right = next((top for top in TOPS if max(lengths) * 1.25 <= top), max(lengths) * 1.25)
    top = next((top for top in TOPS if max(ratios) * 1.2 <= top), max(ratios) * 1.2)
    return Canvas(cells, rows, (1.0, right), (min(0.5, 0.9 * min(ratios)), top))


def _draw_costs(canvas: Canvas, one: ConcurrencySummary) -> None:
    own = one.break_even.break_even if one.break_even else None
    if own is not None:
        end = canvas.line(own, "ref", 2)
        _name_line(canvas, end, f"cost {own:.2f}×", "ref")
    for cost in COSTS:
        if own is None or abs(cost / own - 1) > NEAR:
            _name_line(canvas, canvas.line(cost, "faint", 4), f"cost {cost:g}×", "faint")


def _name_line(canvas: Canvas, end: tuple[int, int] | None, text: str, token: str) -> None:
    """Left of the line's end, or right of it, or a row below."""
    if end is None:
        return
    x, y = end
    size = len(text)
    right = min(x, canvas.cells - size)
    any(
        canvas.write(at, row, text, token)
        for at, row in ((x - size - 1, y), (x + 2, y), (right, y + 1), (right, y - 1))
    )


def _draw_points(canvas: Canvas, sheet: TrialSheet, measured: list[ConcurrencySummary]) -> None:
    several = len(sheet.plan.concurrencies) > 1
    canvas.point((1.0, 1.0), ("●", "strong"), ("A", "strong"))
    for one in measured:
        if one.break_even is None or one.ratio is None:
            continue
        tone = word_tone(one.word or (sheet.word if one.is_primary else None))
        at = f" at {one.concurrency}" if several else ""
        where = (one.break_even.accept_length, one.ratio)
        canvas.point(where, ("●", tone), (f"B {one.ratio:.2f}×{at}", tone))
    own = measured[0].break_even
    if own is not None:
        label = (f"pays from {own.break_even:.2f}", "ref")
        canvas.point((own.break_even, 1.0), ("◇", "ref"), label)


def _expected(sheet: TrialSheet) -> list[tuple[float, float, str]]:
    """(accept length, speedup, what it is called) as predicted before the trial."""
    return [
        (one.accept_length, one.speedup, "forecast" if one.is_forecast else "predicted")
        for one in sheet.plan.predicted
        if one.accept_length is not None and one.speedup is not None
    ]


def _draw_expected(canvas: Canvas, sheet: TrialSheet) -> None:
    """Where nothing measured is."""
    for length, ratio, word in _expected(sheet):
        x, y = canvas.across(length, canvas.cells), canvas.down(ratio, canvas.rows)
        if canvas.is_free(x, y, 1):
            label = (f"{word} {ratio:.2f}×", "data")
            canvas.point((length, ratio), ("◇", "data"), label)


def _draw_published(canvas: Canvas, sheet: TrialSheet) -> int:
    """Ghosts, where nothing of ours is, some with names; how many are in sight."""
    shown: list[Published] = []
    for one in sheet.published:
        x, y = canvas.across(one.accept_length, canvas.cells), canvas.down(one.speedup, canvas.rows)
        if one.is_plausible and canvas.is_free(x, y, 1):
            canvas.marks[x, y] = ("○", "faint")
            shown.append(one)
    found = sheet.primary.break_even
    own = found.accept_length if found else 1.0
    for one in sorted(shown, key=lambda one: abs(one.accept_length - own))[:MOST_NAMED]:
        where = (one.accept_length, one.speedup)
        canvas.point(where, ("○", "faint"), (_ghost_name(one, canvas.cells), "faint"))
    return len(shown)


def _ghost_name(one: Published, cells: int) -> str:
    """`Kimi-K2 3 steps`; a report names the source and licence of each."""
    noun = "step" if one.num_steps == 1 else "steps"
    return f"{middle(safe(one.model), max(8, cells // 5))} {one.num_steps} {noun}"


def _with_axis(canvas: Canvas) -> list[Line]:
    """Speedups in the gutter, a dashed line at 1.0."""
    even = canvas.down(1.0, canvas.rows)
    labels = {even: ("1.0×", "text")}
    for step in (0.2, 0.4, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0):
        row = canvas.down(step, canvas.rows)
        if 0 <= row < canvas.rows and all(abs(row - kept) > 1 for kept in labels):
            labels[row] = (f"{step:.1f}×", "faint")
    for x in range(canvas.cells):
        if (x, even) not in canvas.marks:
            canvas.marks[x, even] = ("╌", "faint")
    out: list[Line] = []
    for y, line in enumerate(canvas.lines()):
        text, token = labels.get(y, ("", ""))
        out.append([(f"{text:>{GUTTER - 1}} ", token), *line])
    return out


def _legend(canvas: Canvas, cells: int, *, ghosts: int, is_predicted: bool) -> list[Line]:
    text = [" "] * canvas.cells
    step = 0.5 if canvas.x[1] - canvas.x[0] <= 4 else 1.0  # noqa: PLR2004 - at most nine labels
    value = canvas.x[0]
    while value <= canvas.x[1] + 1e-9:
        label = f"{value:g}"
        start = min(canvas.across(value, canvas.cells), canvas.cells - len(label))
        text[start : start + len(label)] = label
        value += step
    name: Line = [(" " * GUTTER, ""), ("accept length →", "dim")]
    known: list[Line] = [[("● ", "strong"), ("measured", "dim")]]
    known.append([("◇ ", "ref"), ("break-even", "dim")])
    if is_predicted:
        known.append([("◇ ", "data"), ("predicted", "dim")])
    if ghosts:
        known.append([("○ ", "faint"), (f"{ghosts} published", "dim")])
    marks = few(known, cells - width(name) - 2, gap=2)
    return [[(" " * GUTTER + "".join(text), "faint")], spread(name, marks, cells)]
