"""When samples were taken on their hosts, and when they were in the store."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.events import HostSampled
from specctl.domain.missing import Why

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.events import Event
    from specctl.domain.state import State
    from specctl.services.fleet import Fleet

CONNECT_S = 90.0


@dataclass(frozen=True, slots=True)
class Window:
    """What one stretch of time took and brought."""

    cpu_s: float
    wall_s: float
    late_ms: tuple[float, ...]
    """Of every sample, from its reading on the host to the store."""

    @property
    def late_p99_ms(self) -> float:
        """All but one in a hundred are sooner."""
        return statistics.quantiles(self.late_ms, n=100)[98]


class Arrivals:
    """Listens to a fleet's store."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._late_ms: list[float] = []
        self._hosts: set[str] = set()
        self._news = asyncio.Event()
        fleet.store.subscribe(self._hear)

    def _hear(self, event: Event, _state: State) -> None:
        if isinstance(event, HostSampled):
            missing = event.sample.gpu_missing
            if missing is not None and missing.why is Why.NOT_YET:
                return  # NVML is being initialised
            assert len(event.sample.gpus) == 8, missing
            self._late_ms.append((self._fleet.clock.now() - event.sample.time_s) * 1000)
            self._hosts.add(event.host)
            self._news.set()

    async def until_all(self, names: Iterable[str]) -> None:
        """Every host has sent a sample."""
        async with asyncio.timeout(CONNECT_S):
            while self._hosts < set(names):
                self._news.clear()
                await self._news.wait()

    async def window(self, seconds: float) -> Window:
        """One stretch of time."""
        self._late_ms.clear()
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        await asyncio.sleep(seconds)
        cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
        return Window(cpu_s, wall_s, tuple(self._late_ms))
