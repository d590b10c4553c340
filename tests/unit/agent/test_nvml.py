from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pynvml
import pytest

from specctl.agent.nvml import Seat
from specctl.agent.nvml_errors import FUNCTION_NOT_FOUND, code_of, reason
from tests.fake_nvml import SCENARIOS, environment, write_scenario
from tests.unit.agent.running import RunningAgent

MIB, GIB = 1 << 20, 1 << 30
TICK_S = 0.1

ONE_GPU = """gpus = 1
driver_version = 570.1
[gpu]
name = NVIDIA H100
uuid = GPU-a
mem.total = 80G
mem.used = 10G
util.gpu = 50
util.mem = 7
power.usage_mw = 123456
power.limit_mw = 700000
temp.gpu = 50
throttle = 0
persistence = 1
"""


class Watched:
    """An agent that samples a scenario."""

    def __init__(self, scenario, *, enter=(), **options):
        env = environment(scenario, **options)
        self.agent = RunningAgent(env=env, enter=enter)
        self.stream = self.agent.send("sample", interval_s=TICK_S, slow_every=3)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.agent.__exit__()

    def next(self):
        return self.agent.item(self.stream)

    def until(self, accept):
        return self.agent.until(self.stream, accept)

    def ready(self):
        """The first item in which NVML has been asked."""
        return self.until(lambda item: (item["gpu_missing"] or [""])[0] != "not yet read")


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "scenario.ini"
    path.write_text(ONE_GPU)
    return path


def test_every_field_of_a_large_gpu():
    with Watched("h100x8") as watched:
        item = watched.ready()
    assert (item["gpu_source"], item["driver"], len(item["gpus"])) == ("nvml", "570.124.06", 8)
    gpu = item["gpus"][3]
    values = gpu["v"]
    assert gpu["missing"] == {}
    assert gpu["uuid"] == "GPU-03aaaaaa-1111-2222-3333-444444444403"
    assert values["memory_total_bytes"] == 80 * GIB
    assert (values["memory_used_bytes"], values["memory_scheme"]) == (61 * GIB, "v2")
    assert values["memory_reserved_bytes"] == 567 * MIB
    assert (values["power_limit_w"], values["memory_temperature_c"]) == (700.0, 71)
    assert 300 < values["power_w"] < 700
    assert (values["sm_clock_mhz"], values["sm_clock_max_mhz"]) == (1980, 1980)
    assert values["throttle_mask"] == 4
    assert (values["pcie_generation"], values["pcie_width"]) == (5, 16)
    assert (values["ecc_corrected"], values["persistence"], values["mig"]) == (0, True, False)
    assert gpu["processes"][0]["memory_bytes"] == 60 * GIB
    assert item["cost_ms"] > 0


def test_the_blocking_call_is_never_made_and_the_tiers_hold(tmp_path):
    trace = tmp_path / "trace"
    ticks = 7
    with Watched("h100x8", trace=trace) as watched:
        for _ in range(ticks):
            watched.next()
    calls = Counter(
        line.split()[1] for line in trace.read_text().splitlines() if line.split()[2] == "0"
    )
    assert calls["nvmlDeviceGetPcieThroughput"] == 0
    assert calls["nvmlDeviceGetUtilizationRates"] in (ticks, ticks + 1)
    slow = calls["nvmlDeviceGetComputeRunningProcesses_v3"]
    assert slow == calls["nvmlDeviceGetTotalEccErrors"] / 2
    assert slow in (3, 4)
    assert calls["nvmlDeviceGetMaxClockInfo"] == 1
    per_tick = calls["nvmlDeviceGetFieldValues"] - 1  # one more counts the links
    assert per_tick == calls["nvmlDeviceGetUtilizationRates"]


@pytest.mark.parametrize(
    ("error", "field", "reason"),
    [
        ("nvmlDeviceGetUtilizationRates = NO_PERMISSION", "utilization_percent", "no permission"),
        ("nvmlDeviceGetEnforcedPowerLimit = NOT_SUPPORTED", "power_limit_w", "not supported"),
        ("nvmlDeviceGetTotalEccErrors = RESET_REQUIRED", "ecc_corrected", "error"),
        ("nvmlDeviceGetMemoryInfo_v2 = 999", "memory_total_bytes", None),
        ("nvmlDeviceGetComputeRunningProcesses_v3 = NO_PERMISSION", "processes", "no permission"),
        ("nvmlDeviceGetFieldValues = NOT_SUPPORTED", "energy_j", "not supported"),
    ],
)
def test_a_field_that_fails_spoils_no_other(scenario, error, field, reason):
    scenario.write_text(f"{ONE_GPU}error.{error}\n")
    with Watched(scenario) as watched:
        gpu = watched.ready()["gpus"][0]
    assert gpu["missing"].get(field, [None])[0] == reason
    assert gpu["v"]["temperature_c"] == 50.0
    assert gpu["v"]["power_w"] == 123.456, "the older power call stands in for the batch"


