from __future__ import annotations

import copy
from dataclasses import fields

import pytest
from hypothesis import given

from specctl.domain.missing import Why
from specctl.domain.sample import GpuSample, HostSample
from specctl.facts.agent_sample import read_sample
from tests.unit.facts.making import either, json_of, made, many, mapping, number, record, word

GIB, MIB = 1 << 30, 1 << 20


def _gpu(**changes):
    row = {
        "index": 0,
        "uuid": "GPU-a",
        "name": "NVIDIA H100 80GB HBM3",
        "v": {
            "utilization_percent": 70.0,
            "memory_utilization_percent": 40.0,
            "memory_total_bytes": 80 * GIB,
            "memory_used_bytes": 61 * GIB,
            "memory_reserved_bytes": 567 * MIB,
            "memory_scheme": "v2",
            "power_w": 520.0,
            "power_limit_w": 700.0,
            "energy_j": 1000.5,
            "temperature_c": 62.0,
            "memory_temperature_c": 71,
            "sm_clock_mhz": 1980,
            "sm_clock_max_mhz": 1980,
            "memory_clock_mhz": 2619,
            "throttle_mask": 4,
            "pcie_generation": 5,
            "pcie_generation_max": 5,
            "pcie_width": 16,
            "pcie_width_max": 16,
            "pcie_rx_bytes": 1000,
            "pcie_tx_bytes": 2000,
            "pcie_is_32_bit": False,
            "nvlink_rx_bytes": 5000,
            "nvlink_tx_bytes": 6000,
            "ecc_uncorrected": 0,
            "ecc_corrected": 0,
            "persistence": True,
            "performance_state": 0,
            "mig": False,
        },
        "missing": {},
        "processes": [
            {"pid": 4242, "memory_bytes": 60 * GIB, "kind": "compute", "is_local": True}
            | {"user": "op", "name": "sglang::scheduler_TP0"}
        ],
        "mig_devices": [],
        "lost": False,
    }
    return {**row, **changes}


def _item(*gpus, **changes):
    host = {
        "cpu_percent": 12.5,
        "cpu_count": 64,
        "load_1min": 3.0,
        "memory_total_bytes": 128 * GIB,
        "memory_available_bytes": 120 * GIB,
        "swap_used_bytes": 0,
        "shm_total_bytes": 64 * GIB,
        "shm_free_bytes": 63 * GIB,
        "disk_total_bytes": 1000 * GIB,
        "disk_free_bytes": 500 * GIB,
        "network_rx_bytes": 10_000,
        "network_tx_bytes": 20_000,
        "uptime_s": 99.0,
        "missing": {},
    }
    item = {
        "t": 1_700_000_000.0,
        "mono": 100.0,
        "host": host,
        "gpus": list(gpus),
        "gpu_source": "nvml",
        "gpu_missing": None,
        "driver": "570.1",
        "cost_ms": 2.5,
        "driver_ms": 1.0,
    }
    return {**item, **changes}


def _later(item, *, by_s=2.0, **counters):
    later = copy.deepcopy(item)
    later["mono"] += by_s
    for name, value in counters.items():
        part = later["host"] if name.startswith("network") else later["gpus"][0]["v"]
        part[name] += value
    return later


def _assert_every_gap_has_a_reason(sample):
    for row in (sample.host, *sample.gpus):
        for field in fields(row):
            if getattr(row, field.name) is None:
                assert field.name in row.missing, field.name


