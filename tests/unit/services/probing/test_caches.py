"""Caches and tries that are cold, warm, or not known to be either."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.probe import VoidKind
from tests.unit.services.probing.workloads import STARTS, workload


async def test_d06_the_flush_is_what_keeps_a_second_run_cold(probe, engine):
    first, second = await probe(), await probe()
    assert (first.void, second.void) == ((), ())
    assert engine.flushes == 4
    assert second.cached_tokens == first.cached_tokens


async def test_d06_a_foreign_server_is_never_flushed_and_a_warm_one_is_void(probe, engine, server):
    foreign = replace(server, is_ours=False)
    first = await probe(of=foreign)
    second = await probe(of=foreign)
    assert engine.flushes == 0
    assert first.void == ()
    assert first.cache_state == "not flushed: specctl did not start this server"
    assert len(first.requests) == 6
    assert len(first.streamed) == 2
    assert len(second.void) == 1
    assert second.void[0].startswith("the cache was warm")


async def test_d06_an_ngram_trie_that_was_not_flushed_is_said(probe, engine, server):
    engine.algorithm = "NGRAM"
    found = await probe(of=replace(server, is_ours=False))
    assert any("n-gram trie was not flushed" in note for note in found.notes)
    assert not any("trie" in note for note in (await probe()).notes)


async def test_d06_an_own_ngram_trie_that_could_not_be_flushed_makes_a_window_void(probe, engine):
    engine.algorithm, engine.can_flush = "NGRAM", False
    found = await probe()
    assert found.void[0].startswith("the n-gram trie was not flushed: drafts may come from earlier")
    assert "not flushed: HTTP 400 Cache not flushed because there are pending" in found.void[0]
    assert found.void_kinds[0] is VoidKind.NOT_ASKED
    assert (await probe(accepts_warm=True)).void == ()


async def test_d06_first_token_times_of_a_warm_cache_are_said_to_be(probe, engine):
    engine.before = lambda number: setattr(engine, "can_flush", number <= 4)
    found = await probe()
    assert found.void == ()
    assert any(
        note.startswith("first-token times are of a cache that holds these prompts: not flushed")
        for note in found.notes
    )
    engine.before, engine.can_flush = lambda number: None, True
    assert not any("first-token times are of" in note for note in (await probe()).notes)


async def test_d06_warm_is_fine_when_it_was_asked_for(probe, engine):
    await probe()
    result = await probe(accepts_warm=True)
    assert result.void == ()
    assert result.cache_state == "as found, as asked"
    assert engine.flushes == 2


async def test_d06_a_refused_flush_is_said(probe, engine):
    engine.can_flush = False
    result = await probe()
    assert result.cache_state.startswith("not flushed: HTTP 400 Cache not flushed because")


async def test_beginnings_shared_within_the_workload_are_no_warm_cache(probe):
    shared = [f"The same long beginning of all of them, word for word: {s}" for s in STARTS]
    result = await probe(workload(shared))
    assert result.cached_tokens is not None
    assert result.cached_tokens > 50
    assert result.void == ()
