"""Looks in order, what is to come, and how long the rest takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.trial.narrowing import expect_interval, find_looks, find_pace
from specctl.domain.trial.running import Next, stand
from tests.unit.domain.trial.runs import trial_block, trial_blocks, trial_plan


def test_each_look_is_what_the_trial_said_at_that_time():
    plan = trial_plan(8)
    blocks = trial_blocks(5, speedup=1.02, plan=plan)

    looks = find_looks(plan, blocks)

    assert [look.launches for look in looks] == [2, 3, 4, 5]
    for look in looks:
        then = stand(plan, blocks[: 2 * look.launches]).verdicts[1].clean.look
        assert then is not None
        assert (look.ratio, look.low, look.high) == (then.fit.ratio, then.low, then.high)
    assert looks[-1].high - looks[-1].low < looks[0].high - looks[0].low


def test_a_launch_that_is_missing_ends_the_looks():
    plan = trial_plan(8)
    blocks = [b for b in trial_blocks(4, plan=plan) if b.place != 4]

    assert [look.launches for look in find_looks(plan, blocks)] == [2]


def test_no_launch_no_look_and_no_time():
    plan = trial_plan(8)
    pace = find_pace(plan, [], stand(plan, []).next)

    assert find_looks(plan, []) == ()
    assert (pace.by_side, pace.to_look_s, pace.to_end_s) == ({}, None, None)
    assert pace.next_look == 2


def test_time_left_goes_by_each_arms_own_launches():
    plan = trial_plan(4)
    a, b = trial_block(plan, 0), trial_block(plan, 1)
    b = replace(b, ended_s=b.began_s + 100.0)

    pace = find_pace(plan, [a, b], Next(2, 0, "B"))

    assert pace.by_side == {"A": 300.0, "B": 100.0}
    assert pace.to_look_s == 400.0
    assert pace.to_end_s == 3 * 400.0


def test_an_arm_that_was_not_launched_yet_is_taken_to_be_like_the_other():
    plan = trial_plan(4)

    pace = find_pace(plan, [trial_block(plan, 0)], Next(1, 0, "B"))

    assert pace.to_look_s == 3 * 300.0


def test_failed_launches_say_nothing_of_the_pace():
    plan = trial_plan(4)
    failed = trial_block(plan, 0, failure="out of memory")

    assert find_pace(plan, [failed], Next(0, 1, "A")).by_side == {}


@pytest.mark.parametrize("launches", [3, 8])
def test_what_is_to_come_is_as_wide_as_the_design_says(launches):
    plan = trial_plan(8)

    found = expect_interval(plan, 0.9, 0.02, launches)

    assert found is not None
    low, high = found
    assert low < 0.9 < high
    assert low * high == pytest.approx(0.81)
    assert expect_interval(plan, 0.9, 0.02, 9) is None


def test_an_ended_trial_has_no_time_left():
    plan = trial_plan(8)

    assert find_pace(plan, trial_blocks(3, plan=plan), None).to_end_s is None
