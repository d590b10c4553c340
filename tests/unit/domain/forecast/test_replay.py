from __future__ import annotations

import random

import pytest

from specctl.domain.forecast.advice import CostTable, explore, pay, suggest
from specctl.domain.forecast.replay import add_up, by_category, replay
from specctl.domain.forecast.transcripts import Transcript
from specctl.domain.ngram.matcher import Matcher
from specctl.domain.ngram.settings import NgramSettings

SETTINGS = NgramSettings()
NARROW = NgramSettings(num_draft_tokens=4, max_bfs_breadth=1)


def novel(count=8, length=120, seed=1):
    chance = random.Random(seed)
    return [
        Transcript((1, 2, 3), tuple(chance.randrange(1, 30_000) for _ in range(length)), "novel")
        for _ in range(count)
    ]


def repeating(count=4, length=120, period=24):
    return [
        Transcript((1, 2, 3), tuple(5 + (n % period) for n in range(length)), "repeating")
        for _ in range(count)
    ]


def reference(transcripts, settings, *, is_one_step_stale):
    """The loop of the estimator, one request after the other, written the plain way."""
    matcher, tokens, steps = Matcher(settings), 0, 0
    for number, one in enumerate(transcripts):
        done = 1
        while done < len(one.output):
            text = [*one.prompt, *one.output[:done]]
            tail = text[-settings.max_trie_depth :]
            tree = matcher.draft(str(number), tail, len(text))
            left = one.output[done:]
            advanced = min(tree.count_accepted(left) + 1, len(left))
            steps += 1
            tokens += advanced
            if not is_one_step_stale:
                text = [*one.prompt, *one.output[: done + advanced]]
            matcher.insert(text[-settings.max_trie_depth :])
            done += advanced
        matcher.forget(str(number))
    return tokens, steps


@pytest.mark.parametrize("is_one_step_stale", [True, False])
@pytest.mark.parametrize("settings", [SETTINGS, NARROW])
def test_it_is_the_estimators_loop(settings, is_one_step_stale):
    transcripts = [*novel(3), *repeating(3)]
    replayed = replay(transcripts, settings, is_one_step_stale=is_one_step_stale)
    found = add_up(replayed)
    expected = reference(transcripts, settings, is_one_step_stale=is_one_step_stale)
    assert (found.tokens, found.steps) == expected


def test_novel_text_gains_nothing_and_repetition_much():
    found = by_category(replay([*novel(), *repeating()], SETTINGS))
    assert list(found) == ["novel", "repeating"]
    assert found["novel"].accept_length == pytest.approx(1.0, abs=0.02)
    assert (found["repeating"].accept_length or 0) > 3


def test_a_prompt_is_not_looked_up():
    """Copying a long prompt is no repetition of outputs: a cold trie does not know it."""
    text = novel(1, 400, seed=3)[0].output
    cold = add_up(replay([Transcript(text, text)], SETTINGS))
    assert (cold.accept_length or 0) < 1.1
    again = add_up(replay([Transcript(text, text)], SETTINGS, warm_up=[Transcript(text, text)]))
    assert (again.accept_length or 0) > 10


def test_an_external_corpus_needs_a_budget():
    text = novel(1, 300, seed=4)[0].output
    transcripts = [Transcript((7,), text)]
    without = add_up(replay(transcripts, SETTINGS, corpora={"docs": [text]}))
    with_budget = NgramSettings(external_sam_budget=11)
    found = add_up(replay(transcripts, with_budget, corpora={"docs": [text]}))
    assert (without.accept_length or 0) < 1.1
    assert (found.accept_length or 0) > 10


def test_emitted_tokens_are_the_output_less_the_first():
    transcripts = [*novel(2, 37), *repeating(2, 91), Transcript((1,), (2,)), Transcript((1,), ())]
    replayed = replay(transcripts, SETTINGS, concurrency=3)
    assert [one.tokens for one in replayed] == [36, 36, 90, 90, 0, 0]
    for one in replayed:
        assert sum((k + 1) * count for k, count in enumerate(one.histogram)) == one.tokens
    assert [one.steps for one in replayed][-2:] == [0, 0]


def test_a_batch_learns_from_its_neighbours():
    same = repeating(4, 200, period=150)
    alone = add_up(replay(same[:1], SETTINGS)).accept_length or 0
    together = add_up(replay(same, SETTINGS, concurrency=1)).accept_length or 0
    assert together > 2 * alone


def test_nothing_comes_to_nothing():
    found = add_up(replay([], SETTINGS))
    assert (found.accept_length, found.histogram, found.marginal_acceptance) == (None, (), ())


def test_each_parameter_is_changed_alone():
    variants = explore(repeating(2, 60), SETTINGS)
    assert variants[0].change == ""
    changes = [one.change for one in variants[1:]]
    assert "num-draft-tokens 4" in changes
    assert "max-bfs-breadth 1" in changes
    assert "match-type PROB" in changes
    assert len(set(changes)) == len(changes)


def test_costs_decide_between_settings():
    variants = explore(repeating(3, 90, period=6), SETTINGS)
    steep = CostTable(0.010, {4: 0.012, 12: 0.05, 32: 0.20}, "typed")
    flat = CostTable(0.010, {4: 0.012, 32: 0.0121}, "typed")
    assert suggest(variants, steep).settings.num_draft_tokens == 4
    assert suggest(variants, flat).settings.num_draft_tokens >= 16
    assert suggest(variants, None).settings.num_draft_tokens >= 16


def test_whether_it_pays_is_said_with_its_break_even():
    found = add_up(replay(novel(), SETTINGS))
    costs = CostTable(0.0171, {12: 0.027}, "trial 5c0ffee2")
    payoff = pay(found, SETTINGS, costs)
    assert payoff is not None
    assert payoff.break_even == pytest.approx(0.027 / 0.0171)
    assert not payoff.is_worth_trying
    assert pay(found, NARROW, costs) is None
    assert CostTable(1.0, {4: 1.0, 8: 3.0}, "").step_at(6) == pytest.approx(2.0)
