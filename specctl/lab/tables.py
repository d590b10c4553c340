"""Costs read off tables: straight lines between the points that are given."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Curve:
    """Values by a count; before the first point its value, past the last the last slope goes on."""

    points: tuple[tuple[float, float], ...]

    @classmethod
    def read(cls, table: Mapping[str, Any] | float) -> Curve:
        """From `{"1": 17.1, "8": 22.6}`, or one number for every count; ValueError for no point."""
        if isinstance(table, int | float):
            return cls(((1.0, float(table)),))
        points = sorted((float(count), float(value)) for count, value in table.items())
        if not points:
            raise ValueError("a table of costs has no entry")
        return cls(tuple(points))

    def at(self, count: float) -> float:
        """The value for `count`."""
        if count <= self.points[0][0] or len(self.points) == 1:
            return self.points[0][1]
        found = self.points[-2:]
        for segment in pairwise(self.points):
            if count <= segment[1][0]:
                found = segment
                break
        (left, low), (right, high) = found
        return low + (high - low) * (count - left) / (right - left)


@dataclass(frozen=True, slots=True)
class Surface:
    """Values by two counts: a curve over the second for some values of the first."""

    rows: tuple[tuple[float, Curve], ...]

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Surface:
        """From a table of tables; ValueError for no row."""
        rows = sorted((float(count), Curve.read(row)) for count, row in table.items())
        if not rows:
            raise ValueError("a table of costs has no row")
        return cls(tuple(rows))

    def at(self, first: float, second: float) -> float:
        """The value for both counts."""
        return Curve(tuple((count, row.at(second)) for count, row in self.rows)).at(first)
