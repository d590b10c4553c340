"""A host's state as lines of text: pure, so that it can be read in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.alerts_text import brief_lines
from specctl.cli.table import table
from specctl.domain.alerts.rules import Name
from specctl.domain.doctor import gpu_kinds
from specctl.domain.figures import GB, GIB, UNKNOWN, fixed, gib, percent, rate, scaled, spoken
from specctl.domain.sample_words import LISTED_WORDS
from specctl.domain.state import Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.sample import GpuSample, HostSample, Sample, ServerSample
    from specctl.domain.server import Server
    from specctl.domain.state import HostState

INDENT = "  "
GPU_HEADS = (
    "GPU", "UTIL%", "MEM-GiB", "of", "W", "limit", "°C", "SM-MHz",
    "RX-GB/s", "TX-GB/s", "NVL-GB/s", "ECC", "SLOWED-BY", "HELD-BY",
)  # fmt: skip
SERVER_HEADS = (
    "SERVER", "STATE", "PROFILE", "MODEL", "VERSION", "PORT", "GPUS", "OWNER",
    "TOK/S", "ACCEPT", "RUN", "QUEUE", "KV",
)  # fmt: skip


def host_lines(name: str, host: HostState) -> list[str]:
    """Everything known of one host."""
    lines = [f"{name}  {_link(host)}"]
    if host.link_hint and host.link is not Link.UP:
        lines.append(f"{INDENT}→ {host.link_hint}")
    told = [
        alert for alert in host.open_alerts if alert.rule != Name.LOST
    ]  # the first line says it
    lines += [INDENT + line for line in brief_lines(told)]
    if host.sample is not None:
        lines += [INDENT + line_of_link(host)]
        lines += [INDENT + line for line in sample_lines(host.sample)]
    if host.servers is not None:
        lines += [INDENT + line for line in server_lines(host)]
    return lines


def _link(host: HostState) -> str:
    badge = " SIMULATED" * host.simulated + " read-only" * host.read_only
    words = {Link.UP: "reached", Link.LOST: "not reached", Link.REFUSED: "refused"}
    said = words.get(host.link, str(host.link))
    return f"{said}{badge}" + (f": {host.link_words}" if host.link_words else "")


def line_of_link(host: HostState) -> str:
    """How long a question to the host and its answer take, or why that is not known."""
    if host.round_trip_s is None:
        return f"round trip {UNKNOWN} {host.round_trip_reason}"
    return f"round trip {host.round_trip_s * 1000:.0f} ms"


def sample_lines(sample: Sample) -> list[str]:
    """The host's own readings, its GPUs, and a reason for each value that is missing."""
    lines = [_host_line(sample.host)]
    if sample.gpu_missing is not None:
        return [*lines, f"GPUs {UNKNOWN} {sample.gpu_missing}"]
    if not sample.gpus:
        return [*lines, "no GPU"]
    source = f"driver {sample.driver or UNKNOWN} through {sample.gpu_source}"
    rows = [_gpu_row(gpu) for gpu in sample.gpus]
    right = " ".join(head for head in GPU_HEADS[1:12] if head not in {"of", "limit"})
    lines += [f"{gpu_kinds(sample.gpus)}, {source}", *table(GPU_HEADS, rows, right=right)]
    lines += [line for gpu in sample.gpus for line in _mig_lines(gpu)]
    if any(gpu.memory_scheme == "unified" for gpu in sample.gpus):
        lines.append("* the host's own memory, which the GPU shares")
    return lines + reason_lines(sample.gpus)


def _host_line(host: HostSample) -> str:
    used = None
    if host.memory_total_bytes is not None and host.memory_available_bytes is not None:
        used = host.memory_total_bytes - host.memory_available_bytes
    return (
        f"CPU {fixed(host.cpu_percent)}% of {host.cpu_count or UNKNOWN} cores, "
        f"memory {gib(used)} of {gib(host.memory_total_bytes)} GiB, "
        f"/dev/shm {gib(host.shm_free_bytes)} GiB free, disk {gib(host.disk_free_bytes)} GiB free, "
        f"network {fixed(scaled(host.network_rx_bytes_per_s, 1e6), 1)} in "
        f"{fixed(scaled(host.network_tx_bytes_per_s, 1e6), 1)} out MB/s"
    )


def _gpu_row(gpu: GpuSample) -> list[str]:
    if gpu.lost:
        return [str(gpu.index), *[UNKNOWN] * 11, "✗ lost", ""]
    mark = "*" if gpu.memory_scheme == "unified" else ""
    return [
        str(gpu.index),
        fixed(gpu.utilization_percent),
        gib(gpu.memory_used_bytes) + mark,
        gib(gpu.memory_total_bytes),
        fixed(gpu.power_w),
        fixed(gpu.power_limit_w),
        fixed(gpu.temperature_c),
        fixed(gpu.sm_clock_mhz),
        fixed(scaled(gpu.pcie_rx_bytes_per_s, GB), 1),
        fixed(scaled(gpu.pcie_tx_bytes_per_s, GB), 1),
        _nvlink(gpu),
        fixed(gpu.ecc_uncorrected),
        UNKNOWN if gpu.throttle is None else ", ".join(gpu.throttle),
        _holders(gpu),
    ]


def _nvlink(gpu: GpuSample) -> str:
    received, sent = gpu.nvlink_rx_bytes_per_s, gpu.nvlink_tx_bytes_per_s
    return UNKNOWN if received is None or sent is None else fixed((received + sent) / GB, 1)


def _holders(gpu: GpuSample) -> str:
    if gpu.processes is None:
        return UNKNOWN
    return ", ".join(
        f"{p.name or f'pid {p.pid}'} ({p.user or 'owner unknown'}, {gib(p.memory_bytes)} GiB)"
        for p in gpu.processes
    )


