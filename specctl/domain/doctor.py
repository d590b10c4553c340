"""What a host must have to be driven, judged from readings; one row each with its next step."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from specctl.domain.driver_trouble import remedy_of
from specctl.domain.missing import Why
from specctl.domain.start_checks import shm_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specctl.domain.preflight import SpaceReading, SurvivalReading
    from specctl.domain.sample import GpuSample, Sample

GIB = 1024**3
OLDEST_PYTHON = (3, 8)
CPU_ONLY = "Fine for a CPU host."
SLOW_SHELL_S = 1.0
SKEW_WARN_S = 2.0
SKEW_FAIL_S = 300.0
DISK_WARN_BYTES = 5 * GIB
DISK_FAIL_BYTES = 256 * 1024**2
SHM_WARN_SHARE = 0.2
"""SGLang and NCCL take tens of GiB of /dev/shm; a full one ends a scheduler with SIGBUS."""

SHM_FAIL_SHARE = 0.05


class Level(StrEnum):
    """How a row came out."""

    PASS = "PASS"  # noqa: S105  not a password
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Row:
    """One prerequisite of one host."""

    name: str
    level: Level
    words: str
    next_step: str = ""
    """What to do, or the exact command for whoever has the rights; empty on PASS."""


@dataclass(frozen=True, slots=True)
class FoundSglang:
    """An interpreter that has SGLang."""

    python: str
    version: str | None
    path: str


def worst(rows: Iterable[Row]) -> Level:
    """The worst level among rows; PASS when there are none."""
    levels = {row.level for row in rows}
    return next((level for level in (Level.FAIL, Level.WARN) if level in levels), Level.PASS)


def judge_python(version: str, path: str) -> Row:
    """The interpreter that runs the agent."""
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_PYTHON:
        return Row(
            "python",
            Level.FAIL,
            f"{path} is Python {version}; the agent needs 3.8",
            "Name a newer one as python in the host's file.",
        )
    return Row("python", Level.PASS, f"{version} at {path}")


def judge_shell(shell: str | None, took_s: float) -> Row:
    """The login shell that every command goes through, and how long one takes."""
    words = f"{shell or 'unknown'}, a command takes {took_s * 1000:.0f} ms"
    if took_s > SLOW_SHELL_S:
        step = "Its startup files run for every command: skip them when it is not interactive."
        return Row("shell", Level.WARN, words, step)
    return Row("shell", Level.PASS, words)


def judge_sglang(found: tuple[FoundSglang, ...], configured: str | None) -> Row:
    """Which interpreter would run SGLang."""
    if not found:
        return Row(
            "sglang",
            Level.FAIL if configured else Level.WARN,
            "no interpreter with SGLang was found",
            "Install it, or name its interpreter as python in the host's file.",
        )
    active = next((f for f in found if f.python == configured), None)
    if configured and active is None:
        others = ", ".join(f.python for f in found)
        return Row(
            "sglang",
            Level.FAIL,
            f"{configured} has no SGLang; found in {others}",
            f'Set python = "{found[0].python}" in the host\'s file.',
        )
    if active is None and len(found) > 1:
        pythons = ", ".join(f"{f.python} ({f.version or 'unknown version'})" for f in found)
        return Row(
            "sglang",
            Level.WARN,
            f"several: {pythons}",
            "Name the one to launch with as python in the host's file.",
        )
    chosen = active or found[0]
    return Row("sglang", Level.PASS, f"{chosen.version or 'unknown version'} at {chosen.path}")


def judge_clock(skew_s: float) -> Row:
    """The host's clock against the operator's, half a round trip taken off."""
    words = f"{abs(skew_s):.1f} s {'ahead' if skew_s > 0 else 'behind'}"
    if abs(skew_s) < SKEW_WARN_S:
        return Row("clock", Level.PASS, f"within {SKEW_WARN_S:g} s of this machine")
    level = Level.FAIL if abs(skew_s) >= SKEW_FAIL_S else Level.WARN
    return Row("clock", level, words, "sudo timedatectl set-ntp true")


def judge_driver(sample: Sample, kernel_module: str | None) -> Row:
    """The NVIDIA driver, and the way its readings come."""
    if sample.gpu_missing is not None:
        has_module = kernel_module is not None
        words = str(sample.gpu_missing)
        remedy = remedy_of(sample.gpu_missing)
        if remedy is not None:
            return Row("driver", Level.FAIL, words, remedy)
        if has_module:
            step = "nvidia-smi on the host says the same; reload the module or reboot."
            return Row("driver", Level.FAIL, f"{words} (kernel module {kernel_module})", step)
        if sample.gpu_missing.why is Why.NOT_INSTALLED:
            return Row("driver", Level.WARN, f"no GPU can be read: {words}", CPU_ONLY)
        step = "nvidia-smi on the host says more; sudo modprobe nvidia, or reboot."
        return Row("driver", Level.FAIL, f"no GPU can be read: {words}", step)
    if sample.gpu_source == "nvidia-smi":
        step = "NVML itself cannot be used there; readings are slower and fewer."
        return Row("driver", Level.WARN, f"{sample.driver} through nvidia-smi", step)
    return Row("driver", Level.PASS, f"{sample.driver or 'unknown version'} through NVML")


def gpu_kinds(gpus: Iterable[GpuSample]) -> str:
    """`8 × NVIDIA H100`, each kind by itself; a lost GPU may not tell its name."""
    names = [gpu.name or "of unknown kind" for gpu in gpus]
    return ", ".join(f"{names.count(name)} × {name}" for name in sorted(set(names)))


def judge_gpus(gpus: Iterable[GpuSample]) -> Row:
    """The GPUs themselves."""
    found = tuple(gpus)
    if not found:
        return Row("gpus", Level.WARN, "none", CPU_ONLY)
    lost = [str(gpu.index) for gpu in found if gpu.lost]
    if lost:
        step = "sudo dmesg | grep -i xid, then reset the GPU or reboot"
        return Row("gpus", Level.FAIL, f"GPU {', '.join(lost)} is lost", step)
    words = gpu_kinds(found)
    if any(gpu.ecc_uncorrected for gpu in found):
        bad = ", ".join(str(gpu.index) for gpu in found if gpu.ecc_uncorrected)
        step = "nvidia-smi -q -d ECC,ROW_REMAPPER"
        return Row("gpus", Level.WARN, f"{words}; uncorrected ECC errors on GPU {bad}", step)
    if any(gpu.persistence is False for gpu in found):
        return Row("gpus", Level.WARN, f"{words}; persistence mode off", "sudo nvidia-smi -pm 1")
    return Row("gpus", Level.PASS, words)


def judge_faults(lines: tuple[str, ...] | None, sample: Sample) -> Row | None:
    """What the kernel log says of the driver; nothing where it may not be read and none is missed.

    An Xid tells why a GPU fell off the bus, and why nvidia-smi hangs.
    """
    is_troubled = sample.gpu_missing is not None or any(gpu.lost for gpu in sample.gpus)
    has_driver = bool(sample.gpus) or (
        sample.gpu_missing is not None and sample.gpu_missing.why is not Why.NOT_INSTALLED
    )
    step = "sudo dmesg --ctime | grep -iE 'xid|fallen off|blocked for'"
    if not has_driver or (lines is None and not is_troubled):
        return None
    if lines is None:
        words = "the kernel log, which names driver faults, may not be read by this user"
        return Row("faults", Level.WARN, words, step)
    if not lines:
        return Row("faults", Level.PASS, "no driver fault in the kernel log")
    plural = "" if len(lines) == 1 else "s"
    level = Level.FAIL if is_troubled else Level.WARN
    return Row("faults", level, f"{len(lines)} line{plural}, the last: {lines[-1]}", step)


def judge_state_dir(path: str | None, failures: tuple[str, ...]) -> Row:
    """Where launch records and logs go."""
    if path is None:
        words = "; ".join(failures) or "no directory can be written"
        return Row("state", Level.FAIL, words, "Set state_dir in the host's file.")
    if failures:
        words = f"{path}, because {'; '.join(failures)}"
        return Row("state", Level.WARN, words, "Set state_dir in the host's file.")
    return Row("state", Level.PASS, path)


def judge_disk(space: SpaceReading) -> Row:
    """The file system that launches write logs to."""
    if space.free_bytes is None or space.total_bytes is None:
        return Row("disk", Level.WARN, f"{space.path}: {space.detail}", "Set another state_dir.")
    free = f"{space.free_bytes / GIB:.1f} GiB free of {space.total_bytes / GIB:.1f} GiB"
    words = f"{free} at {space.path}"
    if space.free_bytes < DISK_FAIL_BYTES:
        return Row("disk", Level.FAIL, words, f"Free space at {space.path}.")
    if space.free_bytes < DISK_WARN_BYTES:
        return Row("disk", Level.WARN, words, f"Free space at {space.path} before a long run.")
    return Row("disk", Level.PASS, words)


def judge_shm(space: SpaceReading) -> Row:
    """/dev/shm, where schedulers keep their queues."""
    if space.free_bytes is None or not space.total_bytes:
        return Row("/dev/shm", Level.WARN, space.detail or "cannot be read", "df -h /dev/shm")
    share = space.free_bytes / space.total_bytes
    words = f"{space.free_bytes / GIB:.1f} GiB free of {space.total_bytes / GIB:.1f} GiB"
    step = shm_step(space)
    if share < SHM_FAIL_SHARE:
        return Row("/dev/shm", Level.FAIL, words, step)
    if share < SHM_WARN_SHARE:
        return Row("/dev/shm", Level.WARN, words, step)
    return Row("/dev/shm", Level.PASS, words)


def judge_survival(user: str, reading: SurvivalReading) -> Row:
    """Whether a server outlives the SSH session that started it (logind.conf(5))."""
    enable = f"sudo loginctl enable-linger {user}"
    if reading.kills_processes and not reading.lingers:
        words = "KillUserProcesses=yes: servers end with the last session"
        return Row("lingering", Level.WARN, words, enable)
    if reading.removes_ipc and not reading.lingers and user != "root":
        words = "RemoveIPC=yes: /dev/shm of this user is emptied at the last logout"
        return Row("lingering", Level.WARN, words, enable)
    return Row("lingering", Level.PASS, "servers outlive the session")


def judge_ports(taken: Mapping[int, str]) -> Row:
    """The ports that the workspace's profiles ask for."""
    busy = {port: owner for port, owner in taken.items() if owner}
    if not taken:
        return Row("ports", Level.PASS, "no profile names one")
    if busy:
        words = ", ".join(f"{port} is held by {owner}" for port, owner in sorted(busy.items()))
        return Row("ports", Level.WARN, words, "Use --port, or stop what holds it.")
    return Row("ports", Level.PASS, f"free: {', '.join(str(port) for port in sorted(taken))}")
