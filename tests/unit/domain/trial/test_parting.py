"""Where two arms part first."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.trial.parting import first_parting
from tests.unit.domain.trial.runs import trial_block, trial_blocks, trial_plan


def _changed(block, index):
    result = block.results[0]
    requests = tuple(
        replace(r, text_sha256="f" * 64, finish="stop") if r.index == index else r
        for r in result.requests
    )
    return replace(block, results=(replace(result, requests=requests),))


def test_arms_that_say_the_same_never_part():
    plan = trial_plan()
    assert first_parting(plan, tuple(trial_blocks(2, plan=plan))) is None


def test_the_first_prompt_goes_before_the_first_launch():
    plan = trial_plan()
    blocks = trial_blocks(2, plan=plan)
    blocks[1] = _changed(blocks[1], 7)
    blocks[2] = _changed(blocks[2], 4)
    found = first_parting(plan, tuple(blocks))
    assert found is not None
    assert (found.prompt, found.launches) == (5, (1, 3))
    assert found.words.startswith("first apart: prompt 5 (code) in launches 1 and 3, ")
    assert "stop" in found.words
    assert "only hashes are" in found.words


def test_a_launch_that_is_not_used_is_not_compared():
    plan = trial_plan()
    lost = replace(_changed(trial_block(plan, 1), 0), failure="crashed")
    assert first_parting(plan, (trial_block(plan, 0), lost)) is None


def test_sampled_answers_are_not_compared():
    plan = trial_plan(temperature=0.7)
    blocks = trial_blocks(1, plan=plan)
    assert first_parting(plan, (blocks[0], _changed(blocks[1], 0))) is None
