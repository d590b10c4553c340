"""GPUs, hosts and servers to make states of: well and idle unless said otherwise."""

from __future__ import annotations

import random

from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, Sample, ServerSample
from specctl.domain.server import Identity, Server, ServerState
from specctl.tui.services import (
    Argument,
    Reference,
    ServerDetails,
)

NOW_S = 1_800_000_332.0


OFFSET_S = 6 * 3600


GIB = 2**30


PRO6000 = "NVIDIA RTX PRO 6000 Blackwell Server Edition"


# utilisation, memory GiB, W, °C, MHz, rx, tx GB/s, slowed by
PRO6K_GPUS = (
    (97, 88.9, 231, 61, 2420, 3.1, 2.9, ()),
    (97, 88.9, 228, 60, 2420, 3.0, 2.9, ()),
    (96, 88.9, 236, 63, 2420, 3.1, 3.0, ()),
    (97, 88.9, 229, 62, 2420, 3.0, 2.9, ()),
    (96, 88.9, 240, 66, 2400, 3.1, 2.9, ()),
    (99, 88.9, 258, 88, 1710, 2.9, 2.8, ("heat (hw)",)),
    (97, 88.9, 234, 64, 2420, 3.0, 2.9, ()),
    (96, 89.4, 227, 60, 2420, 3.1, 3.0, ()),
)


LOG = (
    "[2027-01-15 12:04:51] server_args=ServerArgs(model_path='moonshotai/Kimi-K2.5', tp_size=8,"
    " speculative_algorithm='EAGLE3', api_key='••••')",
    "[2027-01-15 12:04:58 TP0] Load weight begin. avail mem=94.62 GB",
    "[2027-01-15 12:09:41 TP0] Load weight end. elapsed=283.14 s, mem usage=74.41 GB.",
    "[2027-01-15 12:09:44 TP0] Load draft weight end. elapsed=2.07 s, mem usage=2.38 GB.",
    "[2027-01-15 12:10:02 TP0] Capture target verify CUDA graph end. elapsed=15.83 s,"
    " mem usage=1.12 GB.",
    "[2027-01-15 12:10:31] max_running_requests is set to 48 because speculative decoding is"
    " enabled.",
    "[2027-01-15 12:10:47] The server is fired up and ready to roll!",
    "[2027-01-15 14:05:16 TP0] Decode batch 41170, #running-req: 1, #token: 3257,"
    " token usage: 0.01, accept len: 1.49, gen throughput (token/s): 51.80",
    "[2027-01-15 14:05:20 TP0] Decode batch 41210, #running-req: 1, #token: 3318,"
    " token usage: 0.01, accept len: 1.52, gen throughput (token/s): 52.31",
    "[2027-01-15 14:05:24 TP0] Decode batch 41250, #running-req: 1, #token: 3379,"
    " token usage: 0.01, accept len: 1.48, gen throughput (token/s): 51.62",
    "[2027-01-15 14:05:28 TP0] Prefill batch, #new-seq: 1, #new-token: 2048, #cached-token: 0,"
    " token usage: 0.01, #running-req: 1, #queue-req: 0",
    "[2027-01-15 14:05:30 TP0] Decode batch 41290, #running-req: 1, #token: 5466,"
    " token usage: 0.01, accept len: 1.50, gen throughput (token/s): 51.94",
)


def wander(count: int, mean: float, spread: float, seed: int, pull: float = 0.25) -> list[float]:
    """A series that keeps coming back to its mean."""
    chance = random.Random(seed)
    value, out = mean, []
    for _ in range(count):
        value += chance.gauss(0, spread) + (mean - value) * pull
        out.append(value)
    return out


def gpu(index: int, name: str = PRO6000, **values: object) -> GpuSample:
    """A GPU, idle and well unless said otherwise."""
    full: dict[str, object] = {
        "utilization_percent": 0.0,
        "memory_total_bytes": int(95.6 * GIB),
        "memory_used_bytes": 0,
        "memory_scheme": "v2",
        "power_w": 62.0,
        "power_limit_w": 600.0,
        "temperature_c": 34.0,
        "sm_clock_mhz": 2420.0,
        "sm_clock_max_mhz": 2430.0,
        "memory_clock_mhz": 14001.0,
        "throttle": (),
        "pcie_generation": 5,
        "pcie_generation_max": 5,
        "pcie_width": 16,
        "pcie_width_max": 16,
        "pcie_rx_bytes_per_s": 0.0,
        "pcie_tx_bytes_per_s": 0.0,
        "ecc_uncorrected": 0,
        "missing": {"memory_temperature_c": Missing(Why.NOT_SUPPORTED)},
        "processes": (),
    }
    return GpuSample(index, f"GPU-{index}", name, **(full | values))  # type: ignore[arg-type]


