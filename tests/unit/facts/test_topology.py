"""Matrices of `nvidia-smi topo -m` as they were printed, and what is no matrix."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.topology import Topology, meaning, topology_words
from specctl.facts.smi_values import SmiTextError
from specctl.facts.topology import read_topology
from tests.unit.facts.making import damaged, made

DATA = Path(__file__).parents[2] / "data" / "topology"
CAPTURES = {
    "topo-01-8x4090-pcie-5plus3": ({"PIX": 13, "SYS": 15}, (0, 0, 0, 0, 0, 1, 1, 1)),
    "topo-03-8xh100nvl-bridged-pairs": (
        {"NV12": 4, "NODE": 8, "SYS": 16}, (0, 0, 0, 0, 1, 1, 1, 1),
    ),
    "topo-04-8xh20-nvswitch-11nic": ({"NV18": 28}, None),
    "topo-06-8xh800-terminal-mangled": ({"NV8": 28}, (0, 0, 0, 0, 1, 1, 1, 1)),
    "topo-10-8xrtxpro6000-dual-socket-direct": ({"PHB": 12, "SYS": 16}, (None,) * 8),
}  # fmt: skip


def _read(name):
    return read_topology((DATA / f"{name}.txt").read_text())


@pytest.mark.parametrize("name", CAPTURES)
def test_what_was_printed(name):
    counts, numa = CAPTURES[name]
    found = _read(name)
    assert found.gpus == tuple(range(8))
    assert dict(found.counts()) == counts
    assert all(found.ways[i][j] == found.ways[j][i] for i in range(8) for j in range(8))
    assert [found.ways[i][i] for i in range(8)] == ["X"] * 8
    if numa is not None:
        assert found.numa == numa


def test_words_of_all_and_of_some():
    found = _read("topo-01-8x4090-pcie-5plus3")
    assert topology_words(found).startswith("13 of 28 pairs over one PCIe switch (PIX); 15 of 28")
    assert topology_words(found, (0, 1, 2, 3)) == "every pair over one PCIe switch (PIX)"
    assert topology_words(found, (6,)) == "one GPU: nothing lies between"
    assert meaning("NV1") == "one NVLink"


def test_one_gpu_and_an_underlined_head():
    text = "\t\x1b[4mGPU0\tCPU Affinity\tNUMA Affinity\x1b[0m\nGPU0\t X \t0-15\t0\n"
    assert read_topology(text) == Topology((0,), (("X",),), (0,))


def test_a_damaged_cell_is_not_known():
    text = "\tGPU0\tGPU1\nGPU0\t X\tN?8\nGPU1\tNV8\t X\n"
    found = read_topology(text)
    assert found.ways == (("X", None), ("NV8", "X"))
    assert found.counts() == (("?", 1),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no matrix"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "driver"),
        ("sh: nvidia-smi: not found", "no matrix"),
        ("\tGPU0\tGPU1\nGPU0\t X\tPIX\n", "cut off"),
    ],
)
def test_what_is_no_matrix_says_so(text, words):
    with pytest.raises(SmiTextError, match=words):
        read_topology(text)


@given(
    st.text(alphabet="GPU0123 \tXNVSY\n", max_size=200)
    | made(damaged(*((DATA / f"{name}.txt").read_text() for name in CAPTURES)))
)
def test_any_text_is_read_or_refused(text):
    try:
        found = read_topology(text)
    except SmiTextError:
        return
    assert len(found.ways) == len(found.gpus)
