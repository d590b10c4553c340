"""Numbers are the server's own, and those that cannot be are said to be unknown."""

from __future__ import annotations

import os

import pytest

from specctl.domain.events import ProbeFinished, ProbeProgressed
from specctl.domain.probe import Prompt
from specctl.domain.workload import Workload
from tests.unit.services.probing.workloads import STARTS, workload


def test_stand_in_histogram_adds_up(engine):
    steps = engine.draft(24)
    assert sum(steps) + len(steps) >= 23


async def test_numbers_are_the_servers_own_counters(probe, engine, events):
    result = await probe()
    assert result.void == ()
    steps = engine.draft(24)
    unbiased = 1 + sum(steps) / len(steps)
    assert result.accept_length == pytest.approx(unbiased)
    assert result.accept_length_per_request == pytest.approx(unbiased)
    assert result.accept_length_reported == pytest.approx(24 / len(steps))
    assert result.histogram == tuple(8 * steps.count(k) for k in range(4))
    assert sum(r.completion_tokens or 0 for r in result.requests) == 8 * 24
    assert result.tokens_per_s == pytest.approx(8 * 24 / result.wall_s)
    assert result.step_s is not None
    assert 0.001 <= result.step_s < 0.02
    assert result.cache_state == "flushed"
    assert len(result.streamed) == 8
    assert result.ttft_p50_s is not None
    assert result.ttft_p50_s >= 0.005
    assert result.identity_key.split("/")[1] == str(os.getpid())
    words = list(dict.fromkeys(e.words for e in events if isinstance(e, ProbeProgressed)))
    assert words == ["rendering prompts", "warming up", "measuring", "streaming"]
    assert isinstance(events[-1], ProbeFinished)


async def test_a09_accept_length_needs_no_average_of_the_server(probe, engine):
    assert "avg_spec_accept_length" not in str(engine.info())
    assert (await probe()).accept_length > 1.5


async def test_warm_up_is_disjoint_and_discarded(probe, engine):
    result = await probe()
    sent = [body["text"] for _, body in engine.asked]
    measured = {prompt.text for prompt in workload().prompts}
    assert len(sent) == 4 + 8 + 8
    assert not measured & set(sent[:4])
    assert {request.index for request in result.requests} == set(range(8))


async def test_a01_drafts_that_are_never_accepted_are_not_wired(probe, engine):
    engine.pattern = (0,)
    result = await probe()
    assert result.accept_length == 1.0
    assert "drafts are not wired" in result.void[0]


async def test_accept_length_one_is_a_valid_measurement_of_ngram(probe, engine):
    engine.pattern, engine.algorithm = (0,), "NGRAM"
    result = await probe()
    assert (result.accept_length, result.void) == (1.0, ())


async def test_a_baseline_has_no_accept_length_and_says_why(probe, engine):
    engine.algorithm = engine.pattern = None
    result = await probe()
    assert result.accept_length is None
    assert str(result.missing["accept_length"]) == "speculation off"
    assert result.step_s is not None


async def test_d03_messages_without_a_tokenizer_are_left_to_the_server(probe, engine):
    talks = tuple(Prompt(messages=(("user", f"{s}?"),), max_tokens=8) for s in STARTS)
    result = await probe(Workload("talks", talks, "0" * 64))
    assert {path for path, _ in engine.asked} == {"/v1/chat/completions"}
    assert result.rendering.startswith("by the server's chat path")
    assert sum(r.completion_tokens or 0 for r in result.requests) == 64
    assert result.ttft_p50_s is not None
    assert all(r.text for r in result.requests)
    assert result.inter_token_p50_s is None
    assert "inter_token_p50_s" in result.missing


async def test_time_left_is_told_once_requests_were_answered(probe, events):
    await probe()
    told = [event for event in events if isinstance(event, ProbeProgressed)]
    assert all(event.remaining_s is None for event in told if event.words == "warming up")
    left = [e.remaining_s for e in told if e.words in {"measuring", "streaming"} and e.done]
    assert len(left) == 16
    assert None not in left
    assert left[-1] == 0


async def test_energy_of_a_server_on_the_cpu_is_unknown_and_says_why(probe):
    result = await probe()
    assert result.energy_per_token_j is None
    assert str(result.missing["energy_per_token_j"]) == "not supported: it uses no GPU"
