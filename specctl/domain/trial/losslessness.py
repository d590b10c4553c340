"""Whether two arms say the same: greedy outputs compared prompt by prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.kept_output import token_parting, unpack_output
from specctl.domain.trial.distributions import binomial_at_most, clopper_pearson, poisson_upper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import ProbeResult, RequestResult

PER_TOKENS = 1000


@dataclass(frozen=True, slots=True)
class Pair:
    """One prompt answered by two launches."""

    tokens: int
    """Compared: up to the first divergence, or all that both have."""

    is_same: bool


@dataclass(frozen=True, slots=True)
class Sameness:
    """How alike the outputs of two launches are."""

    prompts: int
    identical: int
    share_low: float
    """Of the exact 95 % interval of the share of identical prompts, as `share_high`."""

    share_high: float
    tokens: int
    """Compared."""

    divergences_per_1000_at_most: float | None
    """95 %, one-sided; None when nothing was compared."""

    @property
    def interval_words(self) -> str:
        """The interval of the share, and how much was compared."""
        return f"({self.share_low:.0%} to {self.share_high:.0%}), {self.tokens:,} tokens compared"


def pair_outputs(pairs: Sequence[tuple[ProbeResult, ProbeResult]]) -> dict[int, Pair]:
    """By prompt. Of one that differs, tokens count up to where it parts; none where unknown."""
    found: dict[int, Pair] = {}
    for one, other in pairs:
        texts = {r.index: r for r in other.requests if r.error is None}
        for request in one.requests:
            match = texts.get(request.index)
            if match is None or request.error is not None:
                continue
            is_same = request.text_sha256 == match.text_sha256
            before = found.get(request.index)
            tokens = _shared_tokens(request, match, is_same=is_same)
            if before is not None:
                is_same, tokens = is_same and before.is_same, min(tokens, before.tokens)
            found[request.index] = Pair(tokens, is_same)
    return found


def _shared_tokens(one: RequestResult, other: RequestResult, *, is_same: bool) -> int:
    if is_same:
        return one.completion_tokens or 0
    left, right = unpack_output(one.output), unpack_output(other.output)
    place = token_parting(left, right) if left and right else None
    return 0 if place is None else place.index


def compare_outputs(pairs: Sequence[Pair]) -> Sameness:
    """What these prompts show; all alike is never a proof that they always will be."""
    identical = sum(pair.is_same for pair in pairs)
    low, high = clopper_pearson(identical, len(pairs)) if pairs else (0.0, 1.0)
    tokens = sum(pair.tokens for pair in pairs)
    most = poisson_upper(len(pairs) - identical) * PER_TOKENS / tokens if tokens else None
    return Sameness(len(pairs), identical, low, high, tokens, most)


def excess_p(between: Sequence[bool], within: Sequence[bool]) -> float:
    """Whether two arms differ more often than two launches of one arm do.

    `between` and `within` say of the same prompts whether the outputs are the same; exact McNemar
    test, one-sided: small where the difference belongs to the arms.
    """
    pairs = list(zip(between, within, strict=True))
    only_between = sum(not b and w for b, w in pairs)
    only_within = sum(b and not w for b, w in pairs)
    discordant = only_between + only_within
    return 1.0 - binomial_at_most(only_between - 1, discordant, 0.5) if discordant else 1.0
