"""Acceptance by position, from the histogram of accepted drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def add_histograms(histograms: Iterable[Sequence[int]]) -> tuple[int, ...] | None:
    """Place by place; None of nothing."""
    total: list[int] = []
    found = False
    for histogram in histograms:
        found = True
        total += [0] * (len(histogram) - len(total))
        for place, steps in enumerate(histogram):
            total[place] += steps
    return tuple(total) if found else None


def marginal_acceptance(histogram: Sequence[int]) -> tuple[float, ...]:
    """Share of steps that accepted at least 1, 2, 3 … drafts; accept length is 1 + their sum."""
    steps = sum(histogram)
    if not steps:
        return ()
    return tuple(sum(histogram[place:]) / steps for place in range(1, len(histogram)))


def conditional_acceptance(histogram: Sequence[int]) -> tuple[float | None, ...]:
    """Share of the steps that got to a position which were accepted there; None: none got there."""
    shares: list[float | None] = []
    for place in range(1, len(histogram)):
        reached = sum(histogram[place - 1 :])
        shares.append(sum(histogram[place:]) / reached if reached else None)
    return tuple(shares)


def find_contradictions(
    histogram: Sequence[int], *, verify_steps: int | None, correct_drafts: int | None
) -> tuple[str, ...]:
    """Where the histogram and the counters beside it disagree, in words."""
    found = []
    steps = sum(histogram)
    drafts = sum(place * count for place, count in enumerate(histogram))
    if verify_steps is not None and steps != verify_steps:
        found.append(f"the histogram counts {steps} verify steps, the counter {verify_steps}")
    if correct_drafts is not None and drafts != correct_drafts:
        found.append(f"the histogram counts {drafts} accepted drafts, the counter {correct_drafts}")
    return tuple(found)
