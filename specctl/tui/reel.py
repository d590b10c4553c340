"""A log as far as it was read: bounded, searchable, and growing at both ends; pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_LINES = 40_000
LINE_CHARACTERS = 4000
CUT = " …(cut)"
"""After a line that was longer; the file on the host, and what is saved of it, has all of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line."""

    text: str
    arrived_s: float | None = None
    """When it was seen to be written, by the operator's clock; None for one from before that."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is searched for."""

    terms: str
    pattern: re.Pattern[str]


def compiled(terms: str) -> Found:
    """A regular expression, else the plain words; capitals in it make capitals count."""
    flags = 0 if any(char.isupper() for char in terms) else re.IGNORECASE
    try:
        return Found(terms, re.compile(terms, flags))
    except re.error:
        return Found(terms, re.compile(re.escape(terms), flags))


class Reel:
    """Lines by number; those read later from before the first have negative numbers."""

    def __init__(self, most: int = MOST_LINES) -> None:
        self._entries: deque[Entry] = deque()
        self._most = most
        self.first = 0
        """Number of the first line kept."""

        self.found: Found | None = None
        self._hits: list[int] = []
        """Numbers of the lines that have what is searched for, in order."""

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last(self) -> int:
        """Number of the last line; one less than `first` while there is none."""
        return self.first + len(self._entries) - 1

    @property
    def is_full(self) -> bool:
        """Nothing more can be put before the first line."""
        return len(self._entries) >= self._most

    def entry(self, number: int) -> Entry:
        """A line by its number."""
        return self._entries[number - self.first]

    def texts(self) -> Iterator[str]:
        """All lines kept."""
        return (entry.text for entry in self._entries)

    def append(self, lines: Iterable[str], arrived_s: float | None = None) -> None:
        """Take lines that were written after the last; the oldest make room."""
        for line in lines:
            self._entries.append(Entry(cut(line), arrived_s))
            if self.found is not None and self.found.pattern.search(self._entries[-1].text):
                self._hits.append(self.last)
        while len(self._entries) > self._most:
            self._entries.popleft()
            self.first += 1
        del self._hits[: bisect_left(self._hits, self.first)]

    def prepend(self, lines: Sequence[str]) -> int:
        """Take lines from before the first, as many as there is room for; returns how many."""
        room = max(0, self._most - len(self._entries))
        taken = [cut(line) for line in lines[max(0, len(lines) - room) :]] if room else []
        self._entries.extendleft(Entry(line) for line in reversed(taken))
        self.first -= len(taken)
        if self.found is not None:
            search = self.found.pattern.search
            hits = [self.first + at for at, line in enumerate(taken) if search(line)]
            self._hits = [*hits, *self._hits]
        return len(taken)

    # ------------------------------------------------------------------ searching

    def search(self, terms: str) -> None:
        """Find every line with `terms`; empty ends the search."""
        self.found = compiled(terms) if terms else None
        self._hits = []
        if self.found is not None:
            search = self.found.pattern.search
            self._hits = [self.first + at for at, text in enumerate(self.texts()) if search(text)]

    @property
    def hits(self) -> Sequence[int]:
        """Numbers of the lines that match."""
        return self._hits

    def rank(self, number: int) -> int:
        """Which match a line is, counted from 1; 0 where it is none."""
        at = bisect_left(self._hits, number)
        return at + 1 if at < len(self._hits) and self._hits[at] == number else 0

    def next_hit(self, number: int, by: int) -> int | None:
        """The match after a line, or before it, round and round; None without any."""
        if not self._hits:
            return None
        if by > 0:
            return self._hits[bisect_right(self._hits, number) % len(self._hits)]
        return self._hits[bisect_left(self._hits, number) - 1]


def cut(line: str) -> str:
    """A line no longer than is kept."""
    return line if len(line) <= LINE_CHARACTERS else line[:LINE_CHARACTERS] + CUT


def ranges(found: Found | None, text: str) -> list[tuple[int, int]]:
    """Where in a text it is; nothing for matches of no length."""
    if found is None:
        return []
    return [m.span() for m in found.pattern.finditer(text) if m.end() > m.start()]


def chopped(text: str, first_cells: int, cells: int) -> list[int]:
    """Where a text is broken so that each piece fits: places of characters, the end included.

    A piece ends after a blank where there is one in its last third.
    """
    places, start, room = [], 0, max(2, first_cells)
    while start < len(text):
        end = _end_of_piece(text, start, room)
        blank = text.rfind(" ", start + (end - start) * 2 // 3, end)
        if end < len(text) and blank >= 0:
            end = blank + 1
        places.append(end)
        start, room = end, max(2, cells)
    return places or [len(text)]


def _end_of_piece(text: str, start: int, room: int) -> int:
    """After the last character that fits from `start` on."""
    if text.isascii():
        return min(len(text), start + room)
    used = 0
    for at in range(start, min(len(text), start + 8 * room)):
        used += cell_len(text[at])
        if used > room:
            return at
    return min(len(text), start + 8 * room)
