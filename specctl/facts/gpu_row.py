"""One GPU's row of the agent's sample."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, MigDevice
from specctl.facts.counters import link_bytes_per_s
from specctl.facts.readings import (
    Fields,
    mapping,
    read_reason,
    read_reasons,
    read_text,
    rows,
    whole,
)
from specctl.facts.throttle import read_throttle

if TYPE_CHECKING:
    from collections.abc import Mapping

NUMBERS = (
    "utilization_percent",
    "memory_utilization_percent",
    "power_w",
    "power_limit_w",
    "energy_j",
    "temperature_c",
    "memory_temperature_c",
    "sm_clock_mhz",
    "sm_clock_max_mhz",
    "memory_clock_mhz",
)
WHOLES = (
    "memory_total_bytes",
    "memory_used_bytes",
    "pcie_generation",
    "pcie_generation_max",
    "pcie_width",
    "pcie_width_max",
    "ecc_uncorrected",
    "ecc_corrected",
    "performance_state",
)
NVLINK = ("nvlink_rx_bytes", "nvlink_tx_bytes")
PCIE = ("pcie_rx_bytes", "pcie_tx_bytes")
KINDS = ("compute", "graphics", "mps")
BITS_64 = 1 << 64

V1_RESERVED = Missing(Why.NOT_SUPPORTED, "this driver counts reserved memory as used")
UNDER_MIG = Missing(Why.NOT_SUPPORTED, "not available under MIG")
OTHER_NAMESPACE = Missing(Why.OTHER_NAMESPACE, "the pids may be those of another pid namespace")
UNIFIED = re.compile(r"\b(?:GB10|Orin|Thor|Xavier|Tegra|nvgpu)\b")
"""GPUs that use the host's memory; taken as such only when NVML knows no memory of theirs."""

VGPU = re.compile(r"\b(?:GRID|NVIDIA) [A-Z0-9]+[A-Z]?-(?:\d{1,2}-)?\d{1,3}[ABCQ]$")
"""vGPU profiles: `GRID V100D-8C`, `NVIDIA H100L-2-24C`."""


class RateOf(Protocol):
    """Makes a rate of a counter."""

    def __call__(
        self, owner: str, name: str, value: int, *, is_short: bool = False, most: float = 0.0
    ) -> float | Missing:
        """The rate since the reading before."""


def read_gpu_row(row: Mapping[str, Any], rate_of: RateOf) -> GpuSample:
    """The row of one GPU, whatever it holds."""
    values = mapping(row.get("v"))
    fields = Fields(values, read_reasons(row.get("missing")))
    fields.numbers(NUMBERS)
    fields.wholes(WHOLES)
    fields.switch("persistence")
    fields.switch("mig")
    _read_memory(fields, values)
    _read_throttle(fields, values)
    _read_traffic(fields, values, owner_of(row), rate_of)
    processes = _read_processes(fields, row)
    _note_mig(fields)
    name = read_text(row.get("name"))
    return GpuSample(
        index=whole(row.get("index")) or 0,
        uuid=read_text(row.get("uuid")),
        name=name,
        is_vgpu=VGPU.search(name) is not None,
        processes=processes,
        mig_devices=tuple(_read_mig(device) for device in rows(row.get("mig_devices"))),
        lost=row.get("lost") is True,
        **fields.values,
        missing=fields.missing,
    )


def owner_of(row: Mapping[str, Any]) -> str:
    """Whose counters a row's are."""
    return read_text(row.get("uuid")) or str(whole(row.get("index")) or 0)


def throttle_of(mask: object) -> tuple[str, ...] | None:
    """The slow-downs of a mask; None for what is no mask."""
    if isinstance(mask, bool) or not isinstance(mask, int) or not 0 <= mask < BITS_64:
        return None
    return read_throttle(mask)


def _read_memory(fields: Fields, values: Mapping[str, Any]) -> None:
    scheme = values.get("memory_scheme")
    known = scheme if scheme in ("v1", "v2") else None
    fields.put("memory_scheme", fields.reason("memory_scheme") if known is None else known)
    if known == "v1":
        fields.put("memory_reserved_bytes", V1_RESERVED)
    else:
        fields.wholes(("memory_reserved_bytes",))


def _read_throttle(fields: Fields, values: Mapping[str, Any]) -> None:
    found = throttle_of(values.get("throttle_mask"))
    fields.put("throttle", fields.reason("throttle_mask") if found is None else found)


def _read_traffic(fields: Fields, values: Mapping[str, Any], owner: str, rate_of: RateOf) -> None:
    most = link_bytes_per_s(
        fields.values.get("pcie_generation_max"), fields.values.get("pcie_width_max")
    )
    for name in NVLINK + PCIE:
        value = whole(values.get(name))
        found: float | Missing
        if value is None:
            found = fields.reason(name)
        elif name in PCIE:
            is_short = values.get("pcie_is_32_bit") is True
            found = rate_of(owner, name, value, is_short=is_short, most=most)
        else:
            found = rate_of(owner, name, value)
        fields.put(f"{name}_per_s", found)


def _read_processes(fields: Fields, row: Mapping[str, Any]) -> tuple[GpuProcess, ...] | None:
    if not isinstance(row.get("processes"), list):
        fields.put("processes", fields.reason("processes"))
        return None
    found = tuple(
        process for process in map(_read_process, rows(row["processes"])) if process is not None
    )
    if not all(process.pid_is_local for process in found):
        fields.put("processes.owner", OTHER_NAMESPACE)
    return found


def _read_process(row: Mapping[str, Any]) -> GpuProcess | None:
    pid = whole(row.get("pid"))
    if pid is None:
        return None
    kind = row.get("kind")
    return GpuProcess(
        pid=pid,
        memory_bytes=whole(row.get("memory_bytes")),
        kind=kind if kind in KINDS else "compute",
        user=read_text(row.get("user")) or None,
        name=read_text(row.get("name")) or None,
        pid_is_local=row.get("is_local") is not False,
    )


def _read_mig(row: Mapping[str, Any]) -> MigDevice:
    return MigDevice(
        uuid=read_text(row.get("uuid")),
        name=read_text(row.get("name")),
        memory_total_bytes=whole(row.get("memory_total_bytes")),
        memory_used_bytes=whole(row.get("memory_used_bytes")),
        missing=None if row.get("missing") is None else read_reason(row["missing"]),
    )


def _note_mig(fields: Fields) -> None:
    """Say why a GPU in MIG mode has no utilisation of its own."""
    for name in ("utilization_percent", "memory_utilization_percent"):
        reason = fields.missing.get(name)
        if fields.values.get("mig") and reason and reason.why is Why.NOT_SUPPORTED:
            fields.put(name, UNDER_MIG)


def with_shared_memory(gpu: GpuSample, host: HostSample) -> GpuSample:
    """A GPU without memory of its own, given the host's: total, and what is not available of it."""
    reason = gpu.missing.get("memory_total_bytes")
    if reason is None or reason.why is not Why.NOT_SUPPORTED or not UNIFIED.search(gpu.name):
        return gpu
    total, available = host.memory_total_bytes, host.memory_available_bytes
    if total is None or available is None:
        return gpu
    missing = {
        name: why
        for name, why in gpu.missing.items()
        if name not in ("memory_total_bytes", "memory_used_bytes", "memory_scheme")
    }
    return replace(
        gpu,
        memory_total_bytes=total,
        memory_used_bytes=max(total - available, 0),
        memory_scheme="unified",
        missing=missing,
    )
