"""A max-heap whose ties come out in the order of GNU's C++ library.

Equally likely continuations are common, and the draft budget cuts between them: which of them is
drafted depends on how `std::priority_queue` moves its elements.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Item = TypeVar("Item")


class MaxHeap(Generic[Item]):
    """`push` and `pop` as `std::push_heap` and `std::pop_heap` (libstdc++, stl_heap.h) do."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[float, Item]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, weight: float, item: Item) -> None:
        """Add `item`."""
        self._entries.append((weight, item))
        self._sift_up(len(self._entries) - 1, (weight, item))

    def pop(self) -> tuple[float, Item]:
        """Take the heaviest."""
        entries = self._entries
        top, last = entries[0], entries.pop()
        if entries:
            self._sift_up(self._sink_hole(), last)
        return top

    def _sink_hole(self) -> int:
        """Move the hole at the top down to a leaf, along the heavier children; where it ends."""
        entries, length = self._entries, len(self._entries)
        hole = child = 0
        while child < (length - 1) // 2:
            child = 2 * child + 2
            if entries[child][0] < entries[child - 1][0]:
                child -= 1
            entries[hole] = entries[child]
            hole = child
        if length % 2 == 0 and child == (length - 2) // 2:
            entries[hole] = entries[2 * child + 1]
            hole = 2 * child + 1
        return hole

    def _sift_up(self, hole: int, entry: tuple[float, Item]) -> None:
        entries = self._entries
        while hole:
            parent = (hole - 1) // 2
            if not entries[parent][0] < entry[0]:
                break
            entries[hole] = entries[parent]
            hole = parent
        entries[hole] = entry
