"""The interval of a trial from look to look: one row a look, the line of no difference behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.trial.design import EARLY_RATIO
from specctl.domain.trial.narrowing import expect_interval
from specctl.domain.trial.running import is_kept
from specctl.tui.render.arms import word_tone
from specctl.tui.render.lines import Drawing, Line, few, merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.narrowing import Narrowed
    from specctl.tui.render.lines import Span
    from specctl.tui.trials import TrialSheet

LABEL_CELLS, VALUE_CELLS, VALUES_FROM = 10, 22, 84
RATE_CELLS = 7
STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
UTMOST = 1.6
"""A first interval may be so wide that the later ones would be a dot: it is cut there."""

MOST_TICKS = 7


@dataclass(frozen=True, slots=True)
class Scale:
    """From ratios to cells."""

    low: float
    high: float
    cells: int

    def at(self, value: float) -> int:
        """The cell of a value, which may lie outside."""
        return round((value - self.low) / (self.high - self.low) * (self.cells - 1))

    @property
    def ticks(self) -> list[float]:
        """Round values, 1.0 among them where it is in sight."""
        wide = self.high - self.low
        room = max(2, min(MOST_TICKS, self.cells // 9))
        step = next((s for s in STEPS if wide / s <= room), STEPS[-1])
        first = int(self.low / step) + 1
        return [n * step for n in range(first, int(self.high / step) + 1)]


def find_scale(looks: Sequence[Narrowed], margin: float, cells: int) -> Scale:
    """All looks, the band and 1.0, within what the newest look leaves readable."""
    newest = looks[-1].ratio
    band = (1 - 2 * margin, 1 + 2 * margin)
    low = max(min(band[0], *(look.low for look in looks)), min(band[0], newest / UTMOST))
    high = min(max(band[1], *(look.high for look in looks)), max(band[1], newest * UTMOST))
    edge = (high - low) * 0.04
    return Scale(low - edge, high + edge, cells)


def draw_ratio(sheet: TrialSheet, cells: int, rows: int) -> Drawing:
    """Every look, then those to come, as wide as they would be if nothing changes."""
    title = "Ratio to A, by launches of each arm"
    summary: Line = [("┊ ", "ref"), ("1.0× = no difference", "dim")]
    looks, margin = sheet.looks, sheet.plan.design.margin
    if not looks:
        return Drawing(title, [*_nothing(sheet), *_ahead(sheet, cells)], summary)
    values = VALUE_CELLS if cells >= VALUES_FROM else 0
    scale = find_scale(looks, margin, max(20, cells - LABEL_CELLS - values))
    band: Line = [("· ", "faint"), (f"within ±{margin:.0%} is no material difference", "dim")]
    to_come = _to_come(sheet, scale)
    if to_come:
        come: Line = [("◇ ", "faint"), ("to come, if nothing changes", "dim")]
        band = few([band, come], cells, gap=2)
    lines = [*_looks(sheet, scale, values), *to_come]
    room = max(1, rows - 2)
    shown = _chosen(lines, len(looks), room)
    if 2 * len(shown) - 1 <= room:
        shown = _spaced(shown, _empty(scale, margin))
    body = [_tick_line(scale), *shown]
    paces = launch_paces(sheet, cells)
    if len(body) + len(paces) + 2 <= rows:
        body += [[], *paces]
    body += [[] for _ in range(rows - 1 - len(body))]
    return Drawing(title, [*body[: rows - 1], band], summary)


def launch_paces(sheet: TrialSheet, cells: int) -> list[Line]:
    """Each used launch's throughput on one scale: how restarts vary, and whether it drifts."""
    used = [
        (block.place, block.side, rate)
        for block in sheet.blocks
        if is_kept(sheet.plan, block) and (rate := block.results[0].tokens_per_s) is not None
    ]
    if not used:
        return []
    rates = [rate for _, _, rate in used]
    edge = max(max(rates) - min(rates), max(rates) * 0.02) * 0.06
    room = max(10, cells - LABEL_CELLS - RATE_CELLS)
    scale = Scale(min(rates) - edge, max(rates) + edge, room)
    out: list[Line] = [[("TOK/S, launch by launch", "faint")]]
    for place, side, rate in used:
        at = scale.at(rate)
        tone = "data2" if side == "A" else "data"
        lead: Line = [(f"{place + 1:>4} ", "dim"), (f"{side:<{LABEL_CELLS - 5}}", "text")]
        dots: Line = [("╌" * at, "track"), ("●", tone), ("╌" * (room - 1 - at), "track")]
        out.append([*lead, *dots, (f"{figures.rate(rate):>{RATE_CELLS}}", "text")])
    return out


def _chosen(lines: list[Line], taken: int, room: int) -> list[Line]:
    """The newest look is always shown; looks to come go first, then the oldest."""
    if len(lines) <= room:
        return lines
    if taken >= room:
        return lines[taken - room : taken]
    return lines[:room]


def _spaced(lines: list[Line], between: Line) -> list[Line]:
    out: list[Line] = []
    for line in lines:
        out += [between, line] if out else [line]
    return out


