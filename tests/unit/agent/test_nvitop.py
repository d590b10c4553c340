"""The agent's numbers against those of an independent reader of the same library."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.fake_nvml import SCENARIOS, environment
from tests.unit.agent.running import RunningAgent

NVITOP = """
import json, sys
from nvitop import Device
def plain(value):
    return value if isinstance(value, (int, float, str)) and str(value) != "N/A" else None
rows = []
for device in Device.all():
    power, limit = plain(device.power_usage()), plain(device.power_limit())
    rows.append({
        "uuid": device.uuid(), "name": device.name(),
        "utilization_percent": plain(device.gpu_utilization()),
        "memory_utilization_percent": plain(device.memory_utilization()),
        "memory_total_bytes": plain(device.memory_total()),
        "memory_used_bytes": plain(device.memory_used()),
        "temperature_c": plain(device.temperature()),
        "power_w": power and power / 1e3, "power_limit_w": limit and limit / 1e3,
        "sm_clock_mhz": plain(device.sm_clock()), "memory_clock_mhz": plain(device.memory_clock()),
        "sm_clock_max_mhz": plain(device.max_clock_infos().sm),
        "performance_state": plain(device.performance_state()),
        "persistence": plain(device.persistence_mode()),
        "ecc_uncorrected": plain(device.total_volatile_uncorrected_ecc_errors()),
        "mig": device.is_mig_mode_enabled(),
        "processes": [[pid, plain(p.gpu_memory())] for pid, p in device.processes().items()],
    })
print(json.dumps(rows))
"""


def _comparable(row):
    values = {**row["v"], "uuid": row["uuid"], "name": row["name"]}
    state = values.get("performance_state")
    values["performance_state"] = None if state is None else f"P{state}"
    values["persistence"] = "Enabled" if values.get("persistence") else "Disabled"
    values["mig"] = values.get("mig") is True
    values["processes"] = [[p["pid"], p["memory_bytes"]] for p in row["processes"]]
    return values


@pytest.mark.parametrize("name", ["h100x8", "pro6000x8"])
def test_agrees_with_nvitop_field_by_field(name, tmp_path):
    scenario = tmp_path / "frozen.ini"
    scenario.write_text("now = 12.5\n" + (SCENARIOS / f"{name}.ini").read_text())
    env = environment(scenario)
    done = subprocess.run(
        [sys.executable, "-c", NVITOP], env=env, capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout)
    with RunningAgent(env=env) as agent:
        stream = agent.send("sample", interval_s=0.5)
        ours = agent.until(stream, lambda item: item["gpus"])["gpus"]
    assert len(ours) == len(theirs) == 8
    for mine, other in zip(map(_comparable, ours), theirs, strict=True):
        assert {field: mine[field] for field in other} == other
