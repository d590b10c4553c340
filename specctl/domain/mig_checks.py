"""Servers on MIG instances, which CUDA_VISIBLE_DEVICES names by their UUIDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.plan import Check, passed, refused, warned
from specctl.domain.proof import gib

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specctl.domain.sample import GpuSample, MigDevice

USED_BYTES = 1024**3
"""An instance that nobody uses holds some MiB."""


def named_instances(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The MIG instances that a server would be shown; empty when it is shown whole GPUs."""
    words = environment.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return tuple(word.strip() for word in words if word.strip().startswith("MIG-"))


def parents_of(instances: Sequence[str], gpus: Iterable[GpuSample]) -> tuple[int, ...] | None:
    """The GPUs that instances are part of; None when one of them is not there."""
    at = {mig.uuid: gpu.index for gpu in gpus for mig in gpu.mig_devices}
    if not all(name in at for name in instances):
        return None
    return tuple(dict.fromkeys(at[name] for name in instances))


def check_instances(
    instances: Sequence[str], gpus: Sequence[GpuSample], needed: int | None
) -> Check:
    """They exist, one is enough, and nobody uses it.

    CUDA shows a process one instance only (NVIDIA MIG User Guide, CUDA device enumeration).
    """
    found = {mig.uuid: (gpu.index, mig) for gpu in gpus for mig in gpu.mig_devices}
    lost = [name for name in instances if name not in found]
    if lost and found:
        words = f"{', '.join(lost)} does not exist; the host has {', '.join(found)}"
        return refused("gpus", words, "Name one of those in CUDA_VISIBLE_DEVICES.")
    if lost:
        return warned("gpus", f"{', '.join(lost)} cannot be seen", "nvidia-smi -L lists instances.")
    if len(instances) > 1 or needed != 1:
        words = "CUDA shows a server one MIG instance, and it asks for more"
        return refused(
            "gpus", words, "Name one instance, and leave tp-size, dp-size, pp-size at 1."
        )
    return _check_use(*found[instances[0]])


def _check_use(gpu: int, mig: MigDevice) -> Check:
    """The driver names processes by GPU: whose they are on an instance it does not tell."""
    words = f"{mig.name} {mig.uuid} of GPU {gpu}"
    used = mig.memory_used_bytes
    if used is not None and used >= USED_BYTES:
        words += f" has {gib(used)} in use; by whom is not told of one instance"
        return warned("gpus", words, "nvidia-smi on the host names the processes of its GPU.")
    return passed("gpus", f"{words}, {gib(mig.memory_total_bytes)}")
