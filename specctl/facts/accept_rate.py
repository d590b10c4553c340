"""One definition of accept length for numbers of every SGLang version.

Accept length is (drafts + bonus token) per verify step in every version. The accept *rate* of the
log and of /metrics changed its meaning twice: (drafts + bonus) / (steps + 1) in 0.5.3-0.5.5,
(drafts + bonus) / draft tokens in 0.5.6-0.5.10, drafts / (draft tokens - 1) since 0.5.11.
So no rate is shown.
"""

from __future__ import annotations


def mean_accept_length(tokens: float, verify_steps: float) -> float | None:
    """Tokens per verify step; None without a step."""
    return tokens / verify_steps if verify_steps > 0 else None


def unbiased_accept_length(correct_drafts: int, verify_steps: int) -> float | None:
    """1 + accepted drafts / verify steps: free of the prefill's token, unlike tokens / steps."""
    return 1 + correct_drafts / verify_steps if verify_steps > 0 else None
