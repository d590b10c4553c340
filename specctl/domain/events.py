"""Things that happened: the only way the state changes, and the lines of `watch --json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.probe import ProbeResult
    from specctl.domain.sample import Sample, ServerSample
    from specctl.domain.server import Server


@dataclass(frozen=True, slots=True)
class HostDescribed:
    """A host's file was read."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    labels: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    """Nothing that changes the host is carried out."""

    simulated: bool = False
    """Its readings come from a stand-in, not from hardware."""


@dataclass(frozen=True, slots=True)
class HostRemoved:
    """A host is in the workspace no more: its file is gone, or the lab that had it is down."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The way a host is reached changed."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    link: str
    """A value of `state.Link`: `idle`, `connecting`, `up`, `lost` or `refused`."""

    words: str = ""
    """Why; empty when it is up."""

    hint: str = ""
    """What to do about it; empty when there is nothing to do."""

    retry_at_s: float | None = None
    """When it is tried again, Unix seconds; None when it is not."""


@dataclass(frozen=True, slots=True)
class HostSampled:
    """A host's agent measured."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    sample: Sample
    round_trip_s: float | None = None
    """From asking the agent to its answer, the shortest of the last times; None until timed."""


@dataclass(frozen=True, slots=True)
class ServersSeen:
    """The servers of a host were looked for; complete, so one not in it is gone."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    servers: tuple[Server, ...]


@dataclass(frozen=True, slots=True)
class ServerSampled:
    """A server said what it is doing."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    server: str
    sample: ServerSample


@dataclass(frozen=True, slots=True)
class LogRead:
    """New lines of a server's log, cleaned and redacted."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    server: str
    lines: tuple[str, ...]


RESTORING = "restore"
"""The step of starting again what ran before a measurement."""


@dataclass(frozen=True, slots=True)
class PlanProgressed:
    """A step of a plan began, moved or ended."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    plan_id: str
    step: str
    """The step's key in the plan."""

    status: str
    """`begun`, `progress`, `done`, `skipped`, `failed`."""

    words: str
    elapsed_s: float | None = None
    """Since the plan began."""

    remaining_s: float | None = None
    """None when there is nothing to estimate it from."""

    is_last: bool = False
    """The plan has ended."""


@dataclass(frozen=True, slots=True)
class ProbeProgressed:
    """A probe moved on."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    server: str
    words: str
    """Which part of it, e.g. `measuring`."""

    done: int
    """Requests that were answered."""

    total: int
    """Requests of this part."""

    remaining_s: float | None = None
    """Of the whole probe; None before the first measured requests were answered."""


@dataclass(frozen=True, slots=True)
class ProbeFinished:
    """A probe ended with a result."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    server: str
    result: ProbeResult


@dataclass(frozen=True, slots=True)
class TrialProgressed:
    """A launch of a trial was measured, or the trial was judged."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    trial: str
    """Its id in the ledger."""

    baseline: str
    profile: str
    done: int
    """Launches measured and kept, both arms together."""

    most: int
    """Launches that the plan allows, both arms together."""

    ratio: float | None
    """How many times faster the profile is so far; None before an interval can be given."""

    low: float | None
    """Of the repeated interval, as `high`: it may be looked at while it narrows."""

    high: float | None
    word: str | None
    """The verdict; None while the trial goes on."""

    words: str


@dataclass(frozen=True, slots=True)
class AlertsChanged:
    """An alert of a host was raised or cleared; raised again, its words are newer."""

    host: str
    time_s: float
    """By the operator's clock, Unix seconds."""

    rule: str
    """A name of `alerts.rules.Name`."""

    is_open: bool
    words: str
    server: str = ""
    """Empty where it is about the host."""

    severity: str = "warning"
    """`warning`: it works, worse than it could; `error`: it does not work, or was lost."""

    value: str = ""
    """What was measured against its threshold, e.g. `1.50 < 1.69`."""

    hint: str = ""
    """What to do next."""


Event = (
    HostDescribed
    | HostRemoved
    | LinkChanged
    | HostSampled
    | ServersSeen
    | ServerSampled
    | LogRead
    | PlanProgressed
    | ProbeProgressed
    | ProbeFinished
    | TrialProgressed
    | AlertsChanged
)
