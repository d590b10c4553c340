"""The tree of draft tokens that one verify step checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PADDING = 0
"""The token id that fills unused places; it is verified like any other candidate."""

Children = dict[int, int]
"""Place of a node in the tree, by its token."""


@dataclass(frozen=True, slots=True)
class DraftTree:
    """Nodes under the last accepted token, which is node 0; `padding` more are children of it."""

    children: Sequence[Children]
    padding: int = 0

    @property
    def size(self) -> int:
        """Draft tokens in the tree, padding included."""
        return sum(map(len, self.children)) + self.padding

    def count_accepted(self, tokens: Sequence[int]) -> int:
        """How many of `tokens`, which the target says next, greedy verification accepts."""
        place = 0
        for count, token in enumerate(tokens):
            below = self.children[place].get(token)
            if below is None:
                return 1 if count == 0 and token == PADDING and self.padding else count
            place = below
        return len(tokens)

    def find_paths(self) -> Iterator[tuple[int, ...]]:
        """The path to every node, padding included; siblings in no particular order."""
        waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while waiting:
            place, path = waiting.pop()
            for token, below in self.children[place].items():
                yield (*path, token)
                waiting.append((below, (*path, token)))
        for _ in range(self.padding):
            yield (PADDING,)


def merge_trees(trees: Sequence[DraftTree], places: int) -> DraftTree:
    """All paths of all trees, in `places` draft tokens; there must be room for them.

    A childless padding token under the root is no path, wherever it came from.
    """
    merged: list[Children] = [{}]
    for tree in trees:
        _graft(tree, merged)
    return DraftTree(merged, places - (len(merged) - 1))


def _graft(tree: DraftTree, merged: list[Children]) -> None:
    waiting = [(0, 0)]
    while waiting:
        source, target = waiting.pop()
        for token, below in tree.children[source].items():
            if source == 0 and token == PADDING and not tree.children[below]:
                continue
            place = merged[target].get(token)
            if place is None:
                place = merged[target][token] = len(merged)
                merged.append({})
            waiting.append((below, place))
