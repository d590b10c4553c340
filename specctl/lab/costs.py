"""What a step costs, from the tables of a scenario.

    {"base_ms": {"1": 17.1, ...},                  a plain decode step, by batch size
     "verify_ms": {"1": {"4": 25.0, ...}, ...},    by batch size, by tokens verified per request
     "draft_step_ms": {"EAGLE3": {"1": 0.85}},     one step of the draft model, by batch size
     "match_ms": {"1": 0.2},                       drafting without a model, by batch size
     "overhead_ms": {"1": 1.2},                    of the host, per speculative step
     "prefill": {"fixed_ms": 45, "token_us": 110},
     "draft_prefill_share": 0.05,                  of the target's prefill, with a draft model
     "noise": {"step": 0.01, "boot": 0.008, "drift": 0.006, "drift_period_s": 400,
               "stall_share": 0.002, "stall_factor": 1.6},
     "assumptions": {"base_ms": "why it is a guess"}}

`noise.step`, `.boot` and `.drift` are relative standard deviations: of a single step, of a whole
launch, and of the slow wave that steps ride on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.lab.hashing import fraction, normal, seed_of
from specctl.lab.outcomes import StepParts
from specctl.lab.tables import Curve, Surface

if TYPE_CHECKING:
    from collections.abc import Mapping

_MS = 1e-3


@dataclass(frozen=True, slots=True)
class Noise:
    """How much launches, minutes and single steps differ."""

    step: float = 0.0
    boot: float = 0.0
    drift: float = 0.0
    drift_period_s: float = 300.0
    stall_share: float = 0.0
    stall_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Costs:
    """The tables of one host, in milliseconds as written there."""

    base_ms: Curve
    verify_ms: Surface
    draft_step_ms: Mapping[str, Curve]
    match_ms: Curve
    overhead_ms: Curve
    prefill_fixed_ms: float
    prefill_token_us: float
    draft_prefill_share: float = 0.0
    noise: Noise = field(default_factory=Noise)

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Costs:
        """From a scenario; raises KeyError, TypeError or ValueError for what is amiss."""
        drafting = table.get("draft_step_ms", {})
        return cls(
            base_ms=Curve.read(table["base_ms"]),
            verify_ms=Surface.read(table["verify_ms"]),
            draft_step_ms={name: Curve.read(row) for name, row in drafting.items()},
            match_ms=Curve.read(table.get("match_ms", 0.2)),
            overhead_ms=Curve.read(table.get("overhead_ms", 0.0)),
            prefill_fixed_ms=float(table["prefill"]["fixed_ms"]),
            prefill_token_us=float(table["prefill"]["token_us"]),
            draft_prefill_share=float(table.get("draft_prefill_share", 0.0)),
            noise=Noise(**table.get("noise", {})),
        )

    def decode(self, batch: int) -> StepParts:
        """A step that decodes one token per request."""
        return StepParts(target_s=self.base_ms.at(batch) * _MS)

    def speculate(self, algorithm: str, batch: int, *, steps: int, width: int) -> StepParts:
        """A step that drafts `steps` times and verifies `width` tokens per request.

        A draft model that the tables do not name costs what EAGLE3's costs; KeyError without it.
        """
        if algorithm == "NGRAM":
            draft_ms = self.match_ms.at(batch)
        else:
            rows = self.draft_step_ms
            draft_ms = steps * rows.get(algorithm, rows["EAGLE3"]).at(batch)
        return StepParts(
            target_s=self.verify_ms.at(batch, width) * _MS,
            draft_s=draft_ms * _MS,
            overhead_s=self.overhead_ms.at(batch) * _MS,
        )

    def prefill(self, tokens: int, *, has_draft_model: bool) -> StepParts:
        """A prefill step over `tokens` new tokens."""
        target_s = (self.prefill_fixed_ms + self.prefill_token_us * tokens * _MS) * _MS
        return StepParts(target_s, draft_s=target_s * self.draft_prefill_share * has_draft_model)


class Weather:
    """The noise of one launch: the same for the same seed and boot, different for another boot."""

    def __init__(self, noise: Noise, *, seed: int, boot: int) -> None:
        self._noise = noise
        self._seed = seed_of("weather", seed, boot)
        self._boot = math.exp(noise.boot * normal(seed_of("boot", seed, boot)))
        self._phase = fraction(self._seed)
        self._steps = 0

    def blow(self, parts: StepParts, now_s: float) -> StepParts:
        """`parts` as this step of this launch comes out; no part below 60 % of its cost."""
        self._steps += 1
        noise, draw = self._noise, self._seed + self._steps
        wave = math.sin(2 * math.pi * (now_s / noise.drift_period_s + self._phase))
        factor = self._boot * (1 + noise.drift * math.sqrt(2) * wave)
        factor *= math.exp(noise.step * normal(draw))
        if fraction(draw ^ 0x5354414C) < noise.stall_share:
            factor *= noise.stall_factor
        factor = max(0.6, factor)
        return StepParts(parts.target_s * factor, parts.draft_s * factor, parts.overhead_s * factor)
