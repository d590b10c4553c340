"""Which target tokens a reduced draft vocabulary stands for.

`trained` was made from texts of its target and `foreign` from those of the model before it. Both
are sorted, as such tables are; the foreign one lacks some of the frequent tokens, so after the
first of them nothing is at the same position any more, although most tokens are in both.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

from specctl.lab.hashing import fraction

if TYPE_CHECKING:
    from collections.abc import Sequence

AGREEING = 252
"""Positions at which the two tables name the same token."""

_DROPPED = 9000
"""Tokens that only the trained table has."""

_FIRST_GAINED = 30_000
"""Tokens that only the foreign table has are from here on, behind most of what it lacks."""

_SEED = 0x25
_PREFERENCE = 2.0
"""How much rarer the last ids are than the first ones; they are numbered by frequency."""


def choose_tokens(table: str, *, size: int, vocabulary: int, specials: Sequence[int]) -> list[int]:
    """The target ids of draft ids 0, 1, 2 …, ascending; `specials` are always among them."""
    trained = list(_choose_trained(size, vocabulary, tuple(specials)))
    if table == "trained":
        return trained
    if table != "foreign":
        raise ValueError(f"no draft vocabulary is called {table}")
    loose = [token for token in trained[AGREEING:] if token not in specials]
    dropped = {loose[0], *sorted(loose[1:], key=lambda token: fraction(token ^ _SEED))[:_DROPPED]}
    known = set(trained)
    gained = [token for token in range(vocabulary - 1, 0, -1) if token not in known]
    return sorted({*trained} - dropped | {*gained[: len(dropped)]})


@cache
def _choose_trained(size: int, vocabulary: int, specials: Sequence[int]) -> Sequence[int]:
    always = {*range(AGREEING + 1), *specials}
    rest = sorted(set(range(vocabulary)) - always, key=lambda token: _rank(token, vocabulary))
    return tuple(sorted([*sorted(always), *rest][:size]))


def _rank(token: int, vocabulary: int) -> float:
    return _PREFERENCE * token / vocabulary + fraction(token)


def pack_d2t(tokens: Sequence[int]) -> bytes:
    """int64 offsets: the target id of draft id i is i + d2t[i]."""
    return struct.pack(f"<{len(tokens)}q", *(token - i for i, token in enumerate(tokens)))


def pack_t2d(tokens: Sequence[int], vocabulary: int) -> bytes:
    """One byte per target token: 1 where it can be proposed."""
    packed = bytearray(vocabulary)
    for token in tokens:
        packed[token] = 1
    return bytes(packed)
