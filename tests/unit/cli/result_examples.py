"""Examples of what was measured: a comparison, trials, and what a ledger keeps of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specctl.cli import breakeven
from specctl.domain.breakeven import Typed, curve, work_out
from specctl.domain.comparison import Arm, Comparison, Unasked
from specctl.domain.plain import plain
from specctl.domain.probing import Window, add_up
from specctl.domain.run_sheet import differences_of
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.simulated_acceptance import NOT_THE_MODELS, ForcedReport, ForcedRow
from specctl.domain.trial import trial_json
from specctl.domain.trial.published import publish
from specctl.domain.trial.screening_published import publish_screening
from specctl.domain.trial.screening_running import stand_screening
from specctl.domain.trial.summary import summarise
from specctl.services.runs import sheet_of_run
from tests.unit.cli.server_examples import BOOT_ID, NOW_S
from tests.unit.domain.requests import request, speculated, streamed
from tests.unit.domain.trial.runs import trial_blocks, trial_plan
from tests.unit.domain.trial.screenings import screened


def _arm(profile: str, algorithm: str | None, latency_s: float, histogram: Any) -> Arm:
    timed = {"server_ttft_s": 0.25, "server_latency_s": latency_s, "text": "The"}
    requests = [
        request(index=n, completion_tokens=101, text_sha256=f"{n}e", **timed)
        if histogram is None
        else speculated(histogram, index=n, completion_tokens=101, text_sha256=f"{n}e", **timed)
        for n in range(2)
    ]
    window = Window(
        "5c0f", profile, 1, algorithm, 4.5, 0.125, 0.001, NOW_S, f"{BOOT_ID} 4211 88123",
        "flushed before the window", "mixed", "9d1c", 0.0, "the host's own chat template",
    )  # fmt: skip
    chunks = [streamed([(0.25, 1), (0.3125, 2), (0.375, 2)], index=2)]
    result = add_up(window, requests, chunks, notes=("one launch",))
    return Arm(profile, algorithm, result, steps=3 if algorithm else None, load_s=332.0)


BASELINE = _arm("kimi-k2.5-baseline", None, 2.25, None)
EAGLE = _arm("kimi-k2.5-eagle3", "EAGLE3", 1.75, (0, 30, 20, 0))
COMPARISON = Comparison(
    "gpu8",
    "mixed",
    1,
    (BASELINE, EAGLE, Arm("kimi-k2.5-ngram", "NGRAM", failure="Out of GPU memory", hint="Less.")),
    (Unasked("kimi-k2.5-eagle3", "max-running-requests", 2048, 48),),
    ("5c0f ran before and runs again",),
)
KEPT = Run(
    "5c0ffee2", RunKind.TRIAL, "gpu8", ("base", "eagle3"), NOW_S, NOW_S + 5400, "faster",
    Provenance(
        "0.1.0", "op@laptop", "gpu8", driver="580.82", gpus=("H200",), gpu_clocks_mhz=(1980,),
        build="0.5.23", profiles={"base": 'model = "m"\n'}, recipes={"base": "a1b2c3d4e5f6"},
        arguments={"base": {"tp_size": 8}}, workload="mixed", workload_sha256="0" * 64,
    ),
    trial_json.plan_json(trial_plan(3)),
)  # fmt: skip


def difference_example() -> Any:
    other = replace(
        KEPT,
        id="0ddba11a",
        outcome="no material difference",
        provenance=replace(KEPT.provenance, build="0.5.10", arguments={"base": {"tp_size": 4}}),
    )
    return plain(differences_of(sheet_of_run(KEPT), sheet_of_run(other)))


def trial_example() -> Any:
    summary = summarise(trial_plan(3), trial_blocks(3, speedup=1.3))
    return plain(publish(summary, verdict="faster"))


def screening_example() -> Any:
    plan, blocks = screened()
    summary = summarise(trial_plan(3), trial_blocks(3, speedup=1.3))
    trial = publish(summary, verdict="faster")
    standing = stand_screening(plan, blocks)
    return plain(publish_screening(plan, standing, trial_id="5c0ffee2", trial=trial))


def forced_example() -> Any:
    rows = (
        ForcedRow(1.5, 1.5, 0.0288, 1.68, 0.9),
        ForcedRow(2.0, 2.01, 0.0289, 1.69, 1.18),
        ForcedRow(3.0, None, None, None, None, "eagle3~3: out of memory"),
    )
    return plain(
        ForcedReport(
            host="gpu8", profile="eagle3", baseline="base", variable="SGLANG_SIMULATE_ACC_LEN",
            workload="mixed", concurrency=1, base_s=0.0171, rows=rows, break_even=1.685,
            crossing=1.68, run="f0rced00", interrupted=False, restored=(), notes=(NOT_THE_MODELS,),
        )
    )  # fmt: skip


def breakeven_example() -> Any:
    typed = Typed(base_ms=16, tps=52, accept_length=1.625, accuracy=0.75, steps=3)
    return plain(breakeven.published(work_out(typed), curve(typed, accuracies=(0.0, 0.5, 1.0))))
