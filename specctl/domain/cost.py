"""Step costs: what speculation costs, what it has to bring, and what it brought.

Break-even accept length AL* = (T_draft + T_verify + T_overhead) / T_base at the same batch; a
speedup is AL / AL*. Expected tokens per step of a drafter with accuracy a and k steps:
(1 - a^(k+1)) / (1 - a) (Leviathan et al., arXiv:2211.17192), which assumes every position to be
accepted independently and alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME_WINDOWS = "from the same windows: the decode speedup itself, no prediction"
TYPED = "typed"
WORTH_MARGIN = 0.02
"""A predicted gain below this is no gain: the formula leaves host overhead out."""


def expected_accept_length(accuracy: float, steps: int) -> float:
    """Leviathan's expected tokens per step; steps + 1 for a drafter that is never wrong."""
    if not 0 <= accuracy <= 1:
        raise UsageError(f"an accuracy lies between 0 and 1, not at {accuracy:g}")
    if steps < 1:
        raise UsageError(f"a drafter makes at least 1 step, not {steps}")
    if accuracy == 1:
        return float(steps + 1)
    return float((1 - accuracy ** (steps + 1)) / (1 - accuracy))


def needed_accuracy(accept_length: float, steps: int) -> float | None:
    """The accuracy whose expected accept length this is; None when no accuracy reaches it."""
    if accept_length > steps + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if expected_accept_length(middle, steps) < accept_length:
            low = middle
        else:
            high = middle
    return high if accept_length > 1 else 0.0


def break_even_accept_length(step_s: float, base_s: float) -> float:
    """Tokens a step has to bring to pay for itself."""
    return step_s / base_s


@dataclass(frozen=True, slots=True)
class StepCost:
    """The costs of one arm against its baseline, measured."""

    base_s: float
    """Decode time per token of the baseline."""

    step_s: float
    """Decode time per verify step."""

    accept_length: float

    @property
    def break_even(self) -> float:
        """AL*."""
        return break_even_accept_length(self.step_s, self.base_s)

    @property
    def decode_speedup(self) -> float:
        """AL / AL*; from the windows of one comparison it is measured, not predicted."""
        return self.accept_length / self.break_even


def find_suspects(
    *,
    speedup: float | None,
    accept_length: float | None,
    steps: int | None,
    marginals: Sequence[float] = (),
) -> tuple[str, ...]:
    """Which number cannot be true, and which measurement to suspect."""
    found = []
    if speedup is not None and accept_length is not None and speedup > accept_length:
        found.append(
            f"speedup {speedup:.2f} exceeds accept length {accept_length:.2f}, so a verify step "
            "would be cheaper than a plain one: suspect the baseline"
        )
    if accept_length is not None and steps is not None and accept_length > steps + 1:
        found.append(
            f"accept length {accept_length:.2f} exceeds {steps} steps + 1: suspect the counters"
        )
    rising = [
        place + 1
        for place in range(1, len(marginals))
        if marginals[place] > marginals[place - 1] + 1e-9
    ]
    if rising:
        found.append(f"position {rising[0]} is accepted more often than the one before it")
    return tuple(found)
