"""Which prefixes the KV cache still holds: a radix tree, evicted from the ends by age."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Tokens = tuple[int, ...]


@dataclass(slots=True, eq=False)
class PrefixNode:
    """A run of tokens after its parent's; `locks` counts the running requests that need it."""

    tokens: Tokens
    parent: PrefixNode | None
    children: dict[int, PrefixNode] = field(default_factory=dict)
    locks: int = 0
    used_at: int = 0


class PrefixTree:
    """`size` tokens are held, `locked` of them by running requests."""

    def __init__(self) -> None:
        self.root = PrefixNode((), None)
        self.size = 0
        self.locked = 0
        self._uses = 0

    def find(self, tokens: Tokens) -> tuple[PrefixNode, int]:
        """The node of the longest held prefix of `tokens`, and its length."""
        self._uses += 1
        node, place = self.root, 0
        while place < len(tokens):
            child = node.children.get(tokens[place])
            if child is None:
                break
            shared = _count_shared(child.tokens, tokens, place)
            if shared < len(child.tokens):
                child = self._split(child, shared)
            child.used_at = self._uses
            node, place = child, place + shared
            if shared == 0:
                break
        return node, place

    def insert(self, tokens: Tokens) -> tuple[PrefixNode, int]:
        """Hold `tokens`; their last node, and how many of them were held before."""
        node, held = self.find(tokens)
        if held < len(tokens):
            child = PrefixNode(tokens[held:], node, used_at=self._uses)
            node.children[tokens[held]] = child
            self.size += len(child.tokens)
            node = child
        return node, held

    def lock(self, node: PrefixNode) -> None:
        """A running request needs `node` and all before it."""
        for above in _climb(node):
            if above.locks == 0:
                self.locked += len(above.tokens)
            above.locks += 1

    def unlock(self, node: PrefixNode) -> None:
        """It needs them no longer."""
        for above in _climb(node):
            above.locks -= 1
            if above.locks == 0:
                self.locked -= len(above.tokens)

    def count_unlocked(self, node: PrefixNode) -> int:
        """Tokens that locking `node` would make unavailable."""
        return sum(len(above.tokens) for above in _climb(node) if above.locks == 0)

    def evict(self, count: int) -> int:
        """Drop unlocked ends, those used longest ago first, until `count` tokens are free."""
        freed = 0
        leaves = [node for node in self._walk() if not node.children and not node.locks]
        leaves.sort(key=lambda node: -node.used_at)
        while leaves and freed < count:
            leaf = leaves.pop()
            freed += len(leaf.tokens)
            parent = leaf.parent
            if parent is not None:
                del parent.children[leaf.tokens[0]]
                if parent is not self.root and not parent.children and not parent.locks:
                    leaves.append(parent)
                    leaves.sort(key=lambda node: -node.used_at)
        self.size -= freed
        return freed

    def _split(self, node: PrefixNode, length: int) -> PrefixNode:
        """The first `length` tokens of `node` become its new parent, which is returned."""
        upper = PrefixNode(node.tokens[:length], node.parent, locks=node.locks)
        upper.used_at = node.used_at
        if node.parent is not None:
            node.parent.children[node.tokens[0]] = upper
        node.tokens, node.parent = node.tokens[length:], upper
        upper.children[node.tokens[0]] = node
        return upper

    def _walk(self) -> Iterator[PrefixNode]:
        waiting = list(self.root.children.values())
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children.values())


def _count_shared(held: Tokens, tokens: Tokens, place: int) -> int:
    if held == tokens[place : place + len(held)]:
        return len(held)
    pairs = zip(held, tokens[place:], strict=False)
    return next((count for count, (left, right) in enumerate(pairs) if left != right),
                min(len(held), len(tokens) - place))  # fmt: skip


def _climb(node: PrefixNode) -> Iterator[PrefixNode]:
    while node.parent is not None:
        yield node
        node = node.parent
