"""GPUs in plans and proofs, through the NVML stand-in, with real processes as their holders."""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from specctl.domain.plan import Level
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Placement
from specctl.facts import preflight as facts
from specctl.services import host_reading
from specctl.services.ending import StopTimes
from specctl.services.fleet import open_host
from specctl.services.host_reading import read_host
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.stop import StopOptions, plan_stop, stop_server
from tests.fake_nvml import environment, write_scenario

GIB = 1024**3
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
A, B = 2 * WORKER, 2 * WORKER + 1
"""GPUs of this worker's own: every server of this machine is seen by every test."""

CARD = "name = Card\nmem.total = 80G\nmem.reserved = 1G\nmem.used = 2G\n"
NOBODY = 65534


def scenario(*holders, system=""):
    """`holders` are (gpu, pid, GiB)."""
    text = f"gpus = {B + 1}\ndriver_version = 570.211\n{system}\n[gpu]\n{CARD}"
    for gpu in range(B + 1):
        text += f"[gpu {gpu}]\nuuid = GPU-{gpu}\n"
        mine = [(pid, size) for index, pid, size in holders if index == gpu]
        text += "".join(f"proc.{n} = {pid} C {size}G\n" for n, (pid, size) in enumerate(mine))
    return text


@pytest.fixture
def gpus(tmp_path, monkeypatch):
    """Rewrites who holds which GPU, seen at once by whoever runs."""
    path = tmp_path / "gpus.ini"
    write_scenario(path, scenario())
    for name, value in environment(path).items():
        monkeypatch.setenv(name, value)
    # The stand-in names this machine's own pids, also where the tests run in a container.
    monkeypatch.setattr(facts, "HOST_PID_NAMESPACE", os.readlink("/proc/self/ns/pid"))
    return lambda *holders, **named: write_scenario(path, scenario(*holders, **named))


@pytest.fixture
async def connection(host, gpus):
    opened = await open_host(replace(host, gpus=None))
    yield opened
    await opened.agent.close()
    await opened.session.close()


@pytest.fixture
def profile(profile, port):
    return replace(profile, arguments={"tp-size": 2}, placement=Placement((A, B), port))


@pytest.fixture
def stranger():
    """Another user's process."""
    process = subprocess.Popen(
        ["setpriv", f"--reuid={NOBODY}", "--regid=65534", "--clear-groups", "sleep", "300"]
    )
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
async def launched(connection, profile, secrets, store, clock):
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    assert not plan.is_refused, plan.refusals
    assert plan.gpus == (A, B)
    outcome = await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)
    assert outcome.succeeded, outcome
    assert outcome.server is not None
    return (await read_host(connection)).server(outcome.server)


@pytest.fixture
def stop(connection, store, clock):
    async def stop_named(name, times=None):
        plan = await plan_stop(connection, name, StopOptions(), clock=clock)
        return await stop_server(connection, plan, store=store, clock=clock, times=times)

    return stop_named


def schedulers(server):
    return [pid for pid in server.pids if pid != server.identity.pid]


async def test_memory_is_part_of_the_proof_and_a_neighbour_is_not(launched, stop, gpus, stranger):
    first, second = schedulers(launched)
    gpus((A, first, 50), (B, second, 60), (A, stranger, 7))
    ending = asyncio.ensure_future(stop(launched.name))
    while any(Path(f"/proc/{pid}").exists() for pid in (first, second)):
        await asyncio.sleep(0.02)
    gpus((A, stranger, 7))
    outcome = await ending
    assert outcome.succeeded, outcome
    assert "3 of 3 processes" in outcome.words
    assert "110 GiB of GPU memory" in outcome.words
    assert outcome.proofs[0].memory_freed_bytes == 110 * GIB


async def test_memory_released_5_s_late_is_waited_for(launched, stop, gpus):
    first, second = schedulers(launched)
    gpus((A, first, 50), (B, second, 60))
    ending = asyncio.ensure_future(stop(launched.name))
    while any(Path(f"/proc/{pid}").exists() for pid in (first, second)):
        await asyncio.sleep(0.02)
    await asyncio.sleep(5)
    assert not ending.done()
    gpus()
    outcome = await ending
    assert outcome.succeeded, outcome
    assert (outcome.elapsed_s or 0) >= 5
    assert "110 GiB of GPU memory" in outcome.words


