"""What the GPUs of practice hosts show: what processes do, and what each kind of host is."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from specctl.lab.activity import Activity, clear_activity, write_activity
from specctl.lab.smi import answer
from tests.lab.practice import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.lab.practice import Practice

GIB = 1 << 30


@contextmanager
def running(practice: Practice) -> Iterator[subprocess.Popen[bytes]]:
    """A process on lab-1, ended with the block; its activity is forgotten."""
    process = practice.on_host("exec sleep 300")
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        clear_activity(practice.host(), process.pid)


async def test_gpus_follow_what_a_process_does(practice):
    with running(practice) as process:
        busy = [
            Activity(gpu, 40 * GIB, 0.9, pcie_rx_bytes_per_s=2e9, pcie_tx_bytes_per_s=1e9)
            for gpu in (0, 1)
        ]
        write_activity(practice.host(), process.pid, busy)
        state = await practice.look()
        assert state.sample is not None
        first, third = state.sample.gpus[0], state.sample.gpus[2]
        assert first.memory_used_bytes == 40 * GIB
        assert (first.utilization_percent, first.memory_utilization_percent) == (90, 45)
        assert first.power_w == pytest.approx(34 + 0.9 * (420 - 34), abs=1)
        assert (first.sm_clock_mhz, first.pcie_generation) == (2422, 5)
        assert first.throttle == ()
        assert first.pcie_rx_bytes_per_s == pytest.approx(2e9, rel=0.3)
        assert [p.pid for p in first.processes or ()] == [process.pid]
        assert (third.utilization_percent, third.memory_used_bytes, third.power_w) == (0, 0, 34)


async def test_a_dead_process_holds_no_memory(practice):
    with running(practice) as process:
        write_activity(practice.host(), process.pid, [Activity(0, 40 * GIB, 1.0)])
        process.send_signal(signal.SIGKILL)
        process.wait()
        state = await practice.look()
        assert state.sample is not None
        assert state.sample.gpus[0].memory_used_bytes == 0
        assert state.sample.gpus[0].processes == ()


async def test_work_ends_by_itself_and_memory_stays(practice):
    with running(practice) as process:
        write_activity(practice.host(), process.pid, [Activity(0, GIB, 1.0)], busy_for_s=0.0)
        state = await practice.look()
        assert state.sample is not None
        gpu = state.sample.gpus[0]
        assert (gpu.utilization_percent, gpu.memory_used_bytes) == (0, GIB)


async def test_power_stops_at_the_limit_and_the_reason_is_given(practice):
    with running(practice) as process:
        write_activity(practice.host(), process.pid, [Activity(0, GIB, 1.0, watts=900.0)])
        state = await practice.look()
        assert state.sample is not None
        gpu = state.sample.gpus[0]
        assert gpu.power_w == 600
        assert len(gpu.throttle or ()) == 1
        assert "power" in (gpu.throttle or ("",))[0]


def test_a_process_that_is_none_cannot_use_a_gpu(practice):
    with running(practice) as process:
        pass
    with pytest.raises(ProcessLookupError):
        write_activity(practice.host(), process.pid, [Activity(0, GIB)])


async def test_nvidia_smi_says_the_same_as_nvml(practice):
    with running(practice) as process:
        busy = [Activity(0, 3 * GIB, 0.5, memory_busy=0.25), Activity(3, GIB, 1.0, watts=950.0)]
        write_activity(practice.host(), process.pid, busy)
        query = "utilization.gpu,utilization.memory,memory.used,power.draw,clocks.sm,pstate"
        state = await practice.look()
        assert state.sample is not None
        status, lines = answer(practice.host(), [f"--query-gpu={query}"])
        assert status == 0
        for gpu, line in zip(state.sample.gpus, lines, strict=True):
            assert line.split(", ") == [
                f"{gpu.utilization_percent:.0f}",
                f"{gpu.memory_utilization_percent:.0f}",
                f"{(gpu.memory_used_bytes or 0) >> 20}",
                f"{gpu.power_w:.2f}",
                f"{gpu.sm_clock_mhz:.0f}",
                f"P{gpu.performance_state}",
            ]
        assert (
            len(answer(practice.host(), ["--query-compute-apps=gpu_uuid,pid,used_memory"])[1]) == 2
        )


# ------------------------------------------------------------------ the kinds of host


async def test_eight_h100_with_nvlink(home):
    home.up("--scenario", "nvlink-8")
    with running(home) as process:
        busy = [Activity(0, GIB, 1.0, nvlink_rx_bytes_per_s=5e9, nvlink_tx_bytes_per_s=5e9)]
        write_activity(home.host(), process.pid, busy)
        state = await home.look()
        assert state.sample is not None
        gpu = state.sample.gpus[0]
        assert (len(state.sample.gpus), gpu.name) == (8, "NVIDIA H100 80GB HBM3")
        assert gpu.nvlink_rx_bytes_per_s == pytest.approx(5e9, rel=0.3)


async def test_a_gb10_has_no_memory_of_its_own(home):
    home.up("--scenario", "gb10")
    state = await home.look()
    assert state.sample is not None
    (gpu,) = state.sample.gpus
    assert gpu.memory_scheme == "unified"
    assert gpu.memory_total_bytes == state.sample.host.memory_total_bytes
    assert "NVIDIA GB10" in home.run("status", "lab-1").out


async def test_instances_of_a_mig_host_are_rows_with_the_memory_of_their_process(home):
    home.up("--scenario", "mig")
    with running(home) as process:
        write_activity(home.host(), process.pid, [Activity(0, 7 * GIB, mig=2)])
        state = await home.look()
        assert state.sample is not None
        (gpu,) = state.sample.gpus
        assert gpu.memory_used_bytes == 7 * GIB
        assert [mig.memory_used_bytes for mig in gpu.mig_devices] == [0, 7 * GIB]
        assert gpu.utilization_percent is None


def test_a_lost_gpu_is_lost_and_costs_the_others_nothing(home):
    home.up("--scenario", "lost-gpu")
    out = home.run("status", "lab-1").out
    assert "GPU 3" in out
    assert "lost" in out
    rows = [line.split()[0] for line in out.splitlines() if line[:3].strip().isdigit()]
    assert len(rows) >= 7
    assert home.run("doctor", "lab-1").status == 2


def test_without_a_driver_there_are_no_readings_and_a_reason(home):
    home.up("--scenario", "no-driver")
    assert "driver is not loaded" in home.run("status", "lab-1").out
    doctored = home.run("doctor", "lab-1")
    assert doctored.status in {1, 2}
    assert "driver" in doctored.out


def test_nvidia_smi_topo_tells_the_interconnect(practice):
    status, lines = answer(practice.host(), ["topo", "-m"])
    assert status == 0
    assert lines[1].split() == ["GPU0", "X", "PHB", "PHB", "PHB", "SYS", "SYS", "SYS", "SYS"]


def test_the_processes_of_another_lab_host_are_not_to_be_seen(practice):
    shell = practice.on_host("ps -e -o args", "lab-2")
    with running(practice):
        wait_for(lambda: shell.poll() is not None)
        told = shell.communicate()[0].decode()
    assert "ps -e -o args" in told
    assert "sleep 300" not in told
    assert "pytest" not in told


def test_a_practice_server_is_none_of_the_machine_it_runs_on(practice, tmp_path):
    (tmp_path / "remotes").mkdir()
    (tmp_path / "remotes/here.toml").write_text('transport = "local"\n')
    server = practice.on_host("exec -a sglang::launch_server sleep 300")
    try:
        seen = practice.run("-C", str(tmp_path), "status", "here", "--json")
        assert seen.status == 0, seen.err
        servers = json.loads(seen.out)["hosts"]["here"]["servers"]
        assert server.pid not in [pid for found in servers for pid in found["pids"]]
    finally:
        server.kill()
        server.communicate()
