"""How long the answers of two arms are, how they end, and how long a whole answer takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.pairing import LENGTH_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from specctl.domain.probe import ProbeResult, RequestResult

WORTH_SAYING = 0.01
Ends = tuple[tuple[str, int], ...]
"""Finish reason and how many answers, over all launches."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Over the prompts that every launch of both arms answered."""

    ratio: float
    """Tokens of the profile's answers over the baseline's."""

    task_ratio: float
    """Times faster per whole answer, whatever its length; the trial's ratio is per token."""

    ends: tuple[Ends, Ends]
    """Of the baseline and of the profile."""

    def words(self, base: str, name: str) -> tuple[str, ...]:
        """Nothing where answers are alike in length and end."""
        found = []
        apart = self.ratio - 1
        if abs(apart) >= WORTH_SAYING:
            care = " (beyond 10 %: other answers, not only other speed)"
            found.append(
                f"lengths: answers of {name} hold {apart:+.0%} tokens; per whole answer it is "
                f"{self.task_ratio:.2f}x as fast{care if abs(apart) > LENGTH_TOLERANCE else ''}"
            )
        if _shares(self.ends[0]) != _shares(self.ends[1]):
            told = "; ".join(
                f"{arm} {', '.join(f'{count} by {end}' for end, count in ends)}"
                for arm, ends in zip((base, name), self.ends, strict=True)
            )
            found.append(f"answers end otherwise: {told}")
        return tuple(found)


def compare_lengths(base: Sequence[ProbeResult], other: Sequence[ProbeResult]) -> Lengths | None:
    """None where no prompt was answered in every launch of both."""
    sides = [[_answered(result) for result in side] for side in (base, other)]
    if not all(sides):
        return None
    shared = set.intersection(*(set(answers) for side in sides for answers in side))
    tokens = [_sum(side, shared, lambda one: one.completion_tokens or 0) for side in sides]
    taken_s = [_sum(side, shared, _latency_s) for side in sides]
    if not shared or not tokens[0] or not taken_s[1]:
        return None
    ends = [
        Counter(answers[i].finish or "unknown" for answers in side for i in shared)
        for side in sides
    ]
    return Lengths(
        ratio=tokens[1] / tokens[0],
        task_ratio=taken_s[0] / taken_s[1],
        ends=(tuple(sorted(ends[0].items())), tuple(sorted(ends[1].items()))),
    )


def _answered(result: ProbeResult) -> dict[int, RequestResult]:
    return {one.index: one for one in result.requests if one.error is None}


def _latency_s(request: RequestResult) -> float:
    return request.server_latency_s or request.client_latency_s


def _sum(
    side: Sequence[Mapping[int, RequestResult]],
    shared: Iterable[int],
    figure: Callable[[RequestResult], float],
) -> float:
    """Mean over launches."""
    return fmean(sum(figure(answers[i]) for i in shared) for answers in side)


def _shares(ends: Iterable[tuple[str, int]]) -> dict[str, float]:
    counts = dict(ends)
    return {end: round(count / sum(counts.values()), 6) for end, count in counts.items()}
