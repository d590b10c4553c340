from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.measured_on import measured_words, measuring_keys, with_measuring
from specctl.domain.plan import Plan, Step
from specctl.domain.preflight import LockHolder

STEP = (Step("stop 7c1e", "stop 7c1e", is_destructive=True),)
PLAN = Plan("a1b2c3d4", "gpu8", "stop", "eagle3", STEP, (), ports=(30000,), gpus=(0, 1))
WHO = "aw@laptop"


def holder(key, since_s=100.0):
    return LockHolder(f"measuring-{key}", WHO, "specctl compare, trial 5c0ffee2", since_s, 7)


def test_the_locks_of_a_measurement_lie_beside_those_of_a_plan():
    assert measuring_keys(PLAN) == ("measuring-gpu-0", "measuring-gpu-1", "measuring-port-30000")


def test_it_says_who_measures_and_since_when_and_takes_the_host_typed():
    found = with_measuring(PLAN, [holder("gpu-0"), holder("gpu-1")], 820.0)
    words = (
        "gpu-0, gpu-1 measured on by aw@laptop (specctl compare, trial 5c0ffee2, pid 7), for 12 min"
    )
    assert [check.words for check in found.warnings] == [words]
    assert (found.needs_typed, found.default_is_safe, found.is_refused) == ("gpu8", False, False)
    assert found.why_typed == f"A measurement goes on there: {words}. It would be spoiled."


def test_a_pid_that_has_to_be_typed_anyway_stays_what_is_typed():
    asked = replace(PLAN, needs_typed="4242", why_typed="Not ours.")
    found = with_measuring(asked, [holder("gpu-0")], None)
    assert found.needs_typed == "4242"
    assert found.why_typed.startswith("Not ours. A measurement goes on there: gpu-0 measured on by")


@pytest.mark.parametrize("holders", [[], [LockHolder("gpu-0", WHO)]])
def test_other_locks_say_nothing_of_a_measurement(holders):
    assert with_measuring(PLAN, holders, 820.0) is PLAN


def test_a_clock_that_went_back_gives_no_age():
    assert measured_words([holder("gpu-0", 900.0)], 820.0).endswith("pid 7)")
