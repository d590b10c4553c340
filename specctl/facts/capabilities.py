"""What a version of SGLang can be asked and told, as data: paths, first and last version.

Boundaries are the first (last) of the releases looked at, 0.4.1 to 0.5.23; a post release between
two of them may differ. A version that does not say (nightly, fork) is probed, best path first.
"""

from __future__ import annotations

from dataclasses import dataclass

from specctl.domain.versions import is_at_least


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing a server can be asked or told."""

    name: str
    method: str
    path: str
    since: str
    until: str | None = None
    """The first release without it; None while every later one has it."""

    note: str = ""


CAPABILITIES: tuple[Capability, ...] = (
    Capability("ready", "GET", "/ready", "0.5.20"),
    Capability(
        "health", "GET", "/health", "0.4.1",
        note="generates a token and takes a second since 0.4.10.post2; before that it is 200 as "
        "soon as HTTP is up and says nothing about readiness",
    ),
    Capability("health_generate", "GET", "/health_generate", "0.4.1"),
    Capability("metrics", "GET", "/metrics", "0.4.1", note="needs --enable-metrics"),
    Capability("server_info", "GET", "/server_info", "0.5.6"),
    Capability("server_info", "GET", "/get_server_info", "0.4.1",
               note="logs a warning on every call since 0.5.6"),
    Capability("model_info", "GET", "/model_info", "0.5.6"),
    Capability("model_info", "GET", "/get_model_info", "0.4.1"),
    Capability("models", "GET", "/v1/models", "0.4.1"),
    Capability("loads", "GET", "/v1/loads", "0.5.8"),
    Capability("loads", "GET", "/get_load", "0.4.9", "0.5.21"),
    Capability("flush", "POST", "/flush_cache", "0.4.1"),
    Capability("abort", "POST", "/abort_request", "0.4.9",
               note='{"abort_all": true}'),
    Capability("thresholds", "POST", "/set_internal_state", "0.4.4",
               note="resets the lifetime accept length"),
    Capability("corpus_add", "POST", "/add_external_corpus", "0.5.11",
               note="NGRAM only; unused while the SAM budget is 0"),
    Capability("corpus_remove", "POST", "/remove_external_corpus", "0.5.11"),
    Capability("corpus_list", "GET", "/list_external_corpora", "0.5.11"),
)  # fmt: skip


def has(name: str, version: str | None) -> bool | None:
    """Whether `version` can do `name`; None when the version does not say."""
    answers = [_covers(one, version) for one in CAPABILITIES if one.name == name]
    if any(answer is None for answer in answers):
        return None
    return any(answers)


def ways(name: str, version: str | None) -> tuple[Capability, ...]:
    """How `name` is asked of `version`, best first; every known way when it does not say."""
    return tuple(
        one
        for one in CAPABILITIES
        if one.name == name and _covers(one, version) is not False
    )  # fmt: skip


def _covers(capability: Capability, version: str | None) -> bool | None:
    begun = is_at_least(version, capability.since)
    ended = is_at_least(version, capability.until) if capability.until else False
    return None if begun is None or ended is None else begun and not ended


def has_ready(version: str | None) -> bool | None:
    """Whether `GET /ready` exists: 200 or 503, and cheap."""
    return has("ready", version)


def has_loads(version: str | None) -> bool | None:
    """Whether `GET /v1/loads` exists."""
    return is_at_least(version, "0.5.8")


def server_info_paths(version: str | None) -> tuple[str, ...]:
    """Paths of the server's description, the one to try first first."""
    return tuple(one.path for one in ways("server_info", version))


def live_sources(version: str | None, *, has_metrics: bool | None = None) -> tuple[str, ...]:
    """Where throughput and accept length are read, the cheapest that has them first.

    `has_metrics` is whether the server was started with --enable-metrics. /metrics comes first:
    its counters tell an idle server from a silent one. The log needs no request at all.
    """
    sources = []
    if has_metrics is not False:
        sources.append("/metrics")
    if has_loads(version) is not False:
        sources.append("/v1/loads")
    return (*sources, "log", *server_info_paths(version))