def test_b01_a_gpu_without_own_memory_stays_with_its_reason():
    with Watched("gb10") as watched:
        gpu = watched.ready()["gpus"][0]
    assert gpu["name"] == "NVIDIA GB10"
    assert gpu["missing"]["memory_total_bytes"][0] == "not supported"
    assert gpu["processes"][0]["memory_bytes"] == 91418 * MIB


def test_b07_mig_instances_are_children_with_their_own_memory():
    with Watched("mig") as watched:
        gpu = watched.ready()["gpus"][0]
    assert gpu["v"]["mig"] is True
    assert gpu["missing"]["utilization_percent"][0] == "not supported"
    assert [(d["uuid"][-1], d["memory_total_bytes"]) for d in gpu["mig_devices"]] == [
        ("1", 40192 * MIB),
        ("2", 19968 * MIB),
    ]


def test_b07_a_vgpu_has_its_slice_and_no_temperature():
    with Watched("vgpu") as watched:
        gpu = watched.ready()["gpus"][0]
    assert gpu["v"]["memory_total_bytes"] == 8192 * MIB
    assert gpu["missing"]["temperature_c"][0] == "not supported"
    assert gpu["missing"]["power_w"][0] == "not supported"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [("mismatch", 18, "versions differ"), ("nodriver", 9, "not loaded")],
)
def test_b04_a_driver_that_cannot_be_asked_is_no_host_without_gpus(name, code, words):
    with Watched(name) as watched:
        item = watched.ready()
    assert (item["gpus"], item["gpu_source"]) == ([], None)
    assert item["gpu_missing"][0] == "error"
    assert words in item["gpu_missing"][1]
    assert item["gpu_error"]["code"] == code
    assert item["host"]["memory_total_bytes"] > 0


def test_a_host_without_gpus_is_not_an_error():
    with Watched("empty") as watched:
        item = watched.ready()
    assert (item["gpus"], item["gpu_source"], item["gpu_missing"]) == ([], "nvml", None)


def test_a_gpu_lost_from_the_start_keeps_its_place():
    with Watched("lost") as watched:
        gpus = watched.ready()["gpus"]
    assert [gpu["lost"] for gpu in gpus] == [False, True, False]
    assert gpus[1]["missing"]["*"][0] == "lost"


def test_a_gpu_lost_mid_run_keeps_its_name_and_comes_back(scenario):
    with Watched(scenario) as watched:
        watched.ready()
        write_scenario(scenario, ONE_GPU + "error.* = GPU_IS_LOST\n")
        lost = watched.until(lambda item: item["gpus"][0]["lost"])["gpus"][0]
        assert (lost["uuid"], lost["v"], lost["processes"]) == ("GPU-a", {}, None)
        write_scenario(scenario, ONE_GPU)
        back = watched.until(lambda item: not item["gpus"][0]["lost"])["gpus"][0]
    assert back["v"]["temperature_c"] == 50.0


def test_a_reloaded_driver_is_opened_again(scenario):
    with Watched(scenario) as watched:
        watched.ready()
        write_scenario(scenario, ONE_GPU + "error.* = UNINITIALIZED\n")
        gone = watched.until(lambda item: item["gpu_missing"])
        assert gone["gpu_missing"][0] == "error"
        write_scenario(scenario, ONE_GPU.replace("570.1", "580.2"))
        back = watched.until(lambda item: item["gpus"] and item["gpus"][0]["v"])
    assert back["driver"] == "580.2"


def test_b10_a_hung_gpu_delays_neither_the_others_nor_the_host(scenario):
    two = ONE_GPU.replace("gpus = 1", "gpus = 2").replace("uuid = GPU-a\n", "")
    hang = "[gpu 1]\nuuid = GPU-b\ndelay_us.nvmlDeviceGetUtilizationRates = 3000000\n"
    write_scenario(scenario, two + "[gpu 0]\nuuid = GPU-a\n" + hang)
    with Watched(scenario) as watched:
        item = watched.until(
            lambda item: len(item["gpus"]) == 2 and item["gpus"][1]["missing"].get("*")
        )
        following = watched.next()
        assert watched.agent.call("commands", names=["sh"])["sh"]
    assert item["gpus"][1]["missing"]["*"][0] == "timed out"
    assert "no answer for" in item["gpus"][1]["missing"]["*"][1]
    assert following["gpus"][0]["v"]["temperature_c"] == 50.0
    assert following["mono"] - item["mono"] < 1.0


def test_a_slow_start_of_nvml_does_not_hold_up_the_host(scenario):
    write_scenario(scenario, "delay_us.nvmlInit = 1500000\n" + ONE_GPU)
    with Watched(scenario) as watched:
        first = watched.next()
        assert first["gpu_missing"][0] == "not yet read"
        assert first["host"]["cpu_count"] == os.cpu_count()
        assert watched.ready()["gpus"][0]["v"]["temperature_c"] == 50.0


