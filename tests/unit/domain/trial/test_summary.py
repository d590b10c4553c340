from __future__ import annotations

from dataclasses import replace
from math import log
from random import Random

import pytest

from specctl.domain.probe import Void, VoidKind
from specctl.domain.trial.rows import ALIKE, category_rows, trial_rows, trial_words
from specctl.domain.trial.summary import summarise
from specctl.domain.trial.words import NO_LAUNCH
from tests.unit.domain.trial.runs import trial_block, trial_blocks, trial_plan, voided


def test_a_break_even_comes_with_its_interval():
    summary = summarise(trial_plan(), trial_blocks(3, speedup=1.25))
    (one,) = summary.concurrencies
    found = one.break_even
    assert found is not None
    assert found.break_even == pytest.approx(2 / 1.25, rel=0.01)
    assert found.low is not None
    assert found.low < found.break_even < (found.high or 0)
    assert found.accept_length == 2.0
    assert found.pays is True
    assert "a step costs 1.60 plain ones" in " / ".join(trial_words(summary))
    assert one.low is not None
    assert one.high is not None
    assert found.low is not None
    assert found.high is not None
    level = trial_plan().design.level(3)
    assert level is not None
    assert level < 0.05
    assert log(found.high / found.low) == pytest.approx(log(one.high / one.low), rel=0.2), (
        "as wide as the interval of the ratio, which is a repeated one"
    )


def test_whether_it_pays_is_open_where_the_interval_holds_the_accept_length():
    words = " / ".join(trial_words(summarise(trial_plan(), trial_blocks(3))))
    assert "so whether it pays is open" in words
    slower = " / ".join(trial_words(summarise(trial_plan(), trial_blocks(3, speedup=0.8))))
    assert "so it does not pay" in slower
    (single,) = summarise(trial_plan(1), trial_blocks(1, speedup=2.0)).concurrencies
    assert single.break_even is not None
    assert single.break_even.pays is None, "one launch each is a number"


def test_void_windows_count_for_no_figure():
    """A loop that fills the output makes an arm look good."""
    loop = Void(VoidKind.ARM, "a loop of 4 characters fills 98% of the output")
    plan = trial_plan()
    clean = trial_blocks(3, speedup=1.25)
    broken = trial_blocks(3, speedup=2.5)
    mixed = [*clean[:4], *(voided(one, loop) for one in broken[4:])]
    (one,), (bare,) = (summarise(plan, blocks).concurrencies for blocks in (mixed, clean[:4]))
    assert one.arms[1].tokens_per_s == bare.arms[1].tokens_per_s
    assert (one.arms[1].step_s, one.break_even) == (bare.arms[1].step_s, bare.break_even)
    (all_void,) = summarise(plan, [voided(one, loop) for one in broken]).concurrencies
    assert (all_void.arms[1].accept_length.mean, all_void.break_even) == (None, None)


def test_more_tokens_than_steps_allow_name_the_counters():
    blocks = [replace(block, draft_steps=0) for block in trial_blocks(2)]
    words = " / ".join(trial_words(summarise(trial_plan(), blocks)))
    assert "accept length 2.00 exceeds 0 steps + 1: suspect the counters" in words


def test_outputs_that_are_unsteady_in_both_arms_alike_belong_to_neither():
    """Each launch answers each prompt in one of two ways, whichever arm it is of."""
    plan, chance = trial_plan(), Random(7)
    alarms = 0
    for _ in range(200):
        blocks = [
            replace(block, results=tuple(_unsteady(result, chance) for result in block.results))
            for block in BLOCKS
        ]
        p = summarise(plan, blocks).concurrencies[0].excess_p
        assert p is not None
        alarms += p < ALIKE
    assert alarms <= 20, "5 % and what chance adds"


BLOCKS = trial_blocks(3)


def _unsteady(result, chance):
    requests = tuple(
        replace(one, text_sha256=("a" if chance.random() < 0.8 else "b") * 64)
        for one in result.requests
    )
    return replace(result, requests=requests)


