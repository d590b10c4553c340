"""What a screening is, and what was measured in one launch of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.probe import VoidKind
from specctl.domain.trial.running import answers_of
from specctl.domain.trial.screening import ROUNDS
from specctl.domain.trial.verdict import COMPLETED_LEAST

if TYPE_CHECKING:
    from specctl.domain.probe import ProbeResult
    from specctl.domain.training import TrainedOn
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.running import Before


@dataclass(frozen=True, slots=True)
class Omitted:
    """A profile that was not launched at all."""

    profile: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScreeningPlan:
    """What a screening is, fixed before its first launch, and the trial that is to follow it."""

    id: str
    host: str
    baseline: str
    candidates: tuple[str, ...]
    workload: str
    workload_source: str
    """As it was named: a bundled one, or a file."""

    workload_sha256: str
    prompts: int
    temperature: float
    concurrencies: tuple[int, ...]
    """Of the trial; the screening is at the first of them."""

    design: Design
    """Of the trial."""

    created_s: float
    recipes: tuple[str, ...] = ()
    """Hashes of the complete recipes, the baseline's first."""

    is_simulated: bool = False
    before: tuple[Before, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    rounds: int = ROUNDS
    trained_on: TrainedOn | None = None
    """What every launch is sent before each window; None: it is measured cold."""

    training_source: str = ""
    """As the training set was named."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The baseline first."""
        return (self.baseline, *self.candidates)

    @property
    def most_launches(self) -> int:
        """When nobody leaves early."""
        return self.rounds * len(self.arms)


@dataclass(frozen=True, slots=True)
class ScreeningBlock:
    """One launch of one arm and what was measured on it."""

    round: int
    """From 0."""

    attempt: int
    """From 0."""

    arm: str
    launch_id: str
    began_s: float
    ended_s: float
    result: ProbeResult | None = None
    failure: str = ""
    """What became of the launch instead."""

    is_arms_doing: bool = False
    load_s: float | None = None
    steps: int | None = None
    """Draft steps, as resolved."""

    draft_tokens: int | None = None
    """Verified a step, as resolved."""


def is_usable(plan: ScreeningPlan, block: ScreeningBlock) -> bool:
    """It was measured, nothing from outside touched it, and its prompts were answered."""
    result = block.result
    if block.failure or result is None or not set(result.void_kinds) <= {VoidKind.ARM}:
        return False
    return len(answers_of(result)) >= COMPLETED_LEAST * plan.prompts


def why_lost(plan: ScreeningPlan, block: ScreeningBlock) -> str:
    """Why a launch cannot be used."""
    if block.failure:
        return block.failure
    if block.result is None:
        return "not measured to the end"
    outside = [
        words
        for words, kind in zip(block.result.void, block.result.void_kinds, strict=True)
        if kind is not VoidKind.ARM
    ]
    answered = len(answers_of(block.result))
    return outside[0] if outside else f"answered {answered} of {plan.prompts} prompts"
