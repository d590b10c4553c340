from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from specctl.domain.probe import Void, VoidKind
from specctl.domain.trial.screening import choose, look_at, rotated, spread_between
from specctl.domain.trial.screening_json import (
    KeptScreening,
    screening_block_json,
    screening_block_of,
    screening_json,
    screening_of,
)
from specctl.domain.trial.screening_running import NextLaunch, stand_screening
from specctl.domain.trial.screening_words import outcome_words, ranking_rows, screening_words
from tests.unit.domain.trial.screenings import screened, screening_block, screening_plan


def by_name(standing):
    return {one.profile: one for one in standing.ranking}


def coming(plan, blocks):
    following = stand_screening(plan, blocks).next
    assert following is not None
    return following


def voided(block, kind):
    void = Void(kind, "something")
    return replace(block, result=replace(block.result, void=(void.words,), void_kinds=(kind,)))


def test_each_round_begins_a_third_further_on():
    assert [rotated("abcdef", n) for n in range(3)] == [
        tuple("abcdef"), tuple("cdefab"), tuple("efabcd"),
    ]  # fmt: skip
    assert rotated("ab", 2) == ("a", "b")


def test_one_launch_each_says_nothing_of_the_spread_so_the_usual_one_is_taken():
    assert spread_between([[1.0], [2.0]]) == pytest.approx(0.015)
    assert spread_between([[1.0, 1.02], [2.0, 2.0]]) == pytest.approx(
        sqrt((3 * 0.015**2 + 2 * 0.01**2) / 5)
    )


def test_an_arm_leaves_beyond_four_standard_errors_of_a_difference():
    edge = 4 * 0.015 * sqrt(2)
    look = look_at({"a": [0.0], "b": [-edge + 1e-6], "c": [-edge - 1e-6]}, ("a", "b", "c"))
    assert look.kept == ("a", "b")
    assert look.behind["c"] == pytest.approx(edge, abs=1e-5)


def test_ties_go_to_fewer_steps_and_clear_differences_do_not():
    look = look_at({"long": [0.0], "short": [-0.02], "far": [-0.03]}, ("long", "short", "far"))
    steps = {"long": 5, "short": 2, "far": 1}
    assert choose(look, look.kept, steps) == "short"
    assert choose(look, look.kept, {"long": 5}) == "long"


def test_a_screening_drops_who_lags_and_takes_the_fewest_steps_of_what_is_alike():
    plan, blocks = screened()
    standing = stand_screening(plan, blocks)
    ranked = by_name(standing)
    assert standing.next is None
    assert standing.rounds == 3
    assert ranked["weak"].left_after == 1
    assert ranked["weak"].launches == 1
    assert ranked["one"].left_after in {2, 3}
    assert set(standing.candidates) == {"two", "three"}
    assert standing.survivor == "two"
    assert ranked["two"].ratio > 1.15
    assert ranked["base"].ratio == pytest.approx(1.0)
    assert ranked["weak"].behind == pytest.approx(0.4, abs=0.06)


def test_the_first_round_launches_everyone_and_later_ones_who_is_left():
    _, blocks = screened()
    assert [b.arm for b in blocks[:5]] == ["base", "one", "two", "three", "weak"]
    assert "weak" not in {b.arm for b in blocks[5:]}
    assert [b.round for b in blocks] == sorted(b.round for b in blocks)


def test_the_same_launches_say_the_same_again_from_their_json():
    plan, blocks = screened()
    kept = screening_of(screening_json(KeptScreening(plan, "5c0ffee2")))
    again = [screening_block_of(screening_block_json(block)) for block in blocks]
    assert kept == KeptScreening(plan, "5c0ffee2")
    assert stand_screening(kept.plan, again) == stand_screening(plan, blocks)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"candidates": []}, "candidates: must be at least one"),
        ({"candidates": ["base"]}, "candidates: must be at least one, each once"),
        ({"concurrencies": [0]}, "concurrencies"),
        ({"rounds": 9}, "rounds: must lie"),
        ({"design": {"margin": 7}}, "design.margin"),
    ],
)
def test_a_document_that_is_no_screening_is_refused(change, words):
    document = screening_json(KeptScreening(screening_plan()))
    plan = document["plan"]
    for key, value in change.items():
        plan[key] = {**plan[key], **value} if isinstance(value, dict) else value
    with pytest.raises(ValueError, match=words):
        screening_of(document)


