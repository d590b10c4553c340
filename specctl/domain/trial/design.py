"""How a trial is laid out before its first launch; nothing of it changes afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log1p, sqrt
from typing import TYPE_CHECKING

from specctl.domain.trial.distributions import NORMAL, t_quantile
from specctl.domain.trial.interval import DRIFT_FROM
from specctl.domain.trial.spending import nominal_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

EARLY_LAUNCHES = 2
EARLY_ERROR = 0.01
EARLY_RATIO = 1.3
"""Beyond the largest gap known between two modes of launches of the same thing, 1.27."""

FLOOR = 0.01
FLOOR_OF_KNOWN_HOST = 0.005
KNOWN_FROM_LAUNCHES = 6
_LAUNCHES_UTMOST = 200


@dataclass(frozen=True, slots=True)
class Design:
    """When a trial is looked at, and what it takes to say a word."""

    most_launches: int = 8
    """Per arm (K)."""

    margin: float = 0.02
    """A difference within it is no material one."""

    first_look: int = 3
    """Launches per arm; 6 where a second speed that occurs now and then must be seen."""

    error: float = 0.04
    early_error: float = EARLY_ERROR
    """Of one look at two launches per arm, which only a ratio beyond 1.3 can pass; 0: no look."""

    floor: float = FLOOR
    """The spread between launches is never taken to be smaller."""

    known_spread: float | None = None
    """Between launches of these recipes on this host, from earlier trials; None without one."""

    @property
    def log_margin(self) -> float:
        """On the scale of the fit."""
        return log1p(self.margin)

    def level(self, launches: int) -> float | None:
        """The two-sided level of the look after `launches` per arm; None: no look."""
        if self.first_look <= launches <= self.most_launches:
            levels = nominal_levels(self.first_look, self.most_launches, self.error)
            return levels[launches - self.first_look]
        if launches == EARLY_LAUNCHES < self.first_look and self.early_error > 0:
            return self.early_error
        return None

    @property
    def looks(self) -> tuple[int, ...]:
        """Launches per arm after which there is a look."""
        return tuple(k for k in range(1, self.most_launches + 1) if self.level(k) is not None)

    def shared_by(self, concurrencies: int) -> Design:
        """Of each of so many secondary concurrencies, which share the error."""
        parts = max(1, concurrencies)
        return replace(self, error=self.error / parts, early_error=self.early_error / parts)

    def half_width(self, launches: int, spread: float) -> float | None:
        """Expected of the interval at a look, on the log scale."""
        level = self.level(launches)
        if level is None:
            return None
        df = degrees_of_freedom(launches)
        return t_quantile(1 - level / 2, df) * max(spread, self.floor) * sqrt(2 / launches)

    def smallest_found(self, launches: int, spread: float, power: float = 0.8) -> float | None:
        """The log difference that the look after `launches` finds with chance `power`."""
        half = self.half_width(launches, spread)
        if half is None:
            return None
        return half + NORMAL.inv_cdf(power) * max(spread, self.floor) * sqrt(2 / launches)

    def launches_for(self, margin: float, spread: float, power: float = 0.8) -> int | None:
        """Launches per arm with which equality within ±`margin` would be said with `power`."""
        error = self.error + self.early_error
        for k in range(self.first_look, _LAUNCHES_UTMOST):
            width = t_quantile(1 - error / 2, degrees_of_freedom(k)) + NORMAL.inv_cdf(
                0.5 + power / 2
            )
            if width * max(spread, self.floor) * sqrt(2 / k) <= log1p(margin):
                return k
        return None


def degrees_of_freedom(launches: int) -> int:
    """Of the spread with `launches` in each arm."""
    return 2 * launches - (3 if launches >= DRIFT_FROM else 2)


def spread_of(known: Sequence[tuple[int, float]]) -> float | None:
    """Of these (launches, spread) together; None of nothing."""
    launches = sum(count for count, _ in known)
    return sqrt(sum(count * spread**2 for count, spread in known) / launches) if launches else None


def floor_of(known: Sequence[tuple[int, float]]) -> float:
    """The floor on a host of which these are on record: launches of one arm, and their spread.

    A lower one where enough launches agree, and none says that they vary by more than usual.
    """
    is_quiet = all(spread <= FLOOR for _, spread in known)
    launches = sum(count for count, _ in known)
    return FLOOR_OF_KNOWN_HOST if is_quiet and launches >= KNOWN_FROM_LAUNCHES else FLOOR
