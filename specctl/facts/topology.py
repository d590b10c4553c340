"""`nvidia-smi topo -m`: the matrix of ways between GPUs."""

from __future__ import annotations

import re

from specctl.domain.topology import MEANINGS, SELF, Topology
from specctl.facts.readings import counted
from specctl.facts.smi_trouble import read_trouble
from specctl.facts.smi_values import SmiTextError

_GPU = re.compile(r"GPU(\d{1,3})")
_WAY = re.compile(r"NV\d{1,3}")
MOST_GPUS = 64


def read_topology(text: str) -> Topology:
    """The ways between GPUs; network cards are passed over.

    Raises SmiTextError where there is no matrix, with what nvidia-smi said instead.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)  # newer builds underline the head
    lines = plain.splitlines()
    start = next((i for i, line in enumerate(lines) if _is_head(line)), None)
    if start is None:
        trouble = read_trouble(plain)
        raise SmiTextError(str(trouble) if trouble else "nvidia-smi topo -m printed no matrix")
    head = lines[start].split()
    gpus = [int(found[1]) for word in head if (found := _GPU.fullmatch(word))][:MOST_GPUS]
    rows = _rows(lines[start + 1 :], len(gpus))
    if any(gpu not in rows for gpu in gpus):
        raise SmiTextError("the matrix of nvidia-smi topo -m was cut off")
    place = _numa_place(lines[start])
    return Topology(
        gpus=tuple(gpus),
        ways=tuple(tuple(_way(word) for word in rows[gpu][1 : len(gpus) + 1]) for gpu in gpus),
        numa=tuple(_numa(rows[gpu], place) for gpu in gpus),
    )


def _is_head(line: str) -> bool:
    """`GPU0 GPU1 …`, before any row; a host with one GPU has one name there."""
    words = line.split()
    return bool(words) and _GPU.fullmatch(words[0]) is not None and SELF not in words


def _rows(lines: list[str], count: int) -> dict[int, list[str]]:
    """The words of each GPU's row, its name first; short rows are left out."""
    found: dict[int, list[str]] = {}
    for line in lines:
        words = line.split()
        name = _GPU.fullmatch(words[0]) if words else None
        if name and len(words) > count:
            found.setdefault(int(name[1]), words)
    return found


def _way(word: str) -> str | None:
    known = word in MEANINGS or word == SELF or _WAY.fullmatch(word)
    return word if known else None


def _numa_place(head: str) -> int | None:
    """Which column, from the row's name on, holds the NUMA node; None where none is printed.

    Heads of two words, `CPU Affinity`, stand over one word.
    """
    names = re.sub(r"(CPU|NUMA) Affinity|GPU NUMA ID", lambda m: m[0].replace(" ", "_"), head)
    columns = names.split()
    return columns.index("NUMA_Affinity") + 1 if "NUMA_Affinity" in columns else None


def _numa(words: list[str], place: int | None) -> int | None:
    """A node by number; a range or `N/A` names none."""
    return None if place is None or place >= len(words) else counted(words[place])
