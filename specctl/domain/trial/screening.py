"""Screening: which of several arms deserves a trial of its own.

Rounds of one launch per arm. What is measured here only chooses: it plays no part in the verdict,
because the best of several estimates is too high by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROUNDS = 3
PRIOR_SPREAD = 0.015
"""Between launches of one arm, until its own launches say more."""

PRIOR_DF = 3
DROPPED_BEYOND = 4.0
"""Standard errors of a difference that an arm may lie behind the best."""

TIED_WITHIN = 1.0
"""Standard errors of a difference within which arms cannot be told apart."""


@dataclass(frozen=True, slots=True)
class RoundLook:
    """What a complete round says; everything on the log scale."""

    spread: float
    """Between launches of one arm."""

    standard_error: float
    """Of the difference of two arms."""

    behind: Mapping[str, float]
    """By arm: how far it lies behind the best, 0 for the best itself."""

    kept: tuple[str, ...]
    """Arms that go on, in the order given."""


def rotated(arms: Sequence[str], number: int) -> tuple[str, ...]:
    """The order of round `number`, from 0: each round begins a third of the arms further on."""
    start = number * ceil(len(arms) / ROUNDS) % len(arms) if arms else 0
    return (*arms[start:], *arms[:start])


def spread_between(levels: Sequence[Sequence[float]]) -> float:
    """The pooled standard deviation within arms, drawn towards what is usual."""
    df = sum(len(one) - 1 for one in levels if one)
    squares = sum((y - fmean(one)) ** 2 for one in levels if one for y in one)
    return sqrt((PRIOR_DF * PRIOR_SPREAD**2 + squares) / (PRIOR_DF + df))


def look_at(levels: Mapping[str, Sequence[float]], going: Sequence[str]) -> RoundLook:
    """Judge a round by the levels of all arms; those of `going` are complete and equally many.

    A level is -log seconds for the same tokens; arms that left earlier tell of the spread only.
    """
    spread = spread_between(list(levels.values()))
    error = spread * sqrt(2 / len(levels[going[0]]))
    means = {arm: fmean(levels[arm]) for arm in going}
    best = max(means.values())
    behind = {arm: best - mean for arm, mean in means.items()}
    kept = tuple(arm for arm in going if behind[arm] <= DROPPED_BEYOND * error)
    return RoundLook(spread, error, behind, kept)


def choose(look: RoundLook, among: Sequence[str], steps: Mapping[str, int | None]) -> str:
    """The fastest of `among`; of those it cannot be told from, the one with the fewest steps."""
    best = min(look.behind[arm] for arm in among)
    tied = [arm for arm in among if look.behind[arm] - best <= TIED_WITHIN * look.standard_error]
    return min(tied, key=lambda arm: (_known(steps.get(arm)), look.behind[arm]))


def _known(steps: int | None) -> float:
    return inf if steps is None else steps
