"""The table of a reduced vocabulary: which target token each draft token stands for.

SGLang reads `d2t` as offsets: target id = draft id + d2t[draft id] (models/llama_eagle3.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class TableForm(StrEnum):
    """How the numbers of a table are meant."""

    OFFSETS = "offsets"
    ABSOLUTE = "absolute ids"
    UNFILLED = "never filled"
    """All zero, although the draft has fewer tokens than its target."""

    EITHER = "offsets or absolute ids"
    """Both readings give a proper table."""

    NEITHER = "neither offsets nor absolute ids"


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a table."""

    ids: tuple[int, ...]
    """The target's id of every draft token."""

    outside: int
    """Ids below 0 or beyond the target's vocabulary."""

    repeated: int
    """Draft tokens whose target token another one has already."""

    falls: int
    """Places where the ids do not ascend."""

    @property
    def is_proper(self) -> bool:
        """Within range, and each id once."""
        return not self.outside and not self.repeated


@dataclass(frozen=True, slots=True)
class DraftTable:
    """A table, and how it is to be read."""

    form: TableForm
    as_offsets: Reading
    as_ids: Reading

    @property
    def intended(self) -> Reading:
        """What whoever made it meant."""
        return self.as_ids if self.form is TableForm.ABSOLUTE else self.as_offsets


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two drafts' vocabularies side by side."""

    positions: int
    """Draft ids that stand for the same target token in both."""

    of: int
    """Positions that both have."""

    shared: int
    """Target tokens that both can propose, at whatever position."""

    only_draft: int
    only_other: int

    @property
    def overlap(self) -> float | None:
        """Shared tokens as a share of the smaller set; None when one is empty."""
        smaller = self.shared + min(self.only_draft, self.only_other)
        return self.shared / smaller if smaller else None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what was said a draft could have proposed."""

    tokens: int
    covered: int
    distinct: int
    covered_distinct: int
    most_left_out: tuple[tuple[int, int], ...] = ()
    """(id, times) of the tokens that weigh most, at most five."""

    @property
    def share(self) -> float | None:
        """Of the tokens said; None for an empty transcript."""
        return self.covered / self.tokens if self.tokens else None


def read_table(d2t: Sequence[int], vocab_size: int | None, t2d: bytes | None = None) -> DraftTable:
    """How `d2t` is to be read, by range, order and the table of the other direction."""
    offsets = _reading([i + value for i, value in enumerate(d2t)], vocab_size)
    absolute = _reading(d2t, vocab_size)
    return DraftTable(_form(d2t, vocab_size, offsets, absolute, t2d), offsets, absolute)


def _form(
    d2t: Sequence[int],
    vocab_size: int | None,
    offsets: Reading,
    absolute: Reading,
    t2d: bytes | None,
) -> TableForm:
    if not any(d2t):
        is_whole = vocab_size is None or len(d2t) >= vocab_size
        return TableForm.OFFSETS if is_whole else TableForm.UNFILLED
    could_be_offsets = offsets.is_proper and not offsets.falls
    could_be_ids = absolute.is_proper and not absolute.falls
    if could_be_offsets and could_be_ids:
        return _told_apart(offsets, absolute, t2d)
    if could_be_offsets or (offsets.is_proper and not could_be_ids):
        return TableForm.OFFSETS
    return TableForm.ABSOLUTE if absolute.is_proper else TableForm.NEITHER


def _told_apart(offsets: Reading, absolute: Reading, t2d: bytes | None) -> TableForm:
    """A table in which no two neighbours were chosen reads well both ways: t2d has to tell."""
    hits = [hits_of(reading.ids, t2d) if t2d else 0 for reading in (offsets, absolute)]
    if hits[0] == hits[1]:
        return TableForm.EITHER
    return TableForm.OFFSETS if hits[0] > hits[1] else TableForm.ABSOLUTE


def _reading(ids: Sequence[int], vocab_size: int | None) -> Reading:
    limit = vocab_size if vocab_size is not None else 1 << 62
    return Reading(
        ids=tuple(ids),
        outside=sum(not 0 <= one < limit for one in ids),
        repeated=len(ids) - len(set(ids)),
        falls=sum(after <= before for before, after in pairwise(ids)),
    )


def hits_of(ids: Sequence[int], t2d: bytes) -> int:
    """How many of `ids` the table of the other direction marks too."""
    return sum(0 <= one < len(t2d) and t2d[one] != 0 for one in ids)


def agreement(ids: Sequence[int], other: Sequence[int]) -> Agreement:
    """How far two drafts' vocabularies agree, position by position and as sets."""
    mine, theirs = set(ids), set(other)
    return Agreement(
        positions=sum(a == b for a, b in zip(ids, other, strict=False)),
        of=min(len(ids), len(other)),
        shared=len(mine & theirs),
        only_draft=len(mine - theirs),
        only_other=len(theirs - mine),
    )


def coverage(counts: Mapping[int, int], ids: Sequence[int], *, most: int = 5) -> Coverage:
    """How much of a transcript's tokens are among `ids`."""
    known = set(ids)
    left_out = sorted(
        ((token, times) for token, times in counts.items() if token not in known),
        key=lambda pair: (-pair[1], pair[0]),
    )
    tokens = sum(counts.values())
    return Coverage(
        tokens=tokens,
        covered=tokens - sum(times for _, times in left_out),
        distinct=len(counts),
        covered_distinct=len(counts) - len(left_out),
        most_left_out=tuple(left_out[:most]),
    )
