"""Whether two arms say the same: greedy outputs compared prompt by prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.trial.distributions import binomial_at_most, clopper_pearson, poisson_upper

if TYPE_CHECKING:
    from collections.abc import Sequence

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
