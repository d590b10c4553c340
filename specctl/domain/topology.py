"""How the GPUs of a host reach each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SELF = "X"
MEANINGS = {
    "PIX": "one PCIe switch",
    "PXB": "several PCIe switches",
    "PHB": "a PCIe host bridge, so the CPU",
    "NODE": "host bridges of one NUMA node",
    "SYS": "the link between NUMA nodes",
}
"""Ways over PCIe, the nearest first."""

NVLINK = "NV"
UNKNOWN_RANK = len(MEANINGS) + 1


@dataclass(frozen=True, slots=True)
class Topology:
    """What `nvidia-smi topo -m` says of a host's GPUs."""

    gpus: tuple[int, ...]
    """In the order of the rows and columns of `ways`."""

    ways: tuple[tuple[str | None, ...], ...]
    """From GPU to GPU: `NV18`, `PIX`, `SYS`, `X` for itself; None where the text is damaged."""

    numa: tuple[int | None, ...] = ()
    """The NUMA node of each GPU; None where it is not told."""

    def pairs(self, chosen: Sequence[int] | None = None) -> Iterator[str | None]:
        """The way of each pair, once; of the chosen GPUs, of all when none is named."""
        at = [i for i, gpu in enumerate(self.gpus) if chosen is None or gpu in chosen]
        for n, row in enumerate(at):
            for column in at[n + 1 :]:
                yield self.ways[row][column]

    def counts(self, chosen: Sequence[int] | None = None) -> tuple[tuple[str, int], ...]:
        """Ways and how many pairs have them, the nearest first; damaged ones as `?`."""
        found = Counter(way or "?" for way in self.pairs(chosen))
        return tuple(sorted(found.items(), key=lambda item: rank(item[0])))


@dataclass(frozen=True, slots=True)
class HostTopology:
    """The ways on one host, or why they are not known."""

    topology: Topology | None
    words: str
    """What they come to in words; the reason where they are not known."""


@dataclass(frozen=True, slots=True)
class Topologies:
    """How the GPUs of hosts reach each other, by host."""

    hosts: Mapping[str, HostTopology]


def rank(way: str) -> int:
    """0 for NVLink, then as PCIe gets longer."""
    if way.startswith(NVLINK):
        return 0
    names = list(MEANINGS)
    return names.index(way) + 1 if way in names else UNKNOWN_RANK


def meaning(way: str) -> str:
    """What a way goes over, in words."""
    if way.startswith(NVLINK) and way[2:].isdigit():
        count = int(way[2:])
        return "one NVLink" if count == 1 else f"{count} NVLinks"
    return MEANINGS.get(way, "not known")


def topology_words(found: Topology, chosen: Sequence[int] | None = None) -> str:
    """One sentence: how far apart the farthest of these GPUs are."""
    counts = found.counts(chosen)
    if not counts:
        return "one GPU: nothing lies between"
    total = sum(count for _, count in counts)
    if len(counts) == 1:
        return f"every pair over {meaning(counts[0][0])} ({counts[0][0]})"
    parts = [f"{count} of {total} pairs over {meaning(way)} ({way})" for way, count in counts]
    return "; ".join(parts)
