"""The difference of two arms from their levels, and how well it is known."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.trial.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.order import Side

DRIFT_FROM = 4
"""Launches per arm from which on linear drift over the clock is taken out."""


@dataclass(frozen=True, slots=True)
class Fit:
    """log(time of A / time of B), which is positive when B is faster."""

    theta: float
    spread: float
    """Standard deviation between launches of one arm, never below the floor."""

    scale: float
    """The standard error is `spread * scale`."""

    df: int
    """Degrees of freedom of `spread`."""

    launches: tuple[int, int]
    """Of A and of B."""

    drift_per_s: float | None = None
    """Of the level, which is `-log seconds`; None before it is taken out."""

    def half_width(self, level: float) -> float:
        """Of the interval that misses with chance `level`, on the log scale."""
        return t_quantile(1.0 - level / 2.0, self.df) * self.spread * self.scale

    def interval(self, level: float) -> tuple[float, float]:
        """On the log scale."""
        half = self.half_width(level)
        return self.theta - half, self.theta + half

    @property
    def ratio(self) -> float:
        """How many times faster B is."""
        return exp(self.theta)


def fit_levels(
    y: Sequence[float], sides: Sequence[Side], middles_s: Sequence[float], *, floor: float
) -> Fit | None:
    """Student's t on launches, with linear drift from four launches per arm on.

    None while an arm has fewer than two launches: nothing is known of the spread then.
    """
    ours = [[v for v, side in zip(y, sides, strict=True) if side == one] for one in ("A", "B")]
    counts = (len(ours[0]), len(ours[1]))
    if min(counts) < 2:  # noqa: PLR2004 - a variance needs two
        return None
    if min(counts) < DRIFT_FROM:
        return _pooled(ours[0], ours[1], floor)
    return _with_drift(y, sides, middles_s, counts, floor)


def _pooled(a: Sequence[float], b: Sequence[float], floor: float) -> Fit:
    df = len(a) + len(b) - 2
    spread = sqrt((_squares(a) + _squares(b)) / df)
    return Fit(
        theta=fmean(b) - fmean(a),
        spread=max(spread, floor),
        scale=sqrt(1 / len(a) + 1 / len(b)),
        df=df,
        launches=(len(a), len(b)),
    )


def _with_drift(
    y: Sequence[float],
    sides: Sequence[Side],
    middles_s: Sequence[float],
    counts: tuple[int, int],
    floor: float,
) -> Fit:
    """Least squares of y = mu + theta [side B] + gamma (t - mean t), by taking out arm means."""
    y_apart, t_apart = _around_arm_means(y, sides), _around_arm_means(middles_s, sides)
    tt = sum(t * t for t in t_apart)
    gamma = sum(t * v for t, v in zip(t_apart, y_apart, strict=True)) / tt if tt > 0 else 0.0
    gap_s = _gap(middles_s, sides)
    df = sum(counts) - 3
    rest = sum((v - gamma * t) ** 2 for v, t in zip(y_apart, t_apart, strict=True))
    return Fit(
        theta=_gap(y, sides) - gamma * gap_s,
        spread=max(sqrt(rest / df), floor),
        scale=sqrt(1 / counts[0] + 1 / counts[1] + (gap_s * gap_s / tt if tt > 0 else 0.0)),
        df=df,
        launches=counts,
        drift_per_s=gamma,
    )


def _around_arm_means(values: Sequence[float], sides: Sequence[Side]) -> list[float]:
    means = {s: fmean(_of(values, sides, s)) for s in ("A", "B")}
    return [value - means[side] for value, side in zip(values, sides, strict=True)]


def _gap(values: Sequence[float], sides: Sequence[Side]) -> float:
    return fmean(_of(values, sides, "B")) - fmean(_of(values, sides, "A"))


def _of(values: Sequence[float], sides: Sequence[Side], wanted: str) -> list[float]:
    return [value for value, side in zip(values, sides, strict=True) if side == wanted]


def _squares(values: Sequence[float]) -> float:
    middle = fmean(values)
    return sum((value - middle) ** 2 for value in values)
