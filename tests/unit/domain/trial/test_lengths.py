"""Answers that are not as long, or end otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.trial.lengths import compare_lengths
from specctl.domain.trial.rows import trial_words
from specctl.domain.trial.summary import summarise
from tests.unit.domain.trial.runs import PROMPTS, result, trial_blocks, trial_plan


def shorter(found, share, finish="stop"):
    """Every answer of a launch cut to a share of its tokens, at the same pace."""
    requests = tuple(
        replace(
            one,
            completion_tokens=round(one.completion_tokens * share),
            server_latency_s=one.server_latency_s * share,
            finish=finish,
        )
        for one in found.requests
    )
    return replace(found, requests=requests)


def test_equal_answers_are_not_mentioned():
    found = compare_lengths([result("A")], [result("B", speedup=1.5)])
    assert found is not None
    assert found.ratio == 1.0
    assert found.task_ratio == pytest.approx(1.5, rel=0.02)
    assert found.words("base", "eagle3") == ()


def test_shorter_answers_are_told_with_the_time_of_whole_ones():
    found = compare_lengths([result("A")], [shorter(result("B"), 0.8)])
    assert found is not None
    assert found.ratio == pytest.approx(0.8, abs=0.005)
    assert found.task_ratio == pytest.approx(1.25, abs=0.01)
    lengths, ends = found.words("base", "eagle3")
    assert lengths == (
        "lengths: answers of eagle3 hold -20% tokens; per whole answer it is 1.25x as fast "
        "(beyond 10 %: other answers, not only other speed)"
    )
    assert ends == f"answers end otherwise: base {PROMPTS} by length; eagle3 {PROMPTS} by stop"
    slightly = compare_lengths([result("A")], [shorter(result("B"), 0.95, "length")])
    assert slightly is not None
    (words,) = slightly.words("base", "eagle3")
    assert words.endswith("per whole answer it is 1.05x as fast")


def test_only_prompts_that_all_launches_answered_count():
    found = compare_lengths([result("A")], [result("B", failed=(0, 1)), result("B", failed=(2,))])
    assert found is not None
    assert (found.ratio, found.ends[0][0][1], found.ends[1][0][1]) == (1.0, 9, 18)
    assert compare_lengths([], [result("B")]) is None
    assert compare_lengths([result("A")], [result("B", failed=range(PROMPTS))]) is None


def test_a_trial_says_it():
    blocks = [
        replace(one, results=tuple(shorter(r, 0.8) for r in one.results))
        if one.side == "B"
        else one
        for one in trial_blocks(3)
    ]
    summary = summarise(trial_plan(), blocks)
    assert any(
        words.startswith("lengths: answers of eagle3 hold -20%") for words in trial_words(summary)
    )
    lengths = summary.concurrencies[0].lengths
    assert lengths is not None
    assert lengths.ratio == pytest.approx(0.8, abs=0.005)
