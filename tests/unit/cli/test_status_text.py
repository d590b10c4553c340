from __future__ import annotations

from dataclasses import fields

from specctl.cli.status_text import host_lines, reason_lines, watch_line
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, Sample, ServerSample
from specctl.domain.sample_words import GPU_WORDS, LISTED_WORDS, SERVER_WORDS
from specctl.domain.server import Evidence, Server, ServerState
from specctl.domain.state import HostState, Link

GIB = 2**30


def gpu(index: int, **fields) -> GpuSample:
    known = {
        "utilization_percent": 97.0,
        "memory_used_bytes": 88 * GIB,
        "memory_total_bytes": 96 * GIB,
        "power_w": 231.4,
        "power_limit_w": 600.0,
        "temperature_c": 61.0,
        "sm_clock_mhz": 2420.0,
        "pcie_rx_bytes_per_s": 3.1e9,
        "pcie_tx_bytes_per_s": 2.9e9,
        "throttle": (),
        "processes": (GpuProcess(7, 80 * GIB, "compute", "aw", "sglang::scheduler_TP0"),),
        "ecc_uncorrected": 0,
        "missing": {"nvlink_rx_bytes_per_s": Missing(Why.NOT_SUPPORTED)},
    }
    return GpuSample(index, f"GPU-{index}", "RTX PRO 6000", **{**known, **fields})


def host(*gpus: GpuSample, servers=(), samples=None, **fields) -> HostState:
    sample = Sample(1, HostSample(cpu_percent=12, cpu_count=64), gpus, "nvml", driver="580.1")
    return HostState(
        link=Link.UP, sample=sample, servers=servers, server_samples=samples or {}, **fields
    )


READY = Server(
    "7c1e",
    ServerState.READY,
    None,
    is_ours=True,
    port=30000,
    gpus=(0, 1),
    model="moonshotai/Kimi-K2.5",
    profile="kimi-k2.5-eagle3",
    algorithm="EAGLE3",
    argv=("python", "-m", "sglang.launch_server"),
    why="process, port, log and HTTP agree",
)


def test_reasons_are_printed_once_for_all_gpus_that_share_them():
    lines = host_lines("gpu8", host(gpu(0), gpu(1)))
    assert "  — NVLink: not supported (GPU 0-1)" in lines
    assert sum("not supported" in line for line in lines) == 1


def test_no_field_is_called_by_its_raw_name():
    blank = GpuSample(0, "GPU-0", "RTX PRO 6000", missing={})
    (reasons,) = reason_lines([blank])
    assert "_" not in reasons
    assert reasons.startswith("— UTIL, MEM, W, W limit, °C, SM clock, PCIe, NVLink, ECC, SLOWED BY")
    assert set(GPU_WORDS) | set(LISTED_WORDS) <= {one.name for one in fields(GpuSample)}
    assert set(SERVER_WORDS) <= {one.name for one in fields(ServerSample)}


def test_unknown_is_never_a_zero():
    blank = gpu(0, utilization_percent=None, power_w=None, missing={})
    row = next(line for line in host_lines("h", host(blank)) if line.strip().startswith("0 "))
    assert row.split()[1] == "—"
    assert "not yet read" in "\n".join(host_lines("h", host(blank)))


def test_a_lost_gpu_keeps_its_row():
    lines = host_lines("h", host(gpu(0), gpu(1, lost=True)))
    assert any(line.strip().startswith("1") and "✗ lost" in line for line in lines)


def test_a_slowed_gpu_says_why():
    assert "heat (hw)" in "\n".join(host_lines("h", host(gpu(5, throttle=("heat (hw)",)))))


def test_columns_stay_aligned_under_wide_characters():
    wide = gpu(0, processes=(GpuProcess(7, None, "compute", "王", "模型服务"),))
    lines = host_lines("h", host(wide, gpu(1)))
    heads = next(line for line in lines if "HELD-BY" in line)
    rows = [line for line in lines if "GiB)" in line]
    assert {row.index("(王" if "王" in row else "(aw") > heads.index("SLOWED-BY") for row in rows}


def test_no_driver_is_said_with_its_reason():
    missing = Missing(Why.NOT_INSTALLED, "libnvidia-ml.so.1 was not found")
    state = HostState(link=Link.UP, sample=Sample(1, HostSample(), (), None, missing), servers=())
    assert "  GPUs — not installed: libnvidia-ml.so.1 was not found" in host_lines("h", state)
    assert "  no server" in host_lines("h", state)


def test_a_host_that_is_not_reached_says_what_to_do():
    state = HostState(link=Link.LOST, link_words="refused the connection", link_hint="Check sshd.")
    assert host_lines("h", state) == ["h  not reached: refused the connection", "  → Check sshd."]


def test_the_round_trip_is_said_or_why_it_is_not_known():
    assert "  round trip 912 ms" in host_lines("h", host(gpu(0), round_trip_s=0.9118))
    assert "  round trip — not timed yet" in host_lines("h", host(gpu(0)))


def test_a_server_with_its_numbers():
    sample = ServerSample(
        1, "/v1/loads", tokens_per_s=52.0, accept_length=1.5, accept_length_scope="interval"
    )
    text = "\n".join(host_lines("h", host(servers=(READY,), samples={"7c1e": sample})))
    for word in ("52.0", "1.50 (interval)", "GPU 0-1", "30000", "process, port, log and HTTP"):
        assert word in text


def test_speculation_that_is_off_is_off_not_unknown():
    baseline = Server("b", ServerState.READY, None, is_ours=True, argv=("python",))
    assert " off " in watch_line("h", host(servers=(baseline,))) + " "


def test_a_rank_of_several_hosts_is_shown_as_such():
    rank = Server(
        "r", ServerState.READY, None, is_ours=False, is_multi_node=True, node_rank=1,
        evidence=Evidence(age_s=3600),
    )  # fmt: skip
    text = "\n".join(host_lines("h", host(servers=(rank,))))
    assert "rank 1 of a server over several hosts" in text
    assert "foreign" in text


def test_simulated_and_read_only_are_words():
    assert "SIMULATED read-only" in host_lines("lab-1", host(simulated=True, read_only=True))[0]
