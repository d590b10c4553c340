"""Screenings made up for tests, as the ledger keeps them."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.trial.design import Design
from specctl.domain.trial.screening_plan import Omitted, ScreeningBlock, ScreeningPlan
from specctl.domain.trial.screening_running import stand_screening
from tests.unit.domain.trial.runs import NOW_S, PROMPTS, RESTARTS, result

SPEEDUPS = {"base": 1.0, "one": 1.24, "two": 1.30, "three": 1.31, "weak": 0.70}
STEPS = {"one": 1, "two": 2, "three": 3, "weak": 5}


def screening_plan(candidates=("one", "two", "three", "weak"), **more):
    plan = ScreeningPlan(
        id="5c2eef0c", host="gpu8", baseline="base", candidates=candidates, workload="mixed",
        workload_source="mixed", workload_sha256="0" * 64, prompts=PROMPTS, temperature=0.0,
        concurrencies=(1,), design=Design(), created_s=NOW_S,
        recipes=tuple(name * 2 for name in ("base", *candidates)),
        omitted=(Omitted("one+num-steps=9", "num-steps: at most 7"),),
    )  # fmt: skip
    return replace(plan, **more)


def screening_block(plan, launch, place, *, failure="", own=False, speedups=SPEEDUPS, **more):
    arm = launch.arm
    began_s = NOW_S + 400.0 * place
    side = "A" if arm == plan.baseline else "B"
    measured = result(side, RESTARTS[place % len(RESTARTS)], speedup=speedups[arm], **more)
    return ScreeningBlock(
        round=launch.round, attempt=launch.attempt, arm=arm, launch_id=f"{place:08x}",
        began_s=began_s, ended_s=began_s + 300.0, result=None if failure else measured,
        failure=failure, is_arms_doing=own, load_s=200.0, steps=STEPS.get(arm),
        draft_tokens=STEPS[arm] + 1 if arm in STEPS else None,
    )  # fmt: skip


def screened(plan=None, *, most=99, failing=(), **more):
    """Launches in the order that the plan asks for; `failing` names arms that crash."""
    plan = plan or screening_plan()
    blocks: list[ScreeningBlock] = []
    while (following := stand_screening(plan, blocks).next) is not None and len(blocks) < most:
        failure = "out of memory" if following.arm in failing else ""
        blocks.append(
            screening_block(
                plan, following, len(blocks), failure=failure, own=bool(failure), **more
            )
        )
    return plan, blocks
