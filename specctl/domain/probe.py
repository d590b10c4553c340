"""Probes: what is asked of a server, what each request measured, and what it adds up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.missing import Missing
    from specctl.domain.open_loop import OpenLoop
    from specctl.domain.training import TrainedOn


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a workload: text for /generate, or chat messages to be rendered."""

    text: str | None = None
    messages: tuple[tuple[str, str], ...] = ()
    """(role, content) pairs; empty when `text` is set."""

    category: str = "all"
    max_tokens: int = 128
    is_repetition_asked: bool = False
    """The prompt asks for repeated text, so repetition in the output is no fault."""


@dataclass(frozen=True, slots=True)
class RequestResult:
    """What one measured request gave; raw, kept with the result."""

    index: int
    category: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    verify_steps: int | None
    """None when the server did not speculate on it, or does not say."""

    correct_drafts: int | None
    proposed_drafts: int | None
    histogram: tuple[int, ...] | None
    """histogram[k] = verify steps that accepted exactly k drafts."""

    server_latency_s: float | None
    """The server's own e2e_latency."""

    client_latency_s: float
    ttft_s: float | None
    """None unless streamed."""

    chunk_gaps_s: tuple[float, ...] = ()
    chunk_tokens: tuple[int, ...] = ()
    """Tokens that arrived in each chunk; a chunk may hold several under speculation."""

    finish: str | None = None
    """`length`, `stop`, `abort` …"""

    error: str | None = None
    """`http 503`, `refused`, `reset mid-stream`, `truncated`, `timed out`; None: it succeeded."""

    text_sha256: str | None = None
    text: str | None = None
    server_ttft_s: float | None = None
    """The server's own first_token_latency; most versions give it only with --enable-metrics."""

    began_s: float = 0.0
    """When it was sent, from the start of the window."""

    explained_cached_tokens: int | None = None
    """Cached tokens that the window's own earlier prompts account for (shared beginnings)."""

    is_repetition_asked: bool = False
    first_answer_s: float | None = None
    """Time to the first token that is no reasoning; None unless streamed as chat."""

    is_reasoning_only: bool = False
    """Every token was reasoning: the answer itself never began."""

    due_s: float | None = None
    """When it was to be sent, from the start of the window; None in a closed loop."""

    retractions: int | None = None
    """How often the server took it out of its batch to compute it again; None: it does not say."""

    output: str | None = None
    """The beginning of what was generated, as `kept_output` packs it; None where it is not kept."""

    @property
    def wait_s(self) -> float:
        """From when it was due to when it was sent."""
        return 0.0 if self.due_s is None else max(0.0, self.began_s - self.due_s)

    @property
    def end_s(self) -> float:
        """When its answer was complete, from the start of the window."""
        return self.began_s + self.client_latency_s


class VoidKind(Enum):
    """Whose doing it is that a window must not be used."""

    OUTSIDE = "outside"
    """Nothing of the arm: other traffic, a foreign process, a slow client. Measured again."""

    ARM = "arm"
    """The arm itself: throttling, failures, loops. Part of how it runs."""

    NOT_ASKED = "not asked"
    """Not what was to be measured: another server, a warm cache, drafts that are not wired."""


@dataclass(frozen=True, slots=True)
class Void:
    """One reason why a window must not be used."""

    kind: VoidKind
    words: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe adds up to; numbers that could not be known carry a reason in `missing`."""

    server: str
    profile: str | None
    """None when the server follows none."""

    concurrency: int
    """Requests at the same time; of an open loop the most there may be."""

    requests: tuple[RequestResult, ...]
    wall_s: float
    """From the first measured request to the end of the last."""

    tokens_per_s: float | None
    """Output tokens of all successful requests over the wall time of the window; with fillers,
    their tokens per second of a place in the batch, times the places in use."""

    tokens_per_s_per_request: float | None
    """Mean over requests of decoded tokens / decode time: what one user sees."""

    accept_length: float | None
    """Per-step mean, unbiased: 1 + correct drafts / verify steps."""

    accept_length_per_request: float | None
    """Mean over requests of their own accept lengths."""

    accept_length_reported: float | None
    """completion tokens / verify steps: SGLang's own convention, reads high on short outputs."""

    histogram: tuple[int, ...] | None
    """histogram[k] = verify steps that accepted exactly k drafts."""

    ttft_p50_s: float | None
    """Time to the first token, of the streamed requests; from when they were due, if they were."""

    ttft_p95_s: float | None
    inter_token_p50_s: float | None
    inter_token_p95_s: float | None
    step_s: float | None
    """Decode time / verify steps (or / tokens, without speculation)."""

    cached_tokens: int | None
    """Prompt tokens that the server took from its cache."""

    client_cpu_percent: float | None
    """Of one core, used by the client that sent the requests."""

    void: tuple[str, ...] = ()
    """Why the window must not be used; empty when it may."""

    notes: tuple[str, ...] = ()
    missing: dict[str, Missing] = field(default_factory=dict)
    identity_key: str = ""
    """boot id, pid and start ticks of the server measured."""

    started_at_s: float = 0.0
    algorithm: str | None = None
    """None without speculation."""

    accept_length_source: str = ""
    """How `accept_length` was counted; an estimate says so."""

    marginal_acceptance: tuple[float, ...] = ()
    """Share of verify steps that accepted at least 1, 2, 3 … drafts."""

    conditional_acceptance: tuple[float | None, ...] = ()
    """Share of the steps that accepted i - 1 drafts which accepted the i-th too."""

    decode_source: str = ""
    """Where decode times come from: the server's own clock, or the client's."""

    peak_tokens_per_s: float | None = None
    """The most in one second of the streamed requests; None without them."""

    streamed: tuple[RequestResult, ...] = ()
    """The separate requests that first-token and inter-token times come from."""

    cache_state: str = ""
    workload: str = ""
    workload_sha256: str = ""
    temperature: float = 0.0
    rendering: str = ""
    """How the prompts became what was sent."""

    loop_lag_p99_s: float | None = None
    """How late the client itself woke up; None when it did not measure that."""

    void_kinds: tuple[VoidKind, ...] = ()
    """Of each reason in `void`: whose doing it is."""

    mean_in_flight: float | None = None
    """Requests in flight in the mean of the window, fillers among them."""

    fillers: int = 0
    """Requests beside the measured ones that kept the batch full; in no figure."""

    energy_j: float | None = None
    """Of the server's GPUs while the measured requests and their fillers ran."""

    energy_per_token_j: float | None = None
    energy_source: str = ""
    """The driver's counters, or its power readings and why; empty when there is no figure."""

    open_loop: OpenLoop | None = None
    """What came of the rate that was asked for; None of a closed loop."""

    forced_by: str | None = None
    """The variable of the server's environment that makes accept lengths up; None: none seen."""

    trained_on: TrainedOn | None = None
    """What it was sent after the flush and before what is measured; None: nothing."""