def _mig_lines(gpu: GpuSample) -> list[str]:
    return [
        f"  GPU {gpu.index} {mig.name} {mig.uuid}: "
        f"{gib(mig.memory_used_bytes)} of {gib(mig.memory_total_bytes)} GiB"
        for mig in gpu.mig_devices
    ]


def reason_lines(gpus: Sequence[GpuSample]) -> list[str]:
    """`— W, W limit: not supported (GPU 0-3)`, one line a reason and set of GPUs."""
    at: dict[tuple[str, str], list[int]] = {}
    for gpu in gpus:
        for name, words in () if gpu.lost else LISTED_WORDS.items():
            if getattr(gpu, name) is None:
                at.setdefault((words, str(gpu.reason(name))), []).append(gpu.index)
    names: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for (name, why), indices in at.items():
        names.setdefault((why, tuple(indices)), []).append(name)
    lines = [f"{UNKNOWN} {', '.join(n)}: {why} ({_gpus(i)})" for (why, i), n in names.items()]
    return lines + [f"✗ GPU {gpu.index}: {_loss(gpu)}" for gpu in gpus if gpu.lost]


def _loss(gpu: GpuSample) -> str:
    return str(gpu.reason("utilization_percent"))


def _gpus(indices: Iterable[int] | None) -> str:
    if indices is None:
        return UNKNOWN
    found = sorted(indices)
    if len(found) > 1 and found == list(range(found[0], found[-1] + 1)):
        return f"GPU {found[0]}-{found[-1]}"
    return f"GPU {','.join(str(index) for index in found)}" if found else "none"


def server_lines(host: HostState) -> list[str]:
    """The servers, the evidence for each state, and a reason for each number that is missing."""
    if not host.servers:
        return ["no server"]
    rows = [_server_row(server, host.server_samples.get(server.name)) for server in host.servers]
    lines = table(SERVER_HEADS, rows, right="PORT TOK/S RUN QUEUE KV")
    for server in host.servers:
        lines += [f"{server.name}: {words}" for words in _remarks(server)]
        sample = host.server_samples.get(server.name)
        if sample is not None and sample.tokens_per_s is None:
            lines.append(f"{server.name}: {UNKNOWN} tok/s: {sample.reason('tokens_per_s')}")
        if sample is not None and sample.accept_length is None:
            lines.append(f"{server.name}: {UNKNOWN} accept: {sample.reason('accept_length')}")
    return lines


def _remarks(server: Server) -> list[str]:
    remarks = [server.why] if server.why else []
    if server.is_multi_node:
        remarks.append(
            f"rank {server.node_rank} of a server over several hosts: start, stop and compare "
            "refuse it"
        )
    if server.launched_by:
        remarks.append(f"launch {server.launch_id} by {server.launched_by}")
    if server.evidence.age_s is not None:
        remarks.append(f"up {spoken(server.evidence.age_s)}")
    return ["; ".join(remarks)] if remarks else []


def _server_row(server: Server, sample: ServerSample | None) -> list[str]:
    running = sample.running_requests if sample else None
    queued = sample.queued_requests if sample else None
    return [
        server.name + " SIMULATED" * server.is_simulated,
        str(server.state) + ("" if server.is_ours else " foreign" * (server.state != "foreign")),
        server.profile or UNKNOWN,
        server.model or UNKNOWN,
        server.version or UNKNOWN,
        UNKNOWN if server.port is None else str(server.port),
        _gpus(server.gpus),
        server.owner or UNKNOWN,
        rate(sample.tokens_per_s if sample else None),
        accept_words(server, sample),
        UNKNOWN if running is None else str(running),
        UNKNOWN if queued is None else str(queued),
        percent(sample.token_usage if sample else None),
    ]


def accept_words(server: Server, sample: ServerSample | None) -> str:
    """`off` without speculation, else the number and over what it was taken."""
    if server.argv and server.algorithm is None:
        return "off"
    if sample is None or sample.accept_length is None:
        return UNKNOWN
    parts = [sample.accept_length_scope] if sample.accept_length_scope else []
    if sample.accept_length_range is not None:
        lowest, highest = sample.accept_length_range
        parts.append(f"ranks {lowest:.2f}-{highest:.2f}")
    scope = f" ({', '.join(parts)})" if parts else ""
    return f"{sample.accept_length:.2f}{scope}"


def watch_line(name: str, host: HostState) -> str:
    """One line a second for `watch`: the host and its servers in brief."""
    parts = [name + " SIMULATED" * host.simulated, _brief_gpus(host)]
    for server in host.servers or ():
        sample = host.server_samples.get(server.name)
        state = server.milestone if server.state == "starting" else server.state
        parts.append(
            f"{server.name} {state or server.state} {rate(sample.tokens_per_s if sample else None)}"
            f" tok/s accept {accept_words(server, sample)}"
        )
    return "  ".join(part for part in parts if part)


def _brief_gpus(host: HostState) -> str:
    if host.sample is None:
        return ""
    if not host.sample.gpus:
        return f"CPU {fixed(host.sample.host.cpu_percent)}%"
    gpus = host.sample.gpus
    busy = " ".join(fixed(gpu.utilization_percent) for gpu in gpus)
    watts = [gpu.power_w for gpu in gpus if gpu.power_w is not None]
    memory = [gpu.memory_used_bytes for gpu in gpus if gpu.memory_used_bytes is not None]
    return (
        f"util% {busy}  {fixed(sum(watts) if watts else None)} W  "
        f"{fixed(sum(memory) / GIB if memory else None)} GiB"
    )
