from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specctl.domain.probe import Void, VoidKind
from specctl.domain.trial.looks import Word
from specctl.domain.trial.rows import trial_words
from specctl.domain.trial.running import Next, TrialBlock, answer_of, final_word, is_kept, stand
from specctl.domain.trial.summary import summarise
from specctl.domain.trial.trial_json import block_json, block_of, plan_json, plan_of
from tests.unit.domain.requests import request
from tests.unit.domain.trial.runs import (
    RESTARTS,
    result,
    trial_block,
    trial_blocks,
    trial_plan,
    voided,
)

OUTSIDE = Void(VoidKind.OUTSIDE, "GPU 0 was used by another process: 20")
OWN = Void(VoidKind.ARM, "GPU 0 was slowed down: power cap")
WRONG = Void(VoidKind.NOT_ASKED, "the cache was warm: 9 of 10 prompt tokens")


def test_a_trial_goes_through_its_order_until_it_has_a_word():
    plan = trial_plan()
    blocks: list[TrialBlock] = []
    places = []
    while (following := stand(plan, blocks).next) is not None:
        places.append((following.place, following.side))
        blocks.append(trial_blocks(8, speedup=1.1)[following.place])
    assert places == list(enumerate("ABBABA"))
    assert final_word(plan, stand(plan, blocks)) is Word.FASTER


def test_half_a_pair_changes_nothing():
    plan, blocks = trial_plan(), trial_blocks(3, speedup=1.1)
    assert stand(plan, blocks[:5]).verdicts == stand(plan, blocks[:4]).verdicts


@pytest.mark.parametrize("reason", [OUTSIDE, WRONG])
def test_what_came_from_outside_is_measured_once_more(reason):
    plan = trial_plan()
    blocks = trial_blocks(3, speedup=1.1)
    spoilt = [*blocks[:2], voided(blocks[2], reason)]
    standing = stand(plan, spoilt)
    assert standing.next == Next(2, 1, "B")
    assert standing.lost == {reason.words: 1}
    again = [*spoilt, trial_block(plan, 2, attempt=1, speedup=1.1), *blocks[3:]]
    assert final_word(plan, stand(plan, again)) is Word.FASTER


def test_what_the_arm_does_itself_stays_in_the_trial():
    plan = trial_plan()
    block = voided(trial_block(plan, 1), OWN)
    assert is_kept(plan, block)
    assert not is_kept(plan, voided(block, OWN, OUTSIDE))
    assert stand(plan, [trial_block(plan, 0), block]).next == Next(2, 0, "B")


def test_two_failures_in_one_place_end_it_with_the_reason():
    plan = trial_plan()
    fails = [
        trial_block(plan, 1, attempt=n, failure="CUDA out of memory", own=True) for n in (0, 1)
    ]
    standing = stand(plan, [trial_block(plan, 0), *fails])
    assert standing.next is None
    assert standing.ended == "launch 2 (eagle3) failed twice: eagle3: CUDA out of memory"
    assert final_word(plan, standing) is Word.NOT_ENOUGH_EVIDENCE
    assert standing.lost == {"eagle3: CUDA out of memory": 2}


def test_a_host_that_is_not_quiet_ends_it():
    plan = trial_plan(2)
    blocks = [
        voided(trial_block(plan, 0), OUTSIDE), trial_block(plan, 0, attempt=1),
        voided(trial_block(plan, 1), OUTSIDE),
    ]  # fmt: skip
    assert "not quiet enough: 1 launches had to be measured again" in stand(plan, blocks).ended


def test_every_concurrency_has_to_be_measured():
    plan = trial_plan(concurrencies=(1, 8))
    block = trial_block(plan, 0)
    assert is_kept(plan, block)
    (first, _) = block.results
    from dataclasses import replace

    assert not is_kept(plan, replace(block, results=(first,)))


def test_secondary_concurrencies_have_a_smaller_error():
    plan = trial_plan(concurrencies=(1, 4, 8))
    verdicts = stand(plan, trial_blocks(3, speedup=1.02, plan=plan)).verdicts
    looks = [verdicts[level].clean.look for level in (1, 4, 8)]
    assert looks[0] is not None
    assert looks[1] is not None
    assert looks[1].level == pytest.approx(looks[0].level / 2, rel=0.02)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (1.0, 49, None)),
        ({"server_ttft_s": 0.2}, (1.0, 49, 0.2)),
        ({"server_ttft_s": 2.0}, (1.0, 49, None)),
        ({"server_latency_s": None, "client_latency_s": 3.0}, (3.0, 49, None)),
    ],
)
def test_times_are_the_servers_own_where_it_gives_them(changes, expected):
    answer = answer_of(request(**changes))
    assert answer is not None
    assert (answer.total_s, answer.tokens, answer.first_s) == expected


@pytest.mark.parametrize(
    "changes", [{"error": "refused"}, {"completion_tokens": 1}, {"completion_tokens": None}]
)
def test_what_gave_no_tokens_is_no_answer(changes):
    assert answer_of(request(**changes)) is None


def test_the_same_verdict_comes_from_the_written_samples():
    plan, blocks = trial_plan(), trial_blocks(4, speedup=1.04)
    written = json.loads(json.dumps([plan_json(plan), *(block_json(block) for block in blocks)]))
    read_plan, read_blocks = plan_of(written[0]), [block_of(value) for value in written[1:]]
    assert read_plan == plan
    assert "budget_until_s" not in written[0]
    limited = replace(plan, budget_until_s=700.0)
    assert plan_of(json.loads(json.dumps(plan_json(limited)))) == limited
    assert summarise(read_plan, read_blocks) == summarise(plan, blocks)


@pytest.mark.parametrize(
    "change", [{"place": "one"}, {"side": "C"}, {"results": [{}]}, {"more": 1}]
)
def test_a_block_that_is_none_is_refused_with_its_path(change):
    value = block_json(trial_block(trial_plan(), 0)) | change
    with pytest.raises(ValueError, match=next(iter(change))):
        block_of(value)


def at_levels(plan, pairs, speedups):
    """Launches whose profile is faster by another factor at each concurrency."""
    blocks = []
    for place in range(2 * pairs):
        one = trial_block(plan, place)
        results = tuple(
            result(one.side, RESTARTS[place], speedup=speedup, concurrency=level)
            for level, speedup in zip(plan.concurrencies, speedups, strict=True)
        )
        blocks.append(replace(one, results=results))
    return blocks


def test_a_concurrency_that_is_told_apart_leaves_its_error_to_the_next():
    plan = trial_plan(concurrencies=(1, 4, 8))
    alone = trial_plan(concurrencies=(1, 8))
    narrow = 1.04  # by 4 % of error it is faster, by 2 % it is not yet
    words = [
        stand(plan, at_levels(plan, 3, (1.3, other, narrow))).verdicts[8].word
        for other in (1.3, 1.03)
    ]
    assert words == [Word.FASTER, None]
    both = stand(alone, at_levels(alone, 3, (1.3, narrow))).verdicts
    assert both[8].word is Word.FASTER
    assert list(stand(plan, at_levels(plan, 3, (1.3, 1.3, 1.3))).verdicts) == [1, 4, 8]


def test_the_families_of_concurrencies_are_said():
    plan = trial_plan(concurrencies=(1, 4, 8))
    lines = trial_words(summarise(plan, at_levels(plan, 3, (1.3, 1.3, 1.0))))
    assert any("4, 8 are a family of their own" in line for line in lines)
    single = trial_plan()
    lines = trial_words(summarise(single, trial_blocks(3, speedup=1.3)))
    assert not any("family" in line for line in lines)
