"""Which GPUs a server would use, and who is there already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.mig_checks import check_instances, parents_of
from specctl.domain.plan import Check, passed, refused, warned
from specctl.domain.proof import gib

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.command import ServerArguments
    from specctl.domain.preflight import Preflight
    from specctl.domain.sample import GpuProcess, GpuSample
    from specctl.domain.server import Server

SMALL_BYTES = 256 * 1024**2
"""What a display or a monitor may hold without being in the way."""

UNEXPLAINED_BYTES = 1024**3


def needed_count(arguments: ServerArguments) -> int | None:
    """GPUs the server takes on this host; None when its sizes cannot be read.

    With attention data parallelism the groups share the tensor-parallel GPUs.
    """
    if arguments.text("device") == "cpu":
        return 0
    tp, dp, pp = arguments.tp_size, arguments.dp_size, arguments.pp_size
    if tp is None or dp is None or pp is None:
        return None
    return tp * pp * (1 if arguments.has("enable-dp-attention") else dp)


def choose(
    reading: Preflight,
    arguments: ServerArguments,
    wanted: Sequence[int] | None,
    instances: Sequence[str] = (),
) -> tuple[int, ...] | None:
    """The GPUs it would use, as the driver numbers them; None when that cannot be told."""
    count = needed_count(arguments)
    if count == 0:
        return ()
    if instances:
        return parents_of(instances, reading.sample.gpus)
    visible = wanted if wanted is not None else reading.host.gpus
    if visible is None:
        visible = [gpu.index for gpu in reading.sample.gpus] or None
    if visible is None or count is None:
        return tuple(visible) if visible is not None and wanted is not None else None
    first = arguments.base_gpu_id or 0
    return tuple(visible[first : first + count])


def check_gpus(
    reading: Preflight,
    arguments: ServerArguments,
    gpus: tuple[int, ...] | None,
    stops: Iterable[Server],
    instances: Sequence[str] = (),
) -> Check:
    """They exist, are enough, are whole or named by instance, and hold nobody else's process."""
    count = needed_count(arguments)
    if count == 0:
        return passed("gpus", "none needed (device cpu)")
    if instances:
        return check_instances(instances, reading.sample.gpus, count)
    if gpus is None:
        why = reading.sample.gpu_missing
        words = "which GPUs it would use cannot be known" + (f" ({why})" if why else "")
        return warned("gpus", words, "Name them with --gpus.")
    if count is not None and len(gpus) < count:
        words = f"it needs {count} GPUs and may use {_named(gpus) or 'none'}"
        return refused("gpus", words, "Lower tp-size, or allow more with --gpus.")
    return _check_existing(reading, gpus) or _check_free(reading, gpus, tuple(stops))


def _check_existing(reading: Preflight, gpus: tuple[int, ...]) -> Check | None:
    known = {gpu.index: gpu for gpu in reading.sample.gpus}
    lost = [gpu for gpu in gpus if gpu not in known]
    if lost and known:
        words = f"GPU {_named(lost)} does not exist; the host has {_named(tuple(known))}"
        return refused("gpus", words, "Choose others with --gpus.")
    barred = [gpu for gpu in gpus if reading.host.gpus is not None and gpu not in reading.host.gpus]
    if barred:
        words = f"GPU {_named(barred)} is not among the gpus of {reading.host.file or 'the host'}"
        return refused("gpus", words, f"Allowed: {_named(reading.host.gpus or ())}.")
    broken = [gpu for gpu in gpus if gpu in known and known[gpu].lost]
    if broken:
        return refused("gpus", f"GPU {_named(broken)} fell off the bus", "Reboot the host.")
    split = [gpu for gpu in gpus if gpu in known and known[gpu].mig]
    if split:
        words = f"GPU {_named(split)} is split into MIG instances, and none of them is named"
        step = 'CUDA_VISIBLE_DEVICES = "MIG-…" in the profile\'s [env] names one; or choose others.'
        return refused("gpus", words, step)
    return None


