"""How long a measurement takes: before it, from earlier ones; while it runs, from its own pace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.training import not_as_planned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import ProbeResult
    from specctl.domain.training import TrainedOn

REMEMBERS = "NGRAM"
"""The algorithm whose speed depends on what its server was sent before."""

UNTIL_THE_FIRST = "unknown until the first requests are answered"


@dataclass(frozen=True, slots=True)
class Loop:
    """What one loop is going to ask for."""

    requests: int
    max_tokens: int
    """Of all its requests together."""

    concurrency: int


@dataclass(frozen=True, slots=True)
class Known:
    """An earlier result of the same profile on the same host."""

    result: ProbeResult
    words: str
    """`a probe of 3 h ago`."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long it takes; None with the reason in `words`."""

    seconds: float | None
    words: str
    unlike: tuple[str, ...] = ()
    """What of the earlier measurements is not as it is planned."""

    @property
    def basis(self) -> str:
        """What it rests on, or why nobody knows."""
        return self.words if self.seconds is None else "; ".join((self.words, *self.unlike))

    def __str__(self) -> str:
        """`about 4 min, from a probe of 3 h ago` or why nobody knows."""
        if self.seconds is None:
            return self.basis
        return f"about {figures.about(self.seconds)}, {self.basis}"

    def said(self, what: str) -> str:
        """A clause: `WHAT takes about 4 min, …`, or `how long WHAT takes is unknown …`."""
        if self.seconds is None:
            return f"how long {what} takes is {self.words}"
        return f"{what} takes {self}"


def estimate(
    loops: Sequence[Loop],
    known: Sequence[Known],
    *,
    trained_on: TrainedOn | None = None,
    why_unknown: str = "",
) -> Estimate:
    """From the known result at the nearest concurrency, the first of equals.

    Its tokens per second of one slot and the share of the allowed tokens its answers took. Results
    that were as warm as `trained_on` go before all others.
    """
    usable = [one for one in known if _slot_rate(one.result) is not None]
    alike = [one for one in usable if _is_as_warm(one.result, trained_on)]
    if not loops or not usable:
        words = f"{UNTIL_THE_FIRST}: {why_unknown}" if why_unknown else UNTIL_THE_FIRST
        return Estimate(None, words)
    wanted = loops[0].concurrency
    best = min(alike or usable, key=lambda one: abs(one.result.concurrency - wanted))
    rate = _slot_rate(best.result) or 1.0
    seconds = sum(loop.max_tokens / (rate * loop.concurrency) for loop in loops)
    words = f"at most, from {best.words}"
    if best.result.concurrency != wanted:
        words += f" at concurrency {best.result.concurrency}"
    return Estimate(seconds, words, () if alike else (_unlike(best.result, trained_on),))


def _is_as_warm(result: ProbeResult, trained_on: TrainedOn | None) -> bool:
    return result.algorithm != REMEMBERS or result.trained_on == trained_on


def _unlike(result: ProbeResult, trained_on: TrainedOn | None) -> str:
    return f"{result.profile or 'it'} was {not_as_planned(result.trained_on, trained_on)}"


def _slot_rate(result: ProbeResult) -> float | None:
    """Output tokens per second of one request at a time in a slot."""
    good = [request for request in result.requests if request.error is None]
    time_s = sum(request.client_latency_s for request in good)
    tokens = sum(request.completion_tokens or 0 for request in good)
    return tokens / time_s if tokens and time_s > 0 else None


def sum_estimates(estimates: Sequence[Estimate]) -> Estimate:
    """Of one after the other; unknown when one of them is."""
    for one in estimates:
        if one.seconds is None:
            return one
    if not estimates:
        return Estimate(None, UNTIL_THE_FIRST)
    unlike = dict.fromkeys(words for one in estimates for words in one.unlike)
    seconds = sum(one.seconds or 0.0 for one in estimates)
    return Estimate(seconds, estimates[0].words, tuple(unlike))


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """Of one launch of either arm; unknown when one of them is."""
    whole = sum_estimates(estimates)
    if whole.seconds is None:
        return whole
    return replace(whole, seconds=whole.seconds / len(estimates))


class Progress:
    """How far a probe is, in tokens that its requests may take."""

    def __init__(
        self, expected: int = 0, *, last_due_s: float | None = None, began_s: float = 0.0
    ) -> None:
        """`last_due_s`: of an open loop, when its last request is due."""
        self._expected, self._last_due_s, self._began_s = expected, last_due_s, began_s
        self._done = 0

    def count(self, max_tokens: int) -> None:
        """A request that might have taken so many was answered."""
        self._done += max_tokens

    def remaining_s(self, now_s: float) -> float | None:
        """At the pace so far; of an open loop at least until the last request is due."""
        if not self._done or not self._expected:
            return None
        elapsed_s = now_s - self._began_s
        left = max(0, self._expected - self._done)
        if self._last_due_s is not None:
            return max(0.0, self._last_due_s - elapsed_s) if left else 0.0
        return elapsed_s * left / self._done
