"""A server's description of itself: /server_info, called /get_server_info before 0.5.6.

Two shapes: up to 0.4.4 the internal state is merged into the top level; since then it is a list,
one entry per data-parallel rank. Arguments are the resolved ones. Lifetime accept length: tokens
per verify step since the start, the last flush or the last threshold change.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import ServerAnswerError
from specctl.domain.missing import Missing, Why
from specctl.facts.log_meter import sum_known, weighted_accept_length
from specctl.facts.numbers import fraction_of, list_of, mapping_of, text_of, whole_of
from specctl.facts.redact import redact_argv, redact_command, redact_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATHS = ("/server_info", "/get_server_info")
"""In the order to try; keep the one that answers, the old one logs a warning on every call."""

_NOT_ARGUMENTS = frozenset(
    {
        "internal_states", "status", "version", "launch_command", "startup_time", "kv_events",
        "frontend", "last_gen_throughput", "avg_spec_accept_length", "memory_usage",
        "max_total_num_tokens", "max_req_input_len", "step_time_dict",
        "effective_max_running_requests_per_dp",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AcceptLengths:
    """Lifetime accept length over data-parallel ranks."""

    mean: float
    """Weighted by each rank's verify rate (its last throughput / its accept length)."""

    lowest: float
    highest: float
    per_rank: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """What the first rank holds."""

    weight_gb: float | None = None
    kv_cache_gb: float | None = None
    graph_gb: float | None = None
    token_capacity: int | None = None
    """Tokens, not bytes."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself, redacted."""

    version: str | None
    status: str | None
    model: str | None
    served_name: str | None
    algorithm: str | None
    """Resolved: NEXTN is reported as EAGLE."""

    arguments: Mapping[str, Any]
    """Resolved arguments by SGLang's own names (`tp_size`)."""

    states: int
    """Entries of the internal state: data-parallel ranks."""

    accept_lengths: AcceptLengths | None
    last_tokens_per_s: float | None
    """Of the last report of each rank, in sum; it never decays, so it is old when idle."""

    max_total_tokens: int | None
    max_running_requests: int | None
    context_length: int | None
    memory: Memory
    launch_command: str | None
    """As typed, redacted; since 0.5.23."""

    step_times_s: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    """By batch size; only with SGLANG_RECORD_STEP_TIME=1."""

    missing: Mapping[str, Missing] = field(default_factory=dict)

    @property
    def accept_length(self) -> float | None:
        """The lifetime mean; None has its reason in `missing`."""
        return self.accept_lengths.mean if self.accept_lengths else None

    @property
    def accept_length_range(self) -> tuple[float, float] | None:
        """Of the ranks, where they differ."""
        found = self.accept_lengths
        if found is None or found.lowest == found.highest:
            return None
        return found.lowest, found.highest

    @property
    def launch_argv(self) -> tuple[str, ...]:
        """The launch command as arguments; empty when the version does not tell."""
        try:
            return redact_argv(shlex.split(self.launch_command or ""))
        except ValueError:
            return ()


def parse_server_info(text: str) -> ServerInfo:
    """Read the text of an answer; raises ServerAnswerError when it is not JSON or no object."""
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"server_info is not JSON: {error}"[:200]
        raise ServerAnswerError(message, hint="Is this SGLang's own port?") from None
    return read_server_info(payload)


def read_server_info(payload: Any) -> ServerInfo:
    """Read an answer of either shape; raises ServerAnswerError when it is none."""
    if not isinstance(payload, dict) or not _is_server_info(payload):
        message = "the answer to server_info does not describe an SGLang server"
        raise ServerAnswerError(message, hint="Is this SGLang's own port?")
    states = [mapping_of(state) for state in list_of(payload.get("internal_states"))] or [payload]
    algorithm = text_of(payload.get("speculative_algorithm"))
    lengths = _accept_lengths(states)
    missing = {}
    if lengths is None:
        missing["accept_length"] = _no_length(payload, algorithm)
    command = text_of(payload.get("launch_command"))
    return ServerInfo(
        version=text_of(payload.get("version")),
        status=text_of(payload.get("status")),
        model=text_of(payload.get("model_path")),
        served_name=text_of(payload.get("served_model_name")),
        algorithm=algorithm,
        arguments=_arguments(payload),
        states=len(states),
        accept_lengths=lengths,
        last_tokens_per_s=sum_known(fraction_of(s.get("last_gen_throughput")) for s in states),
        max_total_tokens=whole_of(payload.get("max_total_num_tokens")),
        max_running_requests=_max_running(payload, states),
        context_length=whole_of(payload.get("context_length")),
        memory=_memory(mapping_of(states[0].get("memory_usage"))),
        launch_command=redact_command(command) if command else None,
        step_times_s=_step_times(mapping_of(states[0].get("step_time_dict"))),
        missing=missing,
    )


def _is_server_info(payload: Mapping[str, Any]) -> bool:
    return any(key in payload for key in ("model_path", "internal_states", "speculative_algorithm"))


def _no_length(payload: Mapping[str, Any], algorithm: str | None) -> Missing:
    if "speculative_algorithm" in payload and algorithm is None:
        return Missing(Why.NOT_SPECULATING)
    return Missing(Why.NO_WINDOW, "since the start or the last flush")


def _accept_lengths(states: Sequence[Mapping[str, Any]]) -> AcceptLengths | None:
    per_rank = tuple(_length(state) for state in states)
    known = [length for length in per_rank if length is not None]
    if not known:
        return None
    pairs = [
        (length, fraction_of(state.get("last_gen_throughput")))
        for length, state in zip(per_rank, states, strict=True)
        if length is not None
    ]
    mean = weighted_accept_length(pairs)
    return AcceptLengths(mean or known[0], min(known), max(known), per_rank)


def _length(state: Mapping[str, Any]) -> float | None:
    """0 is what a rank says that has counted nothing; a step emits at least one token."""
    length = fraction_of(state.get("avg_spec_accept_length"))
    return length if length is not None and length > 0 else None


def _arguments(payload: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {key: value for key, value in payload.items() if key not in _NOT_ARGUMENTS}
    redacted: dict[str, Any] = redact_json(arguments)
    return redacted


def _max_running(payload: Mapping[str, Any], states: Sequence[Mapping[str, Any]]) -> int | None:
    effective = whole_of(states[0].get("effective_max_running_requests_per_dp"))
    if effective is not None:
        return effective * len(states)
    return whole_of(payload.get("max_running_requests"))


def _memory(usage: Mapping[str, Any]) -> Memory:
    graph = usage.get("graph")
    parts = [fraction_of(part) for part in graph.values()] if isinstance(graph, dict) else None
    return Memory(
        weight_gb=fraction_of(usage.get("weight")),
        kv_cache_gb=fraction_of(usage.get("kvcache")),
        graph_gb=sum_known(parts) if parts is not None else fraction_of(graph),
        token_capacity=whole_of(usage.get("token_capacity")),
    )


def _step_times(times: Mapping[str, Any]) -> dict[int, tuple[float, ...]]:
    read: dict[int, tuple[float, ...]] = {}
    for size, values in times.items():
        batch = whole_of(size)
        if batch is not None:
            numbers = (fraction_of(value) for value in list_of(values))
            read[batch] = tuple(number for number in numbers if number is not None)
    return read
