"""Adds the requests of a window up to a result; what cannot be known is None with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.acceptance import (
    add_histograms,
    conditional_acceptance,
    find_contradictions,
    marginal_acceptance,
)
from specctl.domain.fillers import mean_in_flight
from specctl.domain.missing import Missing, Why
from specctl.domain.open_loop import OpenLoop, add_up_open_loop
from specctl.domain.pace import (
    CLIENT_CLOCK,
    SERVER_CLOCK,
    Decode,
    find_rate_contradiction,
    peak_tokens_per_s,
    server_decode,
    span_s,
    step_s,
    stream_decode,
    timeline,
    token_gaps,
)
from specctl.domain.percentiles import mean, percentile, weighted_percentile
from specctl.domain.probe import ProbeResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.energy import Energy
    from specctl.domain.open_loop import Arrivals
    from specctl.domain.probe import RequestResult, Void
    from specctl.domain.training import TrainedOn

COUNTED = "1 + accepted drafts / verify steps"
ESTIMATED = "(tokens - first tokens) / verify steps: this version does not count accepted drafts"
UNO_DRAFTS = 2
"""UNO emits two tokens of its own per step; every other algorithm emits one, the bonus."""


@dataclass(frozen=True, slots=True)
class Window:
    """One measured window: what was asked of whom, and what the asking itself cost."""

    server: str
    profile: str | None
    concurrency: int
    algorithm: str | None
    wall_s: float
    """From the first measured request to the end of the last."""

    client_cpu_s: float | None = None
    loop_lag_p99_s: float | None = None
    started_at_s: float = 0.0
    identity_key: str = ""
    cache_state: str = ""
    workload: str = ""
    workload_sha256: str = ""
    temperature: float = 0.0
    rendering: str = ""
    energy: Energy | None = None
    """Of everything that was sent; None: nobody looked."""

    arrivals: Arrivals | None = None
    """Of an open loop, whose requests are all streamed."""

    sending_s: float | None = None
    """Of everything that was sent, fillers too; None: the window itself."""

    forced_by: str | None = None
    """The variable that makes accept lengths up."""

    trained_on: TrainedOn | None = None
    """What was sent between the flush and the window."""


AS_SENT = (
    "server", "profile", "concurrency", "wall_s", "identity_key", "started_at_s", "algorithm",
    "cache_state", "workload", "workload_sha256", "temperature", "rendering", "loop_lag_p99_s",
    "forced_by", "trained_on",
)  # fmt: skip
"""Of a window, as its result has them too."""


def add_up(
    window: Window,
    requests: Sequence[RequestResult],
    streamed: Sequence[RequestResult] = (),
    *,
    fillers: Sequence[RequestResult] = (),
    void: Sequence[Void] = (),
    notes: Sequence[str] = (),
) -> ProbeResult:
    """The result of `window`; failed requests are kept in it and counted in no figure."""
    good = tuple(request for request in requests if request.error is None)
    streams = tuple(request for request in streamed if request.error is None)
    if window.arrivals is not None:
        streams = good
    missing: dict[str, Missing] = {}
    acceptance = _add_acceptance(window, good, missing)
    pace = _add_pace(window, good, streams, missing)
    in_flight = _in_flight(requests, fillers, missing)
    return ProbeResult(
        **{name: getattr(window, name) for name in AS_SENT},
        requests=tuple(requests),
        tokens_per_s=_tokens_per_s(window, good, in_flight if fillers else None, missing),
        tokens_per_s_per_request=pace.per_request,
        accept_length=acceptance.per_step,
        accept_length_per_request=acceptance.per_request,
        accept_length_reported=acceptance.reported,
        histogram=acceptance.histogram,
        ttft_p50_s=pace.ttft_p50_s,
        ttft_p95_s=pace.ttft_p95_s,
        inter_token_p50_s=pace.gap_p50_s,
        inter_token_p95_s=pace.gap_p95_s,
        step_s=pace.step_s,
        cached_tokens=_cached_tokens(good, missing),
        client_cpu_percent=_client_cpu_percent(window, missing),
        void=tuple(one.words for one in void),
        void_kinds=tuple(one.kind for one in void),
        notes=(*notes, *acceptance.notes, *pace.notes, *_reasoning_notes(good, streams)),
        missing=missing,
        accept_length_source=acceptance.source,
        marginal_acceptance=marginal_acceptance(acceptance.histogram or ()),
        conditional_acceptance=conditional_acceptance(acceptance.histogram or ()),
        decode_source=pace.source,
        peak_tokens_per_s=pace.peak,
        streamed=tuple(streamed),
        mean_in_flight=in_flight,
        fillers=len(fillers),
        **_add_energy(window, (*good, *fillers), missing),
        open_loop=_open_loop(window, requests, streams, pace.gap_p99_s),
    )


def _in_flight(
    requests: Sequence[RequestResult],
    fillers: Sequence[RequestResult],
    missing: dict[str, Missing],
) -> float | None:
    found = mean_in_flight(requests, fillers)
    if found is None:
        missing["mean_in_flight"] = Missing(Why.ERROR, "the window is empty")
    return found


def _cached_tokens(good: Sequence[RequestResult], missing: dict[str, Missing]) -> int | None:
    cached = [r.cached_tokens for r in good if r.cached_tokens is not None]
    if not cached:
        missing["cached_tokens"] = Missing(Why.NOT_SUPPORTED, "the server does not say")
        return None
    return sum(cached)


def _open_loop(
    window: Window,
    requests: Sequence[RequestResult],
    streams: Sequence[RequestResult],
    gap_p99_s: float | None,
) -> OpenLoop | None:
    """Of a window whose requests came as they arrived; None of every other."""
    if window.arrivals is None:
        return None
    return add_up_open_loop(
        window.arrivals,
        requests,
        ttfts_s=first_token_times(streams),
        inter_token_p99_s=gap_p99_s,
    )


def _tokens_per_s(
    window: Window,
    good: Sequence[RequestResult],
    in_flight: float | None,
    missing: dict[str, Missing],
) -> float | None:
    """Over the window; by Little's law of a batch that fillers keep full, with its `in_flight`."""
    tokens = sum(request.completion_tokens or 0 for request in good)
    slots_s = sum(request.client_latency_s for request in good)
    if not tokens or window.wall_s <= 0:
        missing["tokens_per_s"] = Missing(Why.ERROR, "no request succeeded")
        return None
    if in_flight is not None and slots_s > 0:
        return in_flight * tokens / slots_s
    return tokens / window.wall_s


