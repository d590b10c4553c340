"""Writing what happens on hosts into a file that can be played again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl import __version__
from specctl.adapters.recording import RecordingFile
from specctl.domain.recording import RecordingHead
from specctl.services.monitor import Monitor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from specctl.domain.events import Event
    from specctl.domain.state import State
    from specctl.services.fleet import Fleet
    from specctl.services.watching import KeysOf


def begin_recording(
    fleet: Fleet, names: Sequence[str], path: Path, *, interval_s: float, most_bytes: int
) -> RecordingFile:
    """A new file that says which hosts it is of; raises UsageError when there is one already."""
    simulated = tuple(name for name in names if fleet.workspace.host(name).is_simulated)
    head = RecordingHead(fleet.clock.now(), tuple(names), simulated, __version__, interval_s)
    return RecordingFile(path, head, most_bytes=most_bytes)


async def record(
    fleet: Fleet,
    names: Sequence[str],
    file: RecordingFile,
    *,
    interval_s: float,
    for_s: float | None,
    keys: KeysOf,
) -> None:
    """Watch hosts and write every event; ends when cancelled, after `for_s`, or when it is full."""
    full = asyncio.Event()

    def write(event: Event, _state: State) -> None:
        file.write(event)
        if file.is_full or file.failure:
            full.set()

    unsubscribe = fleet.store.subscribe(write)
    try:
        await _watch(Monitor(fleet, interval_s=interval_s, keys=keys), names, for_s, full)
    finally:
        unsubscribe()
        file.close()


async def _watch(
    monitor: Monitor, names: Sequence[str], for_s: float | None, full: asyncio.Event
) -> None:
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(monitor.watch(names))
        try:
            async with asyncio.timeout(for_s):
                await full.wait()
        except TimeoutError:
            pass
        finally:
            watching.cancel()
