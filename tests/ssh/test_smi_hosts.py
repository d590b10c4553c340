"""Hosts whose GPUs only nvidia-smi can tell of, as `status` shows them over real sshd."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.ssh.operator_side import OperatorSide

CASES = Path(__file__).parents[1] / "data" / "cases"
SMI = """#!{python}
import json, sys
rows = json.loads({rows!r})
what, _, fields = sys.argv[1].partition("=")
kind = "gpu" if what == "--query-gpu" else "apps"
for row in rows[kind]:
    print(", ".join(row.get(field, "[N/A]") for field in fields.split(",")))
"""
MIB = 1 << 20


@pytest.fixture
async def smi_host(lab):
    """`smi_host(gpus, apps)`: a host with that nvidia-smi, its sample and what is printed."""
    sshd = await lab.server("gpu")
    operator = OperatorSide(lab)
    operator.write_host("gpu")

    def make(gpus, apps=()):
        path = sshd.home / "bin" / "nvidia-smi"
        path.parent.mkdir()
        rows = json.dumps({"gpu": gpus, "apps": list(apps)})
        path.write_text(SMI.format(python=sys.executable, rows=rows))
        path.chmod(0o755)
        (sshd.home / ".bashrc").write_text(f"export PATH={path.parent}:$PATH\n")
        sample = operator.run("status", "gpu", "--json").json["hosts"]["gpu"]["sample"]
        return sample, operator.run("status", "gpu").out

    return make


def row(printed: str, index: str) -> list[str]:
    """The words of one GPU's row."""
    return next(line.split() for line in printed.splitlines() if line.split()[:1] == [index])


def test_b01_a_gb10_keeps_its_row_and_shows_the_hosts_memory(smi_host):
    lines = (CASES / "B01.txt").read_text().splitlines()
    name, total, used, util, temperature = lines[1].split(", ")
    pid, title, held = lines[-4].split(", ")
    gpu = {
        "index": "0", "uuid": "GPU-a", "name": name, "memory.total": total, "memory.used": used,
        "utilization.gpu": util, "temperature.gpu": temperature, "driver_version": "580.95",
    }  # fmt: skip
    app = {"gpu_uuid": "GPU-a", "pid": pid, "process_name": title, "used_memory": held}
    sample, printed = smi_host([gpu], [app])
    (found,) = sample["gpus"]
    assert (found["name"], found["utilization_percent"]) == ("NVIDIA GB10", 0.0)
    assert found["memory_scheme"] == "unified"
    assert found["memory_total_bytes"] == sample["host"]["memory_total_bytes"]
    assert found["processes"][0]["memory_bytes"] == 91418 * MIB
    assert row(printed, "0")[1] == "0"
    assert "* the host's own memory, which the GPU shares" in printed
    assert "no GPU" not in printed


def test_b03_rows_stay_and_every_word_for_no_value_is_explained(smi_host):
    lines = (CASES / "B03.txt").read_text().splitlines()
    heads = ["index", "name", "memory.total", "memory.used", "utilization.gpu",
             "temperature.gpu", "power.draw"]  # fmt: skip
    orin, first, second = (dict(zip(heads, lines[n].split(", "), strict=True)) for n in (0, 3, 4))
    first["index"], second["index"] = "1", "2"
    sample, printed = smi_host([orin, first, second])
    assert [gpu["index"] for gpu in sample["gpus"]] == [0, 1, 2]
    why = [gpu["missing"] for gpu in sample["gpus"]]
    assert sample["gpus"][0]["memory_scheme"] == "unified"
    assert why[0]["utilization_percent"] == "not supported"
    assert why[1]["memory_used_bytes"] == "error: nvidia-smi says Unknown Error"
    assert why[2]["utilization_percent"] == "error: the GPU requires a reset"
    assert why[2]["power_w"] == "error: nvidia-smi says ERR!"
    assert sample["gpus"][1]["power_w"] == 55.12
    assert row(printed, "0")[1] == "—"
    assert "UTIL: error: the GPU requires a reset (GPU 2)" in printed


def test_b07_a_vgpu_slice_shows_its_own_memory_and_no_invented_clock(smi_host):
    lines = (CASES / "B07.txt").read_text().splitlines()
    place = next(n for n, line in enumerate(lines) if "clocks.max.sm" in line)
    clock, total, name = lines[place + 1].split(", ")
    gpu = {"index": "0", "name": name, "memory.total": total, "clocks.max.sm": clock}
    (found,) = smi_host([gpu])[0]["gpus"]
    assert (found["name"], found["memory_total_bytes"]) == ("NVIDIA H100L-2-24C", 24576 * MIB)
    assert (found["sm_clock_max_mhz"], found["mig"]) == (None, None)
    assert found["utilization_percent"] is None
