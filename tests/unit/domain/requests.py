"""Request results for tests."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from specctl.domain.probe import RequestResult

PLAIN = RequestResult(
    index=0,
    category="all",
    prompt_tokens=100,
    completion_tokens=50,
    cached_tokens=0,
    verify_steps=None,
    correct_drafts=None,
    proposed_drafts=None,
    histogram=None,
    server_latency_s=1.0,
    client_latency_s=1.0,
    ttft_s=None,
    finish="length",
    explained_cached_tokens=0,
)


def request(**changes: Any) -> RequestResult:
    return replace(PLAIN, **changes)


def speculated(histogram: tuple[int, ...], **changes: Any) -> RequestResult:
    """One whose counters follow from its histogram."""
    steps = sum(histogram)
    correct = sum(k * count for k, count in enumerate(histogram))
    return request(
        **{
            "verify_steps": steps,
            "correct_drafts": correct,
            "proposed_drafts": steps * (len(histogram) - 1),
            "histogram": histogram,
            "completion_tokens": steps + correct + 1,
            **changes,
        }
    )


def streamed(arrivals: list[tuple[float, int]], **changes: Any) -> RequestResult:
    """One that came in chunks: (seconds after the request, tokens)."""
    times = [at for at, _ in arrivals]
    return request(
        **{
            "ttft_s": times[0],
            "chunk_gaps_s": tuple(b - a for a, b in pairwise(times)),
            "chunk_tokens": tuple(tokens for _, tokens in arrivals),
            "completion_tokens": sum(tokens for _, tokens in arrivals),
            **changes,
        }
    )
