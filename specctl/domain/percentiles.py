"""Order statistics of small collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def percentile(values: Iterable[float], percent: float) -> float | None:
    """The value below which `percent` of them lie, interpolated; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def weighted_percentile(pairs: Sequence[tuple[float, int]], percent: float) -> float | None:
    """The same of (value, count) pairs, as if each value stood there `count` times."""
    ordered = sorted(pair for pair in pairs if pair[1] > 0)
    total = sum(count for _, count in ordered)
    if not total:
        return None
    place = (total - 1) * percent / 100
    low = int(place)
    below, above = _at(ordered, low), _at(ordered, min(low + 1, total - 1))
    return below + (above - below) * (place - low)


def mean(values: Iterable[float]) -> float | None:
    """The arithmetic mean; None of nothing."""
    kept = tuple(values)
    return sum(kept) / len(kept) if kept else None


def _at(ordered: Sequence[tuple[float, int]], place: int) -> float:
    for value, count in ordered:
        if place < count:
            return value
        place -= count
    raise IndexError(place)
