"""Which setting of the matcher a forecast suggests, and whether it would pay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain.cost import WORTH_MARGIN
from specctl.domain.forecast.replay import Acceptance, add_up, replay
from specctl.domain.ngram.settings import MatchType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.forecast.transcripts import Transcript
    from specctl.domain.ngram.settings import NgramSettings

DRAFT_TOKENS = (4, 8, 12, 16, 24, 32)
BREADTHS = (1, 4, 10)
DEPTHS = (8, 18, 32)
COUNTS_AS_MORE = 0.01
"""A longer accept length by less than this share is no reason for a larger tree."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One setting and what it comes to."""

    change: str
    """What differs from the setting asked about; empty for that one itself."""

    settings: NgramSettings
    acceptance: Acceptance


@dataclass(frozen=True, slots=True)
class CostTable:
    """What steps cost, measured or typed; seconds."""

    base_s: float
    """Of a plain decode step."""

    step_s: Mapping[int, float]
    """Of a verify step, by the number of draft tokens it verifies."""

    source: str

    def step_at(self, draft_tokens: int) -> float | None:
        """Linear between two measured widths; None outside of them."""
        if draft_tokens in self.step_s:
            return self.step_s[draft_tokens]
        below = [width for width in self.step_s if width < draft_tokens]
        above = [width for width in self.step_s if width > draft_tokens]
        if not below or not above:
            return None
        low, high = max(below), min(above)
        share = (draft_tokens - low) / (high - low)
        return self.step_s[low] * (1 - share) + self.step_s[high] * share


@dataclass(frozen=True, slots=True)
class Payoff:
    """Whether a setting would pay at known costs."""

    break_even: float
    speedup: float
    is_worth_trying: bool
    source: str


def explore(
    transcripts: Sequence[Transcript],
    settings: NgramSettings,
    *,
    concurrency: int = 1,
    is_one_step_stale: bool = True,
) -> tuple[Variant, ...]:
    """The setting itself, then each parameter changed alone."""
    return tuple(
        Variant(
            change,
            one,
            add_up(
                replay(
                    transcripts,
                    one,
                    concurrency=concurrency,
                    is_one_step_stale=is_one_step_stale,
                )
            ),
        )
        for change, one in (("", settings), *_neighbours(settings))
    )


def _neighbours(settings: NgramSettings) -> list[tuple[str, NgramSettings]]:
    found = [
        (f"num-draft-tokens {n}", replace(settings, num_draft_tokens=n))
        for n in DRAFT_TOKENS
        if n != settings.num_draft_tokens and n > settings.external_sam_budget
    ]
    found += [
        (f"max-bfs-breadth {n}", replace(settings, max_bfs_breadth=n))
        for n in BREADTHS
        if n != settings.max_bfs_breadth and n >= settings.min_bfs_breadth
    ]
    found += [
        (f"max-trie-depth {n}", replace(settings, max_trie_depth=n))
        for n in DEPTHS
        if n != settings.max_trie_depth and n < settings.capacity
    ]
    is_bfs = settings.match_type is MatchType.BFS
    other = MatchType.PROB if is_bfs else MatchType.BFS
    found.append((f"match-type {other}", replace(settings, match_type=other)))
    return found


def pay(acceptance: Acceptance, settings: NgramSettings, costs: CostTable) -> Payoff | None:
    """None where the cost of a step of this width is not known, or nothing was accepted or not."""
    step_s = costs.step_at(settings.num_draft_tokens)
    if step_s is None or acceptance.accept_length is None:
        return None
    star = step_s / costs.base_s
    speedup = acceptance.accept_length / star
    return Payoff(star, speedup, speedup > 1 + WORTH_MARGIN, costs.source)


def suggest(variants: Sequence[Variant], costs: CostTable | None) -> Variant:
    """The fastest at known costs; without costs the smallest tree that accepts about as much."""
    if costs is not None:
        paid = [(pay(one.acceptance, one.settings, costs), one) for one in variants]
        known = [(found.speedup, one) for found, one in paid if found is not None]
        if known:
            best = max(speedup for speedup, _ in known)
            near = [one for speedup, one in known if speedup >= best / (1 + COUNTS_AS_MORE)]
            return min(near, key=_tree_size)
    best_length = max(one.acceptance.accept_length or 0.0 for one in variants)
    near = [
        one
        for one in variants
        if (one.acceptance.accept_length or 0.0) >= best_length / (1 + COUNTS_AS_MORE)
    ]
    return min(near, key=_tree_size)


def _tree_size(variant: Variant) -> tuple[int, int]:
    """Small trees first; among equals the setting that was asked about."""
    return variant.settings.num_draft_tokens, len(variant.change)