def _nothing(sheet: TrialSheet) -> list[Line]:
    first = sheet.plan.design.looks[:1]
    if not first:
        return [[("One launch each is a number, never a verdict.", "text")]]
    words = f"No interval yet: the first look is after {first[0]} launches of each arm."
    ratio = sheet.primary.ratio
    so_far: list[Line] = []
    if ratio is not None:
        so_far = [[(f"{ratio:.2f}×", "strong"), (" so far, of one launch each", "dim")]]
    return [[(words, "text")], *so_far]


def _ahead(sheet: TrialSheet, cells: int) -> list[Line]:
    """What each look could tell apart, were launches to vary as they usually do."""
    design = sheet.plan.design
    spread = max(design.floor, design.known_spread or 0.0)
    regular = [k for k in design.looks if k >= design.first_look]
    found = [(k, expect_interval(sheet.plan, 1.0, spread, k)) for k in regular]
    known = [(k, between) for k, between in found if between is not None]
    if not known:
        return []
    edges = [1 - 2 * design.margin, *(low for _, (low, _) in known)]
    low, high = min(edges), max(1 + 2 * design.margin, *(high for _, (_, high) in known))
    scale = Scale(low, high, max(20, cells - LABEL_CELLS - RATE_CELLS))
    out: list[Line] = [[], _tick_line(scale)]
    for k, (left, right) in known:
        spans = merge(_interval(scale, design.margin, (left, right), "faint", "╌"))
        half = f"±{(right - left) / 2:.1%}"
        out.append([(f"{k:>6} ◇  ", "faint"), *spans, (f"{half:>{RATE_CELLS}}", "dim")])
    words = f"what each look could tell apart, where launches vary by {spread:.1%}"
    out += [[], [("◇ ", "faint"), (words, "dim")]]
    if len(regular) < len(design.looks):
        early = f"  after {design.looks[0]} launches of each only a ratio beyond {EARLY_RATIO:g}×"
        out.append([(early, "dim")])
    return out


def _tick_line(scale: Scale) -> Line:
    text = [" "] * scale.cells
    for tick in scale.ticks:
        digits = 3 if scale.high - scale.low < 0.06 else 2 if scale.high - scale.low < 0.7 else 1  # noqa: PLR2004
        label = f"{tick:.{digits}f}×"
        start = scale.at(tick) - len(label) // 2
        if start >= 0 and start + len(label) <= scale.cells:
            text[start : start + len(label)] = label
    return [(f"{'LAUNCHES':<{LABEL_CELLS}}", "faint"), ("".join(text), "faint")]


def _ground(scale: Scale, margin: float) -> list[Span]:
    """The dotted band and the line of no difference."""
    left, right, one = scale.at(1 - margin), scale.at(1 + margin), scale.at(1.0)
    out: list[Span] = []
    for at in range(scale.cells):
        if at == one:
            out.append(("┊", "ref"))
        else:
            out.append(("·", "faint") if left <= at <= right else (" ", ""))
    return out


def _empty(scale: Scale, margin: float) -> Line:
    return [(" " * LABEL_CELLS, ""), *merge(_ground(scale, margin))]


def _looks(sheet: TrialSheet, scale: Scale, values: int) -> list[Line]:
    out: list[Line] = []
    for number, look in enumerate(sheet.looks, start=1):
        newest = number == len(sheet.looks)
        tone = word_tone(sheet.word) if newest else "data2"
        cells = _interval(scale, sheet.plan.design.margin, (look.low, look.high), tone, "─")
        at = scale.at(look.ratio)
        if 0 <= at < scale.cells:
            cells[at] = ("●", tone)
        line: Line = [(f"{look.launches:>6}    ", "text" if newest else "dim"), *merge(cells)]
        if values:
            text = f"{look.ratio:.3f} ({look.low:.3f} to {look.high:.3f})"
            line.append((f"{text:>{values}}", "text" if newest else "faint"))
        out.append(line)
    return out


def _to_come(sheet: TrialSheet, scale: Scale) -> list[Line]:
    """The next look and the last one, where more launches would follow."""
    if sheet.next is None:
        return []
    spread = sheet.primary.spread
    newest = sheet.looks[-1]
    looks = [k for k in sheet.plan.design.looks if k > newest.launches]
    out: list[Line] = []
    for k in dict.fromkeys([*looks[:1], *looks[-1:]]):
        found = None if spread is None else expect_interval(sheet.plan, newest.ratio, spread, k)
        if found is not None:
            cells = _interval(scale, sheet.plan.design.margin, found, "faint", "╌")
            out.append([(f"{k:>6} ◇  ", "faint"), *merge(cells)])
    return out


def _interval(
    scale: Scale, margin: float, between: tuple[float, float], tone: str, stroke: str
) -> list[Span]:
    cells = _ground(scale, margin)
    left, right = scale.at(between[0]), scale.at(between[1])
    for at in range(max(0, left), min(scale.cells - 1, right) + 1):
        cells[at] = (stroke, tone)
    for at, end, cut in ((left, "├", "<"), (right, "┤", ">")):
        inside = min(max(0, at), scale.cells - 1)
        cells[inside] = (end if inside == at else cut, tone)
    return cells
