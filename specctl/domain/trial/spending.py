"""How the error of a trial is spent on its looks.

A trial is looked at after every complete pair of launches. So that many looks do not add up to
many false verdicts, the error used up by look k of K is `error * k / K` (Lan and DeMets 1983,
linear), and the level of each look follows by the recursion of Armitage, McPherson and Rowe 1969.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, pi, sqrt
from typing import TYPE_CHECKING

from specctl.domain.trial.distributions import NORMAL

if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERVALS = 240
"""Of Simpson's rule, an even number; levels are right to 1e-6."""

_FURTHEST = 12.0


@lru_cache(maxsize=256)
def nominal_levels(first: int, last: int, error: float) -> tuple[float, ...]:
    """Two-sided levels of the looks `first` … `last`, of which the first is what is spent by then.

    Their joint chance of a false alarm is `error` when all are taken.
    """
    times = [k / last for k in range(first, last + 1)]
    bounds = _boundaries(times, [error * t for t in times])
    return tuple(2.0 * (1.0 - NORMAL.cdf(bound)) for bound in bounds)


def _boundaries(times: Sequence[float], spent: Sequence[float]) -> list[float]:
    """z_j such that a Brownian motion has left +-z_j sqrt(t_j) by look j with chance spent_j."""
    found: list[float] = []
    inside: list[tuple[float, float]] = []
    """(place, density x weight) of the paths that have not left before."""
    before_t, before_spent = 0.0, 0.0
    for t, total in zip(times, spent, strict=True):
        scale = sqrt(t - before_t)
        bound = _boundary(inside, scale, sqrt(t), total - before_spent)
        found.append(bound)
        inside = _carried(inside, scale, bound * sqrt(t))
        before_t, before_spent = t, total
    return found


def _boundary(
    inside: Sequence[tuple[float, float]], scale: float, unit: float, wanted: float
) -> float:
    low, high = 0.0, _FURTHEST
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_too_near = _leaving(inside, scale, middle * unit) > wanted
        low, high = (middle, high) if is_too_near else (low, middle)
    return 0.5 * (low + high)


def _leaving(inside: Sequence[tuple[float, float]], scale: float, edge: float) -> float:
    if not inside:
        return 2.0 * NORMAL.cdf(-edge / scale)
    return sum(
        mass * (NORMAL.cdf((-edge - x) / scale) + NORMAL.cdf((x - edge) / scale))
        for x, mass in inside
    )


def _carried(
    inside: Sequence[tuple[float, float]], scale: float, edge: float
) -> list[tuple[float, float]]:
    """What stays between the edges, on the points and with the weights of Simpson's rule."""
    step = 2.0 * edge / _INTERVALS
    norm = 1.0 / (scale * sqrt(2.0 * pi))
    start = inside or [(0.0, 1.0)]
    found = []
    for n in range(_INTERVALS + 1):
        y = -edge + n * step
        density = sum(mass * exp(-0.5 * ((y - x) / scale) ** 2) for x, mass in start) * norm
        weight = 1.0 if n in (0, _INTERVALS) else 4.0 if n % 2 else 2.0
        found.append((y, density * weight * step / 3.0))
    return found
