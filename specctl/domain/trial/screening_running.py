"""A screening as it runs: who is left, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.trial.running import ATTEMPTS
from specctl.domain.trial.screening import choose, look_at, rotated
from specctl.domain.trial.screening_plan import is_usable, why_lost
from specctl.domain.trial.screening_ranking import levels_of, rank, steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.screening import RoundLook
    from specctl.domain.trial.screening_plan import ScreeningBlock, ScreeningPlan
    from specctl.domain.trial.screening_ranking import Ranked


@dataclass(frozen=True, slots=True)
class NextLaunch:
    """The launch that comes next."""

    round: int
    attempt: int
    arm: str
    begins_round: bool


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
        course.ended = "no candidate is left that could be measured"
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


def _is_given_up(plan: ScreeningPlan, tries: Sequence[ScreeningBlock]) -> bool:
    """A candidate that fails by its own doing is not launched again; a baseline is, once."""
    if not tries:
        return False
    is_own = tries[-1].is_arms_doing and tries[-1].arm != plan.baseline
    return is_own or len(tries) >= ATTEMPTS


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
        ranking=rank(plan, blocks, course.left),
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
