"""The counters that /generate returns with a finished request (`meta_info`), of every version.

Renamed keys, SGLang 0.4.2-0.5.23: `spec_accept_token_num` (0.5.6) became `spec_accepted_drafts`
(0.5.11) and `spec_num_correct_drafts` (0.5.12); likewise the proposed drafts and the histogram.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.domain.missing import Missing, Why
from specctl.facts.accept_rate import mean_accept_length, unbiased_accept_length
from specctl.facts.numbers import fraction_of, list_of, mapping_of, text_of, whole_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERIFY = ("spec_verify_ct",)
_CORRECT = ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num")
_PROPOSED = ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num")
_HISTOGRAM = ("spec_correct_drafts_histogram", "spec_accept_histogram")
_SPEC_WORDS = ("spec_accept_length", "spec_accept_rate", *_CORRECT, *_PROPOSED, *_HISTOGRAM)


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """One finished request as its server counted it; None = not reported, which is not 0."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    verify_steps: int | None = None
    correct_drafts: int | None = None
    proposed_drafts: int | None = None
    histogram: tuple[int, ...] | None = None
    """histogram[k] = verify steps that accepted exactly k drafts."""

    server_latency_s: float | None = None
    finish: str | None = None
    """`length`, `stop`, `abort` …"""

    retractions: int | None = None
    missing: Mapping[str, Missing] = field(default_factory=dict)

    @property
    def accept_length(self) -> float | None:
        """Completion tokens per verify step: SGLang's own convention, high on short outputs."""
        if self.completion_tokens is None or not self.verify_steps:
            return None
        return mean_accept_length(self.completion_tokens, self.verify_steps)

    @property
    def unbiased_accept_length(self) -> float | None:
        """1 + accepted drafts per verify step: free of the prefill's token."""
        if self.correct_drafts is None or not self.verify_steps:
            return None
        return unbiased_accept_length(self.correct_drafts, self.verify_steps)

    @property
    def accept_rate(self) -> float | None:
        """Accepted / proposed drafts, the strict definition."""
        if self.correct_drafts is None or not self.proposed_drafts:
            return None
        return self.correct_drafts / self.proposed_drafts


def read_meta_info(meta: Any) -> RequestCounts:
    """The counters of one `meta_info`; anything else than an object reports nothing."""
    meta = mapping_of(meta)
    verify = whole_of(_first(meta, _VERIFY))
    is_reported = bool(verify)
    correct = whole_of(_first(meta, _CORRECT)) if is_reported else None
    histogram = _histogram(_first(meta, _HISTOGRAM)) if is_reported else None
    if correct is None and histogram is not None:
        correct = sum(drafts * steps for drafts, steps in enumerate(histogram))
    finish = meta.get("finish_reason")
    return RequestCounts(
        prompt_tokens=whole_of(meta.get("prompt_tokens")),
        completion_tokens=whole_of(meta.get("completion_tokens")),
        cached_tokens=whole_of(meta.get("cached_tokens")),
        verify_steps=verify if is_reported else None,
        correct_drafts=correct,
        proposed_drafts=whole_of(_first(meta, _PROPOSED)) if is_reported else None,
        histogram=histogram,
        server_latency_s=fraction_of(meta.get("e2e_latency")),
        finish=text_of(finish) or text_of(mapping_of(finish).get("type")),
        retractions=whole_of(_first(meta, ("num_retractions", "total_retractions"))),
        missing=_missing(meta, verify, correct),
    )


def _first(meta: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((meta[name] for name in names if meta.get(name) is not None), None)


def _histogram(value: Any) -> tuple[int, ...] | None:
    counts = [whole_of(item) for item in list_of(value)]
    known = tuple(count for count in counts if count is not None and count >= 0)
    return known if known and len(known) == len(counts) else None


def _missing(
    meta: Mapping[str, Any], verify: int | None, correct: int | None
) -> dict[str, Missing]:
    if verify:
        if correct is not None:
            return {}
        return {"correct_drafts": Missing(Why.NOT_SUPPORTED, "this version does not count them")}
    if verify is None and any(name in meta for name in _SPEC_WORDS):
        why = Missing(Why.NOT_SUPPORTED, "speculation is on, but its steps are not reported")
    elif verify == 0:
        why = Missing(Why.NO_WINDOW, "the request ended before the first verify step")
    else:
        why = Missing(Why.NOT_SPECULATING)
    return dict.fromkeys(("verify_steps", "correct_drafts", "proposed_drafts", "histogram"), why)
