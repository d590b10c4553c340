"""One definition of acceptance for numbers of every SGLang version.

Accept length is (drafts + bonus token) per verify step in every version. The accept *rate* of the
log and of /metrics changed its meaning twice: (drafts + bonus) / (steps + 1) in 0.5.3-0.5.5,
(drafts + bonus) / draft tokens in 0.5.6-0.5.10, drafts / (draft tokens - 1) since 0.5.11.
"""

from __future__ import annotations

from enum import StrEnum

from specctl.domain.versions import is_at_least

_STRICT_SINCE = "0.5.11"


class RateDefinition(StrEnum):
    """What a printed accept rate is a share of."""

    STRICT = "accepted / proposed drafts"
    LEGACY = "legacy: bonus token included"
    UNKNOWN = "definition unknown: the version is not known"


def rate_definition(version: str | None) -> RateDefinition:
    """Which accept rate a server of `version` prints; rates of two definitions do not compare."""
    is_strict = is_at_least(version, _STRICT_SINCE)
    if is_strict is None:
        return RateDefinition.UNKNOWN
    return RateDefinition.STRICT if is_strict else RateDefinition.LEGACY


def strict_rate(accept_length: float, draft_tokens: int) -> float | None:
    """Accepted / proposed drafts, from accept length and the resolved number of draft tokens."""
    if draft_tokens < 2 or accept_length < 1:  # noqa: PLR2004 - one of them is the bonus token
        return None
    return (accept_length - 1) / (draft_tokens - 1)


def mean_accept_length(tokens: float, verify_steps: float) -> float | None:
    """Tokens per verify step; None without a step."""
    return tokens / verify_steps if verify_steps > 0 else None


def unbiased_accept_length(correct_drafts: int, verify_steps: int) -> float | None:
    """1 + accepted drafts / verify steps: free of the prefill's token, unlike tokens / steps."""
    return 1 + correct_drafts / verify_steps if verify_steps > 0 else None
