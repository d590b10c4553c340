"""What one step of the engine did."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.lab.requests import Finish


class StepKind(StrEnum):
    """What the GPUs worked at."""

    IDLE = "idle"
    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class Emission:
    """The new tokens of one request; the last emission of a request carries its finish."""

    rid: str
    tokens: tuple[int, ...]
    finish: Finish | None = None


@dataclass(frozen=True, slots=True)
class PrefillBatch:
    """What a prefill step worked off; `pending_tokens` are still to be prefilled afterwards."""

    new_sequences: int
    new_tokens: int
    cached_tokens: int
    pending_tokens: int


@dataclass(frozen=True, slots=True)
class VerifyBatch:
    """What a verify step of a speculating engine came to, over the whole batch."""

    requests: int
    correct_drafts: int
    proposed_drafts: int


@dataclass(frozen=True, slots=True)
class StepParts:
    """Where the time of a step went, in seconds; a step without speculation is all `target_s`."""

    target_s: float
    """The target's forward pass: prefill, plain decode step, or verification."""

    draft_s: float = 0.0
    overhead_s: float = 0.0

    @property
    def total_s(self) -> float:
        """The length of the step."""
        return self.target_s + self.draft_s + self.overhead_s


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """One step: how long it took, who got tokens, and the queues after it."""

    kind: StepKind
    duration_s: float
    batch_size: int
    """Requests that took part in it."""

    parts: StepParts
    emissions: tuple[Emission, ...] = ()
    prefill: PrefillBatch | None = None
    verify: VerifyBatch | None = None
    decoded_tokens: int = 0
    """Tokens a decode step emitted."""

    retracted: tuple[str, ...] = ()
    """Requests sent back to the queue because the KV cache was full."""

    running: int = 0
    waiting: int = 0
    used_tokens: int = 0
    """KV slots held by running requests."""

    sequence_tokens: int = 0
    """Sum of the lengths of the running sequences."""
