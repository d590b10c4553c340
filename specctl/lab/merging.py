"""Byte pair encoding: what a word is merged into, and how the merges are learned."""

from __future__ import annotations

import heapq
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Pair = tuple[str, str]


def merge_word(word: str, ranks: Mapping[Pair, int]) -> list[str]:
    """The pieces of `word`: the merge learned first is done first, the leftmost first."""
    pieces = list(word)
    while len(pieces) > 1:
        best = min(pairwise(pieces), key=lambda pair: ranks.get(pair, len(ranks)))
        if best not in ranks:
            break
        pieces = _join(pieces, best)
    return pieces


def _join(pieces: list[str], pair: Pair) -> list[str]:
    joined: list[str] = []
    place = 0
    while place < len(pieces):
        if tuple(pieces[place : place + 2]) == pair:
            joined.append(pair[0] + pair[1])
            place += 2
        else:
            joined.append(pieces[place])
            place += 1
    return joined


def learn_merges(words: Iterable[str], most: int) -> list[Pair]:
    """At most `most` merges, the most frequent pair first, alphabetically among equals."""
    counts = Counter(words)
    split = {word: list(word) for word in counts}
    pairs: Counter[Pair] = Counter()
    where: dict[Pair, set[str]] = {}
    for word, pieces in split.items():
        _count(pieces, word, counts[word], pairs, where)
    waiting = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(waiting)
    merges: list[Pair] = []
    while waiting and len(merges) < most:
        count, best = heapq.heappop(waiting)
        if pairs.get(best) != -count:
            continue
        merges.append(best)
        changed: set[Pair] = set()
        for word in where.pop(best):
            changed |= _count(split[word], word, -counts[word], pairs, where)
            split[word] = _join(split[word], best)
            changed |= _count(split[word], word, counts[word], pairs, where)
        for pair in changed & pairs.keys():
            heapq.heappush(waiting, (-pairs[pair], pair))
    return merges


def _count(
    pieces: list[str],
    word: str,
    weight: int,
    pairs: Counter[Pair],
    where: dict[Pair, set[str]],
) -> set[Pair]:
    """Count the pairs of a word, or uncount them; which they are."""
    found = set()
    for pair in pairwise(pieces):
        found.add(pair)
        pairs[pair] += weight
        if pairs[pair] <= 0:
            del pairs[pair]
        elif weight > 0:
            where.setdefault(pair, set()).add(word)
    return found
