"""Where a request stands in the trie: the suffixes of its text that the trie knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.ngram.trie import Trie, TrieNode


class MatchState:
    """The nodes of a request's suffixes, kept from step to step.

    A suffix that was unknown at one step stays unknown in its longer forms at the next, even when
    another request has inserted it in between: the real matcher follows remembered nodes too.
    """

    __slots__ = ("_depth", "_evictions", "_length", "_nodes", "_trie")

    def __init__(self) -> None:
        self._trie: Trie | None = None
        self._evictions = 0
        self._length = 0
        self._depth = 0
        self._nodes: list[TrieNode | None] = []
        """[d − 1]: the suffix of d tokens; what is beyond the end is unknown."""

    def find_anchors(
        self, trie: Trie, tail: Sequence[int], total_length: int
    ) -> list[tuple[TrieNode, int]]:
        """The known suffixes of `tail` that have continuations, and their lengths, longest first.

        `total_length` is the length of the whole text of which `tail` is the end.
        """
        appended = total_length - self._length
        if self._can_advance(trie, appended, len(tail)):
            self._advance(trie, tail[len(tail) - appended :])
        else:
            self._nodes = _find_suffixes(trie, tail)
            self._depth = min(len(tail), trie.depth)
        self._trie, self._evictions, self._length = trie, trie.evictions, total_length
        known = enumerate(self._nodes, start=1)
        anchors = [(node, depth) for depth, node in known if node is not None and node.has_children]
        anchors.reverse()
        return anchors

    def _can_advance(self, trie: Trie, appended: int, tail_length: int) -> bool:
        if self._trie is not trie or not 0 <= appended <= tail_length:
            return False
        if self._depth != min(self._length, trie.depth):
            return False
        if self._evictions == trie.evictions:
            return True
        return not any(node is not None and node.is_evicted for node in self._nodes)

    def _advance(self, trie: Trie, tokens: Sequence[int]) -> None:
        for token in tokens:
            known = self._nodes[: trie.depth - 1]
            self._nodes = [
                trie.root.find_child(token),
                *(None if node is None else node.find_child(token) for node in known),
            ]
            while self._nodes and self._nodes[-1] is None:
                self._nodes.pop()
        self._depth = min(self._depth + len(tokens), trie.depth)


def _find_suffixes(trie: Trie, tail: Sequence[int]) -> list[TrieNode | None]:
    return [
        _find_path(trie.root, tail[len(tail) - depth :])
        for depth in range(1, min(len(tail), trie.depth) + 1)
    ]


def _find_path(node: TrieNode, path: Sequence[int]) -> TrieNode | None:
    for token in path:
        child = node.find_child(token)
        if child is None:
            return None
        node = child
    return node
