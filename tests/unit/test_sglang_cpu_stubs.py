"""The draft-tree arithmetic under the CPU stand-in ops, which needs no torch.

The ops themselves are checked with torch by `tests/sglang_cpu/check.py` when the environment is
built.
"""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

SOURCE = Path(__file__).parents[1] / "sglang_cpu" / "stubs" / "sglang_cpu_stubs" / "draft_tree.py"


def load_draft_tree():
    spec = importlib.util.spec_from_file_location("draft_tree", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


draft_tree = load_draft_tree()

# node 0 is the root; 1 and 2 are its children; 3 hangs below 1, 4 and 5 below 3
BRANCHED = [-1, 0, 0, 1, 3, 3]

trees = st.integers(1, 12).flatmap(
    lambda size: st.tuples(*(st.integers(0, node - 1) for node in range(1, size))).map(
        lambda parents: [-1, *parents]
    )
)


@pytest.mark.parametrize(
    ("parents", "next_token", "next_sibling"),
    [
        pytest.param([-1], [-1], [-1], id="root alone"),
        pytest.param([-1, 0, 1], [1, 2, -1], [-1, -1, -1], id="chain"),
        pytest.param([-1, 0, 0, 0], [1, -1, -1, -1], [-1, 2, 3, -1], id="fan"),
        pytest.param(BRANCHED, [1, 3, -1, 4, -1, -1], [-1, 2, -1, -1, 5, -1], id="branched"),
    ],
)
def test_links(parents, next_token, next_sibling):
    assert draft_tree.links(parents) == (next_token, next_sibling)


@given(trees)
def test_links_reach_every_node_once_and_under_its_parent(parents):
    first_child, next_sibling = draft_tree.links(parents)
    reached = {}
    for parent, child in enumerate(first_child):
        while child != -1:
            assert child not in reached
            reached[child] = parent
            child = next_sibling[child]
    assert [reached.get(node, -1) for node in range(len(parents))] == parents


@given(trees)
def test_the_ancestor_mask_gives_the_parents_back(parents):
    paths = [draft_tree.path_to_root(parents, node) for node in range(len(parents))]
    mask = [[node in path for node in range(len(parents))] for path in paths]
    assert draft_tree.parents_of_mask(mask) == parents


def test_path_to_root_starts_at_the_node():
    assert draft_tree.path_to_root(BRANCHED, 5) == [5, 3, 1, 0]


@pytest.mark.parametrize(
    ("parent_list", "selected", "top_k", "parents"),
    [
        pytest.param([-1, 0, 1], [0, 1, 2], 1, [-1, 0, 1, 2], id="chain of one branch"),
        pytest.param([-1, 0, 1], [0, 1], 2, [-1, 0, 0], id="only the first group"),
        pytest.param([-1, 0, 1], [0, 1, 2, 5], 2, [-1, 0, 0, 1, 2], id="one below each"),
        pytest.param([-1, 1, 0], [0, 1, 3], 2, [-1, 0, 0, 2], id="groups out of order"),
    ],
)
def test_parents_of_selection(parent_list, selected, top_k, parents):
    assert draft_tree.parents_of_selection(parent_list, selected, top_k) == parents


@pytest.mark.parametrize(
    ("tokens", "choices", "max_nodes", "accepted"),
    [
        pytest.param([9, 1, 2, 3, 4, 5], [1, 3, 0, 5, 0, 7], 6, [0, 1, 3, 5], id="second sibling"),
        pytest.param([9, 1, 2, 3, 4, 5], [2, 0, 8, 0, 0, 0], 6, [0, 2], id="leaf ends it"),
        pytest.param([9, 1, 2, 3, 4, 5], [7, 3, 0, 5, 0, 0], 6, [0], id="nothing agrees"),
        pytest.param([9, 1, 2, 3, 4, 5], [1, 3, 0, 5, 0, 7], 2, [0, 1], id="at most two"),
    ],
)
def test_accepted_nodes(tokens, choices, max_nodes, accepted):
    links = draft_tree.links(BRANCHED)
    assert draft_tree.accepted_nodes(tokens, *links, choices, max_nodes) == accepted


@given(trees, st.data())
def test_acceptance_is_what_decoding_one_by_one_would_have_emitted(parents, data):
    tokens = data.draw(st.lists(st.integers(0, 2), min_size=len(parents), max_size=len(parents)))
    choices = data.draw(st.lists(st.integers(0, 2), min_size=len(parents), max_size=len(parents)))
    nodes = draft_tree.accepted_nodes(tokens, *draft_tree.links(parents), choices, len(parents))
    for parent, child in itertools.pairwise(nodes):
        assert parents[child] == parent
        assert tokens[child] == choices[parent]
    unused = [node for node, parent in enumerate(parents) if parent == nodes[-1]]
    assert all(tokens[node] != choices[nodes[-1]] for node in unused)
