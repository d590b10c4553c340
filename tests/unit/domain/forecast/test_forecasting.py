from __future__ import annotations

import random

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.forecast.advice import CostTable
from specctl.domain.forecast.corpora import Document, rank
from specctl.domain.forecast.forecasting import NODE_BYTES, Question, forecast, split
from specctl.domain.forecast.reading import UNMODELLED_OLD, read_settings
from specctl.domain.forecast.replay import add_up, replay
from specctl.domain.forecast.traffic import ends_in_a_loop, looks_random
from specctl.domain.forecast.transcripts import Transcript
from specctl.domain.ngram.settings import MatchType
from specctl.domain.profile import Corpus, Profile, Speculation
from tests.unit.domain.forecast.transcripts import at_random, like_text


def profile(algorithm="NGRAM", corpora=(), **arguments):
    keys = {key.replace("_", "-"): value for key, value in arguments.items()}
    return Profile("ngram", "m", speculation=Speculation(algorithm, keys), corpora=corpora)


def reading(version="0.5.23", **arguments):
    return read_settings(profile(num_draft_tokens=8, ngram_capacity=50_000, **arguments), version)


def test_the_settings_are_those_of_the_profile():
    found = reading(
        ngram_max_bfs_breadth=4, ngram_match_type="PROB", ngram_external_sam_budget=3,
        ngram_max_trie_depth=12,
    )  # fmt: skip
    settings = found.settings
    assert (settings.num_draft_tokens, settings.capacity, settings.max_trie_depth) == (
        8,
        50_000,
        12,
    )
    assert (settings.max_bfs_breadth, settings.match_type) == (4, MatchType.PROB)
    assert settings.external_sam_budget == 3


@pytest.mark.parametrize(
    ("version", "stale", "remembers", "corpora"),
    [
        ("0.5.23", True, True, True),
        ("0.5.14", True, True, True),
        ("0.5.13.post1", False, True, True),
        ("0.5.11", False, True, True),
        ("0.5.10.post1", False, False, False),
    ],
)
def test_what_a_release_does_otherwise(version, stale, remembers, corpora):
    found = reading(version)
    assert found.is_one_step_stale is stale
    assert found.settings.remembers_matches is remembers
    assert found.can_take_corpora is corpora
    assert not found.is_version_assumed


def test_what_is_not_modelled_of_old_releases_is_said():
    found = reading("0.5.9", ngram_branch_length=10, ngram_external_sam_budget=4)
    assert UNMODELLED_OLD in found.notes
    assert found.settings.max_trie_depth == 10
    assert found.settings.external_sam_budget == 0


def test_a_build_that_does_not_say_its_release_counts_as_the_newest():
    found = read_settings(profile(), "0.0.0.dev1")
    assert (found.version, found.is_version_assumed) == ("0.5.23", True)


@pytest.mark.parametrize(
    ("asked", "version", "words"),
    [
        (profile("EAGLE3"), "0.5.23", "drafts with EAGLE3"),
        (Profile("base", "m"), None, "drafts with nothing"),
        (profile(), "0.5.2", "has no NGRAM"),
        (profile(ngram_match_type="DFS"), "0.5.23", "would refuse"),
        (profile(ngram_capacity=3), "0.5.23", "would refuse"),
        (profile(num_draft_tokens="8"), "0.5.23", "must be a whole number"),
    ],
)
def test_what_cannot_be_forecast_is_refused(asked, version, words):
    with pytest.raises(UsageError, match=words):
        read_settings(asked, version)


def test_the_corpora_of_a_profile_are_named_as_left_out():
    asked = profile(corpora=(Corpus("runbooks", "/srv/runbooks.jsonl"),))
    assert "runbooks" in read_settings(asked, "0.5.23").notes[0]


def test_cold_warm_and_by_category():
    transcripts = [*like_text(6, category="code"), *like_text(6, seed=9, category="chat")]
    found = forecast(Question(transcripts, reading()))
    assert found.cold.accept_length == pytest.approx(
        add_up(replay(transcripts, reading().settings)).accept_length
    )
    assert found.warm is not None
    assert found.held_out is not None
    assert found.trained_on == found.warm.transcripts == 6
    assert (found.warm.accept_length or 0) > (found.held_out.accept_length or 0)
    assert [one.category for one in found.categories] == ["code", "chat"]
    assert all(one.warm is not None and one.warm.transcripts == 3 for one in found.categories)
    marginals = found.cold.marginal_acceptance
    assert 1 + sum(marginals) == pytest.approx(found.cold.accept_length)
    assert len(found.cold.conditional_acceptance) == len(marginals)
    assert found.trie_bytes == 50_000 * NODE_BYTES
    assert 1_000 < found.trie_nodes <= 50_000
    assert found.is_worth_trying is None


