"""A plan being carried out: its steps with times; a start's milestones; when it failed, why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.server import Milestone
from specctl.tui.render.glyphs import SPINNER
from specctl.tui.render.lines import Drawing, Line, grounded, row, width, wrap
from specctl.tui.render.log import log_line
from specctl.tui.render.plan import title
from specctl.tui.render.plots import bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.events import PlanProgressed
    from specctl.domain.plan import Plan
    from specctl.facts.diagnosis import Cause
    from specctl.services.outcome import Outcome
    from specctl.tui.scene import Progress, Scene

MARKS = {
    "begun": ("◐", "data"),
    "progress": ("◐", "data"),
    "done": ("✓", "ok"),
    "skipped": ("·", "faint"),
    "failed": ("✗", "bad"),
}
RUNNING = {"begun", "progress"}
TO_COME = (("·", "faint"), "faint")
LABEL_CELLS, NAME_CELLS, TIME_CELLS = 7, 24, 7
BAR_CELLS = 60
SHORTEST_BAR = 6
READY_STEP = "ready"


def under_way(progress: Progress | None) -> PlanProgressed | None:
    """The step that is being done, else the last one heard of."""
    events = list(progress.steps.values()) if progress else []
    running = [event for event in events if event.status in RUNNING]
    return running[-1] if running else (events[-1] if events else None)


def draw_verdict(
    scene: Scene, plan: Plan, outcome: Outcome | None, cells: int, began_s: float
) -> Drawing:
    """The answer in words: where it is, or how it ended."""
    if outcome is None:
        return _under_way(scene, plan, cells, began_s)
    if not outcome.succeeded:
        return _failed(plan, outcome, cells)
    body = _paragraph(outcome.words, cells, ("✓ ", "ok"), "bright")
    for more in (outcome.hint, *outcome.notes):
        body += _paragraph(more, cells, ("  ", ""), "dim")
    note: Line = []
    if plan.kind in {"start", "replace"}:
        note = [("H", "key"), (" shows it on its host, where it is measured and compared", "dim")]
    return Drawing(title(plan), body, [("done", "ok")], note)


def _paragraph(text: str, cells: int, mark: tuple[str, str], token: str) -> list[Line]:
    lines = wrap(text, cells - 2)
    return [[mark if i == 0 else ("  ", ""), (line, token)] for i, line in enumerate(lines)]


def _under_way(scene: Scene, plan: Plan, cells: int, began_s: float) -> Drawing:
    current = under_way(scene.recent.progress.get(plan.id))
    elapsed_s = max(0.0, scene.clock_s - began_s)
    spin = SPINNER[int(scene.clock_s * 4) % len(SPINNER)]
    body: list[Line] = [
        [(spin + " ", "data"), (current.words if current else "beginning", "bright")]
    ]
    left_s = current.remaining_s if current else None
    tail: Line = [(figures.duration(elapsed_s), "text")]
    if left_s is not None:
        tail += [("  ", ""), ("about ", "dim"), (figures.about(left_s), "text"), (" left", "dim")]
        share = elapsed_s / (elapsed_s + left_s) if elapsed_s + left_s > 0 else 0.0
        body.append(bar(share, min(BAR_CELLS, cells)))
    body += [[], [("esc", "key"), (" leaves this screen; the work goes on", "dim")]]
    return Drawing(title(plan), body, tail)


def _failed(plan: Plan, outcome: Outcome, cells: int) -> Drawing:
    cause, room = outcome.cause, cells - LABEL_CELLS - 2
    summary = cause.summary if cause else outcome.words
    first = _paragraph(summary, cells, ("✗ ", "bad"), "bright")
    if outcome.elapsed_s is not None:
        after = f", {_short_time(outcome.elapsed_s)} after launch"
        fits = width(first[-1]) + len(after) <= cells
        first[-1:] = [[*first[-1], (after, "dim")]] if fits else [first[-1], [(after[1:], "dim")]]
    body = [*first, []]
    if cause is not None and cause.line:
        body += _labelled("CAUSE", cause.line, room, "text")
        where = f"line {cause.line_number:,} of its log" if cause.line_number else "its exit"
        rank = f", {cause.rank}" if cause.rank else ""
        body += _labelled("", where + rank, room, "dim")
        body.append([])
    body += _labelled("NEXT", (cause.next_step if cause else "") or outcome.hint, room, "strong")
    what = plan.profile or (plan.target.name if plan.target else "")
    verb = {"stop": "was not stopped", "adopt": "was not adopted"}.get(plan.kind, "did not start")
    return Drawing(f"{what} {verb}", body)


def _labelled(name: str, words: str, room: int, token: str) -> list[Line]:
    return [
        row(([(name if i == 0 else "", "faint")], LABEL_CELLS), ([(text, token)], room))
        for i, text in enumerate(wrap(words, room))
    ]


def draw_steps(scene: Scene, plan: Plan, outcome: Outcome | None, cells: int, rows: int) -> Drawing:
    """Steps of the plan, and the milestones of a start under the last of them."""
    progress = scene.recent.progress.get(plan.id)
    lines = _step_lines(scene, plan, progress, cells)
    if READY_STEP in {step.key for step in plan.steps}:
        lines += _milestone_lines(scene, plan, progress, outcome, cells)
    has_failed = outcome is not None and not outcome.succeeded
    total = progress.elapsed_s(scene.clock_s) if progress else None
    summary: Line = [] if total is None else [(_total_words(total, outcome), "text")]
    name = "How far it came" if has_failed else "Steps"
    return Drawing(name, lines[-max(1, rows) :], summary)


def _total_words(total_s: float, outcome: Outcome | None) -> str:
    """Counted in seconds while it runs; as its parts are written once it has ended."""
    return figures.duration(total_s) if outcome is None else _short_time(total_s)


def _step_lines(scene: Scene, plan: Plan, progress: Progress | None, cells: int) -> list[Line]:
    heard = progress.steps if progress else {}
    more = [key for key in heard if key not in {step.key for step in plan.steps}]
    names = [(step.key, step.words) for step in plan.steps] + [(key, key) for key in more]
    out: list[Line] = []
    for key, words in names:
        event = heard.get(key)
        if event is None or progress is None:
            out.append(_timed(TO_COME, words, None, None, cells))
            continue
        took_s = progress.took_s(key, scene.clock_s if event.status in RUNNING else event.time_s)
        tone = {"failed": "badb", "done": "text", "skipped": "dim"}.get(event.status, "strong")
        out.append(_timed((MARKS[event.status], tone), words, took_s, None, cells))
    return out


def awaited(plan: Plan) -> list[Milestone]:
    """The milestones this start can reach, in order."""
    words = set(plan.argv)
    drafts = any(word.startswith("--speculative-draft-model") for word in words)
    without = set() if drafts else {Milestone.DRAFT_WEIGHTS}
    if "NGRAM" not in words:
        without.add(Milestone.NGRAM_BUILD)
    if "--disable-cuda-graph" in words:
        without.add(Milestone.GRAPH_CAPTURE)
    return [m for m in Milestone if m not in without and m is not Milestone.LAUNCHED]


def _milestone_lines(
    scene: Scene, plan: Plan, progress: Progress | None, outcome: Outcome | None, cells: int
) -> list[Line]:
    """A phase is reached when it begins: it lasted until the next one began.

    One that the log passed over is none of those to come.
    """
    reached = dict(progress.reached) if progress else {}
    if outcome is not None:
        reached |= dict(outcome.reached)
    reached.pop(Milestone.LAUNCHED, None)
    if not reached:
        return []
    end_s = _end_s(scene, progress, outcome)
    took = lasted(reached, end_s)
    longest = max((t for t in took.values() if t is not None), default=0.0)
    now = max(reached, key=lambda m: reached[m])
    out: list[Line] = []
    order = list(Milestone)
    to_come = [m for m in awaited(plan) if order.index(m) > order.index(now)]
    for milestone in (m for m in order if m in reached or m in to_come):
        name = "  " + milestone.value
        if milestone not in reached:
            out.append(_timed(TO_COME, name, None, None, cells))
            continue
        marked = _phase_mark(outcome, is_now=milestone is now)
        took_s = None if milestone is Milestone.READY else took[milestone]
        share = took_s / longest if took_s is not None and longest else None
        out.append(_timed(marked, name, took_s, share, cells))
    return out


def _phase_mark(outcome: Outcome | None, *, is_now: bool) -> tuple[tuple[str, str], str]:
    if not is_now or (outcome is not None and outcome.succeeded):
        return MARKS["done"], "text"
    return (MARKS["begun"], "strong") if outcome is None else (MARKS["failed"], "badb")


def _end_s(scene: Scene, progress: Progress | None, outcome: Outcome | None) -> float | None:
    """How long after the launch the last phase ended, or has lasted until now."""
    if outcome is not None:
        return outcome.elapsed_s
    return progress.took_s(READY_STEP, scene.clock_s) if progress else None


def lasted(reached: dict[Milestone, float], end_s: float | None) -> dict[Milestone, float | None]:
    """How long each phase took; the last one until `end_s`."""
    order = sorted(reached, key=lambda m: reached[m])
    ends = [*(reached[m] for m in order[1:]), end_s][: len(order)]
    return {
        m: None if end is None else max(0.0, end - reached[m])
        for m, end in zip(order, ends, strict=True)
    }


def _timed(
    marked: tuple[tuple[str, str], str], name: str, took_s: float | None, share: float | None,
    cells: int,
) -> Line:  # fmt: skip
    """Mark, name, time, and a bar for its share of the longest."""
    mark, tone = marked
    room = max(0, cells - NAME_CELLS - TIME_CELLS - 7)
    time: Line = [] if took_s is None else [(_short_time(took_s), "text")]
    tail = bar(share, room, "data2") if share is not None and room >= SHORTEST_BAR else []
    return row(([mark], 1), ([(name, tone)], NAME_CELLS), (time, TIME_CELLS, ">"), (tail, room))


def _short_time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 1 else figures.duration(seconds)


def draw_left_behind(outcome: Outcome | None, cells: int) -> Drawing:
    """What a failed start left on the host."""
    name = "What is left behind"
    if outcome is None:
        return Drawing(name, [])
    body: list[Line] = []
    if outcome.exit_status is not None:
        hides = ": the engine hides its crash" if outcome.exit_status == 0 else ""
        body += _paragraph(
            f"Exit status {outcome.exit_status}{hides}.", cells, ("  ", ""), "strong"
        )
    for proof in outcome.proofs:
        mark = ("✓ ", "ok") if proof.gone else ("▲ ", "warn")
        body += _paragraph(proof.words, cells, mark, "text")
    if outcome.log_path:
        body += _paragraph(f"log kept: {outcome.log_path}", cells, ("✓ ", "ok"), "text")
    for note in outcome.notes:
        body += _paragraph(note, cells, ("· ", "faint"), "dim")
    return Drawing(name, body)


def draw_excerpt(outcome: Outcome, cells: int, rows: int) -> Drawing:
    """The log at its first cause."""
    lines, at = excerpt_lines(outcome.log_excerpt, outcome.cause, cells)
    top = 0 if at is None else min(max(0, at - rows // 2), max(0, len(lines) - rows))
    number = outcome.cause.line_number if outcome.cause else 0
    summary: Line = [("line ", "dim"), (f"{number:,}", "text")] if number else []
    note: Line = [("L", "key"), (" zooms", "dim")]
    name = "Log, at the first cause" if at is not None else "Log, its end"
    return Drawing(name, lines[top : top + rows], summary, note, None if at is None else at - top)


def excerpt_lines(
    excerpt: Sequence[str], cause: Cause | None, cells: int
) -> tuple[list[Line], int | None]:
    """The excerpt with line numbers, and the row of the cause."""
    wanted = cause.line.strip() if cause else ""
    at = next((i for i, text in enumerate(excerpt) if wanted and wanted in text), None)
    out: list[Line] = []
    for i, text in enumerate(excerpt):
        number = "" if at is None or cause is None else str(cause.line_number + i - at)
        line: Line = [(f"{number:>6}  ", "faint")]
        if i == at:
            words = [(t, k if k == "faint" else "badb") for t, k in log_line(text)]
            out.append(grounded([*line, *words], cells, "bad-fill"))
        else:
            out.append([*line, *log_line(text, quiet=True)])
    return out, at


def draw_tail(scene: Scene, host: str, server: str | None, rows: int) -> Drawing:
    """The log of a launch while it runs."""
    lines = scene.log(host, server) if server else ()
    if not lines:
        return Drawing("Log", [[("Nothing written yet.", "dim")]])
    shown = [lines[i] for i in range(max(0, len(lines) - rows), len(lines))]
    return Drawing("Log", [log_line(text) for text in shown], [("● following", "ok")])