def pro6k_gpus() -> tuple[GpuSample, ...]:
    """Eight GPUs under load; one of them slowed by heat."""
    out = []
    for i, (util, memory, watts, celsius, mhz, rx, tx, slowed) in enumerate(PRO6K_GPUS):
        holder = GpuProcess(
            48391 + 7 * i, int(88.2 * GIB), "compute", "aw", f"sglang::scheduler_TP{i}"
        )
        desktop = (
            (GpuProcess(2214, int(0.4 * GIB), "graphics", "gdm", "gnome-shell"),) if i == 7 else ()
        )
        out.append(
            gpu(
                i,
                utilization_percent=float(util),
                memory_used_bytes=int(memory * GIB),
                power_w=float(watts),
                temperature_c=float(celsius),
                sm_clock_mhz=float(mhz),
                pcie_rx_bytes_per_s=rx * 1e9,
                pcie_tx_bytes_per_s=tx * 1e9,
                throttle=slowed,
                processes=(holder, *desktop),
            )
        )
    return tuple(out)


def filled(
    name: str, count: int, utils: tuple[float, ...], share: float, gib: float
) -> tuple[GpuSample, ...]:
    """GPUs of one kind with the same share of memory used."""
    total = int(gib * GIB)
    return tuple(
        gpu(
            i,
            name,
            utilization_percent=utils[i % len(utils)],
            memory_total_bytes=total,
            memory_used_bytes=int(total * share),
            power_w=420.0,
            power_limit_w=700.0,
        )
        for i in range(count)
    )


def host_sample(gpus: tuple[GpuSample, ...], *, gpu_missing: Missing | None = None) -> Sample:
    """A host's sample; its processor and memory are of no account."""
    host = HostSample(
        cpu_percent=34.0,
        cpu_count=96,
        load_1min=21.4,
        memory_total_bytes=1536 * GIB,
        memory_available_bytes=1180 * GIB,
        shm_total_bytes=768 * GIB,
        shm_free_bytes=760 * GIB,
        disk_total_bytes=3576 * GIB,
        disk_free_bytes=1210 * GIB,
        network_rx_bytes_per_s=1.2e6,
        network_tx_bytes_per_s=0.4e6,
        uptime_s=912_000.0,
    )
    return Sample(NOW_S, host, gpus, "nvml" if gpus else None, gpu_missing, "580.82")


def identity(pid: int) -> Identity:
    """Some process of this boot."""
    return Identity("boot-1", pid, 8_812_233, pid, pid, "7c1e2d90")


def server(name: str = "7c1e", **values: object) -> Server:
    """A ready server of ours with EAGLE-3."""
    full: dict[str, object] = {
        "state": ServerState.READY,
        "identity": identity(48213),
        "is_ours": True,
        "owner": "aw",
        "port": 30000,
        "bind_address": "127.0.0.1",
        "gpus": tuple(range(8)),
        "model": "moonshotai/Kimi-K2.5",
        "version": "0.5.23",
        "profile": "kimi-k2.5-eagle3",
        "launch_id": "7c1e2d90",
        "launched_by": "aw",
        "log_path": "/var/tmp/specctl/launches/7c1e2d90/server.log",
        "algorithm": "EAGLE3",
        "why": "process, port, log and HTTP agree",
    }
    return Server(name=name, **(full | values))  # type: ignore[arg-type]


def server_sample(
    tokens_per_s: float | None = 52.0, accept_length: float | None = 1.5, **values: object
) -> ServerSample:
    """What a busy server says."""
    full: dict[str, object] = {
        "accept_length_scope": "window",
        "running_requests": 1,
        "queued_requests": 0,
        "token_usage": 0.012,
        "ttft_p50_s": 0.412,
        "ttft_p95_s": 0.64,
    }
    return ServerSample(
        NOW_S,
        "/v1/loads",
        tokens_per_s=tokens_per_s,
        accept_length=accept_length,
        **(full | values),  # type: ignore[arg-type]
    )


REFERENCES = {
    "pro6k-01": Reference(58.6, 1.69, "probe of kimi-k2.5-baseline, 2 h ago"),
    "l40s-08": Reference(198.0, 2.58, "probe of qwen3-30b-baseline, 3 d ago"),
    "h100-a1": Reference(734.0, 1.64, "probe of qwen3-235b-baseline, 1 d ago"),
    "h100-a2": Reference(393.0, 1.98, "probe of kimi-k2-baseline, 1 d ago"),
    "gb10-lab": Reference(38.3, 1.12, "probe of qwen3-4b-baseline, 4 h ago"),
    "lab-1": Reference(58.6, 1.69, "probe of kimi-k2.5-baseline, 10 min ago"),
}


ARGUMENTS = (
    Argument("algorithm", "EAGLE3", "EAGLE3"),
    Argument("num-steps", "3", "3"),
    Argument("eagle-topk", "1", "1"),
    Argument("num-draft-tokens", "4", "4"),
    Argument("max-running-reqs", "64", "48", "by engine"),
    Argument("tree", "9c41d7e", "9c41d7e"),
)


def details(host: str, of: Server) -> ServerDetails:
    """What is known of a server beyond its samples."""
    reference = REFERENCES.get(host, Reference())
    if of.profile != "kimi-k2.5-eagle3":
        return ServerDetails(reference, started_at_s=NOW_S - 3600)
    return ServerDetails(
        reference,
        ARGUMENTS,
        started_at_s=NOW_S - 7265,
        revision="4f2c1e9",
        accepted_by_position=(0.38, 0.09, 0.03),
    )
