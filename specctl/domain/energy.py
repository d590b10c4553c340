"""Energy of a window: what the server's GPUs took, in all and per output token."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from specctl.domain.missing import Missing, Why

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import ProbeResult
    from specctl.domain.sample import GpuSample, Sample

COUNTED = "the driver's energy counters"
LONGEST_GAP_S = 5.0
"""Between two samples; beyond it nobody knows what the power was."""

SHORTEST_S = 2.0
"""Samples come every second: of a shorter window the ends would be most of it."""

Curve = list[tuple[float, float]]
"""(host's clock, value) in order of time."""


@dataclass(frozen=True, slots=True)
class Energy:
    """What the GPUs took; None with the reason in `missing`."""

    joules: float | None = None
    source: str = ""
    missing: Missing | None = None


def measure_energy(
    samples: Sequence[Sample], gpus: Sequence[int] | None, from_s: float, to_s: float
) -> Energy:
    """Of the server's GPUs between two times of the host's clock.

    From counters where every GPU has one, else the power readings integrated (trapezoids).
    """
    if not gpus:
        words = "which GPUs the server uses is not known" if gpus is None else "it uses no GPU"
        return _unknown(Why.NOT_SUPPORTED, words)
    if to_s - from_s < SHORTEST_S:
        return _unknown(Why.NO_WINDOW, f"the window is under {SHORTEST_S:g} s")
    around = _around(samples, from_s, to_s)
    if around is None:
        return _unknown(Why.NO_WINDOW, "the GPUs were not sampled through the whole window")
    counted = [_difference(_curve(around, gpu, "energy_j"), from_s, to_s) for gpu in gpus]
    if None not in counted:
        return Energy(sum(joules or 0.0 for joules in counted), COUNTED)
    return _integrate(around, gpus, from_s, to_s)


def _integrate(around: Sequence[Sample], gpus: Sequence[int], from_s: float, to_s: float) -> Energy:
    integrated = [_integral(_curve(around, gpu, "power_w"), from_s, to_s) for gpu in gpus]
    if None in integrated:
        return _unknown(Why.NOT_SUPPORTED, _why(around, gpus, "power_w", "a GPU was not read"))
    why = _why(around, gpus, "energy_j", "they went back")
    words = f"power readings of every second, integrated; energy counters: {why}"
    return Energy(sum(joules or 0.0 for joules in integrated), words)


def _unknown(why: Why, detail: str) -> Energy:
    return Energy(missing=Missing(why, detail))


def _around(samples: Sequence[Sample], from_s: float, to_s: float) -> list[Sample] | None:
    """The samples of the window and one on either side of it; None with a gap among them."""
    ordered = sorted(samples, key=lambda sample: sample.time_s)
    before = [sample for sample in ordered if sample.time_s <= from_s]
    after = [sample for sample in ordered if sample.time_s >= to_s]
    if not before or not after:
        return None
    inside = [sample for sample in ordered if from_s < sample.time_s < to_s]
    found = [before[-1], *inside, after[0]]
    gaps = [b.time_s - a.time_s for a, b in pairwise(found)]
    return None if max(gaps) > LONGEST_GAP_S else found


def _gpu(sample: Sample, index: int) -> GpuSample | None:
    return next((gpu for gpu in sample.gpus if gpu.index == index), None)


def _curve(samples: Sequence[Sample], index: int, field: str) -> Curve | None:
    """None where a sample does not have the value."""
    curve: Curve = []
    for sample in samples:
        gpu = _gpu(sample, index)
        value: float | None = None if gpu is None else getattr(gpu, field)
        if value is None:
            return None
        curve.append((sample.time_s, value))
    return curve


def _why(samples: Sequence[Sample], gpus: Sequence[int], field: str, otherwise: str) -> str:
    for sample in samples:
        for index in gpus:
            gpu = _gpu(sample, index)
            if gpu is not None and getattr(gpu, field) is None:
                return str(gpu.reason(field))
    return otherwise


def _at(curve: Curve, time_s: float) -> float:
    """The value at a time, on the straight line between its neighbours."""
    for (t0, v0), (t1, v1) in pairwise(curve):
        if t0 <= time_s <= t1:
            return v0 if t1 == t0 else v0 + (v1 - v0) * (time_s - t0) / (t1 - t0)
    raise ValueError(f"{time_s} is outside of the curve")


def _difference(curve: Curve | None, from_s: float, to_s: float) -> float | None:
    if curve is None or any(b < a for (_, a), (_, b) in pairwise(curve)):
        return None
    return _at(curve, to_s) - _at(curve, from_s)


def _integral(curve: Curve | None, from_s: float, to_s: float) -> float | None:
    if curve is None:
        return None
    inner = [(t, v) for t, v in curve if from_s < t < to_s]
    points = [(from_s, _at(curve, from_s)), *inner, (to_s, _at(curve, to_s))]
    pairs = pairwise(points)
    return sum((t1 - t0) * (v0 + v1) / 2 for (t0, v0), (t1, v1) in pairs)


@dataclass(frozen=True, slots=True)
class EnergyStanding:
    """Joules per output token of two arms, each the mean over its launches."""

    base_j: float | None
    arm_j: float | None
    missing: str = ""
    """Why one is None."""

    @property
    def ratio(self) -> float | None:
        """The arm's over the baseline's: below 1 it takes less for a token."""
        return None if self.base_j is None or self.arm_j is None else self.arm_j / self.base_j

    def words(self, baseline: str, profile: str) -> str:
        """One sentence for either front end and a report."""
        if self.base_j is None or self.arm_j is None:
            return f"energy per token: not known ({self.missing})"
        return (
            f"energy per output token: {profile} {self.arm_j:.3g} J, {baseline} {self.base_j:.3g} "
            f"J, {self.arm_j / self.base_j:.2f}x; of the servers' GPUs alone"
        )


def energy_standing(base: Sequence[ProbeResult], arm: Sequence[ProbeResult]) -> EnergyStanding:
    """How the launches of two arms at one concurrency stand; void windows are not to be given."""
    sides = [_mean(base), _mean(arm)]
    missing = next((words for value, words in sides if value is None), "")
    return EnergyStanding(sides[0][0], sides[1][0], missing)


def _mean(results: Sequence[ProbeResult]) -> tuple[float | None, str]:
    """Of the launches that have it."""
    known = [r.energy_per_token_j for r in results if r.energy_per_token_j is not None]
    if known:
        return sum(known) / len(known), ""
    for result in results:
        reason = result.missing.get("energy_per_token_j")
        if reason is not None:
            return None, str(reason)
    return None, "it was not measured" if results else "no launch was measured"
