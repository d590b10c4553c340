"""Alerts while hosts are watched: every event is followed by those it raises or clears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.adapters.paths import ledger_file
from specctl.domain.alerts.judging import Look, is_under_even
from specctl.domain.alerts.rules import Name
from specctl.domain.alerts.watching import Watched, watch
from specctl.domain.errors import SpecctlError
from specctl.domain.events import (
    HostRemoved,
    HostSampled,
    LinkChanged,
    ServerSampled,
    ServersSeen,
)
from specctl.domain.filter_fields import Subject
from specctl.domain.freshness import SAMPLED_EVERY_S, fresh_for_s
from specctl.domain.state import Link
from specctl.services.evens import KnownEvens
from specctl.services.measuring_watch import find_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from specctl.domain.alerts.judging import Even
    from specctl.domain.alerts.rules import Rules
    from specctl.domain.events import Event
    from specctl.domain.server import Server
    from specctl.domain.state import State, Store
    from specctl.services.fleet import Fleet

    EvensOf = Callable[[str], Mapping[str, Even]]
    """Break-evens known on a host, by profile."""

    MeasuredOf = Callable[[str], Collection[str]]
    """Servers of a host that a comparison or a trial measures now."""

TELLING = (HostSampled, LinkChanged, ServersSeen, ServerSampled)
"""Events after which a rule may say something else."""

JUDGED_EVERY_S = 0.9
"""A host is judged once a second however many events it has; changes of its link at once."""

SERVER_HOLD_S, LOST_AFTER_S = 6.5, 15.0


def _none_known(host: str) -> Mapping[str, Even]:
    del host
    return {}


def _none_measured(host: str) -> Collection[str]:
    del host
    return ()


class Alerting:
    """Judges the hosts of a store by its events and, where those fall silent, by the clock."""

    def __init__(
        self,
        store: Store,
        rules: Rules,
        evens: EvensOf = _none_known,
        *,
        measured: MeasuredOf = _none_measured,
        interval_s: float = SAMPLED_EVERY_S,
        judged_every_s: float = JUDGED_EVERY_S,
        steady: Callable[[], float] | None = None,
    ) -> None:
        """`interval_s` is how often hosts are sampled.

        `steady` is a clock that is never set, for how long something lasts; None takes the times
        of the events.
        """
        self._store, self._rules = store, rules
        self._evens, self._measured = evens, measured
        self._interval_s, self._every_s = interval_s, judged_every_s
        self._steady = steady
        self._watched: dict[str, Watched] = {}
        self._excused: dict[str, frozenset[str]] = {}
        self._judged_at_s: dict[str, float] = {}
        self._heard_at_s: dict[str, float] = {}
        """When each host was sampled, by the steady clock."""

        store.derive = self._follow

    def tick(self, now_s: float) -> None:
        """Judge the hosts that no event has spoken of lately."""
        for name in tuple(self._store.state.hosts):
            if self._is_due(name, now_s):
                for change in self._judge(name, self._store.state, now_s):
                    self._store.apply(change)

    def _lasting_s(self, now_s: float) -> float:
        return now_s if self._steady is None else self._steady()

    def _is_due(self, name: str, now_s: float) -> bool:
        since_s = self._lasting_s(now_s) - self._judged_at_s.get(name, float("-inf"))
        return since_s >= self._every_s

    def subject(self, name: str, now_s: float) -> Subject:
        """A host as filters ask of it."""
        host, evens = self._store.state.host(name), self._evens(name)
        found = {
            server.name: evens[server.profile or ""].value
            for server in host.servers or ()
            if server.profile in evens
        }
        return Subject(name, host, now_s, found, self._interval_s)

    def doubtful(self, name: str) -> list[Server]:
        """Servers of a host that an alert of their break-even is open about, or was excused of."""
        host = self._store.state.host(name)
        asked = {a.server for a in host.open_alerts if a.rule == Name.BREAKEVEN}
        asked |= self._excused.get(name, frozenset())
        return [server for server in host.servers or () if server.name in asked]

    def excuse(self, name: str, measured: frozenset[str], now_s: float) -> None:
        """Say nothing of the break-even of these servers: somebody measures them."""
        self._excused[name] = measured
        for change in self._judge(name, self._store.state, now_s):
            self._store.apply(change)

    def is_under_even(self, name: str, server: Server, now_s: float) -> bool:
        """Its accept length is under its break-even now, whether or not somebody measures it."""
        return is_under_even(self._look(name, self._store.state, now_s), self._rules, server)

    def _look(self, name: str, state: State, now_s: float, measured: Collection[str] = ()) -> Look:
        return Look(
            name,
            state.host(name),
            now_s,
            hold_s=fresh_for_s(self._interval_s),
            server_hold_s=max(SERVER_HOLD_S, 3 * self._interval_s),
            lost_after_s=max(LOST_AFTER_S, 5 * self._interval_s),
            evens=self._evens(name),
            measured=measured,
            steady_s=None if self._steady is None else self._steady(),
            heard_steady_s=self._heard_at_s.get(name),
        )

    def _follow(self, event: Event, state: State) -> Iterable[Event]:
        if isinstance(event, HostRemoved):
            for kept in (self._watched, self._excused, self._judged_at_s, self._heard_at_s):
                kept.pop(event.host, None)
            return ()
        if not isinstance(event, TELLING):
            return ()
        if isinstance(event, HostSampled) and self._steady is not None:
            self._heard_at_s[event.host] = self._steady()
        if not isinstance(event, LinkChanged) and not self._is_due(event.host, event.time_s):
            return ()
        return self._judge(event.host, state, event.time_s)

    def _judge(self, name: str, state: State, now_s: float) -> Iterable[Event]:
        self._judged_at_s[name] = self._lasting_s(now_s)
        look = self._look(name, state, now_s, {*self._measured(name), *self._excused.get(name, ())})
        before = self._watched.get(name, Watched())
        self._watched[name], changes = watch(before, look, self._rules)
        return changes


async def judge_at_once(fleet: Fleet) -> Alerting:
    """Alerts as far as one look at hosts can tell: nothing has to last before it is raised."""
    evens = KnownEvens(ledger_file(), fleet.workspace)
    await evens.read()
    rules = fleet.workspace.alert_rules.shortest
    return Alerting(fleet.store, rules, evens, judged_every_s=0.0)


async def excuse_measured(fleet: Fleet, alerting: Alerting, names: Iterable[str]) -> None:
    """Ask of servers under their break-even who measures them: those are about to be judged."""
    for name in names:
        servers = alerting.doubtful(name)
        if not servers or fleet.store.state.host(name).link is not Link.UP:
            continue
        try:
            measured = await find_measured(await fleet.connect(name), servers)
        except SpecctlError:  # nothing is known of it, so what was judged stands
            continue
        alerting.excuse(name, measured, fleet.clock.now())
