"""What a process does to the GPUs of its lab host, as the NVML library there reads it.

One text file per process, `activity/PID`, whole at any moment:

    start TICKS                       field 22 of /proc/PID/stat: a reused pid is not believed
    busy_until SECONDS                CLOCK_MONOTONIC; `inf` means until the next write
    gpu INDEX key=value …             one line per GPU; keys are the fields of Activity

A process that has died uses nothing: its file is ignored.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from specctl.lab.place import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.lab.place import LabHost


@dataclass(frozen=True, slots=True)
class Activity:
    """What one process does to one GPU."""

    gpu: int
    memory_bytes: int
    """What it holds there, as a list of processes shows it."""

    busy: float = 0.0
    """The share of time in which a kernel of it runs, 0 to 1."""

    memory_busy: float | None = None
    """The share of time in which memory is read or written; None: half of `busy`."""

    watts: float | None = None
    """Drawn above the idle GPU; None: what `busy` means for this kind of GPU."""

    pcie_rx_bytes_per_s: float = 0.0
    pcie_tx_bytes_per_s: float = 0.0
    nvlink_rx_bytes_per_s: float = 0.0
    nvlink_tx_bytes_per_s: float = 0.0

    mig: int | None = None
    """The position of the MIG instance it runs in; None: the whole GPU."""


def write_activity(
    lab_host: LabHost, pid: int, activities: Sequence[Activity], *, busy_for_s: float = math.inf
) -> None:
    """Say what `pid` does from now on: memory until it says else, the rest for `busy_for_s`.

    Raises ProcessLookupError when there is no such process.
    """
    until = time.monotonic() + busy_for_s
    lines = [f"start {start_ticks(pid)}", f"busy_until {until:.3f}"]
    lines += [_line(activity) for activity in activities]
    write_whole(lab_host.activity_folder / str(pid), "\n".join(lines) + "\n")


def clear_activity(lab_host: LabHost, pid: int) -> None:
    """`pid` uses no GPU any more."""
    (lab_host.activity_folder / str(pid)).unlink(missing_ok=True)


def start_ticks(pid: int) -> int:
    """When a process began, in ticks since boot (proc(5), stat, field 22).

    Raises ProcessLookupError when it has ended, reaped or not.
    """
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        words = ["X"]
    if words[0] in {"Z", "X"}:
        raise ProcessLookupError(f"no process {pid}")
    return int(words[19])


def _line(activity: Activity) -> str:
    pairs = ((field.name, getattr(activity, field.name)) for field in fields(activity)[1:])
    words = (f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
             for name, value in pairs if value is not None)  # fmt: skip
    return f"gpu {activity.gpu} {' '.join(words)}"
