"""Events, the state they add up to, and the store that holds it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from specctl.domain.alerts.alert import Alert, fold
from specctl.domain.events import (
    AlertsChanged,
    Event,
    HostDescribed,
    HostRemoved,
    HostSampled,
    LinkChanged,
    LogRead,
    PlanProgressed,
    ProbeFinished,
    ProbeProgressed,
    ServerSampled,
    ServersSeen,
    TrialProgressed,
)
from specctl.domain.server import ServerState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specctl.domain.probe import ProbeResult
    from specctl.domain.sample import Sample, ServerSample
    from specctl.domain.server import Server


class Link(StrEnum):
    """How a host is reached at this moment."""

    IDLE = "idle"
    CONNECTING = "connecting"
    UP = "up"
    LOST = "lost"
    REFUSED = "refused"
    """Retrying will not help until the user acts: key, authentication, configuration."""


@dataclass(frozen=True, slots=True)
class HostState:
    """The latest of everything known about one host."""

    link: Link = Link.IDLE
    link_words: str = ""
    link_hint: str = ""
    link_since_s: float | None = None
    retry_at_s: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    simulated: bool = False
    sample: Sample | None = None
    sample_at_s: float | None = None
    """By the operator's clock, Unix seconds."""

    round_trip_s: float | None = None
    """From asking the host's agent to its answer; None where that is not known."""

    servers: tuple[Server, ...] | None = None
    """None until they were looked for."""

    server_samples: Mapping[str, ServerSample] = field(default_factory=dict)
    """By server name."""

    activity: str = ""
    """The step of a plan being carried out here, in words; empty when none is."""

    results: Mapping[str, ProbeResult] = field(default_factory=dict)
    """The last probe of each server, by server name."""

    trial: TrialProgressed | None = None
    """Where the last trial on this host is."""

    alerts: tuple[Alert, ...] = ()
    """The open ones in order of their raising, then those cleared lately, the newest first."""

    @property
    def open_alerts(self) -> tuple[Alert, ...]:
        """What is wrong now."""
        return tuple(alert for alert in self.alerts if alert.is_open)

    @property
    def round_trip_reason(self) -> str:
        """Why the round trip is not known; empty where it is."""
        if self.round_trip_s is not None:
            return ""
        return "not timed yet" if self.link is Link.UP else "not connected"

    def server(self, name: str) -> Server | None:
        """The server called `name`, when there is one."""
        return next((s for s in self.servers or () if s.name == name), None)


_UNHEARD = HostState()


@dataclass(frozen=True, slots=True)
class State:
    """The latest of everything known; history is kept elsewhere."""

    hosts: Mapping[str, HostState] = field(default_factory=dict)

    def host(self, name: str) -> HostState:
        """What is known of a host; nothing for one not heard of."""
        return self.hosts.get(name, _UNHEARD)


def reduce(state: State, event: Event) -> State:
    """The state after `event`."""
    host = state.host(event.host)
    match event:
        case HostDescribed() | LinkChanged() | HostSampled():
            host = _reduce_reach(host, event)
        case ServersSeen(servers=servers):
            host = _with_servers(host, servers)
        case ServerSampled(server=name, sample=sample):
            host = _with_sample(host, name, sample)
        case TrialProgressed():
            host = replace(host, trial=event)
        case PlanProgressed() | ProbeProgressed() | ProbeFinished():
            host = _reduce_activity(host, event)
        case AlertsChanged():
            host = replace(host, alerts=fold(host.alerts, event))
        case LogRead():
            return state
        case HostRemoved():
            return State({name: h for name, h in state.hosts.items() if name != event.host})
        case _:
            assert_never(event)
    return State({**state.hosts, event.host: host})


def _reduce_reach(host: HostState, event: HostDescribed | LinkChanged | HostSampled) -> HostState:
    match event:
        case HostDescribed(labels=labels, read_only=read_only, simulated=simulated):
            return replace(host, labels=labels, read_only=read_only, simulated=simulated)
        case HostSampled(sample=sample, time_s=time_s, round_trip_s=round_trip_s):
            return replace(host, sample=sample, sample_at_s=time_s, round_trip_s=round_trip_s)
        case LinkChanged():
            return replace(
                host,
                link=Link(event.link),
                link_words=event.words,
                link_hint=event.hint,
                link_since_s=event.time_s,
                retry_at_s=event.retry_at_s,
                round_trip_s=None,
            )


def _reduce_activity(
    host: HostState, event: PlanProgressed | ProbeProgressed | ProbeFinished
) -> HostState:
    match event:
        case PlanProgressed():
            return replace(host, activity="" if event.is_last else event.words)
        case ProbeProgressed(words=words):
            return replace(host, activity=words)
        case ProbeFinished(server=name, result=result):
            return replace(host, results={**host.results, name: result}, activity="")


def _with_sample(host: HostState, name: str, sample: ServerSample) -> HostState:
    """What answers at the port of a server that has crashed is another server."""
    server = host.server(name)
    if server is not None and server.state is ServerState.CRASHED:
        return host
    return replace(host, server_samples={**host.server_samples, name: sample})


def _with_servers(host: HostState, servers: tuple[Server, ...]) -> HostState:
    """What a server measured ends with it."""
    names = {server.name for server in servers if server.state is not ServerState.CRASHED}
    samples = {name: s for name, s in host.server_samples.items() if name in names}
    return replace(host, servers=servers, server_samples=samples)


def _nothing(event: Event, state: State) -> Iterable[Event]:
    """Nothing follows."""
    del event, state
    return ()


class Store:
    """The one mutable thing: the current state, and who wants to hear of a newer one."""

    def __init__(self) -> None:
        self.state = State()
        self.derive: Callable[[Event, State], Iterable[Event]] = _nothing
        """What follows from an event and the state after it, as further events."""

        self._listeners: list[Callable[[Event, State], None]] = []

    def apply(self, event: Event) -> None:
        """Fold `event` in and tell the listeners, in the order they subscribed; then what follows.

        What follows from an event that itself followed is not asked for.
        """
        self._take(event)
        for following in tuple(self.derive(event, self.state)):
            self._take(following)

    def _take(self, event: Event) -> None:
        self.state = reduce(self.state, event)
        for listener in tuple(self._listeners):
            listener(event, self.state)

    def subscribe(self, listener: Callable[[Event, State], None]) -> Callable[[], None]:
        """Call `listener` with every event and the state after it; returns the unsubscriber."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
