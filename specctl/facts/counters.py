"""Rates out of counters that wrap, restart, or cannot be told apart from either."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from specctl.domain.missing import Missing, Why

if TYPE_CHECKING:
    from collections.abc import Mapping

WRAP = 1 << 32
LANE_BYTES_PER_S = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
"""Per PCIe lane and direction, by generation, after encoding (PCI Express base specification)."""

FIRST = Missing(Why.NOT_YET, "needs two readings")
RESTARTED = Missing(Why.NOT_YET, "the counter restarted")
TOO_FAST = Missing(Why.ERROR, "a 32-bit counter that wraps faster than it is read")


@dataclass(frozen=True, slots=True)
class RawCounters:
    """One reading of every counter, kept to make rates of the next."""

    mono_s: float
    values: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(GPU uuid or empty, counter name) to its value."""

    short: frozenset[tuple[str, str]] = frozenset()
    """Those seen to count in 32 bits."""


class Rate(NamedTuple):
    """A rate or the reason for none, and whether the counter has shown itself to be short."""

    value: float | Missing
    is_short: bool = False


def rate(now: int, before: int | None, elapsed_s: float, *, is_short: bool, most: float) -> Rate:
    """Bytes per second between two readings; `most` is what the link can carry per second.

    A 32-bit counter is believed only where the link cannot wrap it between two readings.
    """
    if before is None or elapsed_s <= 0:
        return Rate(FIRST, is_short)
    moved = now - before
    is_short = (is_short or (moved < 0 and WRAP // 2 < before < WRAP)) and now < WRAP
    if is_short:
        if most * elapsed_s >= WRAP:
            return Rate(TOO_FAST, is_short)
        moved %= WRAP
    if moved < 0:
        return Rate(RESTARTED)
    return Rate(moved / elapsed_s, is_short)


def link_bytes_per_s(generation: int | None, width: int | None) -> float:
    """What a PCIe link can carry in one direction; endless when the link is not known."""
    if generation is None or width is None:
        return float("inf")
    return LANE_BYTES_PER_S.get(generation, float("inf")) * width


class Counting:
    """The counters of one item against those before it."""

    def __init__(self, mono_s: float, before: RawCounters) -> None:
        self._mono_s = mono_s
        self._elapsed_s = mono_s - before.mono_s
        self._before, self._before_short = before.values, before.short
        self._values: dict[tuple[str, str], int] = {}
        self._short: set[tuple[str, str]] = set()

    def rate(
        self, owner: str, name: str, value: int, *, is_short: bool = False, most: float = 0.0
    ) -> float | Missing:
        """The rate of one counter since the item before; asking again gives the same."""
        key = (owner, name)
        self._values[key] = value
        before = self._before.get(key)
        is_short = is_short or key in self._before_short
        if before is not None and value >= before and self._elapsed_s > 0 and not is_short:
            return (value - before) / self._elapsed_s
        found, is_short = rate(value, before, self._elapsed_s, is_short=is_short, most=most)
        if is_short:
            self._short.add(key)
        return found

    def counters(self) -> RawCounters:
        """All of them, for the next item."""
        return RawCounters(self._mono_s, self._values, frozenset(self._short))