@pytest.mark.parametrize(
    ("variant", "scheme"), [("current", "v2"), ("r470", "v1"), ("early-r535", "v2")]
)
def test_older_drivers_give_the_same_numbers(scenario, variant, scheme):
    me = os.getpid()
    write_scenario(
        scenario,
        f"{ONE_GPU}mem.reserved = 1G\nproc.0 = {me} C 2G 50 20 0 0\nproc.1 = {me + 4000000} C na\n",
    )
    with Watched(scenario, variant=variant) as watched:
        gpu = watched.ready()["gpus"][0]
    values = gpu["v"]
    assert (values["temperature_c"], values["throttle_mask"]) == (50.0, 0)
    assert values["memory_scheme"] == scheme
    assert values["memory_used_bytes"] == (11 if scheme == "v1" else 10) * GIB
    rows = [(row["pid"], row["memory_bytes"]) for row in gpu["processes"]]
    assert rows == [(me, 2 * GIB), (me + 4000000, None)]
    assert gpu["processes"][0]["user"] is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a pid namespace")
def test_owners_are_unknown_where_pids_may_be_of_another_namespace(scenario):
    write_scenario(scenario, f"{ONE_GPU}proc.0 = 1 C 2G 50 20 0 0\n")
    with Watched(scenario, enter=("unshare", "--fork", "--pid", "--mount-proc")) as watched:
        (row,) = watched.ready()["gpus"][0]["processes"]
        assert watched.agent.hello["pid"] == 1
    assert (row["pid"], row["is_local"], row["user"], row["name"]) == (1, False, None, None)


def test_the_drivers_own_latency_is_told(scenario):
    write_scenario(scenario, ONE_GPU + "field.latency_us = 40\n")
    with Watched(scenario) as watched:
        item = watched.ready()
    assert item["driver_ms"] == pytest.approx(0.2)


def test_blackwell_counts_nvlink_in_bytes(scenario):
    links = "nvlink.links = 2\nfield.202 = 1000\nfield.204 = 3000\n"
    hidden = "".join(f"field.{field}.{link} = none\n" for field in (138, 139) for link in (0, 1))
    write_scenario(scenario, ONE_GPU + links + hidden)
    with Watched(scenario) as watched:
        values = watched.ready()["gpus"][0]["v"]
    assert (values["nvlink_tx_bytes"], values["nvlink_rx_bytes"]) == (2000, 6000)


class NVMLLibraryMismatchError(Exception):
    """As pynvml 13 raises it: no NVMLError, without a code."""


def test_pynvmls_error_without_a_code_means_an_old_driver():
    assert code_of(NVMLLibraryMismatchError("old")) == FUNCTION_NOT_FOUND
    assert reason(NVMLLibraryMismatchError("old"))[0] == "not supported"


BARE_PYTHON = getattr(sys, "_base_executable", sys.executable)


@pytest.mark.skipif(sys.executable == BARE_PYTHON, reason="no interpreter without pynvml")
def test_a_python_without_pynvml_can_be_lent_one():
    with RunningAgent(BARE_PYTHON, env=environment("h100x8")) as agent:
        if agent.hello["has_pynvml"]:
            pytest.skip(f"{BARE_PYTHON} has pynvml")
        stream = agent.send("sample", interval_s=TICK_S)
        first = agent.item(stream)
        assert first["gpu_missing"] == ["not installed", "this Python has no nvidia-ml-py"]
        assert first["smi"]["text"] is None
        agent.call("load", modules={"pynvml": Path(pynvml.__file__).read_text()})
        item = agent.until(stream, lambda item: item["gpus"])
    assert (item["gpu_source"], len(item["gpus"])) == ("nvml", 8)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.ini")), ids=lambda path: path.stem)
def test_every_scenario_is_sampled(path):
    with Watched(path) as watched:
        item = watched.ready()
    assert item["gpus"] or item["gpu_missing"] or path.stem == "empty"


class SlowDevice:
    """A GPU whose reading takes a while."""

    index = 0

    def __init__(self, takes_s):
        self.takes_s = takes_s
        self.reads = 0

    def read(self, tier):
        self.reads += 1
        time.sleep(self.takes_s)
        return {"tier": tier}

    def row_without(self, why):
        return {"missing": {"*": why}}


def test_streams_that_ask_at_the_same_instant_get_the_same_reading():
    device: Any = SlowDevice(0.1)
    seat, rows = Seat(device), []
    asking = [
        threading.Thread(target=lambda: rows.append(seat.ask("fast", time.monotonic() + 5, 5.0)[0]))
        for _ in range(3)
    ]
    for thread in asking:
        thread.start()
        time.sleep(0.02)
    for thread in asking:
        thread.join()
    assert rows == [{"tier": "fast"}] * 3
    assert device.reads == 1


def test_a_reading_that_hangs_is_waited_for_once():
    device: Any = SlowDevice(0.6)
    seat = Seat(device)
    began = time.monotonic()
    for _ in range(3):
        row, _ = seat.ask("fast", time.monotonic() + 0.1, 0.1)
        assert row["missing"]["*"][0] == "timed out"
    assert 0.1 <= time.monotonic() - began < 0.3
