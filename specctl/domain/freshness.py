"""How long what was sampled is of now: by how often it is sampled."""

from __future__ import annotations

SAMPLED_EVERY_S = 1.0
"""Unless something else was asked for."""

LATE_S = 0.5
"""So late a sample may be shown."""


def fresh_for_s(interval_s: float = SAMPLED_EVERY_S) -> float:
    """Three intervals, and the time that a frame may be late."""
    return 3 * interval_s + LATE_S


def is_stale(age_s: float | None, interval_s: float = SAMPLED_EVERY_S) -> bool:
    """What is so old is not of now; what was never sampled is not stale."""
    return age_s is not None and age_s > fresh_for_s(interval_s)
