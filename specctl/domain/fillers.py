"""Requests around the measured ones that keep the batch full while those run.

The first measured requests would find the batch still filling, the last ones find it emptying, so
both would run at another batch than asked for. As many fillers as there are places go before them
and as many after, in the same order in every arm; they are in no figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import Prompt, RequestResult
    from specctl.domain.workload import Rendered

FULL_SHARE = 0.98
"""Of the places in use, in the mean of a window, from which on the batch counts as full."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What is sent in one closed loop."""

    before: tuple[Rendered, ...]
    measured: tuple[Rendered, ...]
    after: tuple[Rendered, ...]

    @property
    def sequence(self) -> tuple[Rendered, ...]:
        """All of it, in order."""
        return (*self.before, *self.measured, *self.after)


def make_fillers(seeds: Sequence[Prompt], count: int) -> tuple[Prompt, ...]:
    """`count` prompts that begin differently from each other, made of `seeds` in turn."""
    return tuple(_numbered(seeds[place % len(seeds)], place) for place in range(count))


def _numbered(seed: Prompt, place: int) -> Prompt:
    number = f"{place + 1}. "
    if seed.text is not None:
        return replace(seed, text=number + seed.text, category="filler")
    *earlier, (role, content) = seed.messages
    first, *rest = [*earlier, (role, number + content)]
    if earlier:  # a beginning that all share would be found in the cache
        first = (first[0], number + first[1])
    return replace(seed, messages=(first, *rest), category="filler")


def fill(measured: Sequence[Rendered], fillers: Sequence[Rendered], concurrency: int) -> Filled:
    """The loop with `concurrency` fillers at either end; none at a concurrency of 1.

    Those before it get longer one by one, so that measured requests begin one after the other;
    those after it are as long as the longest that may still run.
    """
    if concurrency == 1 or not measured:
        return Filled((), tuple(measured), ())
    usual = median(rendered.prompt.max_tokens for rendered in measured)
    longest = max(rendered.prompt.max_tokens for rendered in measured[-concurrency:])
    before = tuple(
        _sized(filler, max(1, round(usual * (place + 1) / concurrency)))
        for place, filler in enumerate(fillers[:concurrency])
    )
    after = tuple(_sized(filler, longest) for filler in fillers[concurrency : 2 * concurrency])
    return Filled(before, tuple(measured), after)


def _sized(filler: Rendered, tokens: int) -> Rendered:
    return replace(filler, prompt=replace(filler.prompt, max_tokens=tokens))


def span_of(measured: Sequence[RequestResult]) -> tuple[float, float]:
    """From the first measured request to the end of the last."""
    if not measured:
        return 0.0, 0.0
    began_s = min(request.began_s for request in measured)
    return began_s, max(request.end_s for request in measured)


def mean_in_flight(
    measured: Sequence[RequestResult], others: Sequence[RequestResult]
) -> float | None:
    """Requests in flight in the mean of the window of `measured`; None of an empty window."""
    from_s, to_s = span_of(measured)
    if to_s <= from_s:
        return None
    overlaps = (
        max(0.0, min(to_s, request.end_s) - max(from_s, request.began_s))
        for request in (*measured, *others)
    )
    return sum(overlaps) / (to_s - from_s)


def find_unfilled(in_flight: float | None, concurrency: int) -> str | None:
    """Whether the batch was not as full as asked for."""
    if in_flight is None or concurrency == 1 or in_flight >= concurrency * FULL_SHARE:
        return None
    return (
        f"the batch was not always full: {in_flight:.2f} of {concurrency} requests were in flight "
        "in the mean"
    )
