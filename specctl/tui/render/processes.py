"""Who holds the GPUs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.tui.render import numbers
from specctl.tui.render.lines import UNKNOWN, Drawing, Line, row
from specctl.tui.render.standing import gpu_span

if TYPE_CHECKING:
    from specctl.domain.sample import GpuProcess, Sample
    from specctl.domain.server import Server
    from specctl.tui.scene import Scene


def draw_processes(
    scene: Scene, host: str, server: Server | None, cells: int, rows: int, *, top: int = 0
) -> Drawing:
    """One line a process, with the GPUs it holds; those that are not the server's are marked."""
    sample = scene.state.host(host).sample
    if sample is None:
        return Drawing("Processes", [[UNKNOWN]])
    held = holders(sample)
    if not held:
        return Drawing("Processes", [[(_why_none(sample), "dim")]])
    owner = server.owner if server else None
    room = max(8, cells - 34)
    head = row(
        ([("PID", "faint")], 7, ">"),
        ([("USER", "faint")], 8),
        ([("GPU", "faint")], 6),
        ([("GiB", "faint")], 5, ">"),
        ([("COMMAND", "faint")], room),
    )
    body = [head]
    others = sum(p.user != owner for p, _ in held) if owner else 0
    for process, gpus in held[top : top + max(1, rows - 1)]:
        ours = owner is None or process.user == owner
        body.append(_line(process, gpus, room, ours=ours))
    summary: Line = [(str(others), "text"), (" of others", "dim")] if others else []
    note: Line = []
    if len(held) > rows - 1:
        note = [(f"{top + 1}-{min(len(held), top + rows - 1)} of {len(held)}", "dim")]
    return Drawing("Processes", body, summary, note, is_stale=scene.is_stale(host))


def holders(sample: Sample) -> list[tuple[GpuProcess, tuple[int, ...]]]:
    """Each process once, with every GPU it holds, most memory first."""
    gpus: dict[int, list[int]] = defaultdict(list)
    first: dict[int, GpuProcess] = {}
    for gpu in sample.gpus:
        for process in gpu.processes or ():
            gpus[process.pid].append(gpu.index)
            first.setdefault(process.pid, process)
    return [(first[pid], tuple(indices)) for pid, indices in sorted(gpus.items())]


def _why_none(sample: Sample) -> str:
    unread = [gpu for gpu in sample.gpus if gpu.processes is None and not gpu.lost]
    if unread:
        return f"Not known: {unread[0].reason('processes')}."
    return "No process holds a GPU." if sample.gpus else "No GPU on this host."


def _line(process: GpuProcess, gpus: tuple[int, ...], room: int, *, ours: bool) -> Line:
    tone = "text" if ours else "dim"
    words: Line = (
        [(process.name, tone)]
        if process.name
        else [UNKNOWN, ("  other pid namespace or gone", "faint")]
    )
    if not ours:
        words = [("◆ ", "dim"), *words]
    span = gpu_span(gpus)
    user = [(process.user, tone)] if process.user else [UNKNOWN]
    memory = [numbers.number(figures.gib(process.memory_bytes))]
    return row(
        ([(str(process.pid), tone)], 7, ">"),
        (user, 8),
        ([(span, tone)], 6),
        (memory, 5, ">"),
        (words, room),
    )
