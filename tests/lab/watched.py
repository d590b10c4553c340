"""A practice host watched from this process, and everything that was heard of it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from specctl.domain.events import HostSampled, LinkChanged
from specctl.services.monitor import Monitor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from specctl.domain.events import Event
    from specctl.domain.state import HostState, Link, Store
    from specctl.services.fleet import Fleet
    from tests.lab.practice import Practice

WAIT_S = 30


class Heard:
    """Every event so far, and a way to wait for one that comes after a moment."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.events: list[Event] = []
        self._news = asyncio.Event()
        store.subscribe(self._hear)

    def _hear(self, event: Event, _state: object) -> None:
        self.events.append(event)
        self._news.set()

    def state(self, host: str = "lab-1") -> HostState:
        return self.store.state.host(host)

    async def until(self, wanted: Callable[[Event], bool]) -> Event:
        """The first wanted event from now on."""
        place = len(self.events)
        async with asyncio.timeout(WAIT_S):
            while True:
                for event in self.events[place:]:
                    if wanted(event):
                        return event
                place = len(self.events)
                self._news.clear()
                await self._news.wait()

    async def link(self, link: Link) -> LinkChanged:
        event = await self.until(lambda e: isinstance(e, LinkChanged) and e.link is link)
        assert isinstance(event, LinkChanged)
        return event

    async def sample(self) -> HostSampled:
        event = await self.until(lambda e: isinstance(e, HostSampled))
        assert isinstance(event, HostSampled)
        return event


@asynccontextmanager
async def watching(
    practice: Practice, *names: str, interval_s: float = 0.25
) -> AsyncIterator[tuple[Fleet, Monitor, Heard]]:
    """Hosts watched while the block runs."""
    async with practice.fleet() as fleet, asyncio.TaskGroup() as group:
        heard = Heard(fleet.store)
        monitor = Monitor(fleet, interval_s=interval_s)
        task = group.create_task(monitor.watch(names or ("lab-1",)))
        try:
            yield fleet, monitor, heard
        finally:
            task.cancel()
