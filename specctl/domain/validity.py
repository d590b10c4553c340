"""Why a measured window must not be used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.acceptance import add_histograms
from specctl.domain.probe import Void, VoidKind
from specctl.domain.quality import find_repetition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from specctl.domain.probe import RequestResult
    from specctl.domain.sample import GpuSample, Sample

WARM_SHARE = 0.01
CPU_LIMIT_PERCENT = 60.0
"""Above this the client's own work shows in the gaps between tokens."""

OVERHEAD_SHARE = 0.1
OVERHEAD_S = 0.02
"""Of one request: HTTP itself costs a few milliseconds, which short requests show."""

LAG_LIMIT_S = 0.002
DEGENERATE_SHARE = 0.1
MIN_STEPS = 20
"""Fewer verify steps may all be rejected by chance."""

NO_DRAFT_MODEL = ("NGRAM",)


@dataclass(frozen=True, slots=True)
class Traffic:
    """A server's counters at one instant; None where it does not tell."""

    requests: int | None = None
    """Finished since its start."""

    generated_tokens: int | None = None
    running: int | None = None
    source: str = ""


def find_failures(requests: Sequence[RequestResult]) -> str | None:
    """How many requests failed, and of what."""
    kinds = Counter(request.error for request in requests if request.error is not None)
    if not kinds:
        return None
    words = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common())
    return f"{kinds.total()} of {len(requests)} requests failed: {words}"


def find_retracted(requests: Sequence[RequestResult]) -> str | None:
    """How many requests the server itself began again, its KV cache being full."""
    again = [request for request in requests if request.retractions]
    if not again:
        return None
    return (
        f"{len(again)} of {len(requests)} requests were retried by the server: it took them out of "
        "its batch, because its KV cache was full, and computed them again"
    )


def find_other_traffic(
    before: Traffic, after: Traffic, sent: Sequence[RequestResult]
) -> str | None:
    """Whether the server worked for anyone else in the window."""
    for when, traffic in (("began", before), ("ended", after)):
        if traffic.running:
            return f"other requests ran: {traffic.running} were running when the window {when}"
    if before.requests is not None and after.requests is not None:
        extra = after.requests - before.requests - len(sent)
        if extra > 0:
            return f"other requests ran meanwhile: the server finished {extra} that were not ours"
    is_whole = all(request.error is None for request in sent)
    if is_whole and before.generated_tokens is not None and after.generated_tokens is not None:
        ours = sum(request.completion_tokens or 0 for request in sent)
        extra = after.generated_tokens - before.generated_tokens - ours
        if extra > 0:
            return f"other requests ran meanwhile: {extra} tokens generated were not ours"
    if _went_back(before, after):
        return "the server's counters went back: it was restarted in the window"
    return None


def _went_back(before: Traffic, after: Traffic) -> bool:
    pairs = (
        (before.requests, after.requests),
        (before.generated_tokens, after.generated_tokens),
    )
    return any(b is not None and a is not None and a < b for b, a in pairs)


def find_changed_server(
    before: Iterable[tuple[str, str]], after: Iterable[tuple[str, str]]
) -> str | None:
    """Whether something that names the server (process, start time, arguments) changed."""
    then, now = dict(before), dict(after)
    changed = sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    if not changed:
        return None
    first = changed[0]
    return (
        f"the server changed in the window: {first} was {then.get(first, 'not there')}, "
        f"is {now.get(first, 'not there')}"
    )


def find_warm_cache(requests: Sequence[RequestResult]) -> str | None:
    """Whether prompts were served from a cache that earlier traffic had filled.

    Beginnings shared with earlier prompts of the window itself are part of the workload; where
    nobody can tell what was shared, nothing is said.
    """
    told = [
        request
        for request in requests
        if request.cached_tokens is not None
        and request.explained_cached_tokens is not None
        and request.prompt_tokens
    ]
    prompt = sum(request.prompt_tokens or 0 for request in told)
    warm = sum(
        max(0, (request.cached_tokens or 0) - (request.explained_cached_tokens or 0))
        for request in told
    )
    if not prompt or warm / prompt <= WARM_SHARE:
        return None
    return (
        f"the cache was warm: {warm} of {prompt} prompt tokens ({warm / prompt:.0%}) came from "
        "earlier traffic"
    )


