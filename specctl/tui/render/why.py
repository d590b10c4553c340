"""Why a trial says what it says: break-even, step costs, evidence, reasons, conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.trial.rows import trial_words
from specctl.tui.render import numbers
from specctl.tui.render.arms import is_plain
from specctl.tui.render.evidence import (
    bill_lines,
    category_lines,
    output_lines,
    traffic_line,
    unasked_lines,
)
from specctl.tui.render.lines import UNKNOWN, Line, wrap
from specctl.tui.render.plots import bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.tui.trials import TrialSheet

MILLI = 0.001
NAME_CELLS = 10
PAYS: dict[bool | None, Line] = {
    True: [("it pays", "okb")],
    False: [("it does not pay", "warnb")],
    None: [("whether it pays is open", "dim")],
}
TRAFFIC = "on other prompts like these"


def why_lines(sheet: TrialSheet, notes: Sequence[str], cells: int) -> list[Line]:
    """Everything, as long as it is; `notes` are what this session knows beside the ledger."""
    blocks = [
        _section("THIS RUN", list(notes), cells),
        [*_even(sheet, cells), *_predicted(sheet, cells), *traffic_line(sheet, cells)],
        _steps(sheet, cells),
        unasked_lines(sheet.differences, cells),
        _section("WHY", _reasons(sheet), cells),
        output_lines(sheet, cells),
        category_lines(sheet, cells),
        bill_lines(sheet, cells),
        _commands(sheet, cells),
        _conditions(sheet, cells),
    ]
    out: list[Line] = []
    for block in blocks:
        if block:
            out += [*([[]] if out else []), *block]
    return out


def verdict_text(sheet: TrialSheet) -> str:
    """The sentence to be copied: who against whom, where, what, how sure."""
    plan = sheet.plan
    *_, last = trial_words(sheet.summary)
    return f"{plan.host}: {last} (trial {plan.id})"


def _even(sheet: TrialSheet, cells: int) -> list[Line]:
    one = sheet.primary
    found = one.break_even
    if found is None:
        why = "B was not measured yet"
        if any(b.side == "B" and b.results for b in sheet.blocks):
            why = "B runs without speculation" if is_plain(sheet, "B") else "A was not measured yet"
        return [[("accept length ", "dim"), UNKNOWN, (f"  {why}", "dim")]]
    between = "" if found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
    pays = PAYS[found.pays]
    if sheet.word is None:
        is_gain = found.accept_length > found.break_even
        pays = [("a gain so far" if is_gain else "no gain so far", "dim")]
    text = f"A step of B costs {found.break_even:.2f} plain ones{between}."
    return [
        [("accept length ", "dim"), *numbers.accept(found.accept_length, found.break_even),
         ("  ", ""), *pays],
        *[[(part, "dim")] for part in wrap(text, cells)],
    ]  # fmt: skip


def _predicted(sheet: TrialSheet, cells: int) -> list[Line]:
    """What was expected, from where, and the residual; why nothing was."""
    out: list[Line] = []
    for one in sheet.summary.concurrencies:
        where = "" if one.is_primary else f"at concurrency {one.concurrency} "
        words = where + sheet.plan.predicted_at(one.concurrency).words(one.ratio)
        for i, part in enumerate(wrap(words, max(10, cells - 2))):
            out.append([("◇ ", "data") if i == 0 else ("  ", ""), (part, "dim")])
    return out


def _steps(sheet: TrialSheet, cells: int) -> list[Line]:
    """What a step costs, as bars of one scale."""
    steps = [(side, arm.step_s.mean) for side, arm in zip("AB", sheet.primary.arms, strict=True)]
    most = max((step for _, step in steps if step is not None), default=None)
    if not most:
        return []
    out: list[Line] = [[("STEP, ms", "faint")]]
    room = max(6, cells - 12)
    for side, step in steps:
        if step is None:
            out.append([(f"{side}  ", "bright"), UNKNOWN, ("  not measured yet", "dim")])
            continue
        text = figures.fixed(figures.scaled(step, MILLI), 1)
        line = bar(step / most, room, "data2" if side == "A" else "data")
        out.append([(f"{side}  ", "bright"), *line, (f"{text:>7}", "strong")])
    return out


def _reasons(sheet: TrialSheet) -> list[str]:
    """What limits the answer; what has a section of its own is left out."""
    summary = sheet.summary
    out = [f"not used: {reason} ({count}x)" for reason, count in summary.lost]
    for one in summary.concurrencies:
        where = "" if one.is_primary else f"at concurrency {one.concurrency}: "
        if not one.is_primary:
            out.append(where + one.sentence)
        out += [f"{where}{sheet.plan.profile}: {words}" for words in one.suspects]
        out += [where + words for words in one.reasons if not words.startswith(TRAFFIC)]
    return [*out, *([f"ended early: {summary.ended}"] if summary.ended else [])]


def _section(name: str, texts: list[str], cells: int) -> list[Line]:
    if not texts:
        return []
    out: list[Line] = [[(name, "faint")]]
    for text in texts:
        odd = text.startswith(("not used", "ended early", "nobody asked"))
        mark = ("▲ ", "warn") if odd else ("· ", "faint")
        for i, part in enumerate(wrap(text, max(10, cells - 2))):
            out.append([mark if i == 0 else ("  ", ""), (part, "text")])
    return out


def _commands(sheet: TrialSheet, cells: int) -> list[Line]:
    """The commands of the shell that do more with it."""
    trial = sheet.plan.id
    wanted = [f"specctl runs report {trial} -o {trial}.html", f"specctl runs export {trial}"]
    if sheet.next is not None:
        wanted.insert(0, f"specctl compare --resume {trial}")
    out: list[Line] = [[("IN A SHELL", "faint")]]
    return [*out, *[[(part, "strong")] for text in wanted for part in wrap(text, cells)]]


def _conditions(sheet: TrialSheet, cells: int) -> list[Line]:
    if not sheet.conditions:
        return []
    out: list[Line] = [[("CONDITIONS", "faint")]]
    for name, words in sheet.conditions:
        for i, part in enumerate(wrap(words, max(10, cells - NAME_CELLS - 1))):
            label = name[:NAME_CELLS] if i == 0 else ""
            out.append([(f"{label:<{NAME_CELLS}} ", "dim"), (part, "text")])
    return out