def _check_free(reading: Preflight, gpus: tuple[int, ...], stops: tuple[Server, ...]) -> Check:
    samples = [gpu for gpu in reading.sample.gpus if gpu.index in gpus]
    if not samples:
        return warned("gpus", f"GPU {_named(gpus)} cannot be read", "specctl doctor says why.")
    claimed = _check_servers(reading, gpus, stops)
    if claimed is not None:
        return claimed
    if not reading.are_pids_comparable:
        return _check_unowned(samples)
    freed = {pid for server in stops for pid in server.pids}
    others = [(gpu, p) for gpu in samples for p in gpu.processes or () if p.pid not in freed]
    busy = [(gpu, process) for gpu, process in others if _is_in_the_way(process)]
    if busy:
        words = ", ".join(_process_words(gpu, process) for gpu, process in busy[:4])
        rest = f" and {len(busy) - 4} more" if len(busy) > 4 else ""  # noqa: PLR2004
        return refused("gpus", f"busy: {words}{rest}", _suggestion(reading, len(gpus)))
    unread = [gpu.index for gpu in samples if gpu.processes is None]
    if unread:
        words = f"whose processes use GPU {_named(unread)} cannot be read"
        return warned("gpus", words, "specctl status names the reason.")
    return passed("gpus", f"GPU {_named(gpus)} {'is' if len(gpus) == 1 else 'are'} free")


def _check_servers(
    reading: Preflight, gpus: tuple[int, ...], stops: tuple[Server, ...]
) -> Check | None:
    """Servers that say they use these GPUs, also where the driver's pids mean nothing.

    One that has ended, however it did, is only remembered.
    """
    names = {server.name for server in stops}
    living = [server for server in reading.servers if server.pids and server.name not in names]
    there = [server for server in living if set(server.gpus or ()) & set(gpus)]
    if not there:
        return None
    words = ", ".join(f"{server_words(s)} uses GPU {_named(s.gpus or ())}" for s in there)
    if all(server.is_ours for server in there):
        return refused("gpus", words, "--replace stops it first, or choose others with --gpus.")
    host = reading.host.name
    pid = next((s.identity.pid for s in there if not s.is_ours and s.identity), "PID")
    step = f"It is not specctl's. specctl adopt {host} {pid} takes it under care first."
    return refused("gpus", words, step)


def _check_unowned(samples: Sequence[GpuSample]) -> Check:
    used = [g for g in samples if (g.memory_used_bytes or 0) >= UNEXPLAINED_BYTES]
    if not used:
        words = "nothing is in use; whose processes run cannot be known in this pid namespace"
        return passed("gpus", words)
    words = ", ".join(f"GPU {gpu.index} has {gib(gpu.memory_used_bytes)} in use" for gpu in used)
    step = "Ask on the host itself: nvidia-smi there names the processes."
    return warned("gpus", f"{words}; by whom cannot be known in this pid namespace", step)


def _is_in_the_way(process: GpuProcess) -> bool:
    if process.kind == "graphics":
        return (process.memory_bytes or 0) >= SMALL_BYTES
    return process.memory_bytes is None or process.memory_bytes >= SMALL_BYTES


def _process_words(gpu: GpuSample, process: GpuProcess) -> str:
    held = f" holds {gib(process.memory_bytes)}" if process.memory_bytes is not None else ""
    title = process.name or "a process that has no title"
    return f"GPU {gpu.index}: pid {process.pid} {title} ({process.user or 'owner unknown'}){held}"


def _suggestion(reading: Preflight, count: int) -> str:
    allowed = [
        g for g in reading.sample.gpus if reading.host.gpus is None or g.index in reading.host.gpus
    ]
    free = [
        g.index
        for g in allowed
        if g.processes is not None and not any(map(_is_in_the_way, g.processes))
    ]
    if len(free) >= count > 0:
        return f"Free: --gpus {','.join(str(gpu) for gpu in free[:count])}"
    return "Wait until it has ended, or ask its owner."


def server_words(server: Server) -> str:
    """`kimi-eagle3 (ab12, pid 48213, op)`."""
    pid = f"pid {server.identity.pid}" if server.identity else ""
    detail = ", ".join(part for part in (server.name, pid, server.owner or "") if part)
    return f"{server.profile or server.model or 'a server'} ({detail})"


def _named(gpus: Sequence[int]) -> str:
    """`0-3, 6`."""
    ordered = sorted(set(gpus))
    runs: list[list[int]] = []
    for gpu in ordered:
        if runs and gpu == runs[-1][-1] + 1:
            runs[-1].append(gpu)
        else:
            runs.append([gpu])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
