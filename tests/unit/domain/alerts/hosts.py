"""Hosts to judge: well unless said otherwise, seen at `NOW_S`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specctl.domain.alerts.judging import Even, Look, Reading, judge
from specctl.domain.alerts.rules import Name, Rules
from specctl.domain.state import HostState, Link
from tests.tui import parts

NOW_S = parts.NOW_S
EVENS = {"kimi-k2.5-eagle3": Even(1.69, "trial 5c0f, 1 at a time")}


def host(**values: object) -> HostState:
    """A host of two GPUs that serves at accept length 1.80."""
    server = parts.server()
    full: dict[str, object] = {
        "link": Link.UP,
        "sample": parts.host_sample((parts.gpu(0), parts.gpu(1))),
        "sample_at_s": NOW_S,
        "round_trip_s": 0.02,
        "servers": (server,),
        "server_samples": {server.name: parts.server_sample(60.0, 1.8)},
    }
    return HostState(**(full | values))  # type: ignore[arg-type]


def serving(**values: object) -> HostState:
    """The same with other numbers of its server."""
    sample = replace(parts.server_sample(60.0, 1.8), **values)  # type: ignore[arg-type]
    return host(server_samples={"7c1e": sample})


def with_gpu(**values: Any) -> HostState:
    """The same, its GPU 1 another one."""
    return host(sample=parts.host_sample((parts.gpu(0), parts.gpu(1, **values))))


def look(state: HostState, now_s: float = NOW_S, rules: Rules | None = None) -> list[Reading]:
    """What every rule says of it."""
    return judge(Look("h", state, now_s, evens=EVENS), rules or Rules())


def said(state: HostState, name: Name, now_s: float = NOW_S) -> Reading:
    """What one rule says of it."""
    return next(r for r in look(state, now_s) if r.rule is name)
