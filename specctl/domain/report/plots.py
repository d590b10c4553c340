"""The plots of a report."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.acceptance import add_histograms, marginal_acceptance
from specctl.domain.report.svg import Axis, Plot
from specctl.domain.training import warm_words
from specctl.domain.trial.running import is_kept, kept_blocks, stand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.report.references import Published
    from specctl.domain.trial.running import TrialBlock, TrialPlan
    from specctl.domain.trial.summary import TrialSummary

ISO_COSTS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
MINUTE_S = 60.0
MILLI_PER_S = 1000.0
BARS = {"A": "bar-base", "B": "bar-ours"}


def draw_map(summaries: Sequence[TrialSummary], published: Sequence[Published]) -> str:
    """Accept length against speedup; a point on the line `AL* = c` has steps that cost c."""
    ours = [
        (one.break_even.accept_length, one.ratio, summary, one)
        for summary in summaries
        for one in summary.concurrencies
        if one.break_even is not None and one.ratio is not None
    ]
    expected = [one for summary in summaries for one in summary.plan.predicted]
    points = [(length, ratio) for length, ratio, *_ in ours]
    points += [(one.accept_length, one.speedup) for one in published]
    points += [
        (one.accept_length, one.speedup)
        for one in expected
        if one.accept_length is not None and one.speedup is not None
    ]
    lengths, speedups = [length for length, _ in points], [ratio for _, ratio in points]
    plot = Plot(
        "Is it worth it: accept length against speedup",
        Axis.around("accept length, tokens per verify step", [1.0, *lengths]),
        Axis.around("times faster than without speculation", [1.0, *speedups]),
    )
    for cost in ISO_COSTS:
        right = plot.x.high
        plot.line([(plot.x.low, plot.x.low / cost), (right, right / cost)], "iso")
        top = min(right / cost, plot.y.high * 0.98)
        plot.text(top * cost * 0.94, top * 0.94, f"AL* {cost:g}", "iso-name")
    plot.line([(plot.x.low, 1.0), (plot.x.high, 1.0)], "even")
    for one in published:
        kind = "ghost" if one.is_plausible else "ghost odd"
        plot.point(one.accept_length, one.speedup, kind, one.words, radius=3)
    for length, ratio, summary, found in ours:
        plan = summary.plan
        who = f"{plan.profile} on {plan.host}, concurrency {found.concurrency}"
        who += warm_words(plan.trained_on)
        before = plan.predicted_at(found.concurrency)
        if before.speedup is not None and before.accept_length is not None:
            words = f"{who}: {before.words(ratio)}"
            plot.point(before.accept_length, before.speedup, "expected", words)
        words = f"{who}: accept length {length:.2f}, {ratio:.2f}x, {found.word or 'no verdict'}"
        plot.point(length, ratio, "ours", words, radius=6)
    return plot.render()


def draw_throughput(summary: TrialSummary) -> str:
    """Tokens per second by concurrency, with the spread over launches."""
    rows = [
        (one.concurrency, arm.tokens_per_s, kind)
        for one in summary.concurrencies
        for arm, kind in zip(one.arms, ("base", "ours"), strict=True)
        if arm.tokens_per_s.mean is not None
    ]
    values = [v for _, s, _ in rows for v in (s.low, s.high) if v is not None]
    plot = Plot(
        "Throughput by concurrency",
        Axis.around("requests at the same time", [float(c) for c, *_ in rows] or [1.0]),
        Axis.around("output tokens per second", [0.0, *values]),
    )
    for kind in ("base", "ours"):
        line = [(float(c), s.mean) for c, s, k in rows if k == kind and s.mean is not None]
        plot.line(line, kind)
        for concurrency, spread, of in rows:
            if of != kind or spread.mean is None or spread.low is None or spread.high is None:
                continue
            x = float(concurrency)
            plot.line([(x, spread.low), (x, spread.high)], f"{kind} bar")
            words = f"concurrency {concurrency}: {spread.mean:.1f} tok/s "
            words += f"({spread.low:.1f} to {spread.high:.1f}, {spread.launches} launches)"
            plot.point(x, spread.mean, kind, words)
    return plot.render()


def draw_acceptance(plan: TrialPlan, blocks: Sequence[TrialBlock]) -> str:
    """Share of verify steps that accepted at least so many drafts, at the first concurrency."""
    histograms = [
        block.results[0].histogram
        for block in kept_blocks(plan, blocks).values()
        if block.side == "B"
        and block.results[0].histogram is not None
        and not block.results[0].void
    ]
    marginals = marginal_acceptance(add_histograms(histograms) or ())
    plot = Plot(
        "Acceptance by position",
        Axis("draft position", 0.4, max(1, len(marginals)) + 0.6),
        Axis("share of verify steps", 0.0, 1.0),
    )
    for place, share in enumerate(marginals, start=1):
        words = f"{share:.1%} of the steps accepted at least {place}"
        plot.box((place - 0.35, 0.0), (place + 0.35, share), "bar-ours", words)
    return plot.render()


def draw_steps(plan: TrialPlan, blocks: Sequence[TrialBlock], summary: TrialSummary) -> str:
    """What a step takes in each arm; of it what the server recorded, where it was told to."""
    bars = [
        (one.concurrency, side, arm)
        for one in summary.concurrencies
        for side, arm in zip("AB", one.arms, strict=True)
    ]
    most_ms = [(arm.step_s.mean or 0.0) * MILLI_PER_S for _, _, arm in bars]
    if not any(most_ms):
        return ""
    plot = Plot(
        "Step times",
        Axis("arm and concurrency", 0.4, len(bars) + 0.6, has_ticks=False),
        Axis.around("ms per step", [0.0, *most_ms], margin=0.12),
    )
    for place, (concurrency, side, arm) in enumerate(bars, start=1):
        if arm.step_s.mean is None:
            continue
        step_ms = arm.step_s.mean * MILLI_PER_S
        own_ms = _recorded_ms(plan, blocks, side, concurrency)
        words = f"{arm.profile} at concurrency {concurrency}: {step_ms:.2f} ms a step"
        if own_ms is not None and own_ms < step_ms:
            share = f"{words}, of which {step_ms - own_ms:.2f} ms pass between the server's steps"
            plot.box((place - 0.35, own_ms), (place + 0.35, step_ms), "bar-between", share)
        else:
            own_ms = step_ms
        plot.box((place - 0.35, 0.0), (place + 0.35, own_ms), BARS[side], words)
        plot.text(place - 0.3, step_ms + 0.02 * max(most_ms), f"{side} at {concurrency}")
    return plot.render()


def _recorded_ms(
    plan: TrialPlan, blocks: Sequence[TrialBlock], side: str, concurrency: int
) -> float | None:
    """Mean over launches of the step that the server itself recorded; None where none did."""
    found = [
        recorded_s * MILLI_PER_S
        for block in kept_blocks(plan, blocks).values()
        if block.side == side
        and (recorded_s := block.recorded_step_s.get(str(concurrency))) is not None
    ]
    return fmean(found) if found else None


def draw_timeline(plan: TrialPlan, blocks: Sequence[TrialBlock]) -> str:
    """Every launch over the clock, void windows and what could not be used in outline only."""
    start_s = min((block.began_s for block in blocks), default=0.0)
    end_s = max((block.ended_s for block in blocks), default=MINUTE_S)
    plot = Plot(
        "Launches over time",
        Axis("minutes since the first launch", 0.0, max(1e-3, (end_s - start_s) / MINUTE_S)),
        Axis("", 0.0, 2.0, has_ticks=False),
        height=150,
    )
    for block in blocks:
        row = 1.0 if block.side == "A" else 0.0
        from_min = (block.began_s - start_s) / MINUTE_S
        to_min = (block.ended_s - start_s) / MINUTE_S
        is_used = is_kept(plan, block) and not any(result.void for result in block.results)
        kind = ("base" if block.side == "A" else "ours") if is_used else "void"
        why = block.failure or next((r.void[0] for r in block.results if r.void), "")
        words = f"launch {block.place + 1}: {plan.name(block.side)}" + (f": {why}" if why else "")
        plot.box((from_min, row + 0.15), (to_min, row + 0.85), f"launch {kind}", words)
    return plot.render()


def draw_levels(plan: TrialPlan, blocks: Sequence[TrialBlock]) -> str:
    """Each launch's time for the common tokens, in the order in which they ran."""
    levels = stand(plan, blocks).verdicts[plan.concurrencies[0]].clean.levels
    if levels is None:
        return ""
    best = max(levels.y)
    slower = [(best - y) * 100 for y in levels.y]
    plot = Plot(
        "Launch by launch",
        Axis("launch, in the order in which they ran", 0.5, len(slower) + 0.5),
        Axis.around("percent slower than the fastest (log)", [0.0, *slower]),
    )
    for number, (side, value) in enumerate(zip(levels.sides, slower, strict=True), start=1):
        kind = "base" if side == "A" else "ours"
        plot.point(number, value, kind, f"{plan.name(side)}: {value:.2f} % slower than the fastest")
    return plot.render()
