"""A trial's answer: its plan and how far it has come, or its verdict, with both arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.training import warm_words
from specctl.tui.render.arms import WORDS, arm_lines
from specctl.tui.render.glyphs import SPINNER
from specctl.tui.render.lines import (
    UNKNOWN,
    Drawing,
    Line,
    clip,
    few,
    row,
    spread,
    width,
    wrap,
)
from specctl.tui.render.plots import bar

if TYPE_CHECKING:
    from specctl.domain.events import PlanProgressed
    from specctl.tui.scene import Scene
    from specctl.tui.trials import TrialSheet


@dataclass(frozen=True, slots=True)
class Under:
    """A trial that is being carried out by this session."""

    began_s: float
    is_stopping: bool = False


def badge(scene: Scene, sheet: TrialSheet) -> Line:
    """That it ran on a practice host, where no other badge on the screen says so."""
    is_said = scene.state.host(sheet.plan.host).simulated
    return [("SIMULATED", "badge")] if sheet.plan.is_simulated and not is_said else []


def draw_answer(
    scene: Scene, sheet: TrialSheet, under: Under | None, cells: int, *, is_short: bool
) -> Drawing:
    """Plan and progress while more launches would follow, else the verdict; then the arms."""
    body = answer_lines(scene, sheet, under, cells, is_short=is_short)
    plan = sheet.plan
    greedy = "greedy" if plan.temperature == 0 else f"temperature {plan.temperature:g}"
    summary: Line = [
        *badge(scene, sheet), *([("  ", "")] if badge(scene, sheet) else []),
        (plan.workload + warm_words(plan.trained_on), "text"),
        (f", {plan.prompts} prompts, {greedy}", "dim"), ("  ", ""),
        ("concurrency ", "dim"), (", ".join(map(str, plan.concurrencies)), "text"),
    ]  # fmt: skip
    if sheet.ended_s is not None and sheet.next is None:
        summary += [("  ", ""), (figures.age(scene.clock_s - sheet.ended_s) + " ago", "dim")]
    return Drawing("Verdict" if sheet.next is None else "Plan", body, summary)


def answer_lines(
    scene: Scene, sheet: TrialSheet, under: Under | None, cells: int, *, is_short: bool
) -> list[Line]:
    """All of it; the row of launches and the empty row go first."""
    if sheet.next is None:
        head = _verdict(sheet, cells)
    else:
        head = _progress(scene, sheet, under, cells)
        if not is_short:
            head += order_lines(sheet, cells, is_running=under is not None)
    gap: list[Line] = [] if is_short else [[]]
    return [*head, *gap, *arm_lines(sheet, cells)]


def _verdict(sheet: TrialSheet, cells: int) -> list[Line]:
    mark = WORDS[sheet.word][0] if sheet.word in WORDS else ("· ", "faint")
    texts = wrap(f"{sheet.plan.profile}: {sheet.sentence}", max(10, cells - 2))
    lines: list[Line] = [
        [mark if i == 0 else ("  ", ""), (text, "bright")] for i, text in enumerate(texts)
    ]
    if sheet.summary.ended:
        ended = f"Ended early: {sheet.summary.ended}"
        lines += [[("  ", ""), (text, "warn")] for text in wrap(ended, max(10, cells - 2))]
    return lines


def _progress(scene: Scene, sheet: TrialSheet, under: Under | None, cells: int) -> list[Line]:
    plan, following = sheet.plan, sheet.next
    arms: Line = [("A ", "bright"), (plan.baseline, "text"), ("  B ", "bright"),
                  (plan.profile, "text")]  # fmt: skip
    most = len(plan.order)
    if following is None:
        return [arms]
    place = f"launch {following.place + 1} of at most {most}"
    elapsed_s = launch_elapsed(scene, sheet, under)
    usual_s = sheet.pace.by_side.get(following.side)
    part = 0.0 if elapsed_s is None or not usual_s else min(0.95, elapsed_s / usual_s)
    tail = time_left(sheet, elapsed_s, scene.clock_s)
    meter = bar((following.place + part) / most, max(8, cells - width(tail) - 2))
    return [
        clip(spread(arms, [(place, "dim")], cells), cells),
        clip([*meter, ("  ", ""), *tail], cells),
        clip(now_line(scene, sheet, under, elapsed_s), cells),
    ]


def launch_elapsed(scene: Scene, sheet: TrialSheet, under: Under | None) -> float | None:
    """How long the present launch has lasted; None where none is under way here."""
    if under is None:
        return None
    ends = [block.ended_s for block in sheet.blocks if block.ended_s >= under.began_s]
    return max(0.0, scene.clock_s - max([under.began_s, *ends]))


def time_left(sheet: TrialSheet, elapsed_s: float | None, now_s: float) -> Line:
    """To the next look, and to the last launch or the end of the budget, which comes first."""
    pace, gone_s, budget_s = sheet.pace, elapsed_s or 0.0, _budget_left(sheet, elapsed_s, now_s)
    if pace.to_end_s is None and budget_s is None:
        return [("time left ", "dim"), UNKNOWN, (" until a launch was measured", "dim")]
    most_s = min(
        left_s
        for left_s in (None if pace.to_end_s is None else pace.to_end_s - gone_s, budget_s)
        if left_s is not None
    )
    out: Line = []
    if pace.to_look_s is not None and pace.to_look_s - gone_s <= most_s:
        left = figures.about(max(0.0, pace.to_look_s - gone_s))
        out += [("next look in about ", "dim"), (left, "text"), ("  ", "")]
    left = figures.about(max(0.0, most_s))
    why = " of its budget" if most_s == budget_s else ""
    return [*out, ("at most ", "dim"), (left, "text"), (f" left{why}", "dim")]


def _budget_left(sheet: TrialSheet, elapsed_s: float | None, now_s: float) -> float | None:
    """None without a budget, and between two sessions, when that of the last one counts no more."""
    until_s = sheet.plan.budget_until_s
    if until_s is None or (elapsed_s is None and now_s > until_s):
        return None
    return until_s - now_s


def now_line(scene: Scene, sheet: TrialSheet, under: Under | None, elapsed_s: float | None) -> Line:
    """What is being done, and for how long."""
    following = sheet.next
    if following is None:
        return []
    name = sheet.plan.name(following.side)
    if under is None:
        goes = "Runs elsewhere, or was cut off." if sheet.outcome == "" else "Interrupted."
        return [("‖ ", "warn"), (goes, "text"), ("  s", "key"), (" goes on with it", "dim")]
    spin = SPINNER[int(scene.clock_s * 4) % len(SPINNER)]
    if under.is_stopping:
        return [(spin + " ", "data"), ("Stopping; what ran before is started again", "text")]
    words = now_words(scene, sheet.plan.host, scene.clock_s - (elapsed_s or 0.0))
    took = figures.duration(elapsed_s)
    usual = sheet.pace.by_side.get(following.side)
    about = f" of about {figures.duration(usual)}" if usual else ""
    again = ", again" if following.attempt else ""
    return [
        (spin + " ", "data"), (f"{following.side} ", "bright"), (name + again, "text"),
        (f"  {took}{about}", "dim"), (f"  {words}" if words else "", "text"),
    ]  # fmt: skip


def now_words(scene: Scene, host: str, since_s: float) -> str:
    """The newest thing heard of a launch or a probe on the host since then."""
    steps = [
        (event.time_s, _step_words(event))
        for progress in scene.recent.progress.values()
        for event in progress.steps.values()
        if event.host == host and event.time_s >= since_s
    ]
    probes = [
        (event.time_s, f"{event.words}, {event.done} of {event.total}")
        for (name, _), event in scene.recent.probes.items()
        if name == host and event.time_s >= since_s
    ]
    return max([*steps, *probes], default=(0.0, ""))[1]


def _step_words(event: PlanProgressed) -> str:
    return event.words


def order_lines(sheet: TrialSheet, cells: int, *, is_running: bool) -> list[Line]:
    """The order of launches: its arms above, how each went below."""
    plan, following = sheet.plan, sheet.next
    took = {block.place: block for block in sheet.blocks}
    arms: list[Line] = []
    states: list[Line] = []
    for place, side in enumerate(plan.order):
        block = took.get(place)
        if following is not None and place == following.place:
            state: Line = [("◐ now", "data")] if is_running else [("‖ next", "warn")]
        elif block is None:
            state = [("·", "faint")]
        else:
            state = [("✓ ", "ok"), (figures.duration(block.ended_s - block.began_s), "text")]
        size = 7 if block or state[0][0] != "·" else 2
        arm: Line = [(side, "text" if block else "dim")]
        arms.append(row((arm, size)))
        states.append(row((state, size)))
    return [few(arms, cells, gap=1), few(states, cells, gap=1)]
