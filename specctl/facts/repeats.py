"""Log lines that repeat themselves, told once with how often they came."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 8
"""Lines in one turn of a repetition: SGLang's handlers that call each other print four."""

LEAST = 3
_STAMP = re.compile(r"^\[[^\]]*\d\d:\d\d:\d\d[^\]]*\] ?")


def collapse(lines: Sequence[str]) -> list[str]:
    """The lines, a block that comes three times or more in a row shown once.

    Lines that differ in their time stamp and rank alone count as the same.
    """
    said = [_STAMP.sub("", line) for line in lines]
    shown: list[str] = []
    place = 0
    while place < len(lines):
        size, times = _repetition(said, place)
        shown += lines[place : place + size]
        if times >= LEAST:
            block = "line" if size == 1 else f"{size} lines"
            shown.append(f"(the {block} above: {times - 1} times more)")
            place += size * times
        else:
            place += size
    return shown


def _repetition(said: Sequence[str], place: int) -> tuple[int, int]:
    """(lines of the shortest block that repeats from `place` on, how often); (1, 1) without one."""
    for size in range(1, LONGEST + 1):
        block, times = said[place : place + size], 1
        while said[place + size * times : place + size * (times + 1)] == block:
            times += 1
        if times >= LEAST:
            return size, times
    return 1, 1
