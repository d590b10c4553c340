"""Requests at the same time, and at a rate."""

from __future__ import annotations

import asyncio
import time

import pytest

from specctl.domain.open_loop import ArrivalKind, Arrivals
from specctl.domain.probe_json import probe_json
from specctl.domain.probe_rows import probe_rows
from tests.unit.services.probing.workloads import workload


async def test_as_many_at_a_time_as_asked(probe, engine):
    most = []
    engine.before = lambda _: most.append(engine.running)
    engine.first_s = 0.03
    result = await probe(concurrency=4)
    assert max(most) == 4
    assert result.concurrency == 4


async def test_fillers_keep_the_batch_full_and_are_in_no_figure(probe, engine):
    engine.first_s = 0.03
    result = await probe(concurrency=3)
    assert result.void == ()
    sent = [body["text"] for _, body in engine.asked[4:]]
    measured = {prompt.text for prompt in workload().prompts}
    main = sent[: 3 + 8 + 3]
    assert [text in measured for text in main] == [False] * 3 + [True] * 8 + [False] * 3
    assert len(set(sent[14:])) == 3 + 8 + 3
    assert result.fillers == 6
    assert len(result.requests) == len(result.streamed) == 8
    assert {request.index for request in result.requests} == set(range(8))
    assert 2.5 < result.mean_in_flight <= 3.0
    assert result.accept_length == pytest.approx(1 + sum(engine.draft(24)) / len(engine.draft(24)))
    took_s = sum(request.client_latency_s for request in result.requests)
    assert result.tokens_per_s == pytest.approx(result.mean_in_flight * 8 * 24 / took_s)


async def test_an_open_loop_sends_when_it_is_due_and_streams_everything(probe, engine, events):
    arrivals = Arrivals(40.0, ArrivalKind.CONSTANT)
    result = await probe(arrivals=arrivals)
    assert result.void == ()
    assert len(engine.asked) == 4 + 8
    assert all(body["stream"] for _, body in engine.asked[4:])
    assert [request.due_s for request in result.requests] == list(arrivals.due_s(8))
    assert all(request.began_s >= request.due_s for request in result.requests)
    found = result.open_loop
    assert found.offered_per_s == pytest.approx(40.0)
    assert found.e2e_p50_s <= found.e2e_p95_s <= found.e2e_p99_s
    assert result.ttft_p50_s >= 0.005
    assert result.inter_token_p50_s is not None
    assert result.accept_length > 1.5
    assert (result.streamed, result.fillers) == ((), 0)
    assert probe_json(result)["open_loop"]["kind"] == "constant"


async def test_an_open_loop_beyond_what_is_served_says_so(probe, engine):
    engine.first_s = 0.1
    result = await probe(arrivals=Arrivals(200.0, ArrivalKind.CONSTANT, most_in_flight=1))
    found = result.open_loop
    assert found.keeps_up is False
    assert found.waited >= 6
    assert found.achieved_per_s < 11
    assert found.e2e_p95_s > 5 * max(r.client_latency_s for r in result.requests) / 2
    assert result.ttft_p95_s > 0.3
    rows = {row.label: row for row in probe_rows(result)}
    assert rows["keeps up"].value == "CANNOT KEEP UP"
    assert "waited for one of 1 places" in rows["keeps up"].note


async def test_cancelling_ends_the_requests(probe, engine, clock):
    engine.first_s = 0.2
    task = asyncio.create_task(probe())
    while len(engine.asked) < 6:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    began = time.monotonic()
    while engine.running and time.monotonic() - began < 5:
        await asyncio.sleep(0.01)
    asked = len(engine.asked)
    await asyncio.sleep(0.3)
    assert len(engine.asked) == asked
