from __future__ import annotations

import psutil
import pytest

from specctl.agent import proc
from specctl.agent.host_sample import (
    HostReader,
    ProcSource,
    PsutilSource,
    total_traffic,
)

FIELDS = {
    "cpu_percent",
    "cpu_count",
    "load_1min",
    "memory_total_bytes",
    "memory_available_bytes",
    "swap_used_bytes",
    "shm_total_bytes",
    "shm_free_bytes",
    "disk_total_bytes",
    "disk_free_bytes",
    "network_rx_bytes",
    "network_tx_bytes",
    "uptime_s",
    "missing",
}


@pytest.mark.parametrize("source", [ProcSource(), PsutilSource(psutil)], ids=["proc", "psutil"])
def test_both_sources_give_every_field(source, tmp_path):
    reader = HostReader(str(tmp_path), source)
    first = reader.read()
    assert set(first) == FIELDS
    assert first["cpu_percent"] is None
    assert first["missing"] == {"cpu_percent": ["not yet read", "needs two readings"]}
    second = reader.read()
    while second["cpu_percent"] is None:
        second = reader.read()
    assert 0 <= second["cpu_percent"] <= 100
    assert second["missing"] == {}


def test_psutil_and_proc_agree():
    ours, theirs = ProcSource(), PsutilSource(psutil)
    assert ours.memory().total == theirs.memory().total
    assert ours.memory().available == pytest.approx(theirs.memory().available, rel=0.05)
    assert ours.memory().swap_used == pytest.approx(theirs.memory().swap_used, abs=64 << 20)
    ticks = 100
    busy, total = ours.cpu()
    assert (busy / ticks, total / ticks) == pytest.approx(theirs.cpu(), rel=0.01, abs=1)
    ours_network, theirs_network = ours.network(), theirs.network()
    assert ours_network.keys() == theirs_network.keys()
    for name, counts in ours_network.items():
        assert counts == pytest.approx(theirs_network[name], abs=10 << 20)


def test_one_reading_that_fails_leaves_the_others(tmp_path):
    class NoMemory(ProcSource):
        def memory(self):
            raise OSError("gone")

    row = HostReader(str(tmp_path), NoMemory()).read()
    assert row["memory_total_bytes"] is None
    assert row["missing"]["memory_total_bytes"] == ["error", "OSError: gone"]
    assert row["cpu_count"] > 0


def test_traffic_of_a_container_leaves_out_the_loopback():
    assert total_traffic({"lo": (5, 5), "eth999": (3, 4)}) == (3, 4)


def test_traffic_counts_real_interfaces_once(monkeypatch):
    real = {"/sys/class/net/eno1/device"}
    monkeypatch.setattr("os.path.exists", lambda path: path in real)
    rows = {"lo": (9, 9), "eno1": (3, 4), "docker0": (3, 4), "bond0": (3, 4)}
    assert total_traffic(rows) == (3, 4)


def test_cpu_is_the_busy_share_between_two_readings(tmp_path, monkeypatch):
    lines = iter(["cpu  10 0 0 90 0 0 0 0 0 0", "cpu  40 0 0 160 0 0 0 0 0 0"])
    real = proc.read_text

    def read(path):
        return next(lines) + "\n" if path == "/proc/stat" else real(path)

    monkeypatch.setattr(proc, "read_text", read)
    reader = HostReader(str(tmp_path), ProcSource())
    assert reader.read()["cpu_percent"] is None
    assert reader.read()["cpu_percent"] == 30.0
