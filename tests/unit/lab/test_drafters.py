"""Whether drafts are right as often as the scenario says, found out by comparing them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from specctl.lab.drafters import SAMPLED_LOSS, Skill
from specctl.lab.setting import Setting
from tests.unit.lab.engines import FOREIGN, STORY, ask, make_engine, run_all

ACCEPT = (0.8, 0.6, 0.5)


def measure(accept, setting, *, by_category=None, temperature=0.0, tokens=4000):
    row = {"accept": list(accept), "by_category": by_category or {}}
    story = {**STORY, "drafters": {FOREIGN: row}}
    engine = make_engine(setting, drafter=FOREIGN, story=story)
    request = ask("a", max_new_tokens=tokens, ignore_eos=True, temperature=temperature, seed=1)
    return run_all(engine, [request])


def shares(histogram):
    """The share of the steps that reached each place which were accepted there."""
    total = [sum(count for k, count in histogram.items() if k >= place) for place in range(6)]
    return [later / earlier for earlier, later in pairwise(total) if earlier]


def test_each_place_is_right_as_often_as_its_entry_says():
    setting = Setting(algorithm="EAGLE3", num_steps=3, num_draft_tokens=4)
    found = shares(measure(ACCEPT, setting).histogram)
    assert found[:3] == pytest.approx(ACCEPT, abs=0.05)
    assert found[3] == 0


def test_the_last_entry_holds_for_all_later_places():
    setting = Setting(algorithm="EAGLE", num_steps=5, num_draft_tokens=6)
    found = shares(measure((0.9,), setting).histogram)
    assert found[:5] == pytest.approx([0.9] * 5, abs=0.04)


def test_an_unwired_drafter_is_never_right():
    for topk in (1, 4):
        setting = Setting(algorithm="EAGLE3", num_steps=3, eagle_topk=topk, num_draft_tokens=8)
        run = measure((0.0,), setting, tokens=300)
        assert run.accept_length == 1
        assert run.accounts["a"].proposed_drafts == 7 * run.accounts["a"].verify_steps


def test_a_tree_finds_more_at_a_place_and_reaches_less_deep():
    chain = Setting(algorithm="EAGLE3", num_steps=7, num_draft_tokens=8)
    tree = replace(chain, eagle_topk=4)
    narrow, wide = (measure((0.6,), setting).histogram for setting in (chain, tree))
    assert shares(wide)[0] > shares(narrow)[0] + 0.1
    assert max(wide) == 2
    assert max(narrow) > 2


def test_categories_and_sampling_change_the_odds():
    setting = Setting(algorithm="EAGLE3", num_steps=3, num_draft_tokens=4)
    usual = shares(measure(ACCEPT, setting).histogram)[0]
    harder = shares(measure(ACCEPT, setting, by_category={"chat": 0.5}).histogram)[0]
    assert harder == pytest.approx(usual / 2, abs=0.05)
    sampled = shares(measure(ACCEPT, setting, temperature=1.0).histogram)[0]
    assert sampled == pytest.approx(0.8 * (1 - SAMPLED_LOSS), abs=0.05)


@pytest.mark.parametrize("table", [{"accept": []}, {"accept": [1.2]}, {"accept": [-0.1]}, {}])
def test_impossible_odds_are_refused(table):
    with pytest.raises((ValueError, KeyError)):
        Skill.read(table)
