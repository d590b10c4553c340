"""Whether an output is text at all, or a loop that makes drafting look easy."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_CHARACTERS = 200
"""Shorter outputs repeat themselves too easily to be judged."""

LONGEST_PERIOD = 200
LOOP_SHARE = 0.5
COMPRESSION_LIMIT = 12.0
"""Prose compresses about 2.5 times, code and tables 3 to 8 times."""

DISTINCT_LIMIT = 0.1
WORDS = 4
MIN_WORDS = 100


def find_repetition(text: str) -> str | None:
    """What makes `text` degenerate, in words; None when nothing does."""
    if len(text) < MIN_CHARACTERS:
        return None
    period, length = longest_tail_loop(text)
    if length >= LOOP_SHARE * len(text):
        return f"a loop of {period} characters fills {length / len(text):.0%} of the output"
    ratio = compression_ratio(text)
    if ratio >= COMPRESSION_LIMIT:
        return f"the output compresses {ratio:.0f} times"
    distinct = distinct_share(text)
    if distinct is not None and distinct < DISTINCT_LIMIT:
        return f"only {distinct:.0%} of its runs of {WORDS} words are distinct"
    return None


def longest_tail_loop(text: Sequence[object]) -> tuple[int, int]:
    """(period, length) of the longest end of `text` that repeats itself at least three times.

    In characters of a text, or in tokens.
    """
    best = (0, 0)
    for period in range(1, min(LONGEST_PERIOD, len(text) // 3) + 1):
        length = period + _matches_from_the_end(text, period)
        if length >= 3 * period and length > best[1]:
            best = (period, length)
    return best


def _matches_from_the_end(text: Sequence[object], period: int) -> int:
    at = len(text) - 1
    while at >= period and text[at] == text[at - period]:
        at -= 1
    return len(text) - 1 - at


def compression_ratio(text: str) -> float:
    """Bytes of the text over its bytes once deflated."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw, 9)) if raw else 1.0


def distinct_share(text: str) -> float | None:
    """Distinct runs of four words over all of them; None when there are too few words."""
    words = text.split()
    if len(words) < MIN_WORDS:
        return None
    runs = [tuple(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)]
    return len(set(runs)) / len(runs)
