"""The lab's scheduler: batches, queue, KV slots, endings and counters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specctl.domain.ngram.settings import NgramSettings
from specctl.lab.building import ScenarioError
from specctl.lab.corpora import CorpusRefusedError
from specctl.lab.outcomes import StepKind
from specctl.lab.requests import FinishKind
from specctl.lab.setting import Setting
from tests.unit.lab.engines import (
    EAGLE,
    FOREIGN,
    NGRAM,
    STORY,
    TOKENIZER,
    Run,
    ask,
    make_engine,
    run_all,
    take,
)

TOPICS = ("Explain the moon.", "Write a Python function.", "Return only JSON.", "Invent a word.")


def many(count, **wishes):
    return [ask(str(n), f"{TOPICS[n % 4]} Variant {n}.", **wishes) for n in range(count)]


def test_an_idle_engine_does_nothing():
    engine = make_engine()
    assert not engine.has_work
    outcome = engine.step()
    assert (outcome.kind, outcome.duration_s, outcome.emissions) == (StepKind.IDLE, 0, ())


def test_the_first_token_comes_with_prefill_and_every_step_costs_time():
    engine = make_engine()
    run = run_all(engine, [ask("a", max_new_tokens=5)])
    assert [outcome.kind for outcome in run.outcomes] == ["prefill"] + ["decode"] * 4
    (prefill,) = run.prefills
    assert (prefill.new_sequences, prefill.cached_tokens, prefill.pending_tokens) == (1, 0, 0)
    assert prefill.new_tokens == len(ask("a").tokens)
    account = run.accounts["a"]
    assert account.completion_tokens == len(run.outputs["a"]) == 5
    assert account.verify_steps == 0
    took = sum(outcome.duration_s for outcome in run.outcomes)
    assert account.submitted_s == 0
    assert account.finished_s == pytest.approx(took)
    assert account.first_token_s == pytest.approx(run.outcomes[0].duration_s)
    assert run.finishes["a"].kind is FinishKind.LENGTH
    assert run.finishes["a"].length == 5
    for decode in run.of_kind(StepKind.DECODE):
        assert decode.duration_s == pytest.approx(0.0171, rel=0.15)


@pytest.mark.parametrize(
    ("setting", "drafter"),
    [(EAGLE, FOREIGN), (NGRAM, None), (replace(EAGLE, eagle_topk=4), FOREIGN)],
)
def test_speculation_changes_no_answer(setting, drafter):
    plain = run_all(make_engine(), many(12, max_new_tokens=80))
    fast = run_all(make_engine(setting, drafter=drafter), many(12, max_new_tokens=80))
    assert fast.outputs == plain.outputs
    assert len(fast.of_kind(StepKind.DECODE)) < len(plain.of_kind(StepKind.DECODE))


@pytest.mark.parametrize(("setting", "drafter"), [(EAGLE, FOREIGN), (NGRAM, None)])
def test_counters_agree_with_each_other(setting, drafter):
    run = run_all(make_engine(setting, drafter=drafter), many(9, max_new_tokens=61))
    for rid, account in run.accounts.items():
        assert sum(account.histogram) == account.verify_steps
        assert sum(k * n for k, n in enumerate(account.histogram)) == account.correct_drafts
        assert account.histogram[-1] > 0
        assert account.proposed_drafts == account.verify_steps * (setting.num_draft_tokens - 1)
        produced = 1 + account.verify_steps + account.correct_drafts
        dropped = produced - account.completion_tokens
        assert 0 <= dropped < setting.num_draft_tokens
        assert account.completion_tokens == len(run.outputs[rid])
    accounts = run.accounts.values()
    requests = sum(verify.requests for verify in run.verified)
    assert requests == sum(account.verify_steps for account in accounts)
    drafts = sum(verify.correct_drafts for verify in run.verified)
    assert drafts == sum(account.correct_drafts for account in accounts)
    steps = run.of_kind(StepKind.DECODE)
    assert sum(step.decoded_tokens for step in steps) == sum(
        len(output) - 1 for output in run.outputs.values()
    )


def test_batches_are_no_larger_than_allowed_and_the_queue_is_fair():
    engine = make_engine(Setting(max_running_requests=3))
    run = run_all(engine, many(8, max_new_tokens=20))
    assert max(outcome.batch_size for outcome in run.of_kind(StepKind.DECODE)) == 3
    assert max(outcome.waiting for outcome in run.outcomes) == 5
    started = [run.accounts[str(n)].started_s or 0.0 for n in range(8)]
    assert started == sorted(started)
    assert engine.used_tokens == 0


def test_a_larger_batch_takes_longer_per_step_and_less_per_token():
    alone = run_all(make_engine(), many(1)).of_kind(StepKind.DECODE)
    crowd = run_all(make_engine(), many(16)).of_kind(StepKind.DECODE)
    assert crowd[0].batch_size == 16
    assert alone[0].duration_s < crowd[0].duration_s < 16 * alone[0].duration_s / 4


def test_a_long_prompt_is_prefilled_in_chunks():
    engine = make_engine(Setting(chunked_prefill_size=100, caches_prefixes=False))
    text = " ".join(f"item {number}" for number in range(130))
    run = run_all(engine, [ask("long", text, max_new_tokens=2), ask("short", max_new_tokens=2)])
    chunks = run.prefills
    assert len(chunks) >= 3
    assert all(chunk.new_tokens == 100 for chunk in chunks[:-1])
    assert [chunk.new_sequences for chunk in chunks] == [1] + [0] * (len(chunks) - 2) + [1]
    assert chunks[0].pending_tokens > chunks[1].pending_tokens > chunks[-1].pending_tokens == 0
    total = len(ask("long", text).tokens) + len(ask("short").tokens)
    assert sum(chunk.new_tokens for chunk in chunks) == total
    assert set(run.outputs) == {"long", "short"}


def test_prefixes_are_cached_until_a_flush():
    engine = make_engine()
    first = run_all(engine, [ask("a")])
    again = run_all(engine, [ask("b")])
    prompt = len(ask("a").tokens)
    assert first.accounts["a"].cached_tokens == 0
    assert again.accounts["b"].cached_tokens == prompt - 1
    assert again.prefills[0].new_tokens == 1
    assert again.outcomes[0].duration_s < first.outcomes[0].duration_s
    assert engine.flush()
    assert run_all(engine, [ask("c")]).accounts["c"].cached_tokens == 0
    uncached = make_engine(Setting(caches_prefixes=False))
    run_all(uncached, [ask("a")])
    assert run_all(uncached, [ask("b")]).accounts["b"].cached_tokens == 0


def test_a_flush_is_refused_while_requests_live():
    engine = make_engine(NGRAM)
    engine.submit(ask("a"))
    assert not engine.flush()
    engine.step()
    assert not engine.flush()
    run_all(engine)
    assert engine.flush()


def test_a_flush_makes_the_trie_forget():
    engine = make_engine(NGRAM)
    cold = run_all(engine, [ask("a", max_new_tokens=150)]).accept_length
    warm = run_all(engine, [ask("b", max_new_tokens=150)]).accept_length
    engine.flush()
    flushed = run_all(engine, [ask("c", max_new_tokens=150)]).accept_length
    assert warm > 8
    assert cold < 3
    assert flushed == cold


def test_a_trie_that_does_not_lag_drafts_other_trees():
    wish = "Repeat the sentence exactly twenty times, one per line."
    requests = [ask("a", wish, max_new_tokens=300, ignore_eos=True)]
    lagging = run_all(make_engine(NGRAM), requests)
    quick = run_all(make_engine(replace(NGRAM, learns_at_once=True)), requests)
    assert quick.outputs == lagging.outputs
    assert quick.histogram != lagging.histogram
    assert quick.accept_length == pytest.approx(lagging.accept_length, rel=0.1)


def test_requests_are_retracted_when_the_slots_run_out():
    setting = Setting(max_total_tokens=700, caches_prefixes=False)
    engine = make_engine(setting)
    run = run_all(engine, many(12, max_new_tokens=150, ignore_eos=False))
    retracted = [rid for outcome in run.outcomes for rid in outcome.retracted]
    assert retracted
    assert all(run.accounts[rid].retractions >= 1 for rid in retracted)
    assert max(outcome.used_tokens for outcome in run.outcomes) <= 700
    roomy = run_all(make_engine(), many(12, max_new_tokens=150))
    assert run.outputs == roomy.outputs
    assert engine.used_tokens == 0


def test_the_reserve_keeps_requests_waiting():
    engine = make_engine(Setting(max_total_tokens=500))
    run = run_all(engine, many(6, max_new_tokens=200, ignore_eos=True))
    assert max(outcome.running for outcome in run.outcomes) == 2
    assert not any(outcome.retracted for outcome in run.outcomes)


def test_an_answer_is_cut_to_the_room_there_is():
    run = run_all(make_engine(Setting(max_total_tokens=64)), [ask("a", max_new_tokens=500)])
    assert run.finishes["a"].kind is FinishKind.LENGTH
    assert len(run.outputs["a"]) < 64


@pytest.mark.parametrize("setting", [Setting(), NGRAM])
def test_an_abort_ends_running_and_waiting_requests(setting):
    engine = make_engine(replace(setting, max_running_requests=1))
    for request in many(3):
        engine.submit(request)
    run = Run()
    for _ in range(3):
        take(engine, run)
    assert engine.abort("0")
    assert engine.abort("2")
    assert not engine.abort("2")
    assert not engine.abort("nobody")
    while engine.has_work:
        take(engine, run)
    assert run.finishes["0"].kind is run.finishes["2"].kind is FinishKind.ABORT
    assert run.finishes["1"].kind is FinishKind.LENGTH
    assert run.outputs["2"] == []
    assert 0 < len(run.outputs["0"]) < 32
    assert engine.used_tokens == 0


def test_all_are_aborted_at_once_even_in_the_middle_of_a_prompt():
    engine = make_engine(Setting(chunked_prefill_size=16))
    for request in many(4):
        engine.submit(request)
    engine.step()
    assert len(engine.abort_all()) == 4
    outcome = engine.step()
    finishes = [emission.finish for emission in outcome.emissions]
    assert [finish.kind for finish in finishes if finish] == [FinishKind.ABORT] * 4
    assert not engine.has_work
    assert engine.used_tokens == 0


def test_an_end_token_ends_unless_it_is_ignored():
    ended = run_all(make_engine(), [ask("a", max_new_tokens=2000)])
    finish = ended.finishes["a"]
    assert finish.kind is FinishKind.STOP
    assert finish.matched == TOKENIZER.eos_id == ended.outputs["a"][-1]
    ignored = run_all(make_engine(), [ask("a", max_new_tokens=2000, ignore_eos=True)])
    assert ignored.accounts["a"].completion_tokens == 2000
    assert ignored.outputs["a"][: len(ended.outputs["a"])] == ended.outputs["a"]


@pytest.mark.parametrize(("setting", "drafter"), [(None, None), (EAGLE, FOREIGN), (NGRAM, None)])
def test_stop_strings_and_stop_tokens(setting, drafter):
    whole = run_all(make_engine(), [ask("a", max_new_tokens=60)])
    text, tokens = whole.texts()["a"], whole.outputs["a"]
    stop = text[60:66]
    run = run_all(
        make_engine(setting, drafter=drafter),
        [
            ask("words", max_new_tokens=60, stop=("#never#", stop)),
            ask("token", max_new_tokens=60, stop_token_ids=frozenset((tokens[7],))),
            ask(
                "ignored",
                max_new_tokens=60,
                stop_token_ids=frozenset((tokens[7],)),
                ignore_eos=True,
            ),
        ],
    )
    assert run.finishes["words"].matched == stop
    assert stop in run.texts()["words"]
    assert stop not in TOKENIZER.decode(run.outputs["words"][:-1])
    assert run.finishes["token"].matched == tokens[7]
    assert run.outputs["token"] == tokens[: tokens.index(tokens[7]) + 1]
    assert run.finishes["ignored"].kind is FinishKind.LENGTH


def test_a_rid_is_used_once():
    engine = make_engine()
    engine.submit(ask("a"))
    with pytest.raises(ValueError, match="here already"):
        engine.submit(ask("a"))
    run_all(engine)
    engine.forget("a")
    engine.submit(ask("a"))
    with pytest.raises(ValueError, match="at least one token"):
        engine.submit(replace(ask("b"), tokens=()))


def test_sampled_answers_differ_unless_they_share_a_seed():
    requests = [
        ask("1", temperature=1.0),
        ask("2", temperature=1.0),
        ask("3", temperature=1.0, seed=5),
        ask("4", temperature=1.0, seed=5),
        ask("5", seed=5),
        ask("6"),
    ]
    outputs = run_all(make_engine(), requests).outputs
    assert outputs["1"] != outputs["2"]
    assert outputs["3"] == outputs["4"]
    assert outputs["5"] == outputs["6"]


def test_external_corpora_raise_acceptance_within_their_budget():
    text = "Nothing rhymes with orchard except a badly tuned door. " * 2
    loaded = replace(NGRAM, ngram=NgramSettings(external_sam_budget=11), corpus_max_tokens=300)
    engine = make_engine(loaded)
    plain = run_all(make_engine(NGRAM), [ask("a", max_new_tokens=120)])
    answer = plain.outputs["a"]
    assert engine.add_corpus("answer", [answer[:80], answer[80:]]) == len(answer) + 1
    assert engine.corpora == {"answer": len(answer) + 1}
    run = run_all(engine, [ask("a", max_new_tokens=120)])
    assert run.outputs == plain.outputs
    assert run.accept_length > 5
    assert plain.accept_length < 3
    with pytest.raises(CorpusRefusedError, match="already exists"):
        engine.add_corpus("answer", [[1]])
    with pytest.raises(CorpusRefusedError, match=r"remaining token budget \(179\)"):
        engine.add_corpus("more", [TOKENIZER.encode(text) * 20])
    assert engine.flush()
    assert engine.corpora
    assert engine.remove_corpus("answer")
    assert not engine.remove_corpus("answer")
    with pytest.raises(CorpusRefusedError, match="is not enabled"):
        make_engine().add_corpus("a", [[1]])


@pytest.mark.parametrize("length", [1.0, 2.5, 4.0, 9.0])
def test_a_forced_accept_length_is_kept(length):
    setting = replace(EAGLE, simulated_accept_length=length)
    run = run_all(
        make_engine(setting, drafter=FOREIGN), many(1, max_new_tokens=2000, ignore_eos=True)
    )
    assert run.accept_length == pytest.approx(min(length, 4.0), abs=0.06)
    assert set(run.outputs["0"][1:]) == {100}


@pytest.mark.parametrize(
    "story",
    [
        {**STORY, "models": {}},
        {**STORY, "drafters": {}},
        {**STORY, "drafters": {FOREIGN: {"accept": [1.5]}}},
        {**STORY, "costs": {}},
        {**STORY, "costs": {**STORY["costs"], "noise": {"typo": 1}}},
    ],
)
def test_a_scenario_that_lacks_something_is_refused_in_words(story):
    with pytest.raises(ScenarioError, match=r"kimi-k2\.5") as refused:
        make_engine(EAGLE, drafter=FOREIGN, story=story)
    assert refused.value.hint


@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(1, 90), st.booleans()), min_size=1, max_size=10
    ),
    st.sampled_from([Setting(), EAGLE, NGRAM]),
    st.integers(200, 600),
    st.sampled_from([16, 64, 8192]),
    st.sampled_from([1, 3, 48]),
)
@settings(max_examples=30, deadline=None)
def test_whatever_is_asked_is_answered_and_nothing_stays_behind(
    wishes, setting, capacity, chunk, running
):
    engine = make_engine(
        replace(
            setting,
            max_total_tokens=capacity,
            chunked_prefill_size=chunk,
            max_running_requests=running,
        ),
        drafter=FOREIGN if setting is EAGLE else None,
    )
    requests = [
        ask(str(n), "word " * words, max_new_tokens=most, ignore_eos=ignores)
        for n, (words, most, ignores) in enumerate(wishes)
    ]
    run = run_all(engine, requests)
    assert set(run.finishes) == {request.rid for request in requests}
    assert engine.used_tokens == 0
    assert all(outcome.used_tokens <= capacity for outcome in run.outcomes)
    assert all(outcome.duration_s > 0 for outcome in run.outcomes if outcome.kind != "idle")
    plain = run_all(make_engine(), requests)
    for request in requests:
        if run.finishes[request.rid].kind is not FinishKind.ABORT:
            assert run.outputs[request.rid] == plain.outputs[request.rid]
