"""How a draft tree grows from the places that match, within its budget.

A *source* is what is matched: the trie of the outputs or the automaton of an external corpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from specctl.domain.ngram.draft_tree import Children, DraftTree
from specctl.domain.ngram.heap import MaxHeap
from specctl.domain.ngram.settings import MatchType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.ngram.settings import NgramSettings

Place = TypeVar("Place")


class Source(Protocol[Place]):
    """What continues a place: (token, frequency, place after it)."""

    def recent(self, place: Place, count: int) -> Iterable[tuple[int, int, Place]]:
        """At most `count` continuations, the most recent first."""

    def frequent(self, place: Place, count: int) -> Sequence[tuple[int, int, Place]]:
        """At most `count` continuations, the most frequent first."""


def grow_tree(
    source: Source[Place],
    anchors: Iterable[tuple[Place, int]],
    budget: int,
    settings: NgramSettings,
) -> DraftTree:
    """A tree of at most `budget` draft tokens from `anchors`, the longest match first."""
    grow = _grow_recent if settings.match_type is MatchType.BFS else _grow_likely
    tree: list[Children] = [{}]
    grow(tree, source, anchors, budget, settings)
    return DraftTree(tree, budget + 1 - len(tree))


def _grow_recent(
    tree: list[Children],
    source: Source[Place],
    anchors: Iterable[tuple[Place, int]],
    budget: int,
    settings: NgramSettings,
) -> None:
    """Breadth first; the longer the match, the narrower, and narrower with every level."""
    levels = max(1, settings.max_trie_depth - 1)
    narrowing = (settings.max_bfs_breadth - settings.min_bfs_breadth) / levels
    for anchor, depth in anchors:
        if len(tree) > budget:
            return
        breadth = (levels - depth) * narrowing + settings.min_bfs_breadth
        queue = [(0, breadth, anchor)]
        for parent, width, place in queue:
            if len(tree) > budget:
                return
            for token, _, below in source.recent(place, max(1, int(width))):
                node = tree[parent].get(token)
                if node is None:
                    if len(tree) > budget:
                        return
                    node = tree[parent][token] = len(tree)
                    tree.append({})
                queue.append((node, width - narrowing, below))


def _grow_likely(
    tree: list[Children],
    source: Source[Place],
    anchors: Iterable[tuple[Place, int]],
    budget: int,
    settings: NgramSettings,
) -> None:
    """The likeliest path first; what one anchor leaves in the heap competes with the next one's."""
    heap: MaxHeap[tuple[int, int, Place]] = MaxHeap()

    def offer(parent: int, place: Place, likelihood: float) -> None:
        children = source.frequent(place, settings.max_bfs_breadth)
        total = float(sum(freq for _, freq, _ in children))
        for token, freq, below in children:
            heap.push(freq / total * likelihood, (parent, token, below))

    for anchor, _ in anchors:
        offer(0, anchor, 1.0)
        while heap and len(tree) <= budget:
            likelihood, (parent, token, below) = heap.pop()
            node = tree[parent].get(token)
            if node is None:
                node = tree[parent][token] = len(tree)
                tree.append({})
            offer(node, below, likelihood)