def test_a_full_item_becomes_a_full_sample():
    first = _item(_gpu())
    _, counters = read_sample(first, None)
    later = _later(
        first,
        pcie_rx_bytes=200,
        pcie_tx_bytes=400,
        nvlink_rx_bytes=600,
        nvlink_tx_bytes=800,
        network_rx_bytes=1000,
        network_tx_bytes=2000,
    )
    sample, _ = read_sample(later, counters)
    (gpu,) = sample.gpus
    assert (gpu.missing, sample.host.missing) == ({}, {})
    assert gpu.throttle == ("power cap",)
    assert (gpu.pcie_rx_bytes_per_s, gpu.pcie_tx_bytes_per_s) == (100.0, 200.0)
    assert (gpu.nvlink_rx_bytes_per_s, gpu.nvlink_tx_bytes_per_s) == (300.0, 400.0)
    assert (sample.host.network_rx_bytes_per_s, sample.host.network_tx_bytes_per_s) == (500, 1000)
    assert gpu.processes is not None
    assert (gpu.processes[0].user, gpu.processes[0].pid_is_local) == ("op", True)
    assert [p.memory_bytes for p in gpu.processes] == [60 * GIB]
    assert (sample.cost_ms, sample.driver_ms, sample.gpu_age_s) == (2.5, 1.0, None)


def test_the_first_item_has_no_rates_and_says_why():
    sample, _ = read_sample(_item(_gpu()), None)
    assert sample.gpus[0].reason("pcie_rx_bytes_per_s").detail == "needs two readings"
    assert sample.host.missing["network_rx_bytes_per_s"].why is Why.NOT_YET
    _assert_every_gap_has_a_reason(sample)


def test_a_short_pcie_counter_is_not_believed_on_a_fast_link():
    first = _item(_gpu())
    first["gpus"][0]["v"].update(pcie_is_32_bit=True)
    _, counters = read_sample(first, None)
    sample, _ = read_sample(_later(first, pcie_rx_bytes=500), counters)
    assert sample.gpus[0].pcie_rx_bytes_per_s is None
    assert "wraps faster" in sample.gpus[0].reason("pcie_rx_bytes_per_s").detail


def test_a_counter_once_seen_to_wrap_stays_doubted():
    first = _item(_gpu())
    first["gpus"][0]["v"]["pcie_rx_bytes"] = (1 << 32) - 10
    _, counters = read_sample(first, None)
    wrapped = _later(first, pcie_rx_bytes=-((1 << 32) - 20))
    _, counters = read_sample(wrapped, counters)
    sample, _ = read_sample(_later(wrapped, pcie_rx_bytes=50), counters)
    assert sample.gpus[0].pcie_rx_bytes_per_s is None


def test_b01_a_gpu_without_own_memory_shows_the_hosts():
    gpu = _gpu(name="NVIDIA GB10", missing={"memory_total_bytes": ["not supported", ""]})
    for name in ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes"):
        del gpu["v"][name]
        gpu["missing"][name] = ["not supported", ""]
    del gpu["v"]["memory_scheme"]
    gpu["processes"][0]["memory_bytes"] = 91418 * MIB
    (found,) = read_sample(_item(gpu), None)[0].gpus
    assert found.memory_scheme == "unified"
    assert (found.memory_total_bytes, found.memory_used_bytes) == (128 * GIB, 8 * GIB)
    assert [p.memory_bytes for p in found.processes or ()] == [91418 * MIB]


@pytest.mark.parametrize(("name", "why"), [("Tesla T4", "not supported"), ("NVIDIA GB10", "error")])
def test_b01_only_what_the_driver_calls_unsupported_on_such_a_gpu_is_unified(name, why):
    gpu = _gpu(name=name, missing={"*": [why, ""]})
    gpu["v"] = {}
    (found,) = read_sample(_item(gpu), None)[0].gpus
    assert (found.memory_total_bytes, found.memory_scheme) == (None, None)
    assert found.reason("memory_total_bytes").why is Why(why)


def test_b04_both_versions_and_what_still_works_are_told():
    error = {"code": 18, "kernel_module": "520.56.06", "library": "570.211.01"}
    item = _item(gpu_source=None, gpu_missing=["error", "versions differ"], gpu_error=error)
    missing = read_sample(item, None)[0].gpu_missing
    assert missing is not None
    for words in ("520.56.06", "570.211.01", "running servers are not affected", "rebooted"):
        assert words in missing.detail


