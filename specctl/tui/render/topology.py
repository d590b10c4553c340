"""The ways between GPUs as a matrix, and what they go over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.topology import SELF, meaning, rank, topology_words
from specctl.tui.render.lines import UNKNOWN, Cell, Line, row, wrap

if TYPE_CHECKING:
    from specctl.domain.topology import Topology

NAME_CELLS, WAY_CELLS, NUMA_CELLS = 4, 4, 4
TONES = ("ok", "data", "data", "data2", "text", "warn")
"""By how far a way is: NVLink, one switch … another NUMA node."""


def topology_lines(found: Topology, cells: int) -> list[Line]:
    """The sentence, the matrix, and a legend of the ways that occur."""
    out: list[Line] = [[(part, "bright")] for part in wrap(topology_words(found), cells)]
    gap = 2 if NAME_CELLS + NUMA_CELLS + (len(found.gpus) + 1) * (WAY_CELLS + 2) <= cells else 1
    heads: list[Cell] = [([(str(gpu), "faint")], WAY_CELLS, ">") for gpu in found.gpus]
    out += [[], row(([("GPU", "faint")], NAME_CELLS), *heads,
                    ([("NUMA", "faint")], NUMA_CELLS, ">"), gap=gap)]  # fmt: skip
    for gpu, ways, node in zip(found.gpus, found.ways, found.numa, strict=False):
        columns: list[Cell] = [([_way(way)], WAY_CELLS, ">") for way in ways]
        numa: Line = [UNKNOWN if node is None else (str(node), "text")]
        out.append(row(([(str(gpu), "title")], NAME_CELLS), *columns,
                       (numa, NUMA_CELLS, ">"), gap=gap))  # fmt: skip
    out.append([])
    for way, count in found.counts():
        noun = "pair" if count == 1 else "pairs"
        out.append([(f"{way:<5} ", _tone(way)), (f"{count:>3} {noun:<5} ", "dim"),
                    (meaning(way), "text")])  # fmt: skip
    if any(node is None for node in found.numa):
        out.append([(f"{UNKNOWN[0]}  ", "faint"), ("NUMA: nvidia-smi names no single node", "dim")])
    return out


def _way(way: str | None) -> tuple[str, str]:
    if way is None:
        return ("?", "warn")
    return ("·", "faint") if way == SELF else (way, _tone(way))


def _tone(way: str) -> str:
    return TONES[min(rank(way), len(TONES) - 1)]
