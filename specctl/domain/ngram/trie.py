"""The trie of what was put out: every suffix of every window, evicted by age."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class TrieNode:
    """One token after a path; `only` is the child while there is one, `many` holds several.

    `many` is in order of last insertion, the most recent last.
    """

    __slots__ = ("freq", "is_evicted", "many", "only", "parent", "token", "visit")

    def __init__(self, token: int, parent: TrieNode | None, visit: int) -> None:
        self.token = token
        self.parent = parent
        self.freq = 0
        self.visit = visit
        """When it was last inserted: different for all nodes, and higher for a parent."""

        self.only: TrieNode | None = None
        self.many: dict[int, TrieNode] | None = None
        self.is_evicted = False

    def find_child(self, token: int) -> TrieNode | None:
        """The child for `token`."""
        if self.only is not None:
            return self.only if self.only.token == token else None
        return self.many.get(token) if self.many else None

    @property
    def has_children(self) -> bool:
        """Whether anything was seen after this path."""
        return self.only is not None or bool(self.many)

    def recent_children(self) -> Iterator[TrieNode]:
        """The most recently inserted first."""
        if self.only is not None:
            return iter((self.only,))
        return reversed(self.many.values()) if self.many else iter(())

    def frequent_children(self, count: int) -> Sequence[TrieNode]:
        """At most `count`, the most frequent first, the smaller token first among equals."""
        if self.only is not None:
            return (self.only,)
        if not self.many:
            return ()
        if len(self.many) <= count:
            return sorted(self.many.values(), key=_frequency_order)
        return heapq.nsmallest(count, self.many.values(), key=_frequency_order)


def _frequency_order(node: TrieNode) -> tuple[int, int]:
    return -node.freq, node.token


class Trie:
    """At most `capacity` nodes, the root included; paths of at most `depth` tokens."""

    def __init__(self, capacity: int, depth: int) -> None:
        self.depth = depth
        self.root = TrieNode(-1, None, 0)
        self.evictions = 0
        """Nodes evicted so far: only when it changes can a remembered node be gone."""

        self.capacity = capacity
        self._free = capacity - 1
        self._visits = 0
        self._oldest: list[tuple[int, TrieNode]] | None = None

    @property
    def nodes(self) -> int:
        """That are in use, the root included."""
        return self.capacity - self._free

    def insert(self, tokens: Sequence[int]) -> None:
        """Count every suffix of `tokens`, cut to `depth`, once more; O(depth × tokens)."""
        for start in range(len(tokens)):
            path = tokens[start : start + self.depth]
            if len(path) > self._free:
                self._evict(len(path) - self._free)
            self._insert_path(path)

    def _insert_path(self, path: Sequence[int]) -> None:
        self._visits = visit = self._visits + self.depth
        node = self.root
        for token in path:
            child = node.only
            if child is None:
                many = node.many
                if many is None:
                    child = node.only = self._grow(node, token, visit)
                else:
                    child = many.pop(token, None) or self._grow(node, token, visit)
                    many[token] = child
            elif child.token != token:
                first, child = child, self._grow(node, token, visit)
                node.only, node.many = None, {first.token: first, token: child}
            child.freq += 1
            child.visit = visit
            visit -= 1
            node = child

    def _grow(self, parent: TrieNode, token: int, visit: int) -> TrieNode:
        child = TrieNode(token, parent, visit)
        self._free -= 1
        if self._oldest is not None:
            heapq.heappush(self._oldest, (visit, child))
        return child

    def _evict(self, count: int) -> None:
        """Free the nodes that were inserted longest ago; they are leaves."""
        if self._oldest is None:
            self._oldest = [(node.visit, node) for node in self._walk()]
            heapq.heapify(self._oldest)
        for _ in range(count):
            _detach(self._take_oldest(self._oldest))
        self._free += count
        self.evictions += count

    def _take_oldest(self, oldest: list[tuple[int, TrieNode]]) -> TrieNode:
        while True:
            visit, node = oldest[0]
            if visit == node.visit:
                heapq.heappop(oldest)
                return node
            heapq.heapreplace(oldest, (node.visit, node))

    def _walk(self) -> Iterator[TrieNode]:
        waiting = list(self.root.recent_children())
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.recent_children())


def _detach(node: TrieNode) -> None:
    node.is_evicted = True
    parent = node.parent
    if parent is None:
        return
    if parent.many is None:
        parent.only = None
    else:
        del parent.many[node.token]
