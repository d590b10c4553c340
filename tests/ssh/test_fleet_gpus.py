"""GPUs over real sshd, measured by the agent on the stand-in NVML library."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests import fake_nvml
from tests.ssh.operator_side import OperatorSide

SHOWN = (
    "utilization_percent", "memory_used_bytes", "memory_total_bytes", "power_w", "power_limit_w",
    "temperature_c", "sm_clock_mhz", "throttle", "ecc_uncorrected", "pcie_rx_bytes_per_s",
    "nvlink_rx_bytes_per_s", "energy_j", "processes",
)  # fmt: skip

DATA = Path(__file__).parents[1] / "data" / "cases"
VARIABLES = ("LD_LIBRARY_PATH", "FAKE_NVML_CONF")


@pytest.fixture
async def operator(lab) -> OperatorSide:
    await lab.server("gpu")
    return OperatorSide(lab)


def seen(operator: OperatorSide, scenario: str | Path) -> tuple[dict[str, Any], str]:
    """The host's sample, and what `status` prints of it."""
    variables = fake_nvml.environment(scenario)
    operator.write_host("gpu", env={name: variables[name] for name in VARIABLES})
    as_json = operator.run("status", "gpu", "--json")
    assert as_json.status == 0, as_json.out
    printed = operator.run("status", "gpu")
    assert printed.status == 0, printed.out
    sample = as_json.json["hosts"]["gpu"]["sample"]
    for gpu in sample["gpus"]:
        unexplained = [n for n in SHOWN if gpu[n] is None and not gpu["missing"].get(n)]
        assert not unexplained, (gpu["index"], unexplained)
    return sample, printed.out


def rows(printed: str) -> dict[str, list[str]]:
    """The words of each GPU's row by its index."""
    lines = printed.splitlines()
    heads = next(place for place, line in enumerate(lines) if line.split()[:1] == ["GPU"])
    found = {}
    for line in lines[heads + 1 :]:
        words = line.split()
        if not words or not words[0].isdigit():
            break
        found[words[0]] = words
    return found


def test_eight_gpus_with_everything(operator):
    sample, printed = seen(operator, "h100x8")
    assert (sample["gpu_source"], sample["driver"]) == ("nvml", "570.124.06")
    assert [gpu["index"] for gpu in sample["gpus"]] == list(range(8))
    assert {gpu["name"] for gpu in sample["gpus"]} == {"NVIDIA H100 80GB HBM3"}
    assert {gpu["power_limit_w"] for gpu in sample["gpus"]} == {700.0}
    assert {gpu["memory_scheme"] for gpu in sample["gpus"]} == {"v2"}
    assert all(gpu["pcie_rx_bytes_per_s"] > 0 for gpu in sample["gpus"])
    assert all(gpu["nvlink_rx_bytes_per_s"] > 0 for gpu in sample["gpus"])
    assert "8 × NVIDIA H100 80GB HBM3, driver 570.124.06 through nvml" in printed
    assert len(rows(printed)) == 8


def test_one_throttled_gpu_says_by_what(operator, tmp_path):
    text = (fake_nvml.SCENARIOS / "h100x8.ini").read_text()
    calm, hot = "\n[gpu]\nthrottle = 0\n", "\n[gpu 3]\nthrottle = 0x40\ntemp.gpu = 91\n"
    scenario = tmp_path / "hot.ini"
    scenario.write_text(text + calm + hot)
    sample, printed = seen(operator, scenario)
    slowed = {gpu["index"]: gpu["throttle"] for gpu in sample["gpus"]}
    assert [index for index, reasons in slowed.items() if reasons] == [3]
    assert "heat (hw)" in slowed[3]
    assert "heat (hw)" in " ".join(rows(printed)["3"])
    assert "heat" not in " ".join(rows(printed)["2"])


def test_a_lost_gpu_keeps_its_row_and_its_neighbours(operator):
    sample, printed = seen(operator, "lost")
    assert [gpu["lost"] for gpu in sample["gpus"]] == [False, True, False]
    lost = sample["gpus"][1]
    assert lost["utilization_percent"] is None
    assert lost["missing"]["power_w"].startswith("lost")
    assert "✗ lost" in " ".join(rows(printed)["1"])
    assert "✗ GPU 1: lost: the GPU fell off the bus" in printed
    assert rows(printed)["2"][1] == "3"
    assert "× ," not in printed
    ran = operator.run("doctor", "gpu")
    assert ran.status == 2
    assert "GPU 1 is lost" in ran.out


def test_b07_mig_has_instances_and_no_utilisation_for_the_whole(operator):
    sample, printed = seen(operator, "mig")
    (gpu,) = sample["gpus"]
    assert gpu["utilization_percent"] is None
    assert "MIG" in gpu["missing"]["utilization_percent"]
    assert [mig["memory_total_bytes"] for mig in gpu["mig_devices"]] == [40192 << 20, 19968 << 20]
    assert "MIG 3g.40gb" in printed
    assert "UTIL: not supported: not available under MIG (GPU 0)" in printed


def test_b01_a_gpu_that_shares_the_hosts_memory_says_so(operator):
    sample, printed = seen(operator, "gb10")
    (gpu,) = sample["gpus"]
    assert gpu["memory_scheme"] == "unified"
    assert gpu["memory_total_bytes"] == sample["host"]["memory_total_bytes"]
    assert gpu["power_limit_w"] is None
    assert "* the host's own memory, which the GPU shares" in printed
    assert "W limit" in printed


