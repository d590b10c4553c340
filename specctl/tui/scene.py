"""Everything one frame is drawn from."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.events import (
    LogRead,
    PlanProgressed,
    ProbeProgressed,
    TrialProgressed,
)
from specctl.domain.freshness import SAMPLED_EVERY_S, is_stale
from specctl.domain.history import History, Span
from specctl.domain.server import Milestone
from specctl.domain.state import Link, State
from specctl.tui.services import ServerDetails

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.alerts.alert import Alert, Key
    from specctl.domain.events import Event
    from specctl.domain.server import Server
    from specctl.services.replaying import Standing

# A load announces the phase it has come to as `4:43 weights`, perhaps with `: words`.
REACHED = re.compile(
    r"^[\d:]+ (" + "|".join(re.escape(m.value) for m in sorted(Milestone, reverse=True)) + r")\b"
)
LOG_LINES = 5000
LINE_CHARACTERS = 2000
"""A log line keeps no more; the file on the host has the rest."""


@dataclass(slots=True)
class Progress:
    """How far a plan has come: the newest event of each step, in order of appearance."""

    steps: dict[str, PlanProgressed] = field(default_factory=dict)
    began_at_s: dict[str, float] = field(default_factory=dict)
    """When each step was first heard of."""

    reached: dict[Milestone, float] = field(default_factory=dict)
    """Phases of a load, in seconds after its launch."""

    ended_at_s: float | None = None

    def record(self, event: PlanProgressed) -> None:
        """Take a step in; the event that ends the plan is no step of it."""
        if event.is_last:
            self.ended_at_s = event.time_s
            return
        self.began_at_s.setdefault(event.step, event.time_s)
        self.steps[event.step] = event
        match = REACHED.match(event.words)
        if match is not None:
            after_s = event.time_s - self.began_at_s[event.step]
            self.reached.setdefault(Milestone(match[1]), after_s)

    def took_s(self, step: str, until_s: float) -> float | None:
        """How long a step has lasted, or lasted."""
        began_s = self.began_at_s.get(step)
        return None if began_s is None else max(0.0, until_s - began_s)

    def elapsed_s(self, now_s: float) -> float | None:
        """Since the first step began, until the last one ended."""
        began_s = min(self.began_at_s.values(), default=None)
        end_s = now_s if self.ended_at_s is None else self.ended_at_s
        return None if began_s is None else max(0.0, end_s - began_s)


class Recent:
    """What events said that the state does not keep: logs, progress, series."""

    def __init__(self) -> None:
        self.history = History()
        self.logs: dict[tuple[str, str], deque[str]] = {}
        self.log_counts: dict[tuple[str, str], int] = {}
        self.progress: dict[str, Progress] = {}
        self.probes: dict[tuple[str, str], ProbeProgressed] = {}
        self.trials: dict[str, TrialProgressed] = {}

    def record(self, event: Event) -> None:
        """Take an event in."""
        self.history.record(event)
        match event:
            case LogRead():
                self._log(event)
            case PlanProgressed():
                self.progress.setdefault(event.plan_id, Progress()).record(event)
            case ProbeProgressed():
                self.probes[event.host, event.server] = event
            case TrialProgressed():
                self.trials[event.trial] = event
            case _:
                pass

    def copy(self) -> Recent:
        """What is known now, untouched by what is recorded later."""
        twin = Recent()
        twin.history = self.history
        twin.logs = {key: deque(lines, maxlen=LOG_LINES) for key, lines in self.logs.items()}
        twin.log_counts = dict(self.log_counts)
        twin.progress, twin.probes, twin.trials = self.progress, self.probes, self.trials
        return twin

    def _log(self, event: LogRead) -> None:
        key = (event.host, event.server)
        lines = self.logs.setdefault(key, deque(maxlen=LOG_LINES))
        lines.extend(line[:LINE_CHARACTERS] for line in event.lines)
        self.log_counts[key] = self.log_counts.get(key, 0) + len(event.lines)


def no_details(host: str, server: Server) -> ServerDetails:
    """Nothing beyond the samples is known."""
    del host, server
    return ServerDetails()


def nothing_measured(host: str, server: Server) -> str:
    """This session measures nothing."""
    del host, server
    return ""


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment, as every panel sees it."""

    state: State = field(default_factory=State)
    now_s: float = 0.0
    """Of what is shown; stands still while paused."""

    clock_s: float = 0.0
    """Of the wall clock."""

    offset_s: int = 0
    """Of local time from UTC."""

    hosts: tuple[str, ...] = ()
    """Every host of the workspace, also those nothing is known of yet."""

    span: Span = Span.MINUTES_5
    recent: Recent = field(default_factory=Recent)
    history: History = field(default_factory=History)
    details: Callable[[str, Server], ServerDetails] = no_details
    measuring: Callable[[str, Server], str] = nothing_measured
    """What this session measures on a server, in words; empty where it does not."""

    read_only: bool = False
    """The whole session is."""

    paused_at_s: float | None = None
    acknowledged: frozenset[Key] = frozenset()
    """Alerts that somebody has seen: host, rule, server, and when each was raised."""

    interval_s: float = SAMPLED_EVERY_S
    """How often hosts are sampled."""

    replay: Standing | None = None
    """Where the replay is that all of it comes from; None when it happens now."""

    def log(self, host: str, server: str) -> Sequence[str]:
        """The lines read of a server's log."""
        return self.recent.logs.get((host, server), ())

    def alerts(self, host: str) -> Sequence[Alert]:
        """The open alerts of a host."""
        return self.state.host(host).open_alerts

    def counted_alerts(self, host: str) -> list[Alert]:
        """Those that nobody has acknowledged."""
        alerts = self.alerts(host)
        if not self.acknowledged:
            return list(alerts)
        return [
            a for a in alerts if (host, a.rule, a.server, a.raised_at_s) not in self.acknowledged
        ]

    def is_stale(self, host: str) -> bool:
        """What is shown of the host is old."""
        return is_stale(self.age_s(host), self.interval_s)

    def age_s(self, host: str) -> float | None:
        """How long ago the host was sampled."""
        at_s = self.state.host(host).sample_at_s
        return None if at_s is None else max(0.0, self.now_s - at_s)

    def is_open(self, host: str) -> bool:
        """Something may be started there now."""
        return self.state.host(host).link is Link.UP and not self.is_read_only(host)

    def is_read_only(self, host: str) -> bool:
        """Nothing may be changed on the host."""
        return self.read_only or self.state.host(host).read_only
