"""Which draft length to try next, from what each position brings and what each step costs.

The value of draft step k+1 is its marginal acceptance x T_base, its cost the time it adds; a step
that costs more than it brings is one too many. A chain's accept length at fewer steps is known
from the histogram: 1 + the sum of the marginals kept. At more steps it is extrapolated with the
last conditional acceptance. "Off" is always a candidate, at speedup 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from specctl.domain.cost import WORTH_MARGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MORE_STEPS = 4
"""Candidates beyond the longest draft that was measured."""

TIE = 0.01
"""A gain by less than this share is no reason for more steps."""

MEASURED = "measured"
FEWER = "accept length from the histogram, cost between the measured ones"
MORE = "extrapolated beyond what was measured"


@dataclass(frozen=True, slots=True)
class Measured:
    """One draft length, measured at one concurrency."""

    steps: int
    step_s: float
    """Of a verify step with its drafts."""

    marginals: tuple[float, ...]
    """Share of the verify steps that accepted at least 1, 2, 3 … drafts."""

    @property
    def accept_length(self) -> float:
        """1 + the marginals."""
        return 1.0 + sum(self.marginals)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft length and what it would come to."""

    steps: int
    """0: speculation off."""

    accept_length: float
    step_s_low: float
    """If added steps cost as little as they may, as `step_s_high` if as much."""

    step_s_high: float
    speedup_low: float
    speedup_high: float
    source: str

    @property
    def draft_tokens(self) -> int:
        """Of a chain."""
        return self.steps + 1 if self.steps else 0

    @property
    def speedup(self) -> float:
        """Between both."""
        return (self.speedup_low + self.speedup_high) / 2


@dataclass(frozen=True, slots=True)
class Position:
    """What one more draft position brings and costs."""

    place: int
    """From 1."""

    marginal: float
    value_s: float
    """Marginal acceptance x T_base."""

    cost_s_low: float
    cost_s_high: float


@dataclass(frozen=True, slots=True)
class Advice:
    """What to try next at one concurrency."""

    concurrency: int
    base_s: float
    candidates: tuple[Candidate, ...]
    """By steps, off first."""

    positions: tuple[Position, ...]
    best: Candidate
    """With ties going to fewer steps."""

    is_certain: bool
    """The best one is the best at either end of its range."""


def advise(concurrency: int, base_s: float, measured: Sequence[Measured]) -> Advice:
    """Advice from one or more draft lengths measured at one concurrency.

    From a single one the cost of a step is only known to lie between nothing (all of T_step -
    T_base is fixed) and (T_step - T_base) / steps (none of it is).
    """
    known = sorted({one.steps: one for one in measured if one.steps > 0}.values(), key=_steps)
    low, high = _step_costs(base_s, known)
    longest = known[-1]
    marginals = _extended(longest.marginals, longest.steps + MORE_STEPS)
    lengths = range(1, longest.steps + MORE_STEPS + 1)
    candidates = (
        _off(base_s),
        *(_candidate(steps, base_s, known, marginals, (low, high)) for steps in lengths),
    )
    best = _best(candidates, lambda one: one.speedup)
    ends = {
        _best(candidates, lambda one: one.speedup_low).steps,
        _best(candidates, lambda one: one.speedup_high).steps,
    }
    positions = tuple(
        Position(place, marginal, marginal * base_s, low, high)
        for place, marginal in enumerate(marginals, start=1)
    )
    return Advice(concurrency, base_s, candidates, positions, best, ends == {best.steps})


def _steps(one: Measured) -> int:
    return one.steps


def _step_costs(base_s: float, known: Sequence[Measured]) -> tuple[float, float]:
    """What one more draft step adds, at least and at most."""
    slopes = [max(0.0, (b.step_s - a.step_s) / (b.steps - a.steps)) for a, b in pairwise(known)]
    if slopes:
        return min(slopes), max(slopes)
    only = known[0]
    return 0.0, max(0.0, (only.step_s - base_s) / only.steps)


def _extended(marginals: Sequence[float], places: int) -> tuple[float, ...]:
    """With the last conditional acceptance going on."""
    found = list(marginals[:places])
    if not found:
        return (0.0,) * places
    before = found[-2] if len(found) > 1 else 1.0
    conditional = found[-1] / before if before else 0.0
    while len(found) < places:
        found.append(found[-1] * conditional)
    return tuple(found)


def _off(base_s: float) -> Candidate:
    return Candidate(0, 1.0, base_s, base_s, 1.0, 1.0, MEASURED)


def _candidate(
    steps: int,
    base_s: float,
    known: Sequence[Measured],
    marginals: Sequence[float],
    per_step_s: tuple[float, float],
) -> Candidate:
    same = next((one for one in known if one.steps == steps), None)
    if same is not None:
        return _at(steps, same.accept_length, (same.step_s, same.step_s), base_s, MEASURED)
    nearest = min(known, key=lambda one: (abs(one.steps - steps), one.steps))
    apart = steps - nearest.steps
    ends = sorted(nearest.step_s + apart * cost_s for cost_s in per_step_s)
    ends = [max(base_s, end) for end in ends]
    source = MORE if steps > known[-1].steps else FEWER
    return _at(steps, 1.0 + sum(marginals[:steps]), (ends[0], ends[1]), base_s, source)


def _at(
    steps: int, accept_length: float, step_s: tuple[float, float], base_s: float, source: str
) -> Candidate:
    low_s, high_s = step_s
    return Candidate(
        steps,
        accept_length,
        low_s,
        high_s,
        accept_length * base_s / high_s,
        accept_length * base_s / low_s,
        source,
    )


def _best(candidates: Sequence[Candidate], figure: Callable[[Candidate], float]) -> Candidate:
    most = max(figure(one) for one in candidates)
    return next(one for one in candidates if figure(one) >= most / (1 + TIE))


def speculation_stops_paying(advices: Sequence[Advice]) -> int | None:
    """The smallest concurrency from which on nothing beats "off"; None while something does."""
    ordered = sorted(advices, key=lambda one: one.concurrency)
    found = None
    for one in reversed(ordered):
        if one.best.speedup > 1 + WORTH_MARGIN:
            break
        found = one.concurrency
    return found


def adaptive_config(advices: Sequence[Advice]) -> Mapping[str, object]:
    """`--speculative-adaptive-config` of builds that have it (0.5.11 and later).

    Tiers by batch size, each with the draft lengths worth having there; the best and its
    neighbours, and 0 where "off" is among the best.
    """
    tiers: dict[str, object] = {}
    for one in sorted(advices, key=lambda found: found.concurrency):
        near = {
            other.steps
            for other in one.candidates
            if other.speedup_high >= one.best.speedup_low and other.steps <= one.best.steps + 1
        }
        tiers[str(one.concurrency)] = {"candidate_steps": sorted(near | {one.best.steps})}
    return tiers