def test_kinds_are_counted_apart_and_a_refused_process_list_is_no_empty_one(operator):
    sample, printed = seen(operator, "mixed")
    kinds = "1 × NVIDIA A100-SXM4-80GB, 1 × NVIDIA GeForce RTX 4090, 1 × Tesla V100-SXM2-32GB"
    assert kinds in printed
    assert sample["gpus"][3]["processes"] is None
    assert "HELD BY: no permission" in printed


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("nodriver", "the NVIDIA driver is not loaded"),
        ("mismatch", "running servers are not affected"),
    ],
)
def test_b04_a_driver_that_cannot_be_asked_is_named_and_fails_doctor(operator, scenario, words):
    sample, printed = seen(operator, scenario)
    assert sample["gpus"] == []
    assert words in sample["gpu_missing"]
    assert "GPUs — error: " in printed
    rows = operator.run("doctor", "gpu", "--json").json["rows"]
    driver = next(row for row in rows if row["name"] == "driver")
    assert driver["level"] == "FAIL"
    assert words in driver["words"]
    assert driver["next_step"]


LISTED = (DATA / "B05.txt").read_text().partition("(host) # nvidia-smi -L\n")[2]
ENTER = """#!/bin/sh
export LD_LIBRARY_PATH={LD_LIBRARY_PATH} FAKE_NVML_CONF={FAKE_NVML_CONF}
exec "$@"
"""
"""Into a container whose NVML is the scenario's; the host around it has a nvidia-smi."""


@pytest.fixture
def container(lab, operator, tmp_path):
    """The host entered through a container; `container(words)` is what its own nvidia-smi says."""

    def make(said: str) -> None:
        smi, enter = tmp_path / "bin" / "nvidia-smi", tmp_path / "enter"
        smi.parent.mkdir()
        (tmp_path / "said").write_text(said)
        for path, text in (
            (smi, f"#!/bin/sh\ncat {tmp_path / 'said'}\n"),
            (enter, ENTER.format_map(fake_nvml.environment("container"))),
        ):
            path.write_text(text)
            path.chmod(0o755)
        home = lab.servers[0].home
        (home / ".bashrc").write_text(f"export PATH={smi.parent}:$PATH\n")
        operator.write_host("gpu", enter=[str(enter)])

    return make


def test_b05_a_container_that_lost_its_gpus_is_told_from_a_broken_host(operator, container):
    container(LISTED)
    printed = operator.run("status", "gpu").out
    assert "in the container only, the host itself sees 2 GPUs" in printed
    assert "running servers are not affected" in printed
    rows = operator.run("doctor", "gpu", "--json").json["rows"]
    driver = next(row for row in rows if row["name"] == "driver")
    assert (driver["level"], "make it anew" in driver["next_step"]) == ("FAIL", True)
    started = operator.run("start", "gpu", profile_of(operator), "--dry-run")
    assert "refuse   driver: " in started.out
    assert "a restart in this container will fail" in started.out


def test_b05_a_host_that_fails_too_is_not_blamed_on_the_container(operator, container):
    container("Failed to initialize NVML: Driver/library version mismatch\n")
    printed = operator.run("status", "gpu").out
    assert "nvidia-smi on the host itself says: driver and library versions differ" in printed
    assert "in the container only" not in printed


async def test_b10_a_hung_nvidia_smi_is_named_and_keeps_no_other_host_waiting(lab, operator):
    await lab.server("hung")
    home = lab.servers[1].home
    smi = home / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text("#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 60; done\n")
    smi.chmod(0o755)
    (home / ".bashrc").write_text(f"export PATH={smi.parent}:$PATH\n")
    operator.write_host("hung")
    variables = fake_nvml.environment("h100x8")
    operator.write_host("gpu", env={name: variables[name] for name in VARIABLES})
    watched = operator.run("watch", "hung", "gpu", "--json", "--for", "6")
    samples = [e for e in watched.events if e["event"] == "HostSampled"]
    for host in ("hung", "gpu"):
        times = [e["time_s"] for e in samples if e["host"] == host]
        assert max(b - a for a, b in pairwise(times)) < 3, host
    printed = operator.run("status", "hung", "gpu").out
    assert "nvidia-smi did not answer within 10 s" in printed
    assert len(rows(printed)) == 8


def profile_of(operator: OperatorSide) -> str:
    """A profile that needs a GPU."""
    path = operator.workspace / "profiles" / "one-gpu.toml"
    path.write_text('model = "tiny/one"\n[placement]\nport = 39999\ngpus = [0]\n')
    return path.stem


def test_an_old_driver_and_pynvml_are_read_alike(operator):
    variables = fake_nvml.environment("h100x8", variant="r470")
    operator.write_host("gpu", env={name: variables[name] for name in VARIABLES})
    sample = operator.run("status", "gpu", "--json").json["hosts"]["gpu"]["sample"]
    assert {gpu["memory_scheme"] for gpu in sample["gpus"]} == {"v1"}
    assert all(gpu["temperature_c"] > 0 for gpu in sample["gpus"])
