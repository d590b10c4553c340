"""One row of a bench: two sides, their repeats, the ratio and its goal."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Side:
    """One side's repeats of one quantity."""

    what: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle repeat."""
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """Half the distance between the lower and the upper quartile, as a share of the median."""
        if len(self.values) < 2 or self.median == 0:
            return 0.0
        low, _, high = statistics.quantiles(self.values, n=4)
        return (high - low) / 2 / self.median


@dataclass(frozen=True, slots=True)
class Measured:
    """What one bench found: ours against theirs, or ours against a fixed goal."""

    name: str
    unit: str
    ours: Side
    theirs: Side | None
    goal: float
    """The ratio ours / theirs may not exceed; without theirs, the value itself."""

    note: str = ""

    @property
    def figure(self) -> float:
        """What the goal is about."""
        return self.ours.median / self.theirs.median if self.theirs else self.ours.median

    @property
    def is_met(self) -> bool:
        """The figure is within the goal."""
        return self.figure <= self.goal

    def as_json(self) -> dict[str, Any]:
        """The row with every repeat of both sides."""
        return asdict(self) | {"figure": self.figure, "is_met": self.is_met}

    def __str__(self) -> str:
        """The row as a person reads it."""
        mark = "met   " if self.is_met else "NOT MET"
        ours = f"{self.ours.what} {self.ours.median:.4g} {self.unit} ±{self.ours.spread:.0%}"
        if self.theirs is None:
            return f"{mark:8}{self.name}: {ours}, goal {self.goal:g}"
        theirs = f"{self.theirs.what} {self.theirs.median:.4g} ±{self.theirs.spread:.0%}"
        return f"{mark:8}{self.name}: {self.figure:.3g}x ({ours}; {theirs}), goal {self.goal:g}x"
