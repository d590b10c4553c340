"""Stops, to the proof that nothing is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from specctl.domain.errors import RefusedError
from specctl.domain.events import PlanProgressed
from specctl.domain.preflight import StartOptions
from specctl.services.ending import StopTimes
from specctl.services.host_reading import read_host
from specctl.services.launch import plan_launch


async def test_requests_are_waited_for_then_aborted_then_it_is_gone(start, stop, profile, port):
    outcome = await start(profile)
    httpx.post(f"http://127.0.0.1:{port}/generate", json={})
    ended = await stop(outcome.server)
    assert ended.succeeded, ended
    log = Path(outcome.log_path).read_text()
    assert log.index("SIGTERM received") < log.index("told /abort_request")
    assert "asked /health" not in log


async def test_stubborn_server_ends_by_sigkill_to_its_group(start, stop, profile, events):
    stubborn = replace(profile, environment={"FAKE_STUBBORN": "1", "FAKE_ORPHANS": "1"})
    outcome = await start(stubborn)
    ended = await stop(outcome.server)
    assert ended.succeeded, ended
    assert any("SIGKILL sent to" in e.words for e in events if isinstance(e, PlanProgressed))


async def test_a15_after_a_sigkill_a_soak_is_offered_and_never_run(
    start, stop, profile, connection, secrets, clock
):
    first = await start(replace(profile, environment={"FAKE_STUBBORN": "1"}))
    assert (await stop(first.server)).succeeded
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    (soak,) = [check for check in plan.warnings if check.name == "soak"]
    assert "may look healthy and stall after about 100 requests" in soak.words
    again = await start(profile)
    assert again.succeeded
    assert again.notes == (soak.next_step,)
    assert "told /generate" not in Path(again.log_path).read_text()


async def test_a16_orphans_of_a_killed_launcher_are_found_and_ended(
    start, stop, profile, connection
):
    outcome = await start(replace(profile, environment={"FAKE_ORPHANS": "1"}))
    record = json.loads((Path(outcome.log_path).parent / "launch.json").read_text())
    os.kill(record["identity"]["pid"], signal.SIGKILL)
    await asyncio.sleep(0.3)
    server = (await read_host(connection)).server(outcome.server)
    assert len(server.pids) == 2
    ended = await stop(outcome.server)
    assert ended.succeeded, ended
    assert ended.words.startswith("Gone: 2 of 2 processes")


async def test_a16_orphans_of_another_launcher_need_their_pid_and_no_patience(
    connection, stop, python, model, port, tmp_path
):
    argv = [python, "-m", "sglang.launch_server", "--model-path", model, "--port", str(port)]
    with (tmp_path / "by-hand.log").open("w") as log:
        process = subprocess.Popen(argv, stderr=log, env={"FAKE_ORPHANS": "1"}, process_group=0)
    while "fired up" not in (tmp_path / "by-hand.log").read_text():
        await asyncio.sleep(0.05)
    process.kill()
    process.wait()
    reading = await read_host(connection)
    (server,) = [s for s in reading.servers if s.identity and s.identity.pgid == process.pid]
    assert "2 of its processes live on" in server.why
    with pytest.raises(RefusedError, match="was not adopted"):
        await stop(server.name, times=StopTimes())
    assert server.identity is not None
    ended = await stop(server.name, times=StopTimes(), pid=server.identity.pid)
    assert ended.succeeded, ended
    assert ended.words.startswith("Gone: 2 of 2 processes")
    assert ended.elapsed_s is not None
    assert ended.elapsed_s < StopTimes().grace_s
