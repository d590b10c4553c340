"""A run of the ledger of any kind: what it said, under which conditions, and its raw figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.tui.render.lines import UNKNOWN, Cell, Line, middle, row, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.run_sheet import Pairs, RawRequest, RunSheet

NAME_CELLS, LEAST_NAME = 34, 12
HEADS = ("#", "CATEGORY", "TOKENS", "STEPS", "LATENCY s", "TTFT ms", "STATE")
MILLI = 0.001


def run_lines(sheet: RunSheet, cells: int) -> list[Line]:
    """All of it, as long as it is."""
    entry = sheet.entry
    took = None if entry.ended_s is None else entry.ended_s - entry.began_s
    badge: Line = [("SIMULATED", "badge"), ("  ", "")] if entry.simulated else []
    out: list[Line] = [
        [*badge, (entry.kind.value, "title"), (" of ", "dim"), (" ".join(entry.profiles), "text"),
         (" on ", "dim"), (entry.where, "text"), ("  took ", "dim"),
         UNKNOWN if took is None else (figures.duration(took), "text")]
    ]  # fmt: skip
    out += [[(part, "bright")] for part in wrap(entry.outcome or "it has not ended", cells)]
    for name, pairs in (
        ("MEASURED", sheet.measured),
        ("FIGURES, AS KEPT" if sheet.measured else "FIGURES", sheet.figures),
        ("CONDITIONS", sheet.conditions),
        ("RESOLVED ARGUMENTS", sheet.arguments),
    ):
        if pairs:
            out += [[], [(name, "faint")], *pair_lines(pairs, cells)]
    out += request_lines(sheet.requests, cells)
    for profile, recipe in sheet.recipes:
        out += [[], [("RECIPE ", "faint"), (profile, "faint")]]
        out += [[(line, "text")] for line in recipe.splitlines()]
    return out


def pair_lines(pairs: Pairs, cells: int) -> list[Line]:
    """A name and its words a line; long words go on below."""
    size = max(LEAST_NAME, min(NAME_CELLS, cells // 3))
    out: list[Line] = []
    for name, words in pairs:
        for i, part in enumerate(wrap(words, max(10, cells - size - 2)) or [""]):
            label = middle(name, size) if i == 0 else ""
            out.append(row(([(label, "dim")], size), ([(part, "text")], cells - size - 2)))
    return out


def request_lines(requests: Sequence[RawRequest], cells: int) -> list[Line]:
    """Every raw request, arm by arm."""
    out: list[Line] = []
    for arm in dict.fromkeys(one.arm for one in requests):
        mine = [one for one in requests if one.arm == arm]
        label = f"REQUESTS, RAW, of {arm}" if arm else "REQUESTS, RAW"
        out += [[], [(label, "faint")], _row([[(name, "faint")] for name in HEADS], cells)]
        out += [_row(_cells(one), cells) for one in mine]
    return out


def _cells(one: RawRequest) -> list[Line]:
    state: Line = [("✗ ", "bad"), (one.error, "text")] if one.error else [("✓", "ok")]
    return [
        [(str(one.number), "dim")], [(one.category, "text")], _figure(one.tokens),
        _figure(one.verify_steps), _known(figures.fixed(one.latency_s, 3)),
        _known(figures.fixed(figures.scaled(one.ttft_s, MILLI), 0)), state,
    ]  # fmt: skip


def _figure(value: int | None) -> Line:
    return [UNKNOWN if value is None else (f"{value:,}", "text")]


def _known(text: str) -> Line:
    return [UNKNOWN if text == figures.UNKNOWN else (text, "text")]


def _row(parts: Sequence[Line], cells: int) -> Line:
    number, category, tokens, steps, latency, first, state = parts
    columns: tuple[Cell, ...] = (
        (number, 4, ">"), (category, 12), (tokens, 6, ">"), (steps, 5, ">"), (latency, 9, ">"),
        (first, 7, ">"), (state, max(8, cells - 55)),
    )  # fmt: skip
    return row(*columns)
