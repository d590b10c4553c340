"""The arms of a screening by how fast they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.trial.levels import find_common_times, level_of
from specctl.domain.trial.running import answers_of
from specctl.domain.trial.screening_plan import is_usable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.screening_plan import ScreeningBlock, ScreeningPlan

TOO_SLOW = "slower than the best by more than launches vary"

Left = Mapping[str, tuple[int, str]]
"""Arm to the round, from 1, after which it left, and why; empty for one that was too slow."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One arm as far as it was measured; None where no launch says it."""

    profile: str
    is_baseline: bool
    launches: int
    ratio: float | None
    """How many times faster than the baseline, over the rounds that both ran in."""

    behind: float | None
    """The best, as a share of its speed, over the same rounds; 0 for the best."""

    tokens_per_s: float | None
    accept_length: float | None
    steps: int | None
    left_after: int | None
    """The round, from 1, after which it was launched no more; None for one that stayed."""

    left_why: str


def levels_of(
    plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], left: Left
) -> dict[str, list[float]] | None:
    """By arm: the level of each launch, in order; without arms that left because they failed."""
    used = {
        (block.round, block.arm): block
        for block in blocks
        if is_usable(plan, block) and not left.get(block.arm, (0, ""))[1]
    }
    kept = [block for _, block in sorted(used.items(), key=lambda item: item[0][0])]
    common = find_common_times([answers_of(block.result) for block in kept if block.result])
    if common is None:
        return None
    found: dict[str, list[float]] = {arm: [] for arm in plan.arms}
    for block, times in zip(kept, common.log_times, strict=True):
        found[block.arm].append(level_of(times))
    return {arm: levels for arm, levels in found.items() if levels}


def steps_of(blocks: Sequence[ScreeningBlock]) -> dict[str, int | None]:
    """By arm: how far it drafts, by steps where it has them, else by draft tokens."""
    return {
        block.arm: block.steps
        if block.steps is not None
        else None
        if block.draft_tokens is None
        else block.draft_tokens - 1
        for block in blocks
        if block.result is not None
    }


def rank(plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], left: Left) -> tuple[Ranked, ...]:
    """Every arm, the best first."""
    levels = levels_of(plan, blocks, left) or {}
    found = [_ranked(plan, arm, blocks, left, levels) for arm in plan.arms]
    return tuple(sorted(found, key=lambda one: (one.ratio is None, -(one.ratio or 0.0))))


def _ranked(
    plan: ScreeningPlan,
    arm: str,
    blocks: Sequence[ScreeningBlock],
    left: Left,
    levels: Mapping[str, Sequence[float]],
) -> Ranked:
    mine = levels.get(arm, ())
    results = [b.result for b in blocks if b.arm == arm and is_usable(plan, b) and b.result]
    gaps = [gap for other in levels if (gap := _gap(levels[other], mine)) is not None]
    against_base = _gap(mine, levels.get(plan.baseline, ()))
    after, why = left.get(arm, (None, ""))
    if after is not None and not why:
        why = TOO_SLOW
    return Ranked(
        profile=arm,
        is_baseline=arm == plan.baseline,
        launches=len(results),
        ratio=None if against_base is None else exp(against_base),
        behind=1 - exp(-max(gaps)) if gaps else None,
        tokens_per_s=_mean([one.tokens_per_s for one in results]),
        accept_length=_mean([one.accept_length for one in results]),
        steps=steps_of(blocks).get(arm),
        left_after=after,
        left_why=why,
    )


def _gap(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Of the means, over the rounds that both have."""
    both = min(len(one), len(other))
    return fmean(one[:both]) - fmean(other[:both]) if both else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