def test_d06_the_halves_are_disjoint_so_that_nothing_is_warm_by_itself():
    same = like_text(1)[0]
    training, held_out = split([same, *like_text(5, seed=4), same])
    assert {one.output for one in training}.isdisjoint({one.output for one in held_out})
    assert split([same, same]) == ((), ())
    assert forecast(Question([same], reading())).warm is None


def test_costs_say_whether_it_is_worth_trying():
    costs = CostTable(0.010, {8: 0.011, 16: 0.030}, "typed")
    found = forecast(Question(like_text(), reading(), costs=costs))
    assert found.break_even == pytest.approx(1.1)
    assert found.predicted_speedup == pytest.approx((found.cold.accept_length or 0) / 1.1)
    assert found.is_worth_trying is True
    assert found.cost_source == "typed"
    dear = CostTable(0.010, {8: 0.090}, "typed")
    assert forecast(Question(like_text(), reading(), costs=dear)).is_worth_trying is False
    only_base = forecast(Question(like_text(), reading(), base_s=0.010))
    assert only_base.break_even is None
    assert only_base.most_step_ms == pytest.approx(
        10 * max(only_base.cold.accept_length or 0, only_base.warm.accept_length or 0)  # type: ignore[union-attr]
    )


def test_which_document_of_a_corpus_would_help():
    transcripts = like_text(6, seed=11)
    copied = [Document(f"docs:{n}", one.output) for n, one in enumerate(transcripts, 1)]
    other = Document("docs:9", at_random(1, 300)[0].output)
    found = forecast(Question(transcripts, reading(), documents=(other, *copied)))
    together, *apart = found.corpora
    assert (together.name, together.documents) == ("all given documents", 7)
    assert together.changes_the_answer
    assert (together.accept_length or 0) > 2 * (together.without or 0)
    assert "docs:9" not in [one.name for one in apart]
    assert rank((other, *copied), transcripts) == rank(copied, transcripts)
    assert apart[-1].name == "prompts of the other half"


def looping(seed=1):
    head = like_text(1, 40, seed)[0].output
    return Transcript((1, 2), (*head, *(head[:3] * 40)), "code")


def test_d07_looping_answers_do_not_make_drafting_look_easy():
    plain = like_text(6)
    found = forecast(Question([*plain, looping()], reading()))
    assert found.looping == 1
    assert found.cold.accept_length == forecast(Question(plain, reading())).cold.accept_length
    assert any("end in a loop" in words for words in found.notes)
    with pytest.raises(UsageError, match="every answer ends in a loop"):
        forecast(Question([looping(1), looping(2)], reading()))


def test_what_is_a_loop():
    assert ends_in_a_loop((5, 6, 7) * 20)
    assert ends_in_a_loop((*range(50), *([9] * 60)))
    assert not ends_in_a_loop(tuple(range(100)))
    assert not ends_in_a_loop((5, 6) * 10)
    assert not ends_in_a_loop((*range(100), *([9] * 60)))


def test_a_release_without_corpora_tries_none():
    transcripts = like_text(4)
    documents = [Document("d:1", transcripts[0].output)]
    assert forecast(Question(transcripts, reading("0.5.10"), documents=documents)).corpora == ()


def test_random_tokens_are_called_so_and_nothing_is_promised():
    costs = CostTable(0.010, {8: 0.010}, "typed")
    found = forecast(Question(at_random(), reading(), costs=costs))
    assert found.is_random
    assert found.is_worth_trying is None
    assert "random token ids" in found.notes[0]
    assert not forecast(Question(like_text(), reading())).is_random
    prompts = [Transcript(at_random(1, 400, seed)[0].output, one.output)
               for seed, one in enumerate(like_text(4))]  # fmt: skip
    assert any(
        "prompts look like random" in one for one in forecast(Question(prompts, reading())).notes
    )


@pytest.mark.parametrize("vocabulary", [200, 32_000, 150_000])
@pytest.mark.parametrize("length", [120, 1000])
def test_uniform_ids_are_random_at_any_vocabulary(vocabulary, length):
    for seed in range(20):
        chance = random.Random(seed)
        assert looks_random(chance.randrange(vocabulary) for _ in range(length))


def test_text_is_not_random():
    words = (__doc__ or "") + (
        test_d06_the_halves_are_disjoint_so_that_nothing_is_warm_by_itself.__doc__ or ""
    )
    text = (
        words + "def f(x): return the value of x, and the sum of x and y, when x is a number. " * 3
    )
    assert looks_random(text.encode()) is False
    assert looks_random(range(20)) is None


def test_what_begins_is_told():
    told: list[str] = []
    forecast(Question(like_text(2), reading()), told.append)
    assert [words.split()[0] for words in told] == [
        "replaying",
        "replaying",
        "replaying",
        "looking",
    ]


def test_few_answers_are_warned_of_and_many_are_not():
    one = forecast(Question(like_text(1, 60), reading())).notes
    assert any(words.startswith("1 answer is too few to speak for others") for words in one)
    many = forecast(Question(like_text(20, 30), reading())).notes
    assert not any("too few" in words for words in many)