@pytest.mark.parametrize(("module", "is_container"), [("570.1", True), (None, False)])
def test_b05_unknown_error_with_a_loaded_module_is_the_container(module, is_container):
    error = {"code": 999, "kernel_module": module}
    item = _item(gpu_source=None, gpu_missing=["error", "Unknown Error"], gpu_error=error)
    missing = read_sample(item, None)[0].gpu_missing
    assert missing is not None
    assert ("made anew" in missing.detail) is is_container


def test_b07_mig_has_no_utilization_of_its_own():
    device: dict[str, object] = {"uuid": "MIG-1", "name": "MIG 3g.40gb"}
    device |= {"memory_total_bytes": 40 * GIB, "memory_used_bytes": GIB}
    hidden = {"uuid": "MIG-2", "name": "", "missing": ["no permission", ""]}
    gpu = _gpu(mig_devices=[device, hidden])
    gpu["v"].update(mig=True, utilization_percent=None)
    gpu["missing"]["utilization_percent"] = ["not supported", ""]
    (found,) = read_sample(_item(gpu), None)[0].gpus
    assert found.reason("utilization_percent").detail == "not available under MIG"
    assert found.mig_devices[0].memory_total_bytes == 40 * GIB
    assert found.mig_devices[1].missing is not None
    assert found.mig_devices[1].missing.why is Why.NO_PERMISSION


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GRID V100D-8C", True),
        ("NVIDIA H100L-2-24C", True),
        ("NVIDIA A100-SXM4-80GB", False),
        ("NVIDIA H100 80GB HBM3", False),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", False),
    ],
)
def test_b07_vgpu_profiles_are_known_by_name(name, expected):
    assert read_sample(_item(_gpu(name=name)), None)[0].gpus[0].is_vgpu is expected


def test_a_lost_gpu_keeps_its_row():
    row = _gpu(v={}, processes=None, lost=True, missing={"*": ["lost", "the GPU fell off the bus"]})
    (gpu,) = read_sample(_item(row), None)[0].gpus
    assert (gpu.uuid, gpu.lost, gpu.processes) == ("GPU-a", True, None)
    assert gpu.reason("power_w").why is Why.LOST


def test_pids_of_another_namespace_are_said_to_be():
    row = _gpu()
    row["processes"][0].update(is_local=False, user=None, name=None)
    (gpu,) = read_sample(_item(row), None)[0].gpus
    assert gpu.processes is not None
    assert gpu.processes[0].pid_is_local is False
    assert gpu.missing["processes.owner"].why is Why.OTHER_NAMESPACE


def test_v1_memory_says_that_it_holds_the_reserved():
    row = _gpu()
    row["v"].update(memory_scheme="v1", memory_reserved_bytes=None)
    (gpu,) = read_sample(_item(row), None)[0].gpus
    assert gpu.memory_scheme == "v1"
    assert "as used" in gpu.reason("memory_reserved_bytes").detail


def _smi(**changes):
    smi = {
        "query": ["index", "uuid", "name", "driver_version", "memory.used", "memory.total"],
        "text": "0, GPU-a, NVIDIA GB10, 580.95.05, [N/A], [N/A]\n",
        "process_query": ["gpu_uuid", "pid", "process_name", "used_memory"],
        "process_text": "GPU-a, 4242, sglang::scheduler_TP0, 91418\n",
        "age_s": 3.0,
        "missing": None,
    }
    why = ["not installed", "this Python has no nvidia-ml-py"]
    return _item(gpu_source="nvidia-smi", gpu_missing=why, driver=None, smi={**smi, **changes})


