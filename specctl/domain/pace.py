"""How fast tokens came: decode times, inter-token times and rates of single requests.

Under speculation one chunk of a stream holds several tokens. The time before a chunk was spent on
all of them, so it is spread over them; a gap counted once per chunk would be too long, and tokens
counted once per chunk too few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import RequestResult

SERVER_CLOCK = "the server's own first-token and end times"
CLIENT_CLOCK = "the streamed requests, first chunk to last, by the client's clock"


@dataclass(frozen=True, slots=True)
class Decode:
    """The decode part of one request: everything after its first token."""

    tokens: int
    time_s: float
    verify_steps: int | None


def server_decode(request: RequestResult) -> Decode | None:
    """The decode part by the server's own clock; None where it does not tell."""
    if request.server_latency_s is None or request.server_ttft_s is None:
        return None
    return _decode(request, request.server_latency_s - request.server_ttft_s)


def stream_decode(request: RequestResult) -> Decode | None:
    """The decode part as a stream showed it."""
    if not request.chunk_tokens:
        return None
    rest = sum(request.chunk_tokens[1:])
    time_s = sum(request.chunk_gaps_s)
    if rest <= 0 or time_s <= 0:
        return None
    return Decode(rest, time_s, request.verify_steps)


def _decode(request: RequestResult, time_s: float) -> Decode | None:
    if request.completion_tokens is None or request.completion_tokens < 2 or time_s <= 0:  # noqa: PLR2004 - the first token is the prefill's
        return None
    return Decode(request.completion_tokens - 1, time_s, request.verify_steps)


def step_s(decodes: Sequence[Decode], *, is_speculating: bool) -> float | None:
    """Decode time per verify step; per token without speculation."""
    time_s = sum(decode.time_s for decode in decodes)
    if not is_speculating:
        tokens = sum(decode.tokens for decode in decodes)
        return time_s / tokens if tokens else None
    steps = [decode.verify_steps for decode in decodes if decode.verify_steps is not None]
    if len(steps) < len(decodes) or not sum(steps):
        return None
    return time_s / sum(steps)


def token_gaps(request: RequestResult) -> tuple[tuple[float, int], ...]:
    """(inter-token time, tokens that took it) of each chunk after the first."""
    pairs = zip(request.chunk_gaps_s, request.chunk_tokens[1:], strict=True)
    return tuple((gap_s / tokens, tokens) for gap_s, tokens in pairs if tokens > 0)


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens that came evenly over a stretch of the window."""

    from_s: float
    to_s: float
    tokens: int


def timeline(requests: Sequence[RequestResult]) -> tuple[Piece, ...]:
    """Everything streamed, each chunk spread over the time before it."""
    pieces: list[Piece] = []
    for request in requests:
        if request.ttft_s is None or not request.chunk_tokens:
            continue
        at_s = request.began_s + request.ttft_s
        pieces.append(Piece(at_s, at_s, request.chunk_tokens[0]))
        for gap_s, tokens in zip(request.chunk_gaps_s, request.chunk_tokens[1:], strict=True):
            pieces.append(Piece(at_s, at_s + gap_s, tokens))
            at_s += gap_s
    return tuple(pieces)


def span_s(pieces: Sequence[Piece]) -> float:
    """From the first token to the last."""
    if not pieces:
        return 0.0
    return max(piece.to_s for piece in pieces) - min(piece.from_s for piece in pieces)


def peak_tokens_per_s(pieces: Sequence[Piece], bucket_s: float = 1.0) -> float | None:
    """The rate of the busiest bucket, of a whole number of equal buckets of at least `bucket_s`."""
    length_s = span_s(pieces)
    if length_s <= 0:
        return None
    count = max(1, int(length_s / bucket_s))
    width_s = length_s / count
    origin_s = min(piece.from_s for piece in pieces)
    buckets = [0.0] * count
    for piece in pieces:
        _spread(buckets, piece.from_s - origin_s, piece.to_s - origin_s, piece.tokens, width_s)
    return max(buckets) / width_s


def _spread(buckets: list[float], from_s: float, to_s: float, tokens: int, width_s: float) -> None:
    """Add `tokens`, evenly over the time between, to the buckets it touches."""
    last = len(buckets) - 1
    first, final = min(int(from_s / width_s), last), min(int(to_s / width_s), last)
    if first == final:
        buckets[first] += tokens
        return
    for place in range(first, final + 1):
        upper_s = to_s if place == final else (place + 1) * width_s
        overlap_s = upper_s - max(from_s, place * width_s)
        buckets[place] += tokens * overlap_s / (to_s - from_s)


def find_rate_contradiction(mean_per_s: float, peak_per_s: float) -> str | None:
    """A peak below the mean cannot be: tokens were miscounted somewhere."""
    if peak_per_s >= mean_per_s * 0.99:
        return None
    return (
        f"the peak rate ({peak_per_s:.0f} tok/s) lies below the mean ({mean_per_s:.0f} tok/s): "
        "chunks were counted as tokens"
    )
