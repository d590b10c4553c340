"""A probe's result as rows of text, for a terminal and for a panel alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.probing import request_accept_length
from specctl.domain.training import label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.probe import ProbeResult, RequestResult

ABSENT = "—"


@dataclass(frozen=True, slots=True)
class Row:
    """A label, its value, and what is to be said beside it."""

    label: str
    value: str
    note: str = ""


def probe_rows(result: ProbeResult) -> tuple[Row, ...]:
    """Every figure of a result; one that could not be known says why."""
    return (
        *_open_loop_rows(result),
        *_speed_rows(result),
        *_acceptance_rows(result),
        *_latency_rows(result),
        *_circumstance_rows(result),
    )


def _open_loop_rows(result: ProbeResult) -> tuple[Row, ...]:
    found = result.open_loop
    if found is None:
        return ()
    answers = {True: "yes", False: "CANNOT KEEP UP", None: "not known"}
    achieved = _per_s(found.achieved_per_s)
    gaps = "constant gaps" if found.kind.value == "constant" else f"Poisson, seed {found.seed}"
    return (
        Row("keeps up", answers[found.keeps_up], found.pace),
        Row("achieved", f"{achieved} of {_per_s(found.offered_per_s)}",
            f"answers against arrivals; asked for {found.asked_per_s:g}/s, {gaps}"),
        Row("latency", _three(found.e2e_p50_s, found.e2e_p95_s, found.e2e_p99_s),
            "p50, p95, p99 from when each was due"),
        Row("waited", f"{found.waited} of {len(result.requests)}",
            f"for a free place; at most {found.reached_in_flight} of {found.most_in_flight} "
            "in flight"),
    )  # fmt: skip


def _per_s(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3g}/s"


def _three(*values: float | None) -> str:
    return ", ".join(ABSENT if value is None else _long(value) for value in values)


def _long(value_s: float) -> str:
    return f"{value_s:.2f} s" if value_s >= 1 else _ms(value_s)


def _speed_rows(result: ProbeResult) -> tuple[Row, ...]:
    kind = "per token" if result.algorithm is None else "per verify step"
    over = "output tokens over the window"
    if result.fillers:
        over = f"of a full batch: {result.fillers} fillers ran around the measured requests"
    return (
        _row(result, "throughput", "tokens_per_s", _rate, over),
        _row(result, "per request", "tokens_per_s_per_request", _rate, "decode only, mean"),
        _row(result, "step", "step_s", _ms, f"decode time {kind}; from {result.decode_source}"),
    )


def _acceptance_rows(result: ProbeResult) -> tuple[Row, ...]:
    reported = "tokens / verify steps, as SGLang prints it: reads high on short outputs"
    source = result.accept_length_source
    if result.forced_by is not None:
        source = f"MADE UP: forced by {result.forced_by}"
    rows = (
        _row(result, "accept length", "accept_length", _length, source),
        _row(result, "", "accept_length_per_request", _length, "mean over requests"),
        _row(result, "", "accept_length_reported", _length, reported),
    )
    if result.algorithm is None:
        return rows[:1]
    return rows


def _latency_rows(result: ProbeResult) -> tuple[Row, ...]:
    requests = result.streamed if result.open_loop is None else result.requests
    count = sum(request.error is None for request in requests)
    since = "" if result.open_loop is None else ", from when each was due"
    return (
        _pair(result, "first token", "ttft", f"{count} streamed requests{since}"),
        _pair(result, "inter-token", "inter_token", "each chunk spread over its tokens"),
    )


def _circumstance_rows(result: ProbeResult) -> tuple[Row, ...]:
    cpu = result.client_cpu_percent
    good = sum(request.error is None for request in result.requests)
    times = "at a time" if result.open_loop is None else "at most at a time"
    rows = [
        _row(result, "energy", "energy_per_token_j", _joules, _energy_note(result)),
        Row("requests", f"{good} of {len(result.requests)}", f"{result.concurrency} {times}"),
        Row("cache", result.cache_state or ABSENT, _cached(result)),
        *_training_rows(result),
        Row("prompts", result.workload or ABSENT, result.rendering),
    ]
    if cpu is not None:
        rows.append(Row("client", f"{cpu:.1f} %", "of a core"))
    return tuple(rows)


def _training_rows(result: ProbeResult) -> tuple[Row, ...]:
    trained_on = result.trained_on
    return () if trained_on is None else (Row("state", label(trained_on), trained_on.words),)


def _joules(value: float) -> str:
    return f"{value:.3g} J/token"


def _energy_note(result: ProbeResult) -> str:
    joules = "" if result.energy_j is None else f"{result.energy_j:,.0f} J in all; "
    return f"{joules}{result.energy_source}"


def _cached(result: ProbeResult) -> str:
    if result.cached_tokens is None:
        return _why(result, "cached_tokens")
    total = sum(request.prompt_tokens or 0 for request in result.requests)
    return f"{result.cached_tokens} of {total} prompt tokens came from it"


def position_rows(result: ProbeResult) -> tuple[tuple[str, str, str], ...]:
    """(position, marginal, conditional) acceptance of each draft position."""
    pairs = zip(result.marginal_acceptance, result.conditional_acceptance, strict=True)
    return tuple(
        (
            str(place),
            f"{marginal:.1%}",
            ABSENT if conditional is None else f"{conditional:.1%}",
        )
        for place, (marginal, conditional) in enumerate(pairs, start=1)
    )


def category_rows(result: ProbeResult) -> tuple[tuple[str, str, str, str], ...]:
    """(category, requests, tok/s of one request, accept length); empty for a single category."""
    categories = tuple(dict.fromkeys(request.category for request in result.requests))
    if len(categories) < 2:  # noqa: PLR2004 - one category is the whole
        return ()
    return tuple(_category_row(result, category) for category in categories)


def _category_row(result: ProbeResult, category: str) -> tuple[str, str, str, str]:
    requests = [
        request
        for request in result.requests
        if request.category == category and request.error is None
    ]
    tokens = sum(request.completion_tokens or 0 for request in requests)
    time_s = sum(request.client_latency_s for request in requests)
    length = category_accept_length(requests, result.algorithm)
    return (
        category,
        str(len(requests)),
        f"{tokens / time_s:.1f}" if time_s else ABSENT,
        ABSENT if length is None else f"{length:.2f}",
    )


def category_accept_length(
    requests: Sequence[RequestResult], algorithm: str | None
) -> float | None:
    """Per verify step, over some requests of a result."""
    stepped = [request for request in requests if request.verify_steps]
    steps = sum(request.verify_steps or 0 for request in stepped)
    if not steps:
        return None
    lengths = [
        (request_accept_length(request, algorithm), request.verify_steps or 0)
        for request in stepped
    ]
    return sum(length * count for length, count in lengths if length is not None) / steps


def _row(
    result: ProbeResult, label: str, field: str, write: Callable[[float], str], note: str
) -> Row:
    value = getattr(result, field)
    if value is None:
        return Row(label, ABSENT, _why(result, field))
    return Row(label, write(value), note)


def _pair(result: ProbeResult, label: str, field: str, note: str) -> Row:
    middle = getattr(result, f"{field}_p50_s")
    high = getattr(result, f"{field}_p95_s")
    if middle is None or high is None:
        return Row(label, ABSENT, _why(result, f"{field}_p50_s"))
    return Row(label, f"{_ms(middle)} p50, {_ms(high)} p95", note)


def _why(result: ProbeResult, field: str) -> str:
    reason = result.missing.get(field)
    return "" if reason is None else str(reason)


def _rate(value: float) -> str:
    return f"{value:.1f} tok/s"


def _length(value: float) -> str:
    return f"{value:.3f}"


def _ms(value_s: float) -> str:
    value = value_s * 1000
    return f"{value:.0f} ms" if value >= 100 else f"{value:.2f} ms"  # noqa: PLR2004 - three digits
