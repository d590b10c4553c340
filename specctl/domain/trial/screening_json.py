"""Screenings as JSON and back: what the ledger keeps and what is worked out again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.plain import plain
from specctl.domain.probe import ProbeResult
from specctl.domain.training import TrainedOn
from specctl.domain.trial.design import Design
from specctl.domain.trial.running import Before
from specctl.domain.trial.screening import ROUNDS
from specctl.domain.trial.screening_plan import Omitted, ScreeningBlock, ScreeningPlan
from specctl.domain.trial.trial_json import check_design
from specctl.domain.unplain import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = {
    "Before": Before,
    "Design": Design,
    "Omitted": Omitted,
    "ProbeResult": ProbeResult,
    "TrainedOn": TrainedOn,
}


@dataclass(frozen=True, slots=True)
class KeptScreening:
    """What the ledger has of a screening beside its launches."""

    plan: ScreeningPlan
    trial: str | None = None
    """The run that confirms, once it is planned."""


def screening_json(kept: KeptScreening) -> dict[str, Any]:
    """`screening_of` is the way back."""
    return {"plan": plain(kept.plan), "trial": kept.trial}


def screening_of(value: Mapping[str, Any]) -> KeptScreening:
    """Raises ValueError with the path of what is wrong."""
    plan: ScreeningPlan = object_of(ScreeningPlan, value.get("plan") or {}, _NAMES)
    trial = value.get("trial")
    if trial is not None and not isinstance(trial, str):
        raise ValueError("trial: must be a string")
    if not plan.concurrencies or min(plan.concurrencies) < 1:
        raise ValueError("concurrencies: must be at least one, each 1 or more")
    if not plan.candidates or len(set(plan.arms)) != len(plan.arms):
        raise ValueError("candidates: must be at least one, each once")
    if not 1 <= plan.rounds <= ROUNDS:
        raise ValueError(f"rounds: must lie between 1 and {ROUNDS}")
    check_design(plan.design)
    return KeptScreening(plan, trial)


def screening_block_json(block: ScreeningBlock) -> dict[str, Any]:
    """A launch with every request; texts as their hashes."""
    found: dict[str, Any] = plain(block)
    if (result := found["result"]) is not None:
        for request in (*result["requests"], *result["streamed"]):
            request["text"] = request["output"] = None
    return found


def screening_block_of(value: Mapping[str, Any]) -> ScreeningBlock:
    """The launch of its JSON; raises ValueError with the path of what is wrong."""
    return object_of(ScreeningBlock, value, _NAMES)