def _add_energy(
    window: Window, answered: Sequence[RequestResult], missing: dict[str, Missing]
) -> dict[str, Any]:
    """The energy fields; tokens of fillers count, for the GPUs worked for them too."""
    energy = window.energy
    tokens = sum(request.completion_tokens or 0 for request in answered)
    if energy is None or energy.joules is None or not tokens:
        reason = Missing(Why.NOT_YET) if energy is None else energy.missing
        reason = reason or Missing(Why.ERROR, "no request succeeded")
        missing["energy_j"] = missing["energy_per_token_j"] = reason
        return {}
    return {
        "energy_j": energy.joules,
        "energy_per_token_j": energy.joules / tokens,
        "energy_source": energy.source,
    }


def first_token_times(streams: Sequence[RequestResult]) -> list[float]:
    """Seconds to the first token, from when each request was due."""
    return [request.wait_s + request.ttft_s for request in streams if request.ttft_s is not None]


def _reasoning_notes(
    good: Sequence[RequestResult], streams: Sequence[RequestResult]
) -> tuple[str, ...]:
    """Where reasoning stood before the answer, or in its place."""
    notes = []
    spent = sum(request.is_reasoning_only and request.finish == "length" for request in good)
    if spent:
        words = "ended at their token limit before the answer began"
        notes.append(f"budget spent in reasoning: {spent} of {len(good)} requests {words}")
    waits = [
        (request.first_answer_s, request.ttft_s)
        for request in streams
        if request.first_answer_s is not None and request.ttft_s is not None
    ]
    if any(answer_s > first_s for answer_s, first_s in waits):
        answer_s = percentile([answer_s for answer_s, _ in waits], 50)
        notes.append(f"the answer itself began after {answer_s:.2f} s (p50), after its reasoning")
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class _Acceptance:
    per_step: float | None = None
    per_request: float | None = None
    reported: float | None = None
    histogram: tuple[int, ...] | None = None
    source: str = ""
    notes: tuple[str, ...] = ()


def request_accept_length(request: RequestResult, algorithm: str | None) -> float | None:
    """Of one request, free of the prefill's token; None without a verify step."""
    if not request.verify_steps:
        return None
    if request.correct_drafts is not None:
        own = UNO_DRAFTS if algorithm == "UNO" else 1
        return own + request.correct_drafts / request.verify_steps
    if request.completion_tokens is None:
        return None
    return (request.completion_tokens - 1) / request.verify_steps


