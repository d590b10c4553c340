"""The n-gram matcher against what the compiled one of SGLang 0.5.23 answered."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.ngram.draft_tree import DraftTree, merge_trees
from specctl.domain.ngram.matcher import Matcher
from specctl.domain.ngram.settings import MatchType, NgramSettings
from tests.ngram_cpp.goldens import RECORD, make_scripts, sum_up
from tests.ngram_cpp.scripts import make_calls_script, play

RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))
PLAIN = NgramSettings(capacity=10_000)


def put_out(matcher: Matcher, text: list[int], *, prompt: int = 1) -> list[int]:
    """The accepted drafts of each step while `text` is put out, insertions one step behind."""
    depth = matcher.settings.max_trie_depth
    done, accepted = prompt, []
    while done < len(text):
        tail = text[max(0, done - depth) : done]
        count = matcher.draft("r", tail, done).count_accepted(text[done:])
        matcher.insert(tail)
        accepted.append(count)
        done += count + 1
    matcher.forget("r")
    return accepted


def test_every_recorded_script_comes_out_as_recorded():
    scripts = dict(make_scripts())
    assert set(RECORDED) == set(scripts)
    different = [
        name
        for name, script in scripts.items()
        if sum_up(script, Matcher(script.settings)) != RECORDED[name]
    ]
    assert different == []


def test_the_record_is_not_empty_trees():
    assert sum(entry["trees"] for entry in RECORDED.values()) > 10_000
    assert sum(entry["nodes"] for entry in RECORDED.values()) > 30_000


def test_a_copy_is_drafted_in_full_and_a_prompt_is_not():
    text = list(range(100, 400))
    matcher = Matcher(PLAIN)
    assert sum(put_out(matcher, text)) == 0
    again = put_out(matcher, text)
    assert again[0] == 11
    assert (len(text) - 1) / len(again) > 11
    prompted = put_out(Matcher(PLAIN), text + text, prompt=len(text))
    assert sum(prompted) < PLAIN.max_trie_depth
    assert sum(prompted[:-2]) == 0


def test_a_prompt_as_external_corpus_is_drafted_in_full():
    text = list(range(100, 400))
    matcher = Matcher(NgramSettings(external_sam_budget=11))
    assert matcher.add_corpus("prompt", [text]) == 300
    accepted = put_out(matcher, text)
    assert accepted[:3] == [11, 11, 11]
    unused = Matcher(PLAIN)
    unused.add_corpus("prompt", [text])
    assert sum(put_out(unused, text)) == 0


def test_reset_empties_the_trie_and_keeps_the_corpora():
    matcher = Matcher(NgramSettings(external_sam_budget=4))
    matcher.insert([1, 2, 3, 4])
    matcher.add_corpus("a", [[5, 6, 7], [], [5, 6, 8]])
    assert matcher.corpora == {"a": 7}
    matcher.reset()
    assert matcher.draft("r", [1, 2], 2).count_accepted([3]) == 0
    assert matcher.draft("r", [5, 6], 2).count_accepted([8]) == 1
    assert matcher.remove_corpus("a")
    assert not matcher.remove_corpus("a")


def test_corpora_that_cannot_be_loaded():
    matcher = Matcher(PLAIN)
    matcher.add_corpus("a", [[1]])
    with pytest.raises(ValueError, match="already exists"):
        matcher.add_corpus("a", [[2]])
    with pytest.raises(ValueError, match="no tokens were loaded"):
        matcher.add_corpus("b", [[], []])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_trie_depth": 1}, "max_trie_depth must be greater than 1"),
        ({"min_bfs_breadth": 0}, "min_bfs_breadth must be greater than 0"),
        ({"min_bfs_breadth": 3, "max_bfs_breadth": 2}, "less than or equal to max_bfs_breadth"),
        ({"num_draft_tokens": 0}, "draft_token_num must be greater than 0"),
        ({"capacity": 18}, "cannot hold a path of 18"),
    ],
)
def test_settings_the_constructor_refuses(setting, message):
    with pytest.raises(ValueError, match=message):
        NgramSettings(**setting)


def test_padding_is_a_candidate():
    tree = DraftTree([{5: 1}, {}], padding=3)
    assert tree.size == 4
    assert tree.count_accepted([0, 5]) == 1
    assert tree.count_accepted([5, 0]) == 1
    assert DraftTree([{5: 1}, {}]).count_accepted([0]) == 0


def test_merging_keeps_every_path_but_a_lone_zero():
    first = DraftTree([{1: 1, 0: 3}, {2: 2}, {}, {}])
    second = DraftTree([{1: 1}, {3: 2}, {}], padding=1)
    merged = merge_trees([first, second], 6)
    paths = sorted(merged.find_paths())
    assert paths == [(0,), (0,), (0,), (1,), (1, 2), (1, 3)]


@given(st.integers(min_value=0, max_value=2**32))
def test_a_tree_has_exactly_the_drafts_that_are_verified(seed):
    script = make_calls_script(seed, operations=25)
    for tree in play(script, Matcher(script.settings)):
        assert len(tree) == script.settings.num_draft_tokens - 1
        assert {path[:-1] for path in tree} <= {(), *tree}


@given(st.lists(st.integers(0, 5), min_size=2, max_size=80), st.sampled_from(list(MatchType)))
def test_drafting_puts_out_every_token_once(text, kind):
    settings = NgramSettings(max_trie_depth=4, match_type=kind, capacity=50, num_draft_tokens=6)
    accepted = put_out(Matcher(settings), text)
    assert len(text) - 1 <= sum(accepted) + len(accepted) <= len(text)


def test_remembering_where_a_request_stood_makes_a_difference():
    scripts = [make_calls_script(seed) for seed in range(200)]
    changed = 0
    for script in scripts:
        fresh = replace(script.settings, remembers_matches=False)
        changed += play(script, Matcher(script.settings)) != play(script, Matcher(fresh))
    assert changed > 5