async def test_memory_that_is_never_released_is_no_proof(launched, stop, gpus):
    first, second = schedulers(launched)
    gpus((A, first, 50), (B, second, 60))
    outcome = await stop(launched.name, StopTimes(proof_s=1))
    assert not outcome.succeeded
    assert f"pid {first} has ended, 50.0 GiB of GPU {A} is not yet released" in outcome.words


async def test_reused_pid_on_the_gpu_is_somebody_else(launched, stop, gpus, stranger):
    first, second = schedulers(launched)
    gpus((A, first, 50), (B, second, 60))
    ending = asyncio.ensure_future(stop(launched.name))
    while any(Path(f"/proc/{pid}").exists() for pid in (first, second)):
        await asyncio.sleep(0.02)
    gpus((A, stranger, 50))
    assert (await ending).succeeded


async def test_e05_plan_refuses_gpus_of_another_user(
    connection, profile, secrets, clock, gpus, stranger
):
    gpus((B, stranger, 39))
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    (refusal,) = plan.refusals
    assert refusal.name == "gpus"
    assert f"GPU {B}: pid {stranger} sleep (nobody) holds 39.0 GiB" in refusal.words
    single = replace(profile, arguments={"tp-size": 1})
    free = StartOptions(gpus=(A,))
    plan = await plan_launch(connection, single, free, secrets=secrets, clock=clock)
    assert not plan.is_refused


async def test_e05_a_server_on_the_cpu_is_stopped_by_identity_and_nobody_else_is(
    connection, profile, secrets, store, clock, stop, gpus, stranger
):
    """No GPU process is the server's; the one that is there is another user's."""
    on_cpu = replace(
        profile, arguments={"device": "cpu"}, placement=Placement(port=profile.placement.port)
    )
    plan = await plan_launch(connection, on_cpu, StartOptions(), secrets=secrets, clock=clock)
    started = await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)
    assert started.succeeded, started
    gpus((A, stranger, 40))
    assert started.server is not None
    server = (await read_host(connection)).server(started.server)
    assert server.gpus == ()
    assert stranger not in server.pids
    outcome = await stop(started.server)
    assert outcome.succeeded, outcome
    assert outcome.words.startswith(f"Gone: {len(server.pids)} of {len(server.pids)} processes")
    assert Path(f"/proc/{stranger}").exists()
    assert not any(Path(f"/proc/{pid}").exists() for pid in server.pids)


async def test_own_server_is_in_the_way_until_replaced(
    connection, profile, launched, secrets, clock, gpus
):
    first, second = schedulers(launched)
    gpus((A, first, 50), (B, second, 60))
    changed = replace(profile, arguments={"tp-size": 2, "max-running-requests": 4})
    plan = await plan_launch(connection, changed, StartOptions(), secrets=secrets, clock=clock)
    assert {check.name for check in plan.refusals} == {"gpus", "ports"}
    assert "--replace" in next(c for c in plan.refusals if c.name == "gpus").next_step
    replacing = StartOptions(replace=True)
    plan = await plan_launch(connection, changed, replacing, secrets=secrets, clock=clock)
    assert not plan.is_refused, plan.refusals
    assert [server.name for server in plan.stops] == [launched.name]


async def test_driver_that_hangs_keeps_nobody_from_stopping(launched, stop, gpus, monkeypatch):
    first, _ = schedulers(launched)
    monkeypatch.setattr(host_reading, "SAMPLE_S", 0.5)
    gpus((A, first, 50), system="delay_us.* = 30000000")
    outcome = await stop(launched.name)
    assert outcome.succeeded, outcome
    assert "3 of 3 processes" in outcome.words
    assert "GPU memory" not in outcome.words


async def test_b04_driver_mismatch_refuses_a_new_launch(host, profile, secrets, clock, gpus):
    gpus(system="error.nvmlInit = LIB_RM_VERSION_MISMATCH")
    opened = await open_host(replace(host, gpus=None))
    try:
        plan = await plan_launch(opened, profile, StartOptions(), secrets=secrets, clock=clock)
    finally:
        await opened.agent.close()
        await opened.session.close()
    driver = next(check for check in plan.checks if check.name == "driver")
    assert driver.level is Level.REFUSE
    assert "running servers are not affected" in driver.words
    assert "new ones will fail" in driver.words