def test_outputs_are_compared_between_the_arms_and_within_one():
    same = summarise(trial_plan(), trial_blocks(2)).concurrencies[0]
    assert same.outputs is not None
    assert (same.outputs.identical, same.outputs.prompts) == (12, 12)
    assert same.outputs_within is not None
    assert same.excess_p == 1.0
    plan = trial_plan()
    other = [trial_block(plan, n, texts=plan.order[n]) for n in range(4)]
    found = summarise(plan, other).concurrencies[0]
    assert found.outputs is not None
    assert found.outputs.identical == 0
    assert found.excess_p == pytest.approx(0.5**12)
    words = " / ".join(trial_words(summarise(plan, other)))
    assert "outputs differ more between the arms than within one" in words


def test_sampled_outputs_are_not_compared():
    plan = trial_plan(temperature=0.7)
    (one,) = summarise(plan, trial_blocks(2)).concurrencies
    assert (one.outputs, one.excess_p) == (None, None)
    assert "greedy only" not in trial_words(summarise(plan, trial_blocks(2)))[-1]


def test_the_memory_bill_is_said():
    words = " / ".join(trial_words(summarise(trial_plan(), trial_blocks(2))))
    assert "eagle3 holds -10% KV tokens against base" in words
    assert "eagle3 runs at most 48 requests at once, base 256" in words


def test_rows_of_two_concurrencies():
    plan = trial_plan(concurrencies=(1, 8))
    summary = summarise(plan, trial_blocks(3, speedup=1.25, plan=plan))
    rows = trial_rows(summary)
    assert [row[0] for row in rows] == ["1", "", "8", ""]
    assert rows[1][1:5] == ("eagle3", "3", rows[1][3], "2.00")
    assert rows[1][8].startswith("1.2")
    assert " to " in rows[1][9]
    categories = category_rows(summary.concurrencies[0])
    assert [row[0] for row in categories] == ["code", "chat"]
    assert trial_words(summary)[-1].startswith("eagle3 against base at concurrency 1: 1.2")


def test_a_trial_of_one_launch_each_is_a_number():
    summary = summarise(trial_plan(1), trial_blocks(1, speedup=1.3))
    (one,) = summary.concurrencies
    assert one.ratio == pytest.approx(1.3, abs=0.02)
    assert (one.word, one.low, one.break_even and one.break_even.low) == (None, None, None)
    assert "one launch each" in one.sentence


def test_a_trial_says_of_which_arm_no_launch_could_be_used():
    blocks = [block for block in trial_blocks(3, speedup=1.3) if block.side == "A"]
    (one,) = summarise(trial_plan(), blocks).concurrencies
    assert one.sentence == "no launch of the profile could be used: nothing to compare"


def test_an_empty_trial_has_nothing_to_say():
    summary = summarise(trial_plan(), [])
    (one,) = summary.concurrencies
    assert (one.ratio, one.break_even, one.outputs) == (None, None, None)
    assert one.sentence == NO_LAUNCH
    assert all("—" in row for row in trial_rows(summary))


def test_a_speedup_beyond_the_accept_length_names_the_suspect():
    words = " / ".join(trial_words(summarise(trial_plan(), trial_blocks(2, speedup=2.5))))
    assert "suspect the baseline" in words


def test_energy_per_token_of_both_arms_is_compared():
    blocks = [
        replace(block, results=tuple(
            replace(result, energy_j=900.0, energy_per_token_j=3.0 if block.side == "A" else 2.0)
            for result in block.results
        ))
        for block in trial_blocks(2)
    ]  # fmt: skip
    summary = summarise(trial_plan(), blocks)
    energy = summary.concurrencies[0].energy
    assert energy is not None
    assert energy.ratio == pytest.approx(2 / 3)
    words = " / ".join(trial_words(summary))
    assert "energy per output token: eagle3 2 J, base 3 J, 0.67x" in words
    bare = " / ".join(trial_words(summarise(trial_plan(), trial_blocks(2))))
    assert "energy per token: not known" in bare
