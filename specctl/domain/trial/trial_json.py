"""Trials as JSON and back: what the ledger keeps and what `recompute` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from specctl.domain.plain import plain
from specctl.domain.probe import ProbeResult
from specctl.domain.training import TrainedOn
from specctl.domain.trial.design import Design
from specctl.domain.trial.running import Before, TrialBlock, TrialPlan
from specctl.domain.unplain import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

LAUNCHES_UTMOST = 200
"""Per arm, that any plan could ask for."""

_NAMES = {"Before": Before, "Design": Design, "ProbeResult": ProbeResult, "Side": Literal["A", "B"],
          "TrainedOn": TrainedOn}  # fmt: skip


def plan_json(plan: TrialPlan) -> dict[str, Any]:
    """A plan; `plan_of` is the way back.

    Without a budget the key of its end is left out, without predictions theirs, and without a
    training set its two; a prediction by a forecast is marked.
    """
    found: dict[str, Any] = plain(plan)
    for one in found["predicted"]:
        if not one["is_forecast"]:
            del one["is_forecast"]
    if not plan.predicted:
        del found["predicted"]
    if plan.budget_until_s is None:
        del found["budget_until_s"]
    if plan.trained_on is None:
        del found["trained_on"], found["training_source"]
    return found


def plan_of(value: Mapping[str, Any]) -> TrialPlan:
    """The plan of its JSON; raises ValueError with the path of what is wrong."""
    plan: TrialPlan = object_of(TrialPlan, value, _NAMES)
    if not plan.concurrencies or min(plan.concurrencies) < 1:
        raise ValueError("concurrencies: must be at least one, each 1 or more")
    check_design(plan.design)
    return plan


def check_design(design: Design) -> None:
    """Raises ValueError with the path of a number that no design has."""
    for name, number, low, high in (
        ("most_launches", design.most_launches, 1, LAUNCHES_UTMOST),
        ("first_look", design.first_look, 1, LAUNCHES_UTMOST),
        ("margin", design.margin, 1e-9, 1.0),
        ("error", design.error, 1e-9, 0.5),
        ("early_error", design.early_error, 0.0, 0.5),
        ("floor", design.floor, 0.0, 1.0),
        ("known_spread", design.known_spread, 0.0, 10.0),
    ):
        if number is not None and not low <= number <= high:
            raise ValueError(f"design.{name}: must lie between {low:g} and {high:g}")


def block_json(block: TrialBlock) -> dict[str, Any]:
    """A launch with every request; of texts their hashes and their packed beginnings."""
    found: dict[str, Any] = plain(block)
    for result in found["results"]:
        for request in (*result["requests"], *result["streamed"]):
            request["text"] = None
        for request in result["streamed"]:
            request["output"] = None
    return found


def block_of(value: Mapping[str, Any]) -> TrialBlock:
    """The launch of its JSON; raises ValueError with the path of what is wrong."""
    return object_of(TrialBlock, value, _NAMES)
