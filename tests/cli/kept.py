"""Runs put into the ledger of a test's home, as if they had been made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specctl.adapters.ledger import Ledger
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.trial.trial_json import block_json, plan_json
from tests.unit.domain.trial.runs import NOW_S, trial_blocks, trial_plan

if TYPE_CHECKING:
    from pathlib import Path

ARGUMENTS: dict[str, dict[str, object]] = {
    "EAGLE3": {"speculative_num_steps": 1, "speculative_eagle_topk": 1},
    "NGRAM": {"speculative_num_steps": None, "speculative_eagle_topk": 10},
}


def keep_trial(home: Path, algorithm: str = "EAGLE3", *, draft_tokens: int = 2, **more: Any) -> str:
    """The id of a trial of `base` against `eagle3`: 1.3x faster at an accept length of 2."""
    plan = trial_plan(3, **more)
    arguments: dict[str, dict[str, object]] = {
        "base": {"speculative_algorithm": None, "speculative_adaptive_config": None},
        "eagle3": {
            "speculative_algorithm": algorithm,
            "speculative_num_draft_tokens": draft_tokens,
            "speculative_adaptive_config": None,
            **ARGUMENTS[algorithm],
        },
    }
    provenance = Provenance(
        "0.1.0", "op@laptop", "gpu8", arguments=arguments, workload_sha256="0" * 64
    )
    run = Run(
        plan.id, RunKind.TRIAL, "gpu8", ("base", "eagle3"), NOW_S, NOW_S + 900, "faster",
        provenance, plan_json(plan),
    )  # fmt: skip
    ledger = Ledger(home / ".local/state/specctl/ledger.db")
    ledger.add(run)
    for block in trial_blocks(3, speedup=1.3, plan=plan):
        results = tuple(
            replace(one, algorithm=one.algorithm and algorithm) for one in block.results
        )
        ledger.add_block(plan.id, block_json(replace(block, results=results)))
    ledger.close()
    return str(plan.id)
