"""The fleet screen while 64 hosts stream at 1 Hz: processor time, and how late a key is painted.

The app runs as in a terminal, its frames composed and rendered; what a terminal would draw is
thrown away. Samples come from a script, without SSH.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events
from textual.drivers.headless_driver import HeadlessDriver

from specctl.domain.alerts.rules import Rules
from specctl.domain.events import (
    HostDescribed,
    HostSampled,
    LinkChanged,
    ServerSampled,
    ServersSeen,
)
from specctl.services.alerting import Alerting
from specctl.tui.app import settle
from specctl.tui.application import SpecctlApp, Start
from specctl.tui.screens.fleet import FleetScreen
from tests.bench.measure import Measured, Side
from tests.tui import parts
from tests.tui.fakes import FakeServices

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from specctl.domain.state import Store

HOSTS, PERIOD_S = 64, 1.0
WINDOWS, WINDOW_S, SETTLE_S = 4, 4.0, 6.0
KEYS, SOON_S = 60, 0.0005
SIZE = (120, 40)
CPU_GOAL_PERCENT, KEY_GOAL_MS = 10.0, 50.0
NAMES = tuple(f"pro6k-{n:02d}" for n in range(HOSTS))


class FleetApp(SpecctlApp):
    """The app on scripted hosts."""

    def __init__(self) -> None:
        async def load(store: Store) -> FakeServices:
            self.fake = FakeServices(store, NAMES)
            settle()
            return self.fake

        super().__init__(Start(NAMES, load), clock=time.time)

    def begin(self) -> None:
        """Every host is reached, and has a server."""
        Alerting(self.store, Rules())
        now_s = time.time()
        for n, name in enumerate(NAMES):
            self.store.apply(HostDescribed(name, now_s, {"group": f"rack-{n // 16}"}))
            self.store.apply(LinkChanged(name, now_s, "up"))
            self.store.apply(ServersSeen(name, now_s, (parts.server(),)))

    def sample(self, n: int, tick: int) -> None:
        """One sample of a host and its server; all of it moves."""
        now_s, name = time.time(), NAMES[n]
        gpus = tuple(
            replace(gpu, utilization_percent=float((gpu.index * 7 + tick * 3 + n) % 100))
            for gpu in parts.pro6k_gpus()
        )
        self.store.apply(HostSampled(name, now_s, parts.host_sample(gpus)))
        numbers = parts.server_sample(50.0 + tick % 9, 1.5 + (tick + n) % 7 / 100)
        self.store.apply(ServerSampled(name, now_s, "7c1e", replace(numbers, time_s=now_s)))


async def stream(app: FleetApp) -> None:
    """Samples of all hosts, spread over each second."""
    tick, began_s = 0, time.monotonic()
    while True:
        for n in range(HOSTS):
            due_s = began_s + PERIOD_S * (tick + n / HOSTS)
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            app.sample(n, tick)
        tick += 1


class Terminal(HeadlessDriver):
    """A terminal that draws nothing, and knows when it was last told to."""

    written = 0
    at_s = 0.0

    @property
    def is_headless(self) -> bool:
        """Frames are rendered for it."""
        return False

    def write(self, data: str) -> None:
        """One more piece."""
        self.written += len(data)
        self.at_s = time.perf_counter()


async def _on_fleet(
    measure: Callable[[FleetApp, Terminal], Awaitable[list[float]]],
) -> list[float]:
    app = FleetApp()
    app.driver_class = Terminal
    running = asyncio.ensure_future(app.run_async(size=SIZE, mouse=False))
    streaming: asyncio.Future[None] | None = None
    try:
        while app.services is None:
            await asyncio.sleep(0.05)
        app.begin()
        streaming = asyncio.ensure_future(stream(app))
        await asyncio.sleep(SETTLE_S)
        terminal = app._driver
        assert isinstance(terminal, Terminal)
        return await measure(app, terminal)
    finally:
        if streaming is not None:
            streaming.cancel()
        app.exit()
        await running


async def _cpu(app: FleetApp, terminal: Terminal) -> list[float]:
    """Processor time in percent of a core, the stream's and the alerts' included."""
    del app
    out = []
    for _ in range(WINDOWS):
        written = terminal.written
        cpu_s, wall_s = time.process_time(), time.monotonic()
        await asyncio.sleep(WINDOW_S)
        out.append((time.process_time() - cpu_s) / (time.monotonic() - wall_s) * 100)
        assert terminal.written > written
    return out


async def _keys(app: FleetApp, terminal: Terminal) -> list[float]:
    """From a key to the frame that shows the cursor on the next host, in ms."""
    fleet = app.screen_stack[0]
    assert isinstance(fleet, FleetScreen)
    out = []
    for n in range(KEYS):
        await asyncio.sleep(0.05 + n % 7 / 70)
        name = "j" if n < KEYS // 2 else "k"
        before, began_s = fleet.hosts.selected, time.perf_counter()
        terminal.process_message(events.Key(name, name))
        while fleet.hosts.selected == before:
            await asyncio.sleep(SOON_S)
        moved_s = time.perf_counter()
        while terminal.at_s < moved_s:
            await asyncio.sleep(SOON_S)
        out.append((terminal.at_s - began_s) * 1000)
    return out


def percentile_99(values: list[float]) -> float:
    """The highest but for one in a hundred."""
    return statistics.quantiles(values, n=100)[98]


def fleet_screen() -> list[Measured]:
    """Both rows."""
    name = f"{HOSTS} hosts on the fleet screen at 1 Hz, {SIZE[0]}x{SIZE[1]}"
    cpu = asyncio.run(_on_fleet(_cpu))
    keys = [percentile_99(asyncio.run(_on_fleet(_keys))) for _ in range(3)]
    note = "scripted samples, alerts judged, frames rendered and thrown away; no SSH"
    return [
        Measured(f"{name}: CPU", "%", Side("specctl", tuple(cpu)), None, CPU_GOAL_PERCENT, note),
        Measured(
            f"{name}: key to repaint p99", "ms", Side("specctl", tuple(keys)), None, KEY_GOAL_MS,
            f"{KEYS} keys, three times",
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    for row in fleet_screen():
        print(row)
