from __future__ import annotations

from dataclasses import replace

from specctl.domain.plan import MASK
from specctl.facts.plan_shown import shown_plan
from tests.tui.plans import start_plan

SPELLED_OUT = "sk-0123456789abcdef"


def test_a_secret_that_is_spelled_out_is_not_shown():
    plan = replace(
        start_plan(),
        argv=("python", "-m", "sglang.launch_server", "--api-key", SPELLED_OUT),
        environment={"HF_TOKEN": MASK, "API_KEY": SPELLED_OUT, "CUDA_VISIBLE_DEVICES": "0"},
    )
    shown = shown_plan(plan)
    assert SPELLED_OUT not in str(shown.argv) + str(shown.environment)
    assert shown.environment["HF_TOKEN"] == MASK
    assert shown.environment["CUDA_VISIBLE_DEVICES"] == "0"
    assert shown.argv[:4] == plan.argv[:4]
