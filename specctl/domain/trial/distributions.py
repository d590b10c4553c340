"""Tails and quantiles of the distributions a verdict rests on.

Everything comes from the regularised incomplete beta function (DLMF 8.17).
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NORMAL = NormalDist()
_SMALLEST = 1e-300
_PRECISION = 1e-15
_FRACTION_TERMS = 1000
_HALVINGS = 200


def incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b) for a, b > 0: the probability that a Beta(a, b) variable is below `x`."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _continued_fraction(x, a, b) / a
    return 1.0 - front * _continued_fraction(1.0 - x, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    """DLMF 8.17.22 by the modified Lentz algorithm."""
    c, d = 1.0, _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    d = 1.0 / d
    value = d
    for m in range(1, _FRACTION_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for numerator in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + numerator * d)
            c = _away_from_zero(1.0 + numerator / c)
            value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST


def t_tail(t: float, df: float) -> float:
    """P(T > t) of Student's t with `df` degrees of freedom."""
    half = 0.5 * incomplete_beta(df / (df + t * t), df / 2.0, 0.5)
    return half if t >= 0 else 1.0 - half


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The value below which T lies with probability `p`, 0 < p < 1."""
    if p == 0.5:  # noqa: PLR2004 - the middle of a symmetric distribution
        return 0.0
    if p < 0.5:  # noqa: PLR2004
        return -t_quantile(1.0 - p, df)
    above = 1.0
    while t_tail(above, df) > 1.0 - p:
        above *= 2.0
    return _root(lambda t: (1.0 - p) - t_tail(t, df), 0.0, above)


def clopper_pearson(hits: int, trials: int, error: float = 0.05) -> tuple[float, float]:
    """The exact two-sided interval of a share (Clopper and Pearson 1934)."""
    low = 0.0 if hits == 0 else _beta_quantile(error / 2.0, hits, trials - hits + 1.0)
    is_all = hits == trials
    high = 1.0 if is_all else _beta_quantile(1.0 - error / 2.0, hits + 1.0, trials - hits)
    return low, high


def _beta_quantile(p: float, a: float, b: float) -> float:
    return _root(lambda x: incomplete_beta(x, a, b) - p, 0.0, 1.0)


def binomial_at_most(hits: int, trials: int, p: float) -> float:
    """P(X <= hits) of a Binomial(trials, p)."""
    if hits < 0:
        return 0.0
    return 1.0 if hits >= trials else incomplete_beta(1.0 - p, trials - hits, hits + 1.0)


def poisson_upper(events: int, error: float = 0.05) -> float:
    """The largest mean that would still give at most `events` with probability `error`."""

    def chance(mean: float) -> float:
        term = total = exp(-mean)
        for n in range(1, events + 1):
            term *= mean / n
            total += term
        return total

    return _root(lambda mean: error - chance(mean), 0.0, 10.0 * (events + 5.0))


def hypergeometric_two_sided(hits: tuple[int, int], trials: tuple[int, int]) -> float:
    """Fisher's exact test of two shares: the chance of a table as unlikely as this one."""
    total, marked = sum(trials), sum(hits)

    def chance(first: int) -> float:
        return exp(
            _log_choose(trials[0], first)
            + _log_choose(trials[1], marked - first)
            - _log_choose(total, marked)
        )

    lowest, highest = max(0, marked - trials[1]), min(marked, trials[0])
    seen = chance(hits[0])
    found = sum(p for p in map(chance, range(lowest, highest + 1)) if p <= seen * (1 + 1e-9))
    return min(1.0, found)


def _log_choose(n: int, k: int) -> float:
    return -inf if k < 0 or k > n else lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _root(rises: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses zero, by halving."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (low, middle) if rises(middle) > 0 else (middle, high)
    return 0.5 * (low + high)
