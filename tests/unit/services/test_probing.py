"""A probe from end to end: this machine as the host, a real agent, a stand-in engine."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from specctl.domain.errors import RefusedError, RemoteFailedError, UsageError
from specctl.domain.events import ProbeFinished, ProbeProgressed
from specctl.domain.measured_on import MEASURING
from specctl.domain.open_loop import ArrivalKind, Arrivals
from specctl.domain.probe import Prompt, VoidKind
from specctl.domain.probe_json import probe_json
from specctl.domain.probe_rows import probe_rows
from specctl.domain.server import Server, ServerState
from specctl.domain.training import TrainedOn
from specctl.domain.workload import Workload
from specctl.services.locks import hold_locks
from specctl.services.probing import Settings, probe_server
from tests.unit.services.engines import load_engine, own_identity

STARTS = (
    "River",
    "Under the old",
    "Seventeen",
    "A letter to",
    "Bread and",
    "Nobody saw",
    "If",
    "To",
)


@pytest.fixture
def engine():
    served = load_engine().Engine(algorithm="EAGLE")
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield served
    served.shutdown()
    served.server_close()


@pytest.fixture
def server(engine):
    return Server(
        "pid-1",
        ServerState.READY,
        own_identity(),
        is_ours=True,
        port=engine.port,
        gpus=(),
        version="0.5.23",
    )


def workload(prompts=STARTS, tokens=24, **more) -> Workload:
    texts = [f"{start} one two three four five six seven eight nine ten" for start in prompts]
    return Workload("w", tuple(Prompt(text=t, max_tokens=tokens, **more) for t in texts), "0" * 64)


@pytest.fixture
def probe(connection, server, store, clock):
    async def probe_it(chosen=None, *, of=None, **settings):
        return await probe_server(
            connection,
            of or server,
            Settings(chosen or workload(), **settings),
            store=store,
            clock=clock,
        )

    return probe_it


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


async def test_other_requests_void_the_window(probe, engine):
    def somebody_else(number):
        if number == 8:
            engine.finished += 1
            engine.generated += 50

    engine.before = somebody_else
    result = await probe()
    assert result.void == (
        "other requests ran meanwhile: the server finished 1 that were not ours",
    )


async def test_without_counters_it_is_said_that_nobody_can_tell(probe, engine):
    engine.has_metrics = False
    result = await probe()
    assert result.void == ()
    assert any("--enable-metrics" in note for note in result.notes)


async def test_running_requests_are_left_alone(probe, engine):
    engine.running = 2
    with pytest.raises(RefusedError, match="2 requests are running"):
        await probe()
    assert engine.asked == []


async def test_d08_failures_are_counted_named_and_never_retried(probe, engine):
    engine.fails = lambda number: 503 if number in {6, 9} else None
    result = await probe()
    assert result.void[0] == "2 of 16 requests failed: http 503 (2)"
    assert len(engine.asked) == 20
    assert [r.error for r in result.requests].count("http 503") == 2
    assert result.tokens_per_s == pytest.approx(6 * 24 / result.wall_s)


async def test_d08_a_server_replaced_mid_run_voids_the_window(probe, engine):
    def restart(number):
        if number == 9:
            engine.started += 400.8

    engine.before = restart
    result = await probe()
    assert [words for words in result.void if "startup_time" in words]


async def test_a_server_that_answers_nothing_is_an_error_not_a_result(probe, engine):
    engine.fails = lambda _: 500
    with pytest.raises(RemoteFailedError, match="http 500"):
        await probe()
    assert len(engine.asked) == 4


async def test_d07_a_loop_voids_the_window_unless_repetition_is_asked_for(probe, engine):
    engine.text = "the-the-the-"
    assert "degenerate output" in (await probe()).void[0]
    assert (await probe(workload(is_repetition_asked=True))).void == ()


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


async def test_time_left_is_told_once_requests_were_answered(probe, events):
    await probe()
    told = [event for event in events if isinstance(event, ProbeProgressed)]
    assert all(event.remaining_s is None for event in told if event.words == "warming up")
    left = [e.remaining_s for e in told if e.words in {"measuring", "streaming"} and e.done]
    assert len(left) == 16
    assert None not in left
    assert left[-1] == 0


async def test_requests_that_the_server_took_back_void_the_window(probe, engine):
    engine.retractions = 1
    result = await probe()
    assert "16 of 16 requests were retried by the server" in result.void[0]
    assert result.void_kinds == (VoidKind.ARM,)


async def test_energy_of_a_server_on_the_cpu_is_unknown_and_says_why(probe):
    result = await probe()
    assert result.energy_per_token_j is None
    assert str(result.missing["energy_per_token_j"]) == "not supported: it uses no GPU"


async def test_read_only_hosts_are_not_probed(connection, server, store, clock, engine):
    guarded = replace(connection, host=replace(connection.host, read_only=True))
    with pytest.raises(RefusedError, match="read-only"):
        await probe_server(guarded, server, Settings(workload()), store=store, clock=clock)
    assert engine.asked == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"port": None}, UsageError),
        ({"node_rank": 1}, RefusedError),
        ({"state": ServerState.STARTING}, RefusedError),
    ],
)
async def test_servers_that_cannot_be_measured_are_refused(probe, server, change, error):
    with pytest.raises(error):
        await probe(of=replace(server, **change))


async def test_one_probe_of_a_server_at_a_time(probe, connection, server):
    async with hold_locks(connection, (f"probe-{server.port}",), "a probe"):
        with pytest.raises(RefusedError, match="is locked by"):
            await probe()


async def test_no_probe_while_a_comparison_measures_there(probe, connection, server):
    async with hold_locks(connection, (f"{MEASURING}port-{server.port}",), "specctl compare"):
        with pytest.raises(RefusedError, match=f"port-{server.port} measured on by .*compare"):
            await probe()


async def test_a_prompt_that_is_there_twice_is_refused(probe):
    with pytest.raises(UsageError, match="twice"):
        await probe(workload(("Same", "Same")))


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


async def test_accept_lengths_that_are_made_up_are_no_measurement(probe, server):
    environment = {**os.environ, "SIMULATE_ACC_LEN": "2.5"}
    argv = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, env=environment) as scheduler:
        result = await probe(of=replace(server, pids=(os.getpid(), scheduler.pid)))
    assert result.forced_by == "SIMULATE_ACC_LEN"
    assert result.void == (
        "accept lengths are made up: SIMULATE_ACC_LEN is set in the server's environment",
    )
    (row,) = [row for row in probe_rows(result) if row.label == "accept length"]
    assert row.note == "MADE UP: forced by SIMULATE_ACC_LEN"
    assert (await probe()).forced_by is None


BEFORE = ("Far away", "Long ago", "Someone")


def training(prompts=BEFORE) -> Workload:
    return replace(workload(prompts), name="others", sha256="1" * 64)


def sent_of(engine, prompts):
    """Which of `prompts` each request was, by its first word; None for another."""
    places = {prompt.text: place for place, prompt in enumerate(prompts)}
    return [places.get(body["text"]) for _, body in engine.asked]


async def test_training_comes_between_each_flush_and_what_is_measured(probe, engine, events):
    flushed_at = []
    engine.before = lambda number: flushed_at.append(engine.flushes)
    result = await probe(training=training())
    assert result.void == ()
    trained = sent_of(engine, training().prompts)
    measured = sent_of(engine, workload().prompts)
    each = [None] * 8
    assert trained == [*[None] * 4, 0, 1, 2, *each, 0, 1, 2, *each]
    assert measured == [*[None] * 7, *range(8), *[None] * 3, *range(8)]
    assert flushed_at == [*[0] * 4, *[1] * 11, *[2] * 11]
    assert [body["stream"] for _, body in engine.asked[:18]] == [False] * 15 + [False] * 3
    words = list(dict.fromkeys(e.words for e in events if isinstance(e, ProbeProgressed)))
    assert words == ["rendering prompts", "warming up", "training", "measuring", "streaming"]


async def test_answers_to_training_count_in_no_figure_and_its_words_say_what_it_was(probe, engine):
    cold, warm = await probe(), await probe(training=training())
    assert {request.index for request in warm.requests} == set(range(8))
    assert len(warm.streamed) == 8
    assert warm.histogram == cold.histogram
    assert sum(request.completion_tokens or 0 for request in warm.requests) == 8 * 24
    assert cold.trained_on is None
    assert warm.trained_on == TrainedOn("others", "1" * 64, 3)
    state = next(row for row in probe_rows(warm) if row.label == "state")
    assert state.value == "warm after others"
    assert state.note == "trained on others, 3 prompts, before each window"
    assert not [row for row in probe_rows(cold) if row.label == "state"]
    assert any("first-token times are of a cache that holds that set" in n for n in warm.notes)
    kept = probe_json(warm)
    assert kept["trained_on"] == {"workload": "others", "sha256": "1" * 64, "prompts": 3}


async def test_beginnings_shared_with_training_are_no_warm_cache(probe):
    same = "The same long beginning of all of them, word for word: {}"
    set_ = training([same.format(start) for start in BEFORE])
    result = await probe(workload([same.format("River")]), training=set_)
    assert result.cached_tokens > 5
    assert result.void == ()


async def test_a_training_request_that_failed_makes_the_window_void(probe, engine):
    engine.fails = lambda number: 503 if number == 5 else None
    result = await probe(training=training())
    assert result.void[0] == "1 of 22 requests failed: http 503 (1)"
    assert [request.error for request in result.requests] == [None] * 8


async def test_training_comes_before_an_open_loop_and_is_not_paced_by_it(probe, engine):
    arrivals = Arrivals(40.0, ArrivalKind.CONSTANT)
    result = await probe(arrivals=arrivals, training=training())
    assert result.void == ()
    trained = sent_of(engine, training().prompts)
    assert set(trained[4:7]) == {0, 1, 2}
    assert set(trained[:4] + trained[7:]) == {None}
    assert [request.due_s for request in result.requests] == list(arrivals.due_s(8))


async def test_a_training_prompt_that_is_measured_is_refused_before_anything_is_sent(probe, engine):
    with pytest.raises(UsageError, match="a training prompt is also measured: 'Seventeen one"):
        await probe(training=training(("Far away", "Seventeen")))
    assert engine.asked == []
