"""One specctl that watches fifty hosts, one sample a second each."""

from __future__ import annotations

import asyncio
import statistics

from specctl.services.monitor import Monitor
from tests.bench.arrivals import Arrivals
from tests.bench.lab import fleet_of, operator
from tests.bench.measure import Measured, Side

HOSTS = 50
WINDOWS = 4
WINDOW_S = 4.0
SETTLE_S = 5.0
CPU_GOAL_PERCENT = 25.0
LATE_GOAL_MS = 250.0


def fifty() -> list[Measured]:
    """Processor time of the whole process in percent of a core, and how late a sample arrives."""
    return asyncio.run(_fifty())


async def _fifty() -> list[Measured]:
    names = [f"h{index:02d}" for index in range(HOSTS)]
    async with operator(names) as side, fleet_of(side) as fleet, asyncio.TaskGroup() as group:
        arrivals = Arrivals(fleet)
        watching = group.create_task(Monitor(fleet).watch(names))
        try:
            await arrivals.until_all(names)
            await arrivals.window(SETTLE_S)
            windows = [await arrivals.window(WINDOW_S) for _ in range(WINDOWS)]
        finally:
            watching.cancel()
    rate = statistics.median(len(window.late_ms) / window.wall_s for window in windows)
    note = (
        f"{WINDOWS} windows of {WINDOW_S:g} s at {rate:.0f} samples/s; processes, servers and "
        "records are read as in `specctl watch`; the hosts' agents share this machine's cores"
    )
    cpu = tuple(window.cpu_s / window.wall_s * 100 for window in windows)
    late = tuple(window.late_p99_ms for window in windows)
    name = f"{HOSTS} hosts at 1 Hz"
    return [
        Measured(f"{name}: client CPU", "%", Side("specctl", cpu), None, CPU_GOAL_PERCENT, note),
        Measured(f"{name}: p99 delay", "ms", Side("specctl", late), None, LATE_GOAL_MS, note),
    ]
