from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.comparison import Arm, Comparison
from specctl.domain.errors import UsageError
from specctl.domain.probe import VoidKind
from specctl.domain.profile import Profile, Speculation
from specctl.domain.simulated_acceptance import (
    EXPECTED,
    NOT_THE_MODELS,
    UNCOUNTED,
    ForcedRow,
    find_crossing,
    find_variable,
    forced_on,
    forced_profiles,
    forced_words,
    report_forced,
)
from specctl.domain.validity import find_degenerate, find_unwired_draft
from tests.unit.domain.requests import request, speculated
from tests.unit.domain.trial.runs import result

EAGLE = Profile("eagle", "m", speculation=Speculation("EAGLE3", {"num-steps": 3}))
LENGTHS = (1.0, 2.0, 3.0)


def arm(name, measured):
    return Arm(name, measured.algorithm, result=measured)


def swept(*results):
    arms = (arm("base", result("A")), *(arm(f"eagle~{n}", one) for n, one in enumerate(results)))
    return Comparison("gpu8", "mixed", 1, arms)


def test_the_source_says_through_which_variable():
    newer = {"srt/environ.py": "    SGLANG_SIMULATE_ACC_LEN = EnvFloat(-1)"}
    within = {"spec_utils.py": "SIMULATE_ACC_LEN = envs.SGLANG_SIMULATE_ACC_LEN.get()"}
    older = {"spec_utils.py": 'SIMULATE_ACC_LEN = os.environ.get("SIMULATE_ACC_LEN")'}
    assert find_variable(newer) == find_variable(within) == "SGLANG_SIMULATE_ACC_LEN"
    assert find_variable(older) == "SIMULATE_ACC_LEN"
    assert find_variable({"spec_utils.py": "MY_SIMULATE_ACC_LENGTH = 1"}) is None
    assert find_variable({}) is None


def test_an_environment_that_forces_nothing():
    assert forced_on({"SIMULATE_ACC_LEN": "2.5"}) == "SIMULATE_ACC_LEN"
    for value in ("-1", "0", "three"):
        assert forced_on({"SGLANG_SIMULATE_ACC_LEN": value}) is None


def test_a_profile_is_launched_at_each_length_by_its_environment_alone():
    profiles = forced_profiles(EAGLE, (3, 1.5), "SGLANG_SIMULATE_ACC_LEN")
    assert [one.name for one in profiles] == ["eagle~1.5", "eagle~3"]
    assert profiles[0].environment == {"SGLANG_SIMULATE_ACC_LEN": "1.5"}
    assert profiles[0].speculation == EAGLE.speculation


def test_what_no_step_can_bring_is_refused():
    with pytest.raises(UsageError, match=r"5 is more than eagle can reach: 4"):
        forced_profiles(EAGLE, (5.0,), "X")
    ngram = replace(EAGLE, speculation=Speculation("NGRAM", {"num-draft-tokens": 8}))
    assert len(forced_profiles(ngram, (8.0,), "X")) == 1
    with pytest.raises(UsageError, match="does not speculate"):
        forced_profiles(Profile("base", "m"), (1.0,), "X")


def test_a_launch_is_a_speedup_and_what_a_step_has_to_bring():
    found = report_forced(
        swept(result("B", speedup=1.25)), "eagle", (2.0,), variable="SGLANG_SIMULATE_ACC_LEN"
    )
    (row,) = found.rows
    assert (row.asked, row.accept_length) == (2.0, 2.0)
    assert row.break_even == pytest.approx(1.6)
    assert found.break_even == row.break_even
    assert row.speedup == pytest.approx(1.25, abs=0.02)
    assert found.crossing is None
    assert found.notes[0] == NOT_THE_MODELS
    assert "less than 1.60 would not" in found.notes[1]


def test_loops_and_nothing_accepted_are_the_design_and_other_reasons_are_not():
    looping = [request(index=n, text="again " * 200, completion_tokens=200) for n in range(4)]
    unwired = [speculated((40, 0), index=n) for n in range(4)]
    words = (
        find_degenerate(looping),
        find_unwired_draft(unwired, "EAGLE3"),
        forced_words("SIMULATE_ACC_LEN"),
    )
    for reason, begins in zip(words, EXPECTED, strict=True):
        assert reason is not None
        assert reason.startswith(begins)
        made_up = replace(result("B"), void=(reason,), void_kinds=(VoidKind.ARM,))
        (row,) = report_forced(swept(made_up), "eagle", (2.0,), variable="X").rows
        assert row.speedup is not None
    other = replace(result("B"), void=("GPU 0 was slowed down: heat",), void_kinds=(VoidKind.ARM,))
    (row,) = report_forced(swept(other), "eagle", (2.0,), variable="X").rows
    assert (row.speedup, row.unknown) == (None, "eagle~0: GPU 0 was slowed down: heat")


def test_a_build_that_does_not_heed_it_is_told():
    (row,) = report_forced(swept(result("B")), "eagle", (3.0,), variable="X").rows
    assert row.speedup is None
    assert "accepted 2.00 a step: it does not heed" in row.unknown


def test_a_launch_whose_accept_length_is_not_known_gives_no_speedup():
    uncounted = replace(result("B"), accept_length=None)
    found = report_forced(swept(uncounted), "eagle", (2.0,), variable="X")
    (row,) = found.rows
    assert (row.speedup, row.unknown) == (None, f"eagle~0: {UNCOUNTED}")
    assert found.break_even is None


def test_a_baseline_that_failed_leaves_nothing():
    arms = (Arm("base", failure="out of memory"), arm("eagle~2", result("B")))
    found = report_forced(Comparison("gpu8", "mixed", 1, arms), "eagle", (2.0,), variable="X")
    assert found.rows[0].unknown == "base: out of memory"
    assert (found.break_even, found.base_s) == (None, None)
    assert "no launch gave a speedup" in found.notes


def row(length, speedup):
    return ForcedRow(length, length, 0.02, 1.7, speedup)


def test_where_it_pays_lies_between_the_launches_around_it():
    rows = [row(3.0, 1.5), row(1.0, 0.6), row(2.0, 1.1)]
    assert find_crossing(rows) == pytest.approx(1.8)
    assert find_crossing(rows[:1]) is None
    assert find_crossing([row(1.0, 0.5), row(2.0, 0.9)]) is None
    assert find_crossing([replace(row(1.0, None), accept_length=None), row(2.0, 1.2)]) is None
