"""Two arms that answered the same prompts: how their times and outputs compare.

The speedup is the ratio of the times for the same tokens. Each prompt weighs as many tokens as
both arms decoded on it (the geometric mean), so that an arm does not win by stopping early.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.kept_output import text_parting, token_parting, unpack_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import RequestResult

LENGTH_TOLERANCE = 0.10
BY_PARTS = "first-token time + decode time per token x the same tokens"
BY_WHOLE = "whole request time per token x the same tokens: no first-token times in this build"


@dataclass(frozen=True, slots=True)
class Pairing:
    """What the prompts that both arms answered say."""

    prompts: int
    base_s: float
    """Time of the baseline for the tokens that both produced."""

    arm_s: float
    method: str
    identical: int
    """Prompts with the same text; meaningful for greedy decoding only."""

    first_divergence: int | None
    """Index of the first prompt whose texts differ."""

    divergence_at: int | None
    """The character of it at which they part."""

    token_at: int | None
    """The token of it at which they part, from 1; None where the server gave no ids."""

    length_ratio: float
    """Decoded tokens of the arm over the baseline's, all prompts together."""

    base_first_s: float | None = None
    """Of `base_s`: until the first tokens; None where the build does not tell it apart."""

    @property
    def first_token_share(self) -> float | None:
        """Of the baseline's time: what no draft makes shorter."""
        return None if self.base_first_s is None else self.base_first_s / self.base_s

    @property
    def speedup(self) -> float:
        """Time of the baseline over time of the arm."""
        return self.base_s / self.arm_s

    @property
    def is_length_suspect(self) -> bool:
        """Outputs differ in length beyond 10 %."""
        return abs(self.length_ratio - 1) > LENGTH_TOLERANCE


def pair(base: Sequence[RequestResult], arm: Sequence[RequestResult]) -> Pairing | None:
    """The pairing of the prompts that succeeded in both arms; None when there is none."""
    others = {request.index: request for request in arm if request.error is None}
    pairs = [
        (request, others[request.index])
        for request in base
        if request.error is None
        and request.index in others
        and _has_tokens(request)
        and _has_tokens(others[request.index])
    ]
    if not pairs:
        return None
    by_parts = all(_has_parts(request) for both in pairs for request in both)
    base_s = arm_s = 0.0
    for one, other in pairs:
        weight = math.sqrt(_decoded(one, by_parts=by_parts) * _decoded(other, by_parts=by_parts))
        base_s += _time_s(one, weight, by_parts=by_parts)
        arm_s += _time_s(other, weight, by_parts=by_parts)
    different = [(one, other) for one, other in pairs if one.text_sha256 != other.text_sha256]
    return Pairing(
        prompts=len(pairs),
        base_s=base_s,
        arm_s=arm_s,
        method=BY_PARTS if by_parts else BY_WHOLE,
        identical=len(pairs) - len(different),
        first_divergence=different[0][0].index if different else None,
        divergence_at=_divergence(*different[0]) if different else None,
        token_at=_token(*different[0]) if different else None,
        length_ratio=sum(other.completion_tokens or 0 for _, other in pairs)
        / sum(one.completion_tokens or 0 for one, _ in pairs),
        base_first_s=sum(one.server_ttft_s or 0.0 for one, _ in pairs) if by_parts else None,
    )


def _has_tokens(request: RequestResult) -> bool:
    return bool(request.completion_tokens) and _latency_s(request) > 0


def _latency_s(request: RequestResult) -> float:
    return request.server_latency_s or request.client_latency_s


def _has_parts(request: RequestResult) -> bool:
    has_decode = (request.completion_tokens or 0) > 1
    return has_decode and request.server_ttft_s is not None and request.server_latency_s is not None


def _decoded(request: RequestResult, *, by_parts: bool) -> int:
    return (request.completion_tokens or 0) - (1 if by_parts else 0)


def _time_s(request: RequestResult, weight: float, *, by_parts: bool) -> float:
    first_s = (request.server_ttft_s or 0.0) if by_parts else 0.0
    rest_s = _latency_s(request) - first_s
    return first_s + rest_s * weight / _decoded(request, by_parts=by_parts)


def _token(one: RequestResult, other: RequestResult) -> int | None:
    left, right = unpack_output(one.output), unpack_output(other.output)
    place = token_parting(left, right) if left and right else None
    return None if place is None else place.index + 1


def _divergence(one: RequestResult, other: RequestResult) -> int | None:
    if one.text is None or other.text is None:
        return _kept_divergence(one, other)
    for place, (left, right) in enumerate(zip(one.text, other.text, strict=False)):
        if left != right:
            return place
    return min(len(one.text), len(other.text))


def _kept_divergence(one: RequestResult, other: RequestResult) -> int | None:
    """Of the beginnings that the ledger keeps."""
    left, right = unpack_output(one.output), unpack_output(other.output)
    place = text_parting(left, right) if left and right else None
    return None if place is None else place.index
