"""Measurements as they arrived; a field that is None has its reason in `missing`."""

from __future__ import annotations

from dataclasses import dataclass, field

from specctl.domain.missing import NOT_YET, Missing, Reasons, Why


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """One process that holds a GPU."""

    pid: int
    memory_bytes: int | None
    kind: str
    """`compute`, `graphics` or `mps`."""

    user: str | None = None
    name: str | None = None
    """The process title; None when the pid cannot be looked up (other namespace, or gone)."""

    pid_is_local: bool = True
    """False when the pid may be of another namespace: it then names no process of the host."""


@dataclass(frozen=True, slots=True)
class MigDevice:
    """One MIG instance of a GPU."""

    uuid: str
    name: str
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    missing: Missing | None = None
    """Why its memory is not known."""


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU at one instant."""

    index: int
    uuid: str
    name: str
    utilization_percent: float | None = None
    memory_utilization_percent: float | None = None
    """Share of time the memory controller was busy; not the share of memory used."""

    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    """Without `memory_reserved_bytes` when `memory_scheme` is `v2`, including it when `v1`."""

    memory_reserved_bytes: int | None = None
    memory_scheme: str | None = None
    """`v2`, `v1`, `unified` (the host's own memory: total and used are the host's), or None."""

    power_w: float | None = None
    power_limit_w: float | None = None
    energy_j: float | None = None
    """Since the driver was loaded."""

    temperature_c: float | None = None
    memory_temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    sm_clock_max_mhz: float | None = None
    memory_clock_mhz: float | None = None
    throttle: tuple[str, ...] | None = None
    """Active slow-downs, worst first: `hw slow` `heat (hw)` `brake (hw)` `heat (sw)` `power cap`.

    Empty means the GPU is not slowed; idling is not a slow-down.
    """

    pcie_generation: int | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_rx_bytes_per_s: float | None = None
    pcie_tx_bytes_per_s: float | None = None
    nvlink_rx_bytes_per_s: float | None = None
    nvlink_tx_bytes_per_s: float | None = None
    ecc_uncorrected: int | None = None
    """Volatile count: since the driver was loaded."""

    ecc_corrected: int | None = None
    persistence: bool | None = None
    performance_state: int | None = None
    mig: bool | None = None
    mig_devices: tuple[MigDevice, ...] = ()
    processes: tuple[GpuProcess, ...] | None = None
    lost: bool = False
    is_vgpu: bool = False
    """A slice that a virtual machine was given; its memory is the slice's."""

    missing: Reasons = field(default_factory=dict)

    def reason(self, name: str) -> Missing:
        """Why the field `name` is None."""
        return self.missing.get(name, NOT_YET)


@dataclass(frozen=True, slots=True)
class HostSample:
    """A host's own processor, memory, disk and network at one instant."""

    cpu_percent: float | None = None
    """Of all cores together, 0-100."""

    cpu_count: int | None = None
    load_1min: float | None = None
    memory_total_bytes: int | None = None
    memory_available_bytes: int | None = None
    swap_used_bytes: int | None = None
    shm_total_bytes: int | None = None
    shm_free_bytes: int | None = None
    disk_total_bytes: int | None = None
    """Of the file system that holds the state directory."""

    disk_free_bytes: int | None = None
    network_rx_bytes_per_s: float | None = None
    network_tx_bytes_per_s: float | None = None
    uptime_s: float | None = None
    missing: Reasons = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sample:
    """What a host's agent measured in one tick."""

    time_s: float
    """The host's wall clock, Unix seconds."""

    host: HostSample
    gpus: tuple[GpuSample, ...]
    gpu_source: str | None
    """`nvml`, `nvidia-smi`, or None when neither could be asked."""

    gpu_missing: Missing | None = None
    """Why there are no GPU readings at all; None when there are, or the host truly has none."""

    driver: str | None = None
    cost_ms: float | None = None
    """Processor time the agent spent on this tick."""

    driver_ms: float | None = None
    """What the GPU driver says its batched field reads took in this tick, all GPUs together."""

    gpu_age_s: float | None = None
    """How old the GPU readings are when they are not of this tick; None when they are."""

    @property
    def tells_of_gpus(self) -> bool:
        """The GPUs were read, or why they cannot be is known: not while nvidia-smi still runs."""
        return self.gpu_missing is None or self.gpu_missing.why is not Why.NOT_YET


@dataclass(frozen=True, slots=True)
class ServerSample:
    """What a running server said of itself at one instant."""

    time_s: float
    """When it was read, by the operator's clock, Unix seconds."""

    source: str
    """`/v1/loads`, `/metrics`, `/server_info` or `log`."""

    tokens_per_s: float | None = None
    """Output tokens generated per second, all ranks together."""

    accept_length: float | None = None
    """Tokens emitted per verify step, bonus token included."""

    accept_length_scope: str | None = None
    """`window` (since the last sample), `interval` (the server's last report) or `lifetime`."""

    accept_length_range: tuple[float, float] | None = None
    """Lowest and highest over data-parallel ranks; None unless several tell and differ."""

    running_requests: int | None = None
    queued_requests: int | None = None
    token_usage: float | None = None
    """Share of the KV pool in use, 0-1."""

    generated_tokens: int | None = None
    """Counter since start."""

    verify_steps: int | None = None
    """Counter since start."""

    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    is_idle: bool = False
    """No counter moved since the last sample: rates that the server still prints are old."""

    has_moved: bool | None = None
    """Something was counted or published lately; None when this look cannot tell.

    False while requests run is a long prefill or a hang; an idle server does not move either.
    """

    missing: Reasons = field(default_factory=dict)

    def reason(self, name: str) -> Missing:
        """Why the field `name` is None."""
        return self.missing.get(name, NOT_YET)
