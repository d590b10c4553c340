"""Which GPUs a server uses: from the processes that hold them, else from what it was told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.missing import Missing, Why
from specctl.facts.readings import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.command import ServerArguments
    from specctl.domain.sample import GpuSample
    from specctl.domain.server import ServerProcess

Placed = tuple[tuple[int, ...] | None, Missing | None]


def gpus_of(
    processes: Sequence[ServerProcess],
    gpus: Sequence[GpuSample] | None,
    arguments: ServerArguments | None,
    recorded: tuple[int, ...] | None,
) -> Placed:
    """GPU indices and, when they are not known, why.

    Holding a GPU is proof; a record, or the visible devices with `base-gpu-id`, only say what was
    meant. In a container GPU pids may belong to another namespace: then nothing is concluded from
    their absence.
    """
    held = held_gpus({p.identity.pid for p in processes}, gpus)
    if held:
        return held, None
    if arguments is not None and (arguments.text("device") or "").startswith("cpu"):
        return (), None
    meant = recorded if recorded is not None else _meant(processes, arguments)
    if meant is not None:
        return meant, None
    return None, _why_unknown(gpus)


def held_gpus(pids: set[int], gpus: Sequence[GpuSample] | None) -> tuple[int, ...]:
    """The GPUs on which one of `pids` is seen."""
    return tuple(gpu.index for gpu in gpus or () if any(p.pid in pids for p in gpu.processes or ()))


def _meant(
    processes: Sequence[ServerProcess], arguments: ServerArguments | None
) -> tuple[int, ...] | None:
    visible = next((v for p in processes for k, v in p.environment if k == _VISIBLE), None)
    if visible is None or arguments is None:
        return None
    indices = [index for word in visible.split(",") if (index := counted(word.strip())) is not None]
    if len(indices) <= visible.count(","):
        return None
    ranks = _local_ranks(arguments)
    if ranks is None or arguments.base_gpu_id is None:
        return None
    chosen = indices[arguments.base_gpu_id : arguments.base_gpu_id + ranks]
    return tuple(chosen) if len(chosen) == ranks else None


_VISIBLE = "CUDA_VISIBLE_DEVICES"


def _local_ranks(arguments: ServerArguments) -> int | None:
    """GPUs of this host: attention data parallelism shares the tensor-parallel ones."""
    tp, pp, dp, nodes = arguments.tp_size, arguments.pp_size, arguments.dp_size, arguments.nnodes
    if tp is None or pp is None or dp is None or not nodes:
        return None
    replicas = 1 if arguments.has("enable-dp-attention") else dp
    return max(1, tp * pp * replicas // nodes)


def _why_unknown(gpus: Sequence[GpuSample] | None) -> Missing:
    if gpus is None:
        return Missing(Why.NOT_YET, "the GPUs have not been read")
    names = [p.name for gpu in gpus for p in gpu.processes or ()]
    if names and not any(names):
        return Missing(Why.OTHER_NAMESPACE)
    return Missing(Why.NO_WINDOW, "none of its processes holds a GPU yet")
