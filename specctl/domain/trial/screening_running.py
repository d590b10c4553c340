"""A screening as it runs: its plan, its launches, who is left, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.probe import VoidKind
from specctl.domain.trial.levels import find_common_times, level_of
from specctl.domain.trial.running import ATTEMPTS, answers_of
from specctl.domain.trial.screening import ROUNDS, choose, look_at, rotated
from specctl.domain.trial.verdict import COMPLETED_LEAST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.probe import ProbeResult
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.running import Before
    from specctl.domain.trial.screening import RoundLook

FAST_ENOUGH = "slower than the best by more than launches vary"


@dataclass(frozen=True, slots=True)
class Omitted:
    """A profile that was not launched at all."""

    profile: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScreeningPlan:
    """What a screening is, fixed before its first launch, and the trial that is to follow it."""

    id: str
    host: str
    baseline: str
    candidates: tuple[str, ...]
    workload: str
    workload_source: str
    """As it was named: a bundled one, or a file."""

    workload_sha256: str
    prompts: int
    temperature: float
    concurrencies: tuple[int, ...]
    """Of the trial; the screening is at the first of them."""

    design: Design
    """Of the trial."""

    created_s: float
    recipes: tuple[str, ...] = ()
    """Hashes of the complete recipes, the baseline's first."""

    is_simulated: bool = False
    before: tuple[Before, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    rounds: int = ROUNDS

    @property
    def arms(self) -> tuple[str, ...]:
        """The baseline first."""
        return (self.baseline, *self.candidates)

    @property
    def most_launches(self) -> int:
        """When nobody leaves early."""
        return self.rounds * len(self.arms)


@dataclass(frozen=True, slots=True)
class ScreeningBlock:
    """One launch of one arm and what was measured on it."""

    round: int
    """From 0."""

    attempt: int
    """From 0."""

    arm: str
    launch_id: str
    began_s: float
    ended_s: float
    result: ProbeResult | None = None
    failure: str = ""
    """What became of the launch instead."""

    is_arms_doing: bool = False
    load_s: float | None = None
    steps: int | None = None
    """Draft steps, as resolved."""

    draft_tokens: int | None = None
    """Verified a step, as resolved."""


@dataclass(frozen=True, slots=True)
class NextLaunch:
    """The launch that comes next."""

    round: int
    attempt: int
    arm: str
    begins_round: bool


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


@dataclass(frozen=True, slots=True)
class ScreeningStanding:
    """Where a screening is."""

    ranking: tuple[Ranked, ...]
    """The best first; those that gave nothing last."""

    candidates: tuple[str, ...]
    """Still in it, the best first; never the baseline."""

    survivor: str | None
    """Whom the trial would be about, were this the end; None before a complete round."""

    rounds: int
    """Complete ones."""

    next: NextLaunch | None
    """None: it has ended."""

    in_round: int = 0
    """Launches that the round of `next` has in all."""

    ended: str = ""
    """Why, when it ended without a survivor."""

    spread: float | None = None
    """Between launches of one arm, on the log scale."""

    lost: tuple[tuple[str, int], ...] = ()
    """Launches that could not be used: reason and count."""


@dataclass(slots=True)
class _Course:
    """A replay so far."""

    going: list[str]
    left: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Arm to the round after which it left, and why."""

    look: RoundLook | None = None
    rounds: int = 0
    next: NextLaunch | None = None
    in_round: int = 0
    ended: str = ""


def stand_screening(plan: ScreeningPlan, blocks: Sequence[ScreeningBlock]) -> ScreeningStanding:
    """The ranking so far and what comes next; the same for the same launches, anywhere."""
    course = _Course(list(plan.arms))
    for number in range(plan.rounds):
        if not _run_round(plan, blocks, course, number):
            break
    return _standing(plan, blocks, course)


def _run_round(
    plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], course: _Course, number: int
) -> bool:
    """Whether the round is complete and another one would tell more."""
    order = rotated(course.going, number)
    course.in_round = len(order)
    for place, arm in enumerate(order):
        tries = [b for b in blocks if b.round == number and b.arm == arm]
        if any(is_usable(plan, block) for block in tries):
            continue
        if not _is_given_up(plan, tries):
            course.next = NextLaunch(number, len(tries), arm, place == 0 and not tries)
            return False
        why = why_lost(plan, tries[-1])
        if arm == plan.baseline:
            course.ended = f"the baseline gave nothing to compare with: {why}"
            return False
        course.left[arm] = (number + 1, why)
        course.going.remove(arm)
    if not [arm for arm in course.going if arm != plan.baseline]:
        course.ended = course.ended or "no candidate is left that could be measured"
        return False
    return _close_round(plan, blocks, course, number)


def _close_round(
    plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], course: _Course, number: int
) -> bool:
    levels = levels_of(plan, [block for block in blocks if block.round <= number], course.left)
    if levels is None:
        course.ended = "no prompt was answered by every profile"
        return False
    course.look = look_at(levels, course.going)
    course.rounds = number + 1
    for arm in course.going:
        if arm not in course.look.kept:
            course.left[arm] = (number + 1, "")
    course.going = list(course.look.kept)
    return len([arm for arm in course.going if arm != plan.baseline]) > 1


def is_usable(plan: ScreeningPlan, block: ScreeningBlock) -> bool:
    """It was measured, nothing from outside touched it, and its prompts were answered."""
    result = block.result
    if block.failure or result is None or not set(result.void_kinds) <= {VoidKind.ARM}:
        return False
    return len(answers_of(result)) >= COMPLETED_LEAST * plan.prompts


def _is_given_up(plan: ScreeningPlan, tries: Sequence[ScreeningBlock]) -> bool:
    """A candidate that fails by its own doing is not launched again; a baseline is, once."""
    if not tries:
        return False
    is_own = tries[-1].is_arms_doing and tries[-1].arm != plan.baseline
    return is_own or len(tries) >= ATTEMPTS


def why_lost(plan: ScreeningPlan, block: ScreeningBlock) -> str:
    """Why a launch cannot be used."""
    if block.failure:
        return block.failure
    if block.result is None:
        return "not measured to the end"
    outside = [
        words
        for words, kind in zip(block.result.void, block.result.void_kinds, strict=True)
        if kind is not VoidKind.ARM
    ]
    answered = len(answers_of(block.result))
    return outside[0] if outside else f"answered {answered} of {plan.prompts} prompts"


def levels_of(
    plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], left: Mapping[str, tuple[int, str]]
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


def _standing(
    plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], course: _Course
) -> ScreeningStanding:
    candidates = [arm for arm in course.going if arm != plan.baseline]
    behind = course.look.behind if course.look else {}
    candidates.sort(key=lambda arm: behind.get(arm, 0.0))
    lost: dict[str, int] = {}
    for block in blocks:
        if not is_usable(plan, block):
            words = f"{block.arm}: {why_lost(plan, block)}"
            lost[words] = lost.get(words, 0) + 1
    return ScreeningStanding(
        ranking=_rank(plan, blocks, course),
        candidates=tuple(candidates),
        survivor=_survivor(plan, blocks, course),
        rounds=course.rounds,
        next=course.next,
        in_round=course.in_round,
        ended=course.ended,
        spread=course.look.spread if course.look else None,
        lost=tuple(lost.items()),
    )


def _survivor(plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], course: _Course) -> str | None:
    """Of those that stayed; when the baseline beat them all, the best of the last round."""
    if course.look is None or course.ended:
        return None
    there = [
        arm
        for arm in course.look.behind
        if arm != plan.baseline and not course.left.get(arm, (0, ""))[1]
    ]
    among = [arm for arm in there if arm in course.going] or there
    return choose(course.look, among, steps_of(blocks)) if among else None


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


def _rank(
    plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], course: _Course
) -> tuple[Ranked, ...]:
    levels = levels_of(plan, blocks, course.left) or {}
    found = [_ranked(plan, arm, blocks, course, levels) for arm in plan.arms]
    return tuple(sorted(found, key=lambda one: (one.ratio is None, -(one.ratio or 0.0))))


def _ranked(
    plan: ScreeningPlan,
    arm: str,
    blocks: Sequence[ScreeningBlock],
    course: _Course,
    levels: Mapping[str, Sequence[float]],
) -> Ranked:
    mine = levels.get(arm, ())
    results = [b.result for b in blocks if b.arm == arm and is_usable(plan, b) and b.result]
    gaps = [gap for other in levels if (gap := _gap(levels[other], mine)) is not None]
    against_base = _gap(mine, levels.get(plan.baseline, ()))
    after, why = course.left.get(arm, (None, ""))
    if after is not None and not why:
        why = FAST_ENOUGH
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
