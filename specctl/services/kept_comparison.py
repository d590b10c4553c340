"""A comparison of the ledger as it was when it ended; of its answers the beginnings are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.comparison import Arm, Comparison, Unasked
from specctl.domain.errors import UsageError
from specctl.domain.probe import ProbeResult
from specctl.domain.training import TrainedOn
from specctl.domain.unplain import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.runs import Run


def comparison_of(run: Run) -> Comparison:
    """The comparison of a kept run; raises UsageError for what is none."""
    try:
        return _comparison(run.document, run.provenance.arguments)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"run {run.id} does not hold a comparison: {error}") from error


def _comparison(found: Mapping[str, Any], arguments: Mapping[str, Mapping[str, Any]]) -> Comparison:
    arms = tuple(_arm(arm, arguments.get(arm["profile"], {})) for arm in found["arms"])
    if not arms:
        raise ValueError("arms: there is none")
    trained = found.get("trained_on")
    return Comparison(
        host=str(found["host"]),
        workload=str(found["workload"]),
        concurrency=int(found["concurrency"]),
        arms=arms,
        differences=tuple(object_of(Unasked, one, {}) for one in found["differences"]),
        restored=tuple(map(str, found["restored"])),
        interrupted=bool(found["interrupted"]),
        trained_on=None if trained is None else object_of(TrainedOn, trained, {}),
    )


def _arm(found: Mapping[str, Any], arguments: Mapping[str, Any]) -> Arm:
    result = found["result"]
    steps = arguments.get("speculative_num_steps")
    return Arm(
        profile=found["profile"],
        algorithm=found["algorithm"],
        result=None if result is None else result_of(result),
        failure=found["failure"] or "",
        hint=found["hint"] or "",
        arguments=arguments,
        steps=steps if type(steps) is int else None,
        load_s=found["load_s"],
        max_total_tokens=found["max_total_tokens"],
        max_running_requests=found["max_running_requests"],
    )


def result_of(document: Mapping[str, Any]) -> ProbeResult:
    """The result of a kept probe or arm."""
    return object_of(ProbeResult, {k: v for k, v in document.items() if k != "is_void"}, {})
