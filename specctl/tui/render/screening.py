"""A screening: how far it is, the ranking, and what the ranking does not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.trial.screening_words import screening_words
from specctl.tui.render.glyphs import SPINNER
from specctl.tui.render.lines import UNKNOWN, Cell, Line, middle, row, wrap
from specctl.tui.render.plots import bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.screening_ranking import Ranked
    from specctl.tui.screenings import ScreeningSheet

SIZES = {"LAUNCHES": 8, "TOK/S": 6, "ACCEPT": 6, "RATIO": 6, "BEHIND": 6}
FATE_CELLS = 22
NARROW_CELLS = 84
HIDDEN_FIRST = {"LAUNCHES", "ACCEPT"}


@dataclass(frozen=True, slots=True)
class Going:
    """A screening that this session carries out."""

    clock_s: float
    words: str
    """The newest thing heard of it."""

    is_stopping: bool = False


def screening_lines(sheet: ScreeningSheet, going: Going | None, cells: int) -> list[Line]:
    """All of it."""
    plan, standing = sheet.plan, sheet.standing
    made = len(sheet.blocks)
    part = made / max(1, plan.most_launches)
    tail = f"  {made} of at most {plan.most_launches} launches"
    out: list[Line] = [
        [*bar(min(1.0, part), max(8, cells - len(tail))), (tail, "text")],
        _now(sheet, going),
        [],
        _row([("ARM", "faint")], [[(name, "faint")] for name in SIZES], [("", "")], cells),
    ]
    out += [_ranked(one, sheet, cells) for one in standing.ranking]
    survivor = standing.survivor if sheet.trial else None
    out += [[], [("WHAT IT RESTS ON", "faint")]]
    for words in screening_words(plan, standing, survivor):
        out += _bullet(words, cells)
    if sheet.trial is not None:
        out += [[], [("enter", "key"), (f" shows its trial, {sheet.trial}", "dim")]]
    return out


def _now(sheet: ScreeningSheet, going: Going | None) -> Line:
    standing = sheet.standing
    if going is not None and going.is_stopping:
        return [("◐ ", "data"), ("Stopping; what ran before is started again", "text")]
    if going is not None:
        spin = SPINNER[int(going.clock_s * 4) % len(SPINNER)]
        return [(spin + " ", "data"), (going.words or "the first launch", "text")]
    if sheet.trial is not None:
        return [("✓ ", "ok"), (f"{standing.survivor or 'the best'} went into a trial", "text")]
    if standing.next is None:
        return [("✓ ", "ok"), ("screened", "text")]
    return [
        ("‖ ", "warn"),
        ("not ended; ", "text"),
        ("s", "key"),
        (" in the list goes on with it", "dim"),
    ]


def _bullet(words: str, cells: int) -> list[Line]:
    return [
        [("· " if i == 0 else "  ", "faint"), (part, "text")]
        for i, part in enumerate(wrap(words, max(10, cells - 2)))
    ]


def _ranked(one: Ranked, sheet: ScreeningSheet, cells: int) -> Line:
    ratio = "1.00×" if one.is_baseline else figures.fixed(one.ratio, 2, "×")
    values = [
        [(str(one.launches), "text")],
        _known(figures.rate(one.tokens_per_s), "strong"),
        _accept(one),
        _known(ratio, "strong"),
        [UNKNOWN] if one.behind is None else [(f"{one.behind:.1%}", "text")],
    ]
    return _row([(one.profile, "text")], values, _fate(one, sheet), cells)


def _fate(one: Ranked, sheet: ScreeningSheet) -> Line:
    standing = sheet.standing
    if sheet.trial is not None and one.profile == standing.survivor:
        return [("→ ", "ok"), ("tried", "text")]
    if one.left_after is not None:
        return [("× ", "faint"), (f"left after round {one.left_after}", "dim")]
    if one.is_baseline:
        return [("baseline", "dim")]
    return [("· ", "faint"), ("in it", "text")] if standing.rounds else []


def _accept(one: Ranked) -> Line:
    if one.is_baseline and one.accept_length is None and one.launches:
        return [("off", "dim")]
    return _known(figures.fixed(one.accept_length, 2), "text")


def _known(text: str, tone: str) -> Line:
    return [UNKNOWN if text == figures.UNKNOWN else (text, tone)]


def _row(name: Line, values: Sequence[Line], fate: Line, cells: int) -> Line:
    names = [one for one in SIZES if cells >= NARROW_CELLS or one not in HIDDEN_FIRST]
    by_name = dict(zip(SIZES, values, strict=True))
    columns: list[Cell] = [(by_name[one], SIZES[one], ">") for one in names]
    first = max(12, cells - sum(SIZES[one] + 2 for one in names) - FATE_CELLS - 2)
    head = [(middle(name[0][0], first), name[0][1])]
    return row((head, first), *columns, (fate, FATE_CELLS))
