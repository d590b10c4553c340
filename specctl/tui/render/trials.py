"""Trials and their launches as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.runs import RunKind
from specctl.domain.training import warm_words
from specctl.domain.trial.running import is_kept
from specctl.tui.render.arms import WORDS, is_plain, word_line
from specctl.tui.render.lines import UNKNOWN, Line, middle, row, wrap

if TYPE_CHECKING:
    from specctl.domain.runs import RunBrief
    from specctl.domain.trial.running import TrialBlock
    from specctl.tui.render.lines import Cell, Span
    from specctl.tui.trials import TrialSheet

MILLI = 0.001
WIDE_CELLS, ROOMY_CELLS = 100, 74
KIND_CELLS = 10
LONG_OUTCOME_CELLS, ROOMY_NAME_CELLS = 56, 21
INTERRUPTED = "interrupted"
OUTCOME_CELLS, HOST_CELLS, WHEN_CELLS, ID_CELLS = 24, 22, 4, 8


def trial_head(cells: int, *, has_kinds: bool) -> Line:
    """Names of the columns."""
    verdict, *names = ("VERDICT", "HOST", "PROFILE", "BASELINE", "AGE", "TRIAL")
    if has_kinds:
        verdict, names[-1] = "OUTCOME", "RUN"
    line = _trial_row(
        *[[(name, "faint")] for name in (verdict, *names)], cells=_rest(cells, has_kinds=has_kinds)
    )
    return [*row(([("KIND", "faint")], KIND_CELLS)), ("  ", ""), *line] if has_kinds else line


def _rest(cells: int, *, has_kinds: bool) -> int:
    return cells - KIND_CELLS - 2 if has_kinds else cells


def run_row(
    entry: RunBrief, now_s: float, cells: int, *, is_running: bool, has_kinds: bool
) -> Line:
    """One run of the ledger, with its kind where they are mixed."""
    line = trial_row(entry, now_s, _rest(cells, has_kinds=has_kinds), is_running=is_running)
    if not has_kinds:
        return line
    return [*row(([(entry.kind.value, "dim")], KIND_CELLS)), ("  ", ""), *line]


def trial_row(entry: RunBrief, now_s: float, cells: int, *, is_running: bool) -> Line:
    """One trial of the ledger."""
    base, *others = entry.profiles or ("",)
    if not others:  # a start or a probe is about one profile
        base, others = "", [base]
    badge: Line = [(" ", ""), ("SIMULATED", "badge")] if entry.simulated else []
    _, place, size = _columns(cells)
    host = middle(entry.where, place - (10 if badge else 0))
    return _trial_row(
        outcome_line(entry, is_running=is_running),
        [(host, "text"), *badge],
        [(middle(" ".join(others), size), "title")],
        [(middle(base, size), "dim")],
        [(figures.age(now_s - entry.began_s), "dim")],
        [(entry.id[:ID_CELLS], "faint")],
        cells=cells,
    )


def run_words(entry: RunBrief, cells: int) -> list[Line]:
    """Of a run that is no trial: how it ended, and how to see the rest."""
    outcome = entry.outcome or "It has not ended, or was cut off."
    said = wrap(outcome + warm_words(entry.trained_on), max(10, cells))
    what: Line = [(f"A {entry.kind.value} of ", "dim"), (" ".join(entry.profiles), "text")]
    keys: Line = [("enter", "key"), (" shows all that was kept  ", "dim"), ("d", "key"),
                  (" holds it against another run", "dim")]  # fmt: skip
    return [*[[(part, "bright")] for part in said], what, [], keys]


def outcome_line(entry: RunBrief, *, is_running: bool) -> Line:
    """The verdict, or how far it is from one."""
    if is_running:
        return [("◐ ", "data"), ("under way here", "text")]
    warm: Line = [(words, "dim")] if (words := warm_words(entry.trained_on)) else []
    if entry.outcome in WORDS:
        return [*word_line(entry.outcome), *warm]
    if not entry.outcome:
        return [("‖ ", "warn"), ("elsewhere, or cut off", "text")]
    is_open = entry.kind is RunKind.TRIAL or entry.outcome == INTERRUPTED
    mark: Span = ("‖ ", "warn") if is_open else ("· ", "faint")
    return [mark, (entry.outcome, "text"), *warm]


def _columns(cells: int) -> tuple[int, int, int]:
    """Widths of outcome, host and profile; baseline and id are left out where there is no room."""
    if cells >= WIDE_CELLS:
        rest = cells - HOST_CELLS - WHEN_CELLS - ID_CELLS - 5 * 2
        outcome = max(OUTCOME_CELLS, min(LONG_OUTCOME_CELLS, rest - 2 * ROOMY_NAME_CELLS))
        return outcome, HOST_CELLS, max(8, (rest - outcome) // 2)
    outcome, host = (OUTCOME_CELLS, HOST_CELLS) if cells >= ROOMY_CELLS else (18, 18)
    return outcome, host, max(8, cells - outcome - host - WHEN_CELLS - 3 * 2)


def _trial_row(*parts: Line, cells: int) -> Line:
    verdict, host, profile, base, when, trial = parts
    outcome, place, name = _columns(cells)
    head: list[Cell] = [(verdict, outcome), (host, place), (profile, name)]
    if cells < WIDE_CELLS:
        return row(*head, (when, WHEN_CELLS, ">"))
    return row(*head, (base, name), (when, WHEN_CELLS, ">"), (trial, ID_CELLS))


# ---------------------------------------------------------------- launches


def launch_head(cells: int) -> Line:
    """Names of the columns."""
    return _launch_row(*[[(name, "faint")] for name in
                         ("#", "ARM", "TOK/S", "ACCEPT", "STEP ms", "LOAD", "TOOK", "STATE")],
                       cells=cells)  # fmt: skip


def launch_row(sheet: TrialSheet, block: TrialBlock, cells: int) -> Line:
    """One launch, with why it could not be used."""
    result = block.results[0] if block.results else None
    used = is_kept(sheet.plan, block)
    why = loss(block)
    if used:
        state: Line = [("✓ ", "ok"), (why or "used", "text" if why else "dim")]
    elif block.failure:
        state = [("✗ ", "bad"), (block.failure, "text")]
    else:
        state = [("▲ ", "warn"), (why or "not measured to the end", "text")]
    accept = figures.fixed(result.accept_length if result else None, 2)
    plain = result is not None and is_plain(sheet, block.side)
    return _launch_row(
        [(_number(block.place, block.attempt), "dim")],
        [(f"{block.side} ", "bright"), (sheet.plan.name(block.side), "text")],
        _cell(figures.rate(result.tokens_per_s if result else None)),
        [("off", "dim")] if plain else _cell(accept),
        _cell(figures.fixed(figures.scaled(result.step_s if result else None, MILLI), 1)),
        _cell(figures.duration(block.load_s)),
        _cell(figures.duration(block.ended_s - block.began_s)),
        state,
        cells=cells,
    )


def next_row(sheet: TrialSheet, cells: int, *, is_running: bool) -> Line:
    """The launch that comes next."""
    following = sheet.next
    if following is None:
        return []
    state: Line = [("◐ ", "data"), ("now", "text")] if is_running else [("· next", "dim")]
    again: Line = [(", again", "dim")] if following.attempt else []
    blank: Line = [("", "")]
    return _launch_row(
        [(_number(following.place, following.attempt), "dim")],
        [(f"{following.side} ", "bright"), (sheet.plan.name(following.side), "text")],
        blank, blank, blank, blank, blank, [*state, *again],
        cells=cells,
    )  # fmt: skip


def _number(place: int, attempt: int) -> str:
    """`3`, and `3'` when it is made again."""
    return str(place + 1) + "'" * attempt


def loss(block: TrialBlock) -> str:
    """What is said against a launch."""
    return block.failure or next((r.void[0] for r in block.results if r.void), "")


def launch_more(block: TrialBlock | None, cells: int) -> list[Line]:
    """All that is said of a launch."""
    if block is None:
        return []
    words = [block.failure, *(text for r in block.results for text in (*r.void, *r.notes))]
    lines = [part for text in dict.fromkeys(words) for part in wrap(text, max(10, cells - 6))]
    name = f"launch {block.launch_id}" if block.launch_id else "it has no launch"
    return [[("      ", ""), (text, "dim")] for text in (*lines, name)]


def _cell(text: str) -> Line:
    return [UNKNOWN if text == figures.UNKNOWN else (text, "text")]


def _launch_row(*parts: Line, cells: int) -> Line:
    number, arm, rate, accept, step, load, took, state = parts
    wide = cells >= WIDE_CELLS
    size = min(34, 26 if wide else 18) if cells < 140 else 34  # noqa: PLR2004
    name = [arm[0], (middle(arm[1][0], size - 2), arm[1][1])] if len(arm) > 1 else arm
    used = 3 + size + 6 + 6 + 7 + 5 * 2
    middle_part = [(step, 7, ">"), (load, 6, ">"), (took, 6, ">")] if wide else [(took, 7, ">")]
    used += 16 if wide else 0
    return row(
        (number, 3, ">"), (name, size), (rate, 6, ">"), (accept, 6, ">"), *middle_part,
        (state, max(8, cells - used)),
    )  # fmt: skip
