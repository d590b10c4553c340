"""Both arms of a trial as a table: columns by importance, those without a value left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.tui.render.lines import UNKNOWN, Line, middle, row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.trial.order import Side
    from specctl.domain.trial.summary import ConcurrencySummary
    from specctl.tui.render.lines import Cell, Span
    from specctl.tui.trials import TrialSheet

WORDS: dict[str, tuple[Span, str]] = {
    # verdict: mark, token of the word
    "faster": (("▲ ", "ok"), "okb"),
    "slower": (("▼ ", "warn"), "warnb"),
    "no material difference": (("= ", "text"), "title"),
    "not enough evidence": (("? ", "dim"), "title"),
}
WIDE_CELLS, WIDEST_CELLS = 100, 130
LONGEST_NAME = 40
MILLI = 0.001
SIZES = {
    "LAUNCHES": 8, "TOK/S": 6, "ACCEPT": 6, "STEP ms": 7, "EVEN": 5, "PREDICTED": 9,
    "TTFT ms": 7, "RATIO": 6, "INTERVAL": 14, "WORD": 22,
}  # fmt: skip
TO_THE_LEFT = ("INTERVAL", "WORD")


def word_tone(word: str | None) -> str:
    """The token of what a verdict is drawn in; plain data without one."""
    return WORDS[word][1] if word in WORDS else "data"


def word_line(word: str | None, otherwise: str = "") -> Line:
    """`▼ slower`: the mark and the word; never the colour alone."""
    if word not in WORDS:
        return [(otherwise, "dim")]
    mark, tone = WORDS[word]
    return [mark, (word or "", tone)]


def arm_lines(sheet: TrialSheet, cells: int) -> list[Line]:
    """A head, and two rows for each concurrency."""
    names = _columns(sheet, cells)
    error = sheet.plan.design.error + sheet.plan.design.early_error
    heads = {name: name for name in names} | {
        "INTERVAL": f"{1 - error:.0%} INTERVAL",
        "WORD": "VERDICT" if sheet.next is None else "SO FAR",
        "PREDICTED": "FORECAST" if _is_forecast(sheet) else "PREDICTED",
    }
    head: dict[str, Line] = {name: [(text, "faint")] for name, text in heads.items()}
    out = [_row([("ARM", "faint")], head, names, cells)]
    several = len(sheet.plan.concurrencies) > 1
    for one in sheet.summary.concurrencies:
        for place in range(2):
            label = f" at {one.concurrency}" if several else ""
            name: Line = [("AB"[place] + " ", "bright"), (one.arms[place].profile + label, "text")]
            out.append(_row(name, _values(sheet, one, place, cells), names, cells))
    return out


def _columns(sheet: TrialSheet, cells: int) -> list[str]:
    hidden = {"STEP ms", "EVEN", "PREDICTED", "WORD"} if cells < WIDE_CELLS else set()
    if all(one.prediction.speedup is None for one in sheet.summary.concurrencies):
        hidden.add("PREDICTED")
    first_tokens = [arm.ttft_s.mean for one in sheet.summary.concurrencies for arm in one.arms]
    if cells < WIDEST_CELLS or all(value is None for value in first_tokens):
        hidden.add("TTFT ms")
    return [name for name in SIZES if name not in hidden]


def _row(name: Line, values: Mapping[str, Line], names: Sequence[str], cells: int) -> Line:
    first = max(8, min(cells - sum(SIZES[n] + 2 for n in names), LONGEST_NAME))
    columns: list[Cell] = [(values[n], SIZES[n], "<" if n in TO_THE_LEFT else ">") for n in names]
    if len(name) > 1:
        name = [name[0], (middle(name[1][0], first - 2), name[1][1])]
    return row((name, first), *columns)


def _values(sheet: TrialSheet, one: ConcurrencySummary, place: int, cells: int) -> dict[str, Line]:
    arm = one.arms[place]
    even = one.break_even.break_even if one.break_even and place else None
    step_ms = figures.fixed(figures.scaled(arm.step_s.mean, MILLI), 1)
    ttft_ms = figures.fixed(figures.scaled(arm.ttft_s.mean, MILLI), 0)
    known = {
        "LAUNCHES": [(str(one.launches[place]), "text")],
        "TOK/S": known_or(figures.rate(arm.tokens_per_s.mean), "strong"),
        "ACCEPT": _accept(sheet, one, place),
        "STEP ms": known_or(step_ms, "text"),
        "EVEN": known_or(figures.fixed(even, 2), "ref") if place else [],
        "PREDICTED": _predicted(one) if place else [],
        "TTFT ms": known_or(ttft_ms, "text"),
    }
    return known | (_compared(sheet, one) if place else _noise(one, cells))


def _predicted(one: ConcurrencySummary) -> Line:
    text = figures.fixed(one.prediction.speedup, 2, "×")
    return [UNKNOWN] if text == figures.UNKNOWN else [("◇ ", "data"), (text, "text")]


def _is_forecast(sheet: TrialSheet) -> bool:
    """Whatever was predicted is from transcripts."""
    known = [one.prediction for one in sheet.summary.concurrencies]
    return all(one.is_forecast for one in known if one.speedup is not None)


def _noise(one: ConcurrencySummary, cells: int) -> dict[str, Line]:
    """Of the baseline: how much restarts of one arm vary."""
    if one.spread is None:
        return {"RATIO": [("1.00×", "dim")], "INTERVAL": [], "WORD": []}
    words: Line = [(f"restarts vary {one.spread:.1%}", "dim")]
    short: Line = [(f"vary {one.spread:.1%}", "dim")]
    wide = cells >= WIDE_CELLS
    return {"RATIO": [("1.00×", "dim")], "INTERVAL": [] if wide else short, "WORD": words}


def _compared(sheet: TrialSheet, one: ConcurrencySummary) -> dict[str, Line]:
    word = one.word or (sheet.word if one.is_primary else None)
    between: Line = [UNKNOWN]
    if one.low is not None and one.high is not None:
        between = [(f"{one.low:.2f} to {one.high:.2f}", "text")]
    tone = word_tone(word) if word in WORDS else "strong"
    return {
        "RATIO": known_or(figures.fixed(one.ratio, 2, "×"), tone),
        "INTERVAL": between,
        "WORD": word_line(word, _so_far(sheet)),
    }


def _so_far(sheet: TrialSheet) -> str:
    """Why there is no word yet."""
    if sheet.next is None:
        return "a number, no verdict"
    at = sheet.pace.next_look
    return f"looked at after {at} each" if at is not None else "no look in this plan"


def known_or(text: str, token: str) -> Line:
    """A value, faint where it is unknown."""
    return [UNKNOWN if text == figures.UNKNOWN else (text, token)]


def _accept(sheet: TrialSheet, one: ConcurrencySummary, place: int) -> Line:
    length = one.arms[place].accept_length.mean
    if length is None:
        return [("off", "dim")] if is_plain(sheet, "B" if place else "A") else [UNKNOWN]
    even = one.break_even.break_even if one.break_even and place else None
    return [(f"{length:.2f}", "warnb" if even is not None and length < even else "strong")]


def is_plain(sheet: TrialSheet, side: Side) -> bool:
    """The arm runs without speculation, as its results say."""
    results = [b.results[0] for b in sheet.blocks if b.side == side and b.results]
    return bool(results) and all(result.algorithm is None for result in results)
