"""From these prompts to traffic like them, and what each category does apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from specctl.domain.trial.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.trial.interval import Fit
    from specctl.domain.trial.levels import Levels

CATEGORY_LEAST = 5
"""Prompts under which a category gets a number and no interval."""

CONFIDENCE = 0.05


@dataclass(frozen=True, slots=True)
class Deviation:
    """A category against all prompts together."""

    category: str
    prompts: int
    ratio: float
    """How many times faster B is on this category alone."""

    against_all: float
    """That ratio over the ratio of all prompts."""

    low: float | None
    """Of `against_all`, all categories together at 5 %; None with under five prompts."""

    high: float | None


def extend_to_traffic(fit: Fit, levels: Levels) -> tuple[float, float] | None:
    """The 95 % interval of the ratio for prompts like these; None with under two prompts.

    Adds the variance between prompts, V_p = var(u_i) / n with
    u_i = t_iA / mean(t_A) - t_iB / mean(t_B), and Satterthwaite's degrees of freedom.
    """
    u = _prompt_gaps(levels)
    if len(u) < 2:  # noqa: PLR2004 - a variance needs two
        return None
    of_prompts = stdev(u) ** 2 / len(u)
    of_launches = (fit.spread * fit.scale) ** 2
    both = of_prompts + of_launches
    df = both**2 / (of_prompts**2 / (len(u) - 1) + of_launches**2 / fit.df)
    half = t_quantile(1 - CONFIDENCE / 2, df) * sqrt(both)
    return exp(fit.theta - half), exp(fit.theta + half)


def prompts_for(levels: Levels, half_width: float) -> int:
    """Prompts that traffic like this takes for an interval of +-`half_width` (log scale)."""
    u = _prompt_gaps(levels)
    return max(1, round((1.96 * stdev(u) / half_width) ** 2)) if len(u) > 1 else 1


def deviations(levels: Levels, categories: Mapping[str, str]) -> tuple[Deviation, ...]:
    """Each category against the whole; what a restart does to all prompts alike cancels.

    `categories` gives the category of a prompt. Bonferroni over the categories.
    """
    names = list(dict.fromkeys(categories[prompt] for prompt in levels.prompts))
    whole = _ratios(levels, range(len(levels.prompts)))
    found = []
    for name in names:
        mine = [i for i, prompt in enumerate(levels.prompts) if categories[prompt] == name]
        found.append(_deviation(name, mine, levels, whole, CONFIDENCE / len(names)))
    return tuple(found)


def _deviation(
    name: str, mine: Sequence[int], levels: Levels, whole: _Sides, error: float
) -> Deviation:
    own = _ratios(levels, mine)
    ratio = exp(own.gap)
    against = own.gap - whole.gap
    counts = (len(own.a), len(own.b))
    if len(mine) < CATEGORY_LEAST or min(counts) < 2:  # noqa: PLR2004
        return Deviation(name, len(mine), ratio, exp(against), None, None)
    apart = [
        [o - w for o, w in zip(ours, theirs, strict=True)]
        for ours, theirs in ((own.a, whole.a), (own.b, whole.b))
    ]
    df = sum(counts) - 2
    squares = sum(sum((v - fmean(side)) ** 2 for v in side) for side in apart)
    half = t_quantile(1 - error / 2, df) * sqrt(squares / df * (1 / counts[0] + 1 / counts[1]))
    return Deviation(name, len(mine), ratio, exp(against), exp(against - half), exp(against + half))


@dataclass(frozen=True, slots=True)
class _Sides:
    a: tuple[float, ...]
    b: tuple[float, ...]

    @property
    def gap(self) -> float:
        return fmean(self.b) - fmean(self.a)


def _ratios(levels: Levels, chosen: Sequence[int]) -> _Sides:
    """The levels of both arms on some of the prompts."""
    y = [-log(sum(exp(row[i]) for i in chosen)) for row in levels.log_times]
    pairs = list(zip(levels.sides, y, strict=True))
    return _Sides(
        tuple(v for side, v in pairs if side == "A"), tuple(v for side, v in pairs if side == "B")
    )


def _prompt_gaps(levels: Levels) -> list[float]:
    shares = []
    for side in ("A", "B"):
        rows = [r for s, r in zip(levels.sides, levels.log_times, strict=True) if s == side]
        times = [fmean(exp(row[i]) for row in rows) for i in range(len(levels.prompts))]
        shares.append([time / fmean(times) for time in times])
    return [a - b for a, b in zip(*shares, strict=True)]
