"""Results of probes and comparisons as the JSON objects that are published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain import published
from specctl.domain.comparison import ONE_LAUNCH
from specctl.domain.missing import NOT_YET, Missing, Why
from specctl.domain.plain import plain
from specctl.domain.published import Compared, MeasuredArm

if TYPE_CHECKING:
    from specctl.domain.comparison import Arm, Comparison, Standing
    from specctl.domain.probe import ProbeResult

COSTS = ("base_s", "step_s", "accept_length", "break_even_accept_length", "decode_speedup")
"""What is null together, when one of its parts was not measured."""

PREDICTED = ("predicted_speedup", "prediction_source", "residual")
SAMPLED = Missing(Why.NOT_ENABLED, "answers were sampled: only greedy ones are compared")
NO_PREDICTION = Missing(
    Why.NO_BASELINE,
    "what one comparison measured predicts nothing of itself; specctl cost holds it against other "
    "runs, recorded step times and typed numbers",
)
"""AL / AL* of the same windows is the measured decode speedup again."""


def probe_json(result: ProbeResult) -> dict[str, Any]:
    """`specctl/probe/1`: every figure and every request, texts as their hashes."""
    found: dict[str, Any] = plain(result)
    for request in (*found["requests"], *found["streamed"]):
        del request["text"], request["output"]
    found["is_void"] = bool(result.void)
    return found


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """`specctl/compare/1`: every arm, and every other arm against the first."""
    compared = Compared(
        host=comparison.host,
        workload=comparison.workload,
        trained_on=comparison.trained_on,
        concurrency=comparison.concurrency,
        baseline=comparison.baseline.profile,
        arms=tuple(_arm(arm) for arm in comparison.arms),
        standings=tuple(
            _standing(arm, standing, comparison.baseline)
            for arm, standing in zip(comparison.arms[1:], comparison.standings, strict=True)
        ),
        differences=comparison.differences,
        restored=comparison.restored,
        interrupted=comparison.interrupted,
        verdict=None,
        why_no_verdict=ONE_LAUNCH,
    )
    found: dict[str, Any] = plain(compared)
    for arm, row in zip(comparison.arms, found["arms"], strict=True):
        row["result"] = None if arm.result is None else probe_json(arm.result)
    return found


def kept_comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The same with the beginnings of the measured answers, packed, as a trial keeps them."""
    found = comparison_json(comparison)
    for arm, row in zip(comparison.arms, found["arms"], strict=True):
        kept = () if arm.result is None else zip(
            arm.result.requests, row["result"]["requests"], strict=True
        )  # fmt: skip
        for request, one in kept:
            one["output"] = request.output
    return found


def _arm(arm: Arm) -> MeasuredArm:
    return MeasuredArm(
        profile=arm.profile,
        algorithm=arm.algorithm,
        failure=arm.failure or None,
        hint=arm.hint or None,
        load_s=arm.load_s,
        max_total_tokens=arm.max_total_tokens,
        max_running_requests=arm.max_running_requests,
        result=arm.result,
    )


def _standing(arm: Arm, standing: Standing, baseline: Arm) -> published.Standing:
    pairing, cost = standing.pairing, standing.cost
    return published.Standing(
        profile=standing.profile,
        unknown=standing.unknown or None,
        speedup=pairing.speedup if pairing else None,
        speedup_method=pairing.method if pairing else None,
        prompts=pairing.prompts if pairing else 0,
        identical_outputs=pairing.identical if pairing else None,
        length_ratio=pairing.length_ratio if pairing else None,
        base_s=cost.base_s if cost else None,
        step_s=cost.step_s if cost else None,
        accept_length=cost.accept_length if cost else None,
        break_even_accept_length=cost.break_even if cost else None,
        decode_speedup=cost.decode_speedup if cost else None,
        first_token_share=pairing.first_token_share if pairing else None,
        energy_ratio=standing.energy.ratio if standing.energy else None,
        outputs=standing.outputs,
        predicted_speedup=None,
        prediction_source=None,
        residual=None,
        suspects=standing.suspects,
        notes=standing.notes,
        missing=_missing(standing, baseline, arm) if pairing else {},
    )


def _missing(standing: Standing, baseline: Arm, arm: Arm) -> dict[str, Missing]:
    found = dict.fromkeys(PREDICTED, NO_PREDICTION)
    if standing.cost is None:
        found |= dict.fromkeys(COSTS, _why(baseline, arm))
    if standing.pairing is not None and standing.pairing.first_token_share is None:
        found["first_token_share"] = Missing(Why.NOT_ENABLED, "no first-token times in this build")
    if standing.outputs is None:
        found["outputs"] = SAMPLED
    if standing.energy is not None and standing.energy.ratio is None:
        found["energy_ratio"] = _why_no_energy(baseline, arm)
    return found


def _why_no_energy(baseline: Arm, arm: Arm) -> Missing:
    for one in (baseline, arm):
        if one.result is not None and one.result.energy_per_token_j is None:
            return one.result.missing.get("energy_per_token_j", NOT_YET)
    return NOT_YET


def _why(baseline: Arm, arm: Arm) -> Missing:
    """Why no cost follows from two results."""
    for one, name in ((baseline, "step_s"), (arm, "step_s"), (arm, "accept_length")):
        if one.result is not None and getattr(one.result, name) is None:
            reason = one.result.missing.get(name, NOT_YET)
            detail = f"{name} of {one.profile}"
            return Missing(reason.why, f"{detail}: {reason.detail}" if reason.detail else detail)
    return NOT_YET