def _add_acceptance(
    window: Window, good: Sequence[RequestResult], missing: dict[str, Missing]
) -> _Acceptance:
    fields = ("accept_length", "accept_length_per_request", "accept_length_reported", "histogram")
    if window.algorithm is None:
        missing.update(dict.fromkeys(fields, Missing(Why.NOT_SPECULATING)))
        return _Acceptance()
    stepped = [request for request in good if request.verify_steps]
    steps = sum(request.verify_steps or 0 for request in stepped)
    if not steps:
        words = "the server counted no verify step for these requests"
        missing.update(dict.fromkeys(fields, Missing(Why.NOT_SUPPORTED, words)))
        return _Acceptance()
    counted = all(request.correct_drafts is not None for request in stepped)
    lengths = [
        (length, request.verify_steps or 0)
        for request in stepped
        if (length := request_accept_length(request, window.algorithm)) is not None
    ]
    histogram = _histogram(stepped, missing)
    return _Acceptance(
        per_step=sum(length * count for length, count in lengths) / steps,
        per_request=mean(length for length, _ in lengths),
        reported=sum(request.completion_tokens or 0 for request in stepped) / steps,
        histogram=histogram,
        source=COUNTED if counted else ESTIMATED,
        notes=_contradictions(stepped, histogram, steps, is_counted=counted),
    )


def _histogram(
    stepped: Sequence[RequestResult], missing: dict[str, Missing]
) -> tuple[int, ...] | None:
    histograms = [request.histogram for request in stepped if request.histogram is not None]
    if len(histograms) < len(stepped):
        words = "this version does not report how many drafts each step accepted"
        missing["histogram"] = Missing(Why.NOT_SUPPORTED, words)
        return None
    return add_histograms(histograms)


def _contradictions(
    stepped: Sequence[RequestResult],
    histogram: tuple[int, ...] | None,
    steps: int,
    *,
    is_counted: bool,
) -> tuple[str, ...]:
    if histogram is None:
        return ()
    correct = sum(request.correct_drafts or 0 for request in stepped) if is_counted else None
    return find_contradictions(histogram, verify_steps=steps, correct_drafts=correct)


@dataclass(frozen=True, slots=True)
class _Pace:
    per_request: float | None
    step_s: float | None
    source: str
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    gap_p50_s: float | None
    gap_p95_s: float | None
    gap_p99_s: float | None
    peak: float | None
    notes: tuple[str, ...]


def _add_pace(
    window: Window,
    good: Sequence[RequestResult],
    streams: Sequence[RequestResult],
    missing: dict[str, Missing],
) -> _Pace:
    decodes, source = _choose_decodes(good, streams)
    if not decodes:
        words = "needs the server's first-token times (--enable-metrics) or streamed requests"
        for field in ("tokens_per_s_per_request", "step_s"):
            missing[field] = Missing(Why.NOT_ENABLED, words)
    cost_s = step_s(decodes, is_speculating=window.algorithm is not None)
    if cost_s is None and decodes:
        missing["step_s"] = Missing(Why.NOT_SUPPORTED, "the server counted no verify steps")
    ttfts = first_token_times(streams)
    gaps = [pair for request in streams for pair in token_gaps(request)]
    for field, found in (("ttft_p50_s", ttfts), ("inter_token_p50_s", gaps)):
        if not found:
            missing[field] = missing[field.replace("50", "95")] = Missing(
                Why.NOT_ENABLED, "no streamed request brought it"
            )
    pieces = timeline(streams)
    peak = peak_tokens_per_s(pieces)
    return _Pace(
        per_request=mean(decode.tokens / decode.time_s for decode in decodes),
        step_s=cost_s,
        source=source,
        ttft_p50_s=percentile(ttfts, 50),
        ttft_p95_s=percentile(ttfts, 95),
        gap_p50_s=weighted_percentile(gaps, 50),
        gap_p95_s=weighted_percentile(gaps, 95),
        gap_p99_s=weighted_percentile(gaps, 99),
        peak=peak,
        notes=_check_peak(streams, span_s(pieces), peak),
    )


def _choose_decodes(
    good: Sequence[RequestResult], streams: Sequence[RequestResult]
) -> tuple[tuple[Decode, ...], str]:
    by_server = tuple(d for request in good if (d := server_decode(request)) is not None)
    if by_server:
        return by_server, SERVER_CLOCK
    by_client = tuple(d for request in streams if (d := stream_decode(request)) is not None)
    return by_client, CLIENT_CLOCK if by_client else ""


def _check_peak(
    streams: Sequence[RequestResult], length_s: float, peak: float | None
) -> tuple[str, ...]:
    if peak is None:
        return ()
    tokens = sum(request.completion_tokens or 0 for request in streams)
    found = find_rate_contradiction(tokens / length_s, peak)
    return (found,) if found else ()


def _client_cpu_percent(window: Window, missing: dict[str, Missing]) -> float | None:
    sending_s = window.wall_s if window.sending_s is None else window.sending_s
    if window.client_cpu_s is None or sending_s <= 0:
        missing["client_cpu_percent"] = Missing(Why.NOT_YET)
        return None
    return window.client_cpu_s / sending_s * 100