def test_b01_nvidia_smi_stands_in_for_nvml():
    sample, _ = read_sample(_smi(), None)
    (gpu,) = sample.gpus
    assert (sample.gpu_source, sample.gpu_missing, sample.gpu_age_s) == ("nvidia-smi", None, 3.0)
    assert sample.driver == "580.95.05"
    assert gpu.memory_scheme == "unified"
    assert [p.memory_bytes for p in gpu.processes or ()] == [91418 * MIB]
    _assert_every_gap_has_a_reason(sample)


def test_b10_a_hung_nvidia_smi_keeps_its_last_answer_and_its_age():
    words = "nvidia-smi did not answer within 10 s, 3 times"
    sample, _ = read_sample(_smi(age_s=40.0, missing=["timed out", words]), None)
    assert len(sample.gpus) == 1
    assert sample.gpu_missing is not None
    assert sample.gpu_missing.why is Why.TIMED_OUT
    assert sample.gpu_missing.detail == f"{words}; last answer 40 s ago"
    assert sample.gpu_age_s == 40.0


@pytest.mark.parametrize(
    ("missing", "why"),
    [(["not installed", "no nvidia-smi"], Why.NOT_INSTALLED), (["not yet read", ""], Why.NOT_YET)],
)
def test_without_either_the_reason_names_both(missing, why):
    item = _smi(text=None, missing=missing)
    item["gpu_source"] = None
    found = read_sample(item, None)[0].gpu_missing
    assert found is not None
    assert found.why is why


def test_hostile_text_is_cleaned():
    row = _gpu(name="\x1b]0;owned\x07NVIDIA\u202e H100\n", uuid="GPU\x1b[2J-a")
    row["processes"][0]["name"] = "a\x1b[31m" + "b" * 10_000
    (gpu,) = read_sample(_item(row), None)[0].gpus
    assert (gpu.name, gpu.uuid) == ("NVIDIA H100", "GPU-a")
    assert gpu.processes is not None
    assert len(gpu.processes[0].name or "") <= 200


@pytest.mark.parametrize("value", [True, "12", float("nan"), float("inf"), 1 << 70, [], {}])
def test_what_is_no_number_is_malformed_not_zero(value):
    row = _gpu()
    row["v"].update(power_w=value, memory_total_bytes=value, throttle_mask="x")
    (gpu,) = read_sample(_item(row), None)[0].gpus
    assert (gpu.power_w, gpu.memory_total_bytes, gpu.throttle) == (None, None, None)
    assert gpu.reason("power_w").why is Why.MALFORMED


JSON = json_of(leaves=12)
KEYS = [*(f.name for f in fields(GpuSample)), *(f.name for f in fields(HostSample)), "*"]
NAMES = word(*KEYS, "v", "pid", "throttle_mask", "pcie_rx_bytes")
ROWS = mapping(NAMES, JSON, 8)
GPUS = record(
    {},
    {
        "v": either(ROWS, JSON),
        "missing": either(ROWS, JSON),
        "processes": either(many(ROWS, 4), JSON),
        "mig_devices": either(many(ROWS, 4), JSON),
        **dict.fromkeys(("uuid", "name", "index", "lost"), JSON),
    },
)
ITEMS = record(
    {},
    {
        "full": either(word(True, False), JSON),
        "seq": either(number(0, 3), JSON),
        "rows": either(ROWS, JSON),
        "host": either(ROWS, JSON),
        "gpus": either(many(either(GPUS, JSON), 3), JSON),
        "gpu_source": either(word("nvml", "nvidia-smi"), JSON),
        "smi": either(ROWS, JSON),
        **dict.fromkeys(("t", "mono", "gpu_missing", "gpu_error", "driver", "cost_ms"), JSON),
    },
)


@given(made(many(ITEMS, 3, least=1)))
def test_any_item_gives_a_sample_whose_gaps_have_reasons(items):
    counters = None
    for item in items:
        sample, counters = read_sample(item, counters)
        _assert_every_gap_has_a_reason(sample)
        for gpu in sample.gpus:
            assert isinstance(gpu.index, int)
            assert "\x1b" not in gpu.name + gpu.uuid