def test_a_candidate_that_crashes_leaves_at_once_and_a_baseline_after_its_second_time():
    plan, blocks = screened(failing=("two",))
    standing = stand_screening(plan, blocks)
    assert by_name(standing)["two"].left_why == "out of memory"
    assert sum(b.arm == "two" for b in blocks) == 1
    assert standing.survivor in {"one", "three"}
    plan, blocks = screened(failing=("base",))
    standing = stand_screening(plan, blocks)
    assert len(blocks) == 2
    assert "the baseline gave nothing" in standing.ended
    assert standing.survivor is None
    plan, blocks = screened(failing=("one", "two", "three", "weak"))
    assert "no candidate is left" in stand_screening(plan, blocks).ended


def test_what_came_from_outside_is_measured_again_once():
    plan, blocks = screened(most=2)
    blocks[1] = voided(blocks[1], VoidKind.OUTSIDE)
    following = coming(plan, blocks)
    assert (following.arm, following.attempt) == ("one", 1)
    blocks.append(replace(blocks[1], attempt=1))
    standing = stand_screening(plan, blocks)
    assert coming(plan, blocks).arm == "two"
    assert by_name(standing)["one"].left_why == "something"
    assert standing.lost == (("one: something", 2),)


def test_what_an_arm_does_to_itself_counts():
    plan, blocks = screened(most=2)
    blocks[1] = voided(blocks[1], VoidKind.ARM)
    assert coming(plan, blocks).arm == "two"


def test_an_arm_that_leaves_prompts_unanswered_does_not_take_them_from_the_others():
    plan, blocks = screened(most=5)
    launch = NextLaunch(0, 0, "one", begins_round=False)
    blocks[1] = screening_block(plan, launch, 1, failed=(3, 4))
    following = coming(plan, blocks)
    assert (following.arm, following.attempt) == ("one", 1)
    blocks.append(replace(blocks[1], attempt=1))
    standing = stand_screening(plan, blocks)
    assert by_name(standing)["one"].left_why == "answered 10 of 12 prompts"
    assert standing.rounds == 1


def test_when_the_baseline_beats_all_the_best_of_them_is_taken_after_one_round():
    slow = {"base": 1.0, "one": 0.6, "two": 0.8, "three": 0.5, "weak": 0.4}
    plan, blocks = screened(speedups=slow)
    standing = stand_screening(plan, blocks)
    assert len(blocks) == 5
    assert standing.candidates == ()
    assert standing.survivor == "two"
    assert outcome_words(standing) == "every candidate behind the baseline; the best: two"


def test_an_open_round_has_no_say():
    plan, blocks = screened(most=4)
    standing = stand_screening(plan, blocks)
    assert (standing.rounds, standing.survivor) == (0, None)
    assert outcome_words(standing) == "no complete round"
    assert coming(plan, blocks).begins_round is False


def test_a_ranking_says_that_it_is_no_verdict():
    plan, blocks = screened()
    standing = stand_screening(plan, blocks)
    rows = {row[1]: row for row in ranking_rows(standing, "two")}
    assert rows["two"][-1] == "tried against the baseline"
    assert rows["weak"][-1] == "left after round 1"
    assert rows["base"][3] == "baseline"
    assert rows["three"][-1] == "a candidate"
    lines = screening_words(plan, standing, "two")
    assert "left out one+num-steps=9: num-steps: at most 7" in lines
    assert "who left after a round was slower than the best by more than launches vary" in lines
    assert "two is taken because it makes the fewest steps of what is alike" in lines
    assert "no verdict" in lines[-1]
    assert not any("faster" in line.replace("times-faster", "") for line in lines)
