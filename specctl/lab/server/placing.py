"""Which GPUs of its lab host a server runs on, and in which MIG instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.lab.scenarios import read_scenario, to_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MIG = "MIG-"


@dataclass(frozen=True, slots=True)
class Instance:
    """A MIG instance: its position on the GPU, and its own memory."""

    position: int
    memory_bytes: int


def choose_gpus(
    args: Any, rows: Sequence[Mapping[str, Any]], visible: str | None
) -> tuple[int, ...]:
    """The GPU of each rank: the visible ones from the base on; raises RuntimeError when too few."""
    if args.device != "cuda" or not rows:
        return ()
    usable = _visible(rows, visible)
    start, step = int(args.base_gpu_id or 0), int(args.gpu_id_step or 1)
    ranks = max(1, int(args.tp_size) * int(args.pp_size))
    places = [start + step * rank for rank in range(ranks)]
    if places[-1] >= len(usable):
        raise RuntimeError(
            "CUDA error: invalid device ordinal\n"
            f"rank {ranks - 1} asks for GPU {places[-1]}, {len(usable)} are visible"
        )
    return tuple(usable[place] for place in places)


def _visible(rows: Sequence[Mapping[str, Any]], visible: str | None) -> list[int]:
    every = [int(row["index"]) for row in rows if not row.get("is_lost")]
    if visible is None or not visible.strip():
        return every
    names = {str(row.get("uuid")): int(row["index"]) for row in rows}
    found = []
    for word in visible.split(","):
        name = word.strip()
        index = int(name) if name.isdigit() else names.get(name, _parent(rows, name))
        if index not in every:
            break
        found.append(index)
    return found


def _parent(rows: Sequence[Mapping[str, Any]], name: str) -> int | None:
    """The GPU that a MIG instance is part of: both have the first group of their ids in common."""
    if not name.startswith(_MIG):
        return None
    group = name.removeprefix(_MIG).split("-")[0]
    return next((int(row["index"]) for row in rows if group in str(row.get("uuid"))), None)


def choose_instance(
    scenario: Mapping[str, Any], gpus: Sequence[int], visible: str | None
) -> Instance | None:
    """The instance that CUDA_VISIBLE_DEVICES names, else the first; None on a whole GPU."""
    rows = [row for row in scenario.get("gpus", []) if row["index"] in gpus]
    positions = rows[0].get("mig") if rows else None
    if not positions:
        return None
    word = (visible or "").split(",")[0].strip()
    number = int(word[-12:], 16) if word.startswith(_MIG) else 1
    position = positions[min(number, len(positions)) - 1]
    shared = read_scenario(str(scenario["scenario"])).shared
    memory = to_bytes(shared.get(f"mig.{position}.mem.total")) or rows[0]["memory_bytes"]
    return Instance(int(position), memory)
