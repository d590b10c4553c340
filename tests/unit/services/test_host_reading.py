"""A look at a host whose only source of GPU readings is slow to answer."""

from __future__ import annotations

import os

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.missing import Why
from specctl.domain.sample import HostSample, Sample
from specctl.domain.server import Server, ServerState
from specctl.services import host_reading
from specctl.services.fleet import open_host
from specctl.services.host_reading import HostReading, read_gpus

WORDS = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


def put_nvidia_smi(folder, monkeypatch, pause_s):
    """First in the PATH, and failing after `pause_s`."""
    path = folder / "nvidia-smi"
    path.write_text(f'#!/bin/sh\nsleep {pause_s}\necho "{WORDS}"\nexit 9\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


async def read(host):
    connection = await open_host(host)
    try:
        return await read_gpus(connection)
    finally:
        await connection.agent.close()
        await connection.session.close()


async def test_the_reason_for_no_gpu_is_waited_for(host, tmp_path, monkeypatch):
    put_nvidia_smi(tmp_path, monkeypatch, 1.3)
    sample = await read(host)
    assert sample.gpu_missing is not None
    assert sample.gpu_missing.why is not Why.NOT_YET


async def test_a_driver_that_does_not_answer_is_not_waited_for_any_longer(
    host, tmp_path, monkeypatch
):
    put_nvidia_smi(tmp_path, monkeypatch, 60)
    monkeypatch.setattr(host_reading, "SAMPLE_S", 1.5)
    sample = await read(host)
    assert sample.gpu_missing is not None
    assert sample.gpu_missing.why is Why.TIMED_OUT


def reading_of(*launch_ids):
    servers = tuple(
        Server(launch_id, ServerState.READY, None, is_ours=True, launch_id=launch_id, pids=(1,))
        for launch_id in launch_ids
    )
    return HostReading(Sample(0.0, HostSample(), (), None), (), (), servers)


def test_the_beginning_of_a_launch_id_names_a_server():
    assert reading_of("7c1e0001", "8a000001").server("7c1e").launch_id == "7c1e0001"
    with pytest.raises(UsageError, match="may be any of 7c1e0001, 7c1e0002"):
        reading_of("7c1e0001", "7c1e0002").server("7c1e")
    with pytest.raises(UsageError, match="no server called 7c runs"):
        reading_of("7c1e0001").server("7c")
