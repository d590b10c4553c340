"""`nvidia-smi` on a lab host: the answers in CSV that specctl asks for, and `topo -m`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.lab.gpu_load import read_gpus, read_ini
from specctl.lab.place import LabHost
from specctl.lab.scenarios import to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specctl.lab.gpu_load import GpuLoad

MIB = 1 << 20
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running."
)
NO_DRIVER_STATUS = 9
LOST = "Unable to determine the device handle for GPU{bus}: GPU has fallen off the bus."
NOT_THERE = "[N/A]"


def _mib(size_bytes: int | None) -> str:
    return NOT_THERE if size_bytes is None else str(size_bytes // MIB)


def _number(key: str, scale: float = 1, form: str = "{:.0f}") -> Callable[[GpuLoad], str]:
    def read(gpu: GpuLoad) -> str:
        value = gpu.number(key)
        return NOT_THERE if value is None else form.format(value * scale)

    return read


def _share(key: str, share: Callable[[GpuLoad], float]) -> Callable[[GpuLoad], str]:
    def read(gpu: GpuLoad) -> str:
        return f"{100 * share(gpu):.0f}" if key in gpu.values else NOT_THERE

    return read


def _switch(key: str) -> Callable[[GpuLoad], str]:
    def read(gpu: GpuLoad) -> str:
        value = gpu.number(key)
        return NOT_THERE if value is None else "Enabled" if value else "Disabled"

    return read


def _reserved(gpu: GpuLoad) -> str:
    return _mib(to_bytes(gpu.values.get("mem.reserved")))


COLUMNS: Mapping[str, Callable[[GpuLoad], str]] = {
    "index": lambda gpu: str(gpu.index),
    "uuid": lambda gpu: gpu.values["uuid"],
    "name": lambda gpu: gpu.values["name"],
    "memory.total": lambda gpu: _mib(gpu.memory_total_bytes),
    "memory.used": lambda gpu: (
        NOT_THERE if gpu.memory_total_bytes is None else _mib(gpu.memory_used_bytes)
    ),
    "memory.reserved": _reserved,
    "utilization.gpu": _share("util.gpu", lambda gpu: gpu.busy),
    "utilization.memory": _share("util.mem", lambda gpu: gpu.memory_busy),
    "temperature.gpu": lambda gpu: f"{gpu.celsius:.0f}",
    "temperature.memory": _number("temp.mem"),
    "power.draw": lambda gpu: f"{gpu.watts:.2f}",
    "enforced.power.limit": _number("power.limit_mw", 1e-3, "{:.2f}"),
    "clocks.sm": _number("clock.sm"),
    "clocks.max.sm": _number("clock.max.sm"),
    "clocks.mem": _number("clock.mem"),
    "pstate": _number("pstate", form="P{:.0f}"),
    "persistence_mode": _switch("persistence"),
    "mig.mode.current": _switch("mig.mode"),
    "ecc.errors.uncorrected.volatile.total": _number("ecc.volatile.uncorrected"),
    "ecc.errors.corrected.volatile.total": _number("ecc.volatile.corrected"),
    "pcie.link.gen.current": _number("pcie.gen"),
    "pcie.link.gen.max": _number("pcie.max_gen"),
    "pcie.link.width.current": _number("pcie.width"),
    "pcie.link.width.max": _number("pcie.max_width"),
    "clocks_event_reasons.active": lambda gpu: f"0x{gpu.throttle:016X}",
}


def answer(host: LabHost, arguments: Sequence[str]) -> tuple[int, list[str]]:
    """The exit status and the lines printed."""
    system, _ = read_ini(host.folder / "gpus.ini")
    if "error.nvmlInit" in system:
        return NO_DRIVER_STATUS, [NO_DRIVER]
    gpus = read_gpus(host)
    if list(arguments[:1]) == ["topo"]:
        return 0, topology(len(gpus), host.scenario["interconnect"])
    for argument in arguments:
        option, _, query = argument.partition("=")
        if option == "--query-gpu":
            return _query_gpus(gpus, query.split(","), system)
        if option == "--query-compute-apps":
            return 0, _processes(gpus, query.split(","))
    return 0, [f"GPU {g.index}: {g.values['name']} (UUID: {g.values['uuid']})" for g in gpus]


def _query_gpus(
    gpus: Sequence[GpuLoad], query: Sequence[str], system: Mapping[str, str]
) -> tuple[int, list[str]]:
    def driver(_: GpuLoad) -> str:
        return system["driver_version"]

    columns = {**COLUMNS, "driver_version": driver}
    for name in query:
        if name not in columns:
            return 2, [f'Field "{name}" is not a valid field to query.']
    lines: list[str] = []
    for gpu in gpus:
        if gpu.is_lost:
            bus = gpu.values["pci.bus_id"][4:]
            return 0, [*lines, LOST.format(bus=bus)]
        lines.append(", ".join(columns[name](gpu) for name in query))
    return 0, lines


def _processes(gpus: Sequence[GpuLoad], query: Sequence[str]) -> list[str]:
    lines = []
    for gpu in gpus:
        for use in gpu.uses:
            cells = {
                "gpu_uuid": gpu.values["uuid"],
                "pid": str(use.pid),
                "process_name": _program(use.pid),
                "used_memory": _mib(use.memory_bytes),
            }
            lines.append(", ".join(cells.get(name, NOT_THERE) for name in query))
    return lines


def _program(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return "[Not Found]"


def topology(count: int, interconnect: str) -> list[str]:
    """The matrix of `topo -m`: two sockets of four, or all behind NVSwitch."""

    def between(a: int, b: int) -> str:
        if a == b:
            return "X"
        if interconnect == "nvlink":
            return "NV18"
        return "PHB" if a // 4 == b // 4 else "SYS"

    head = "\t".join(["", *(f"GPU{b}" for b in range(count))])
    rows = ["\t".join([f"GPU{a}", *(between(a, b) for b in range(count))]) for a in range(count)]
    return [head, *rows]


def main() -> int:
    """Answer one command line."""
    folder = os.environ.get("SPECCTL_LAB_HOST")
    status, lines = answer(LabHost(Path(folder or "/")), sys.argv[1:])
    sys.stdout.write("".join(line + "\n" for line in lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