def find_degenerate(requests: Sequence[RequestResult]) -> str | None:
    """Whether too much of the output is a loop that makes drafting look easy."""
    good = [r for r in requests if r.error is None and r.text is not None]
    loops = [
        (request, words)
        for request in good
        if not request.is_repetition_asked and (words := find_repetition(request.text or ""))
    ]
    tokens = sum(request.completion_tokens or 0 for request in good)
    looping = sum(request.completion_tokens or 0 for request, _ in loops)
    if not tokens or looping / tokens <= DEGENERATE_SHARE:
        return None
    first, words = loops[0]
    return (
        f"degenerate output: {len(loops)} of {len(good)} answers repeat themselves "
        f"(request {first.index}: {words})"
    )


def find_unwired_draft(requests: Sequence[RequestResult], algorithm: str | None) -> str | None:
    """Accept length exactly 1.00 without variance from a draft model that proposes."""
    if algorithm is None or algorithm in NO_DRAFT_MODEL:
        return None
    stepped = [request for request in requests if request.verify_steps]
    steps = sum(request.verify_steps or 0 for request in stepped)
    if steps < MIN_STEPS or not all(_accepted_nothing(request) for request in stepped):
        return None
    if any(request.proposed_drafts == 0 for request in stepped):
        return f"speculation proposed no draft in {steps} verify steps"
    return (
        f"accept length is exactly 1.00 over {steps} verify steps: drafts are not wired "
        "(a draft for another model or layout, or its weights did not load)"
    )


def _accepted_nothing(request: RequestResult) -> bool:
    if request.correct_drafts is not None:
        return request.correct_drafts == 0
    histogram = add_histograms([request.histogram] if request.histogram else [])
    if histogram is not None:
        return not any(histogram[1:])
    return request.completion_tokens == (request.verify_steps or 0) + 1


def find_busy_client(cpu_percent: float | None) -> str | None:
    """Whether the client's own work set the pace."""
    if cpu_percent is None or cpu_percent <= CPU_LIMIT_PERCENT:
        return None
    return f"the client was the bottleneck: it used {cpu_percent:.0f} % of a core"


def find_slow_client(requests: Sequence[RequestResult]) -> str | None:
    """Whether the client added so much that the server was not as busy as it was meant to be.

    One request at a time, times by the server's own clock are right all the same.
    """
    timed = [request for request in requests if request.server_latency_s is not None]
    server_s = sum(request.server_latency_s or 0.0 for request in timed)
    client_s = sum(request.client_latency_s for request in timed)
    added_s = client_s - server_s
    if added_s <= server_s * OVERHEAD_SHARE or added_s <= OVERHEAD_S * len(timed):
        return None
    return f"requests took {added_s / server_s:.0%} longer for the client than for the server"


def find_late_client(lag_p99_s: float | None) -> str | None:
    """Whether the client woke up so late that single gaps between tokens are its own."""
    if lag_p99_s is None or lag_p99_s <= LAG_LIMIT_S:
        return None
    return (
        f"the client woke up {lag_p99_s * 1000:.0f} ms late (p99): first-token and inter-token "
        "times are no finer than that"
    )


def find_disturbed_gpus(
    samples: Iterable[Sample], *, gpus: Sequence[int] | None, own_pids: Iterable[int] | None
) -> tuple[Void, ...]:
    """GPUs of the server that were slowed down, or used by a process that is not its own.

    Without `own_pids` (another pid namespace) whose processes they are cannot be said.
    """
    ours = None if own_pids is None else frozenset(own_pids)
    found: dict[Void, None] = {}
    for sample in samples:
        for gpu in sample.gpus:
            if gpus is None or gpu.index in gpus:
                found.update(dict.fromkeys(_disturbances(gpu, ours)))
    return tuple(found)


def _disturbances(gpu: GpuSample, ours: frozenset[int] | None) -> Iterator[Void]:
    for reason in gpu.throttle or ():
        yield Void(VoidKind.ARM, f"GPU {gpu.index} was slowed down: {reason}")
    if ours is None:
        return
    for process in gpu.processes or ():
        if process.pid not in ours:
            name = f" ({process.name})" if process.name else ""
            words = f"GPU {gpu.index} was used by another process: {process.pid}{name}"
            yield Void(VoidKind.OUTSIDE, words)
