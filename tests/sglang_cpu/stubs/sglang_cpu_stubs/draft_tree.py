"""Draft trees as plain lists.

Node 0 is the token being verified; every other node has a parent with a smaller number. A tree is
held as `parents` (`parents[0] == NONE`), or as SGLang hands it to the verifier: per node its first
child (`next_token`) and its next sibling (`next_sibling`), `NONE` where there is no such node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NONE = -1


def parents_of_mask(mask: Sequence[Sequence[bool]]) -> list[int]:
    """Parents, from each node's row of ancestors: the parent is the nearest."""
    return [max((j for j in range(i) if row[j]), default=NONE) for i, row in enumerate(mask)]


def parents_of_selection(
    parent_list: Sequence[int], selected: Sequence[int], top_k: int
) -> list[int]:
    """Parents, from EAGLE's candidate numbers.

    Drafting numbers its candidates in groups of `top_k`, one group for the children of each
    expanded node: candidate `c` lies in group `c // top_k`, and `parent_list[g]` is the candidate
    that group `g` was expanded from (group 0: the root). `selected` holds the candidates that were
    kept, in ascending order; candidate `selected[i]` becomes node `i + 1`.
    """
    node_of = {candidate: node for node, candidate in enumerate(selected, start=1)}
    parents = [NONE]
    for candidate in selected:
        group = candidate // top_k
        parents.append(0 if group == 0 else node_of[parent_list[group]])
    return parents


def links(parents: Sequence[int]) -> tuple[list[int], list[int]]:
    """First child and next sibling of each node; siblings are in ascending order."""
    first_child = [NONE] * len(parents)
    next_sibling = [NONE] * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        parent = parents[node]
        if parent != NONE:
            next_sibling[node] = first_child[parent]
            first_child[parent] = node
    return first_child, next_sibling


def path_to_root(parents: Sequence[int], node: int) -> list[int]:
    """The node, its parent and so on: what the node may attend to."""
    path = []
    while node != NONE:
        path.append(node)
        node = parents[node]
    return path


def accepted_nodes(
    tokens: Sequence[int],
    next_token: Sequence[int],
    next_sibling: Sequence[int],
    choices: Sequence[int],
    max_nodes: int,
) -> list[int]:
    """The path that greedy verification accepts, from the root down.

    `tokens[i]` is the token drafted at node `i` and `choices[i]` the target's choice after it. A
    child is accepted when its token is the choice at its parent.
    """
    accepted = [0]
    while len(accepted) < max_nodes:
        last = accepted[-1]
        child = next_token[last]
        while child != NONE and tokens[child] != choices[last]:
            child = next_sibling[child]
        if child == NONE:
            break
        accepted.append(child)
    return accepted
