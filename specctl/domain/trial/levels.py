"""One number per launch: y = -log(time it takes for the tokens that all launches have in common).

Each prompt weighs as many tokens as the geometric mean of what all kept launches of both arms
decoded on it, so no arm wins by stopping early; exp(y_B - y_A) is the ratio of times for the same
tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from statistics import fmean, median
from typing import TYPE_CHECKING

from specctl.domain.trial.distributions import hypergeometric_two_sided

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.trial.blocks import Answer, Block
    from specctl.domain.trial.order import Side

STALL_RATIO = 1.5
STALL_SIBLINGS = 3
"""Launches of an arm from which on a stalled answer can be told from a slow prompt."""

STALL_SHARE_MOST = 0.05
STALL_DIFFERENCE = 0.05
"""Of Fisher's test: below it, stalls belong to one arm and are not smoothed away."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The launches of both arms as numbers, in the order in which they ran."""

    sides: tuple[Side, ...]
    y: tuple[float, ...]
    """-log seconds."""

    middles_s: tuple[float, ...]
    log_times: tuple[tuple[float, ...], ...]
    """Per launch and prompt: log of the seconds for the common tokens."""

    prompts: tuple[str, ...]
    """Answered in every launch."""

    dropped: tuple[str, ...]
    """Not answered in every launch."""

    tokens: tuple[float, ...]
    """Per prompt: the common tokens."""

    is_by_parts: bool
    """First-token and decode time were told apart."""

    stalls: Mapping[Side, int]
    are_stalls_smoothed: bool

    def of(self, side: Side) -> tuple[float, ...]:
        """The levels of one arm."""
        return tuple(y for s, y in zip(self.sides, self.y, strict=True) if s == side)


@dataclass(frozen=True, slots=True)
class CommonTimes:
    """Launches of any number of arms over the prompts that all of them answered."""

    log_times: tuple[tuple[float, ...], ...]
    """Per launch and prompt: log of the seconds for the common tokens."""

    prompts: tuple[str, ...]
    dropped: tuple[str, ...]
    tokens: tuple[float, ...]
    is_by_parts: bool


def find_common_times(launches: Sequence[Mapping[str, Answer]]) -> CommonTimes | None:
    """None when no prompt was answered in all of these launches."""
    asked = list(dict.fromkeys(prompt for answers in launches for prompt in answers))
    kept = [prompt for prompt in asked if all(prompt in answers for answers in launches)]
    if not kept:
        return None
    rows = [[answers[prompt] for prompt in kept] for answers in launches]
    tokens = [exp(fmean(log(row[i].tokens) for row in rows)) for i in range(len(kept))]
    by_parts = all(answer.first_s is not None for row in rows for answer in row)
    times = tuple(
        tuple(log(_time_s(one, w, by_parts=by_parts)) for one, w in zip(row, tokens, strict=True))
        for row in rows
    )
    dropped = tuple(prompt for prompt in asked if prompt not in kept)
    return CommonTimes(times, tuple(kept), dropped, tuple(tokens), by_parts)


def level_of(log_times: Sequence[float]) -> float:
    """Of one launch: -log of its seconds for the common tokens."""
    return -log(sum(map(exp, log_times)))


def find_levels(blocks: Sequence[Block]) -> Levels | None:
    """The levels of these launches; None when no prompt was answered in all of them."""
    common = find_common_times([block.answers for block in blocks])
    if common is None:
        return None
    raw = common.log_times
    sides = tuple(block.side for block in blocks)
    smooth, stalls = _smooth_stalls(raw, sides)
    is_smoothed = any(stalls.values()) and not _are_stalls_an_effect(stalls, raw, sides)
    times = tuple(map(tuple, smooth)) if is_smoothed else raw
    return Levels(
        sides=sides,
        y=tuple(map(level_of, times)),
        middles_s=tuple(block.middle_s for block in blocks),
        log_times=times,
        prompts=common.prompts,
        dropped=common.dropped,
        tokens=common.tokens,
        is_by_parts=common.is_by_parts,
        stalls=stalls,
        are_stalls_smoothed=is_smoothed,
    )


def _time_s(answer: Answer, tokens: float, *, by_parts: bool) -> float:
    """Seconds for `tokens` tokens at this answer's pace."""
    if by_parts and answer.first_s is not None and answer.decode_s is not None:
        return answer.first_s + tokens * answer.decode_s / answer.tokens
    return answer.total_s * tokens / answer.tokens


def _smooth_stalls(
    rows: Sequence[Sequence[float]], sides: Sequence[Side]
) -> tuple[list[list[float]], dict[Side, int]]:
    """Cells beyond 1.5 x their fastest sibling become the siblings' median, in both arms alike.

    A sibling is the same prompt in another launch of the same arm; the median of each launch is
    taken out first, so a launch that is slow as a whole is no stall.
    """
    middles = [median(row) for row in rows]
    smooth = [list(row) for row in rows]
    stalls: dict[Side, int] = {"A": 0, "B": 0}
    for side in stalls:
        mine = [n for n, one in enumerate(sides) if one == side]
        if len(mine) < STALL_SIBLINGS:
            continue
        for i in range(len(rows[0])):
            apart = {n: rows[n][i] - middles[n] for n in mine}
            for n in mine:
                others = [value for m, value in apart.items() if m != n]
                if apart[n] - min(others) > log(STALL_RATIO):
                    smooth[n][i] = median(others) + middles[n]
                    stalls[side] += 1
    return smooth, stalls


def _are_stalls_an_effect(
    stalls: Mapping[Side, int], rows: Sequence[Sequence[float]], sides: Sequence[Side]
) -> bool:
    """They differ between the arms, or are so many that they are how it runs."""
    prompts = len(rows[0])
    cells = (prompts * sides.count("A"), prompts * sides.count("B"))
    hits = (stalls["A"], stalls["B"])
    if sum(hits) > STALL_SHARE_MOST * sum(cells):
        return True
    return hypergeometric_two_sided(hits, cells) < STALL_DIFFERENCE
