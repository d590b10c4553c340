"""Where two arms part first."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.kept_output import TOKENS_MOST, pack_output
from specctl.domain.trial.parting import BEYOND, NOT_KEPT, first_parting
from specctl.domain.trial.rows import trial_words
from specctl.domain.trial.summary import summarise
from specctl.domain.trial.trial_json import block_json, block_of
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
    assert found.unknown == NOT_KEPT
    assert found.words.endswith(NOT_KEPT)


def test_a_launch_that_is_not_used_is_not_compared():
    plan = trial_plan()
    lost = replace(_changed(trial_block(plan, 1), 0), failure="crashed")
    assert first_parting(plan, (trial_block(plan, 0), lost)) is None


def test_sampled_answers_are_not_compared():
    plan = trial_plan(temperature=0.7)
    blocks = trial_blocks(1, plan=plan)
    assert first_parting(plan, (blocks[0], _changed(blocks[1], 0))) is None


def _saying(block, said):
    """The block with its answers: prompt to (token ids, text); another text has another hash."""
    result = block.results[0]
    requests = tuple(
        replace(r, output=pack_output(*said[r.index]), text_sha256=str(said[r.index]))
        if r.index in said
        else r
        for r in result.requests
    )
    return replace(block, results=(replace(result, requests=requests),))


def _pair(one, two):
    plan = trial_plan()
    first, second = trial_blocks(1, plan=plan)
    return plan, (_saying(first, {2: one}), _saying(second, {2: two}))


def test_the_token_and_the_text_where_they_part_are_shown():
    plan, blocks = _pair(((5, 6, 7), "one two three"), ((5, 6, 9), "one two\nfour"))
    found = first_parting(plan, blocks)
    assert found is not None
    assert (found.prompt, found.token, found.token_ids) == (3, 3, (7, 9))
    assert (found.character, found.texts) == (8, ("one two three", "one two⏎four"))
    assert "at token 3: id 7 and id 9, at character 8: “one two three” and" in found.words


def test_an_answer_that_ends_first_parts_at_its_end():
    plan, blocks = _pair(((5, 6), "one two"), ((5, 6, 9), "one two four"))
    found = first_parting(plan, blocks)
    assert found is not None
    assert (found.token, found.token_ids) == (3, (None, 9))
    assert "at token 3: the end and id 9, at character 8: the end and “one two four”" in found.words


def test_text_alone_tells_the_character():
    plan, blocks = _pair((None, "abc\x1b[2J"), (None, "abd"))
    found = first_parting(plan, blocks)
    assert found is not None
    assert (found.token, found.character, found.texts) == (None, 3, ("abc", "abd"))


def test_what_parts_beyond_what_is_kept_says_so():
    long = tuple(range(TOKENS_MOST))
    plan, blocks = _pair((long, None), ((*long, 1), None))
    found = first_parting(plan, blocks)
    assert found is not None
    assert found.unknown == BEYOND


def test_the_ledger_keeps_it_and_rows_without_it_stay_readable():
    plan, blocks = _pair(((5, 6, 7), "x y"), ((5, 8), "x z"))
    kept = [block_json(block) for block in blocks]
    assert first_parting(plan, [block_of(one) for one in kept]) == first_parting(plan, blocks)
    for request in (r for one in kept for r in one["results"][0]["requests"]):
        del request["output"]
    found = first_parting(plan, [block_of(one) for one in kept])
    assert found is not None
    assert found.unknown == NOT_KEPT


def test_tokens_before_the_parting_are_compared_and_a_trial_says_where_it_is():
    plan, blocks = _pair(((5, 6, 7), "x y"), ((5, 6, 8), "x z"))
    summary = summarise(plan, blocks)
    same = summarise(plan, trial_blocks(1, plan=plan)).concurrencies[0].outputs
    one = summary.concurrencies[0]
    whole = blocks[0].results[0].requests[2].completion_tokens
    assert one.outputs is not None
    assert same is not None
    assert one.outputs.tokens == same.tokens - whole + 2
    assert one.parting is not None
    assert one.parting.words in trial_words(summary)
