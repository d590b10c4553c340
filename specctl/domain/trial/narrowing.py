"""How a trial's interval narrowed from look to look, and how long the rest of it takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from statistics import fmean, median
from typing import TYPE_CHECKING

from specctl.domain.trial.running import blocks_at, kept_blocks
from specctl.domain.trial.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.order import Side
    from specctl.domain.trial.running import Next, TrialBlock, TrialPlan


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The interval of one look, of the primary concurrency."""

    launches: int
    """Per arm."""

    ratio: float
    low: float
    high: float
    word: str | None


def find_looks(plan: TrialPlan, blocks: Sequence[TrialBlock]) -> tuple[Narrowed, ...]:
    """Every look that was taken, in order."""
    kept = kept_blocks(plan, blocks)
    there = 0
    while there < len(plan.order) and there in kept:
        there += 1
    launched = [kept[place] for place in range(there - there % 2)]
    out: list[Narrowed] = []
    for pairs in range(1, len(launched) // 2 + 1):
        used = blocks_at(plan, launched[: 2 * pairs], plan.concurrencies[0])
        verdict = judge(used, plan.design, asked=plan.prompts)
        look = verdict.clean.look
        if look is not None and (not out or out[-1].launches != look.launches):
            word = verdict.word.value if verdict.word else None
            out.append(Narrowed(look.launches, look.fit.ratio, look.low, look.high, word))
    return tuple(out)


def expect_interval(
    plan: TrialPlan, ratio: float, spread: float, launches: int
) -> tuple[float, float] | None:
    """Low and high that the look after `launches` would have, if the ratio stays; None: no look."""
    half = plan.design.half_width(launches, spread)
    return None if half is None else (ratio * exp(-half), ratio * exp(half))


@dataclass(frozen=True, slots=True)
class Pace:
    """How long launches take, from those that were measured."""

    by_side: dict[Side, float]
    """Median seconds of a launch, its load and its end included."""

    next_look: int | None
    """Launches per arm at the next look that can decide; None when there is none."""

    to_look_s: float | None
    """None where an arm was not launched yet, as the next."""

    to_end_s: float | None
    """Should no look decide before."""


def find_pace(plan: TrialPlan, blocks: Sequence[TrialBlock], following: Next | None) -> Pace:
    """Time left, counted from the end of the last launch."""
    by_side: dict[Side, float] = {}
    for side in ("A", "B"):
        lengths = [b.ended_s - b.began_s for b in blocks if b.side == side and not b.failure]
        if lengths:
            by_side[side] = median(lengths)
    if following is None:
        return Pace(by_side, None, None, None)
    done = following.place
    looks = [k for k in plan.design.looks if 2 * k > done]
    at = looks[0] if looks else None
    return Pace(
        by_side,
        at,
        None if at is None else _time_s(plan, by_side, done, 2 * at),
        _time_s(plan, by_side, done, len(plan.order)),
    )


def _time_s(plan: TrialPlan, by_side: dict[Side, float], done: int, until: int) -> float | None:
    """Of the launches from `done` to `until`; one arm's pace stands in for the other's."""
    if not by_side:
        return None
    usual = fmean(by_side.values())
    return sum(by_side.get(side, usual) for side in plan.order[done:until])
