"""Watching hosts: one loop a host that connects, watches, and connects again when it is lost."""

from __future__ import annotations

import asyncio
from random import SystemRandom
from typing import TYPE_CHECKING

from specctl.adapters.paths import ledger_file
from specctl.domain.backoff import backoff_s
from specctl.domain.errors import (
    HostError,
    HostKeyChangedError,
    HostKeyUnknownError,
    NotAuthenticatedError,
    SpecctlError,
)
from specctl.domain.events import HostRemoved, LinkChanged
from specctl.domain.freshness import SAMPLED_EVERY_S
from specctl.domain.state import Link
from specctl.services.alerting import Alerting
from specctl.services.evens import KnownEvens
from specctl.services.measured_server import Keys
from specctl.services.watching import HostWatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.alerts.judging import Even
    from specctl.domain.server import Server
    from specctl.services.fleet import Fleet
    from specctl.services.server_watch import ServerWatch
    from specctl.services.watching import KeysOf

NEEDS_THE_USER = (HostKeyUnknownError, HostKeyChangedError, NotAuthenticatedError)
"""Trying again does not help before somebody acts; it is tried rarely, in case somebody did."""

REFUSED_EVERY_S = 60.0
TICK_S = 1.0
STEADY_S = 30.0
"""A connection that lasted so long was a good one: waits begin at the shortest again."""


class Monitor:
    """Watches any number of hosts; what happens to one does not touch the others."""

    def __init__(
        self, fleet: Fleet, *, interval_s: float = SAMPLED_EVERY_S, keys: KeysOf | None = None
    ) -> None:
        """Every event of the fleet's store is followed by the alerts that it raises or clears."""
        self._fleet, self.interval_s = fleet, interval_s
        self._keys = keys or (lambda _host, _server: Keys())
        self._watching: dict[str, HostWatch] = {}
        self._nudges: dict[str, asyncio.Event] = {}
        self._servers: dict[str, dict[str, ServerWatch]] = {}
        """Host to what is kept of its servers from one connection to the next."""

        self._evens = KnownEvens(ledger_file(), fleet.workspace)
        self._alerting = Alerting(
            fleet.store,
            fleet.workspace.alert_rules,
            self._evens,
            measured=self._measured,
            interval_s=interval_s,
            steady=fleet.clock.monotonic,
        )
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def watch(self, names: Iterable[str]) -> None:
        """Watch hosts until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            group.create_task(self._evens.follow(self._fleet.clock), name="break-evens")
            group.create_task(self._tick(), name="alerts")
            self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Watch more hosts, while others are watched."""
        names = [name for name in names if name not in self._tasks]
        self._fleet.describe(names)
        if self._group is not None:
            for name in names:
                task = self._group.create_task(self._watch_host(name), name=f"watch {name}")
                self._tasks[name] = task

    async def remove(self, name: str) -> None:
        """Watch a host no more: it is gone from the workspace."""
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        await self._fleet.drop(name)
        self._fleet.store.apply(HostRemoved(name, self._fleet.clock.now()))

    async def _tick(self) -> None:
        """Hosts that fall silent are judged by the clock."""
        while True:
            await self._fleet.clock.sleep(TICK_S)
            self._alerting.tick(self._fleet.clock.now())

    def read_again(self, name: str) -> None:
        """Look at a host at once; connect now when it is waiting to."""
        self._nudges.setdefault(name, asyncio.Event()).set()
        if name in self._watching:
            self._watching[name].look_now()

    def _measured(self, host: str) -> frozenset[str]:
        watching = self._watching.get(host)
        return watching.measured if watching else frozenset()

    def even(self, host: str, profile: str | None) -> Even | None:
        """The break-even that runs of the ledger give, as alerts have it."""
        return self._evens(host).get(profile or "")

    def server(self, host: str, name: str) -> ServerWatch | None:
        """What is kept of a server between looks."""
        watching = self._watching.get(host)
        return watching.watch_of(name) if watching else None

    async def _watch_host(self, name: str) -> None:
        attempt = 0
        while True:
            begun_s = self._fleet.clock.monotonic()
            error = await self._watch_once(name)
            if self._fleet.clock.monotonic() - begun_s >= STEADY_S:
                attempt = 0
            is_refused = isinstance(error, NEEDS_THE_USER)
            jitter = SystemRandom().uniform(0, 1)
            wait_s = REFUSED_EVERY_S if is_refused else backoff_s(attempt, jitter)
            link = Link.REFUSED if is_refused else Link.LOST
            # said before the connection is closed: closing a silent one takes seconds
            self._say(name, link, error, retry_at_s=self._fleet.clock.now() + wait_s)
            await self._fleet.drop(name)
            await self._wait(name, wait_s)
            attempt += 1

    async def _watch_once(self, name: str) -> SpecctlError:
        """Connect and watch until the host is lost; returns why."""
        self._say(name, Link.CONNECTING)
        try:
            connection = await self._fleet.connect(name)
        except SpecctlError as error:
            return error
        self._say(name, Link.UP)
        watch = HostWatch(
            connection,
            self._fleet.store,
            self._fleet.clock,
            interval_s=self.interval_s,
            keys=self._keys,
            ready_timeout_s=self._ready_timeout_s,
            known=self._servers.setdefault(name, {}),
            is_in_question=lambda server: self._alerting.is_under_even(
                name, server, self._fleet.clock.now()
            ),
        )
        self._watching[name] = watch
        lost: list[SpecctlError] = []
        try:
            await watch.run()
        except* SpecctlError as errors:
            lost.append(first_error(errors))
        finally:
            del self._watching[name]
        return lost[0] if lost else HostError(f"host {name}: watching ended")

    async def _wait(self, name: str, wait_s: float) -> None:
        """So long, or until somebody asks for it now."""
        nudge = self._nudges.setdefault(name, asyncio.Event())
        try:
            async with asyncio.timeout(wait_s):
                await nudge.wait()
        except TimeoutError:
            pass
        finally:
            nudge.clear()

    def _say(
        self,
        name: str,
        link: Link,
        error: SpecctlError | None = None,
        retry_at_s: float | None = None,
    ) -> None:
        self._fleet.store.apply(
            LinkChanged(
                name,
                self._fleet.clock.now(),
                link,
                words=error.message if error else "",
                hint=error.hint if error else "",
                retry_at_s=retry_at_s,
            )
        )

    def _ready_timeout_s(self, server: Server) -> float | None:
        profile = self._fleet.workspace.profiles().get(server.profile or "")
        return profile.ready_timeout_s if profile else None


def first_error(errors: BaseExceptionGroup[SpecctlError]) -> SpecctlError:
    """The first error of a group, however deep."""
    error = errors.exceptions[0]
    return first_error(error) if isinstance(error, BaseExceptionGroup) else error
