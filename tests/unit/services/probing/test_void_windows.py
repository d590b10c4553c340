"""What makes a window void."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from specctl.domain.errors import RefusedError, RemoteFailedError
from specctl.domain.probe import VoidKind
from specctl.domain.probe_rows import probe_rows
from tests.unit.services.probing.workloads import workload


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


async def test_requests_that_the_server_took_back_void_the_window(probe, engine):
    engine.retractions = 1
    result = await probe()
    assert "16 of 16 requests were retried by the server" in result.void[0]
    assert result.void_kinds == (VoidKind.ARM,)


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
