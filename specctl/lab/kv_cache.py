"""KV slots: who holds how many, and what can be had by forgetting prefixes."""

from __future__ import annotations

from dataclasses import dataclass

from specctl.lab.prefix_tree import PrefixNode, PrefixTree, Tokens


@dataclass(slots=True)
class Lease:
    """What one running request holds: a shared prefix in the tree, and slots of its own."""

    node: PrefixNode
    shared: int
    own: int = 0


class KvCache:
    """`capacity` slots of one token each."""

    def __init__(self, capacity: int, *, caches_prefixes: bool) -> None:
        self.capacity = capacity
        self._caches_prefixes = caches_prefixes
        self._tree = PrefixTree()
        self._own = 0

    @property
    def used(self) -> int:
        """Slots that running requests hold."""
        return self._own + self._tree.locked

    @property
    def available(self) -> int:
        """Slots that are free or can be made free."""
        return self.capacity - self.used

    def look_up(self, tokens: Tokens) -> tuple[int, int]:
        """How much of `tokens` need not be computed, never all of it; slots using it would take."""
        node, cached = self._tree.find(tokens[:-1])
        return cached, self._tree.count_unlocked(node)

    def open(self, tokens: Tokens) -> Lease:
        """Hold what is cached of `tokens`."""
        node, shared = self._tree.find(tokens[:-1])
        self._tree.lock(node)
        return Lease(node, shared)

    def grow(self, lease: Lease, count: int) -> None:
        """Take `count` slots more; raises MemoryError when there are none."""
        if count > self.available:
            raise MemoryError(f"{count} KV slots wanted, {self.available} are left")
        missing = count - (self.capacity - self._own - self._tree.size)
        if missing > 0:
            self._tree.evict(missing)
        self._own += count
        lease.own += count

    def share(self, lease: Lease, tokens: Tokens) -> None:
        """Let others use what was computed of `tokens` so far; the request goes on holding it."""
        if not self._caches_prefixes:
            return
        node, _ = self._tree.insert(tokens)
        self._tree.lock(node)
        self._tree.unlock(lease.node)
        self._own -= len(tokens) - lease.shared
        lease.own -= len(tokens) - lease.shared
        lease.node, lease.shared = node, len(tokens)

    def close(self, lease: Lease, tokens: Tokens | None) -> None:
        """Give everything back; `tokens`, if given, stay cached as long as there is room."""
        if tokens is not None:
            self.share(lease, tokens)
        self._own -= lease.own
        lease.own = 0
        self._tree.unlock(lease.node)

    def flush(self) -> None:
        """Forget every prefix; nothing may be running."""
        self._tree = PrefixTree()
