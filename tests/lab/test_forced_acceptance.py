"""Which accept length would pay, on a practice host whose step costs are known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from specctl.lab.up import take_down
from tests.lab.practice import Practice

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]
BREAK_EVEN = 1.65
"""Of the trained drafter: 28 ms a step over 17 ms."""


def test_speedup_follows_the_accept_length_that_is_forced(tmp_path: Path) -> None:
    made = Practice(tmp_path)
    made.up("--load-factor", "0.1")
    try:
        ran = made.run(
            "cost", "lab-1", "lab-eagle3-trained", "--simulate-accept-length", "3,1.5",
            "--workload", "tiny", "--prompts", "2", "--yes", "--json", timeout_s=240,
        )  # fmt: skip
        assert ran.status == 0, ran.err
        found = json.loads(ran.out)
        assert (found["simulated"], found["variable"]) == (True, "SGLANG_SIMULATE_ACC_LEN")
        slow, fast = found["rows"]
        assert (slow["asked"], fast["asked"]) == (1.5, 3.0)
        assert slow["accept_length"] == pytest.approx(1.5, abs=0.1)
        assert fast["accept_length"] == pytest.approx(3.0, abs=0.1)
        assert slow["speedup"] < 1 < fast["speedup"]
        assert found["break_even"] == pytest.approx(BREAK_EVEN, abs=0.1)
        assert found["crossing"] == pytest.approx(found["break_even"], abs=0.15)
        assert "not the model's" in found["notes"][0]
        shown = made.run("runs", "show", found["run"])
        assert "accept lengths forced through SGLANG_SIMULATE_ACC_LEN" in shown.out
        assert "SIMULATED" in shown.out
        refused = made.run("advise", found["run"])
        assert "its accept lengths were made up" in refused.err
    finally:
        take_down(made.lab)
