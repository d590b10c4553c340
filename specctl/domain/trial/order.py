"""The order in which the arms are launched."""

from __future__ import annotations

from typing import Literal

Side = Literal["A", "B"]
"""A is the baseline."""


def launch_order(pairs: int) -> tuple[Side, ...]:
    """AB BA BA AB …, the Thue-Morse sequence: drift of any low order falls on both arms alike."""
    found: list[Side] = []
    for pair in range(pairs):
        first_is_baseline = pair.bit_count() % 2 == 0
        found.extend(("A", "B") if first_is_baseline else ("B", "A"))
    return tuple(found)
