"""A day of a host, played through the store, the history and the player; what of it is kept."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.adapters.recording import Recording, RecordingFile
from specctl.domain.events import HostSampled, LogRead, ServerSampled, ServersSeen
from specctl.domain.recording import RecordingHead
from specctl.domain.state import Store
from specctl.services.replaying import Player
from specctl.tui.bridge import listen
from specctl.tui.scene import Recent
from tests.tui import parts
from tests.unit.services.test_replaying import Hands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from specctl.domain.events import Event

HOST, HOUR_S, HOURS = "pro6k-01", 3600, 24
FULL_HOUR = 7
"""From here on every ring buffer has been full: what grows now grows for ever."""


async def grown_bytes(folder: Path) -> int:
    """By how much the most that is kept after any later hour is over that of `FULL_HOUR`."""
    path = folder / "day.jsonl"
    file = RecordingFile(path, RecordingHead(parts.NOW_S, (HOST,)), most_bytes=1 << 30)
    for event in _day(every_s=30, lines=15):
        file.write(event)
    file.close()
    kept: dict[int, int] = {}

    def note(hour: int) -> None:
        gc.collect()
        kept[hour] = tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        with Recording(path) as recording:
            await _played(recording, note)
    finally:
        tracemalloc.stop()
    return max(kept[hour] for hour in range(FULL_HOUR + 1, HOURS + 1)) - kept[FULL_HOUR]


def _day(every_s: float, lines: int) -> Iterator[Event]:
    """A day of one host with eight GPUs and a server, `lines` lines of its log at each look."""
    server, sample = parts.server(), parts.host_sample(tuple(parts.gpu(n) for n in range(8)))
    for n in range(int(HOURS * HOUR_S / every_s)):
        time_s = parts.NOW_S + n * every_s
        yield HostSampled(HOST, time_s, replace(sample, time_s=time_s))
        yield ServerSampled(HOST, time_s, server.name, parts.server_sample(50.0 + n % 7, 1.5))
        yield ServersSeen(HOST, time_s, (server,))
        text = f"[2026-04-08 14:05:21 TP0] Decode batch {n}. accept len: 1.5"
        yield LogRead(HOST, time_s, server.name, tuple(text for _ in range(lines)))


async def _played(recording: Recording, every_hour: Callable[[int], None]) -> None:
    """Play as fast as can be, hour by hour."""
    store, clock, recent = Store(), Hands(), Recent()
    listen(store, recent, lambda message: message)
    player = Player(recording, store, clock, speed=1.0)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(player.run())
        for hour in range(1, HOURS + 1):
            clock.at_s = hour * HOUR_S
            player.pause(paused=False) if player.is_paused else player.set_speed(1.0)
            while store.state.host(HOST).sample_at_s is None or (
                player.now() - (store.state.host(HOST).sample_at_s or 0.0) > HOUR_S / 2
            ):
                await asyncio.sleep(0)
            every_hour(hour)
        task.cancel()
