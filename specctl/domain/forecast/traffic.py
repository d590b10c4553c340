"""Tells what is no traffic: random token ids, and answers that end in a loop."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from specctl.domain.quality import LOOP_SHARE, longest_tail_loop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEAST_TOKENS = 100
"""Fewer say nothing."""

LEAST_LOOP = 48
"""Shorter outputs repeat themselves too easily to be judged."""

_TIMES, _SPARE = 2, 5


def looks_random(ids: Iterable[int]) -> bool | None:
    """Whether equal tokens meet no more often than by drawing uniformly; None of too few.

    Of N ids below V drawn at random about N(N-1)/2V pairs are equal. A few words make up much of
    any text, so that of its pairs one in a hundred is, whatever the vocabulary.
    """
    counts = Counter(ids)
    total = counts.total()
    if total < LEAST_TOKENS:
        return None
    pairs = sum(count * (count - 1) // 2 for count in counts.values())
    expected = total * (total - 1) / 2 / (max(counts) + 1)
    return pairs <= _TIMES * expected + _SPARE


def ends_in_a_loop(output: Sequence[int]) -> bool:
    """Half of the output or more is one run of tokens over and over."""
    if len(output) < LEAST_LOOP:
        return False
    _, length = longest_tail_loop(output)
    return length >= LOOP_SHARE * len(output)
