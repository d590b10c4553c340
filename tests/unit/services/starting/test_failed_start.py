"""Starts that fail, and what is said of the first cause."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from dataclasses import replace

import pytest

from specctl.domain.errors import DeadlineError, RefusedError
from specctl.domain.events import LogRead, PlanProgressed, ServersSeen
from specctl.domain.preflight import StartOptions
from specctl.domain.server import Server, ServerState
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.locks import hold_locks
from specctl.services.measured_server import NO_KEYS
from specctl.services.watching import HostWatch


async def test_a20_exit_0_without_a_stop_is_a_crash_with_its_first_cause(start, profile, events):
    failing = replace(
        profile, environment={"FAKE_FAIL": "torch.OutOfMemoryError: CUDA out of memory. Tried to"}
    )
    outcome = await start(failing)
    assert not outcome.succeeded
    assert outcome.exit_status == 0
    assert outcome.cause is not None
    assert "OutOfMemoryError" in outcome.cause.line or "memory" in outcome.cause.summary.lower()
    assert any("OutOfMemoryError" in line for line in outcome.log_excerpt)
    assert sum("Received sigquit" in line for line in outcome.log_excerpt) == 1
    assert any("times more" in line for line in outcome.log_excerpt)
    last = [e for e in events if isinstance(e, PlanProgressed)][-1]
    assert (last.status, last.is_last) == ("failed", True)


async def test_taken_port_is_refused_before_and_told_when_it_comes_between(
    start, profile, connection, secrets, clock, store, port
):
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        late = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
        assert [check.name for check in late.refusals] == ["ports"]
        assert f"pid {os.getpid()}" in late.refusals[0].words
        assert "--port" in late.refusals[0].next_step
        with pytest.raises(RefusedError, match="since the plan was made"):
            await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)


async def test_survivors_of_a_failed_start_are_named(start, profile):
    failing = {"FAKE_FAIL": "torch.OutOfMemoryError: CUDA out of memory.", "FAKE_ORPHANS": "1"}
    outcome = await start(replace(profile, environment=failing))
    assert not outcome.succeeded
    assert "2 of its processes live on" in outcome.notes[0]
    assert f"specctl stop here/{outcome.server}" in outcome.notes[0]


async def test_held_lock_names_its_holder(connection, profile, secrets, clock, store, port):
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    async with hold_locks(connection, plan.lock_keys, "specctl start other"):
        with pytest.raises(RefusedError, match=rf"port-{port} is locked by .*specctl start other"):
            await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)
        late = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
        assert "lock" in [check.name for check in late.refusals]
    outcome = await apply_launch(
        connection, plan, secrets=secrets, store=store, clock=clock, wait=False
    )
    assert outcome.succeeded


async def test_e02_a_server_is_looked_for_on_the_last_port_of_its_command_line(
    connection, store, clock, python, model, port, tmp_path
):
    words = ["--port", "1", "--model-path", model, "--device", "cpu", "--port", str(port)]
    argv = [python, "-m", "sglang.launch_server", *words]
    with (tmp_path / "by-hand.log").open("w") as log:
        process = subprocess.Popen(argv, stderr=log, env={"FAKE_CHILDREN": "0"})
    ready = asyncio.Event()

    def hear(event, state):
        found = [s for s in state.host("here").servers or () if s.port == port]
        if found and found[0].evidence.http == "200" and found[0].state is ServerState.READY:
            ready.set()

    store.subscribe(hear)
    watch = HostWatch(
        connection, store, clock, interval_s=0.2, keys=lambda *_: NO_KEYS,
        ready_timeout_s=lambda _: None,
    )  # fmt: skip
    watching = asyncio.ensure_future(watch.run())
    try:
        async with asyncio.timeout(20):
            await ready.wait()
    finally:
        watching.cancel()
        process.kill()
        process.wait()


async def test_a18_the_first_word_on_a_crashed_server_is_its_first_cause(
    start, profile, connection, store, clock
):
    fails = {"FAKE_FAIL": "torch.OutOfMemoryError: CUDA out of memory."}
    outcome = await start(replace(profile, environment=fails))
    assert not outcome.succeeded
    seen: list[Server] = []
    looked = asyncio.Event()

    def hear(event, state):
        if isinstance(event, ServersSeen):
            seen.extend(server for server in event.servers if server.name == outcome.server)
            looked.set()

    store.subscribe(hear)
    watch = HostWatch(
        connection, store, clock, interval_s=0.2, keys=lambda *_: NO_KEYS,
        ready_timeout_s=lambda _: None,
    )  # fmt: skip
    watching = asyncio.ensure_future(watch.run())
    try:
        async with asyncio.timeout(20):
            await looked.wait()
    finally:
        watching.cancel()
    assert (seen[0].state, seen[0].why) == (ServerState.CRASHED, outcome.words)


async def test_e02_start_that_is_never_ready_has_a_deadline(start, profile):
    slow = replace(profile, environment={"FAKE_LOAD_S": "30"}, ready_timeout_s=1.5)
    with pytest.raises(DeadlineError, match="it goes on loading"):
        await start(slow)


async def test_port_taken_while_it_loads_is_told_although_it_hangs(start, profile, store, port):
    taken: list[socket.socket] = []

    def take(event, state):
        if isinstance(event, LogRead) and not taken and "Load weight" in str(event.lines):
            taken.append(socket.socket())
            taken[0].bind(("127.0.0.1", port))
            taken[0].listen()

    store.subscribe(take)
    outcome = await start(replace(profile, environment={"FAKE_LOAD_S": "2"}))
    taken[0].close()
    assert not outcome.succeeded
    assert outcome.exit_status is None
    assert outcome.hint.startswith("It hangs. specctl stop here/")
    assert "3 of its processes live on" in outcome.notes[0]
