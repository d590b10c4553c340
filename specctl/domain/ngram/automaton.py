"""A suffix automaton over the documents of one external corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SEPARATOR = -(2**31)
"""Stands between documents; nothing is drafted across it."""


class Automaton:
    """All substrings of the corpus, with how often and how late each occurs.

    Lists are by state; state 0 is the empty string. Blumer et al. 1985, as every suffix automaton.
    """

    def __init__(self, documents: Iterable[Sequence[int]]) -> None:
        self._next: list[dict[int, int]] = [{}]
        self._link = [-1]
        self._length = [0]
        self._count = [0]
        self._last_end = [-1]
        self._last = 0
        self.token_count = 0
        """Separators included."""

        for document in documents:
            if document and self.token_count:
                self._extend(SEPARATOR)
            for token in document:
                self._extend(token)
        self._sum_up()
        self._recent: dict[int, list[tuple[int, int, int]]] = {}
        self._frequent: dict[int, list[tuple[int, int, int]]] = {}

    def recent(self, place: int, count: int) -> Sequence[tuple[int, int, int]]:
        """(token, occurrences, state) of the continuations that occur latest in the corpus."""
        if place not in self._recent:
            children = self._children(place)
            children.sort(key=lambda child: (-self._last_end[child[2]], child[0]))
            self._recent[place] = children
        return self._recent[place][:count]

    def frequent(self, place: int, count: int) -> Sequence[tuple[int, int, int]]:
        """(token, occurrences, state) of the continuations that occur most often."""
        if place not in self._frequent:
            children = self._children(place)
            children.sort(key=lambda child: (-child[1], child[0]))
            self._frequent[place] = children
        return self._frequent[place][:count]

    def find_anchors(self, tail: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The suffixes of `tail` that the corpus continues, and their lengths, longest first.

        Of suffixes that occur at the same places only the longest is given.
        """
        state, length = self._match(tail)
        while state > 0 and length > 0:
            if any(token != SEPARATOR for token in self._next[state]):
                yield state, length
            state = self._link[state]
            length = min(length, self._length[state])

    def _children(self, place: int) -> list[tuple[int, int, int]]:
        following = self._next[place].items()
        return [
            (token, self._count[state], state) for token, state in following if token != SEPARATOR
        ]

    def _match(self, tail: Sequence[int]) -> tuple[int, int]:
        state = length = 0
        for token in tail:
            while state and token not in self._next[state]:
                state = self._link[state]
                length = min(length, self._length[state])
            if token in self._next[state]:
                state = self._next[state][token]
                length += 1
        return state, length

    def _extend(self, token: int) -> None:
        new = self._add_state(self._length[self._last] + 1, {}, count=1, end=self.token_count)
        self.token_count += 1
        state, self._last = self._last, new
        while state != -1 and token not in self._next[state]:
            self._next[state][token] = new
            state = self._link[state]
        if state == -1:
            self._link[new] = 0
            return
        found = self._next[state][token]
        if self._length[state] + 1 != self._length[found]:
            found = self._split(state, token, found)
        self._link[new] = found

    def _split(self, state: int, token: int, found: int) -> int:
        """A state for the shorter strings of `found`, which now occur more often than the rest."""
        clone = self._add_state(
            self._length[state] + 1, dict(self._next[found]), count=0, end=self._last_end[found]
        )
        self._link[clone] = self._link[found]
        while state != -1 and self._next[state].get(token) == found:
            self._next[state][token] = clone
            state = self._link[state]
        self._link[found] = clone
        return clone

    def _add_state(self, length: int, following: dict[int, int], *, count: int, end: int) -> int:
        self._length.append(length)
        self._next.append(following)
        self._count.append(count)
        self._last_end.append(end)
        self._link.append(-1)
        return len(self._length) - 1

    def _sum_up(self) -> None:
        """Occurrences and last ends of a string are those of all strings it ends."""
        order = sorted(range(1, len(self._length)), key=self._length.__getitem__, reverse=True)
        for state in order:
            link = self._link[state]
            self._count[link] += self._count[state]
            self._last_end[link] = max(self._last_end[link], self._last_end[state])
