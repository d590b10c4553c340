"""Driving the app in tests: events in, keys pressed, what is shown read back."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from specctl.tui.application import SpecctlApp
from specctl.tui.panel import Panel
from specctl.tui.render.lines import plain
from tests.tui.fakes import DemoApp, FakeServices

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from textual.pilot import Pilot

    from specctl.domain.events import Event
    from specctl.domain.history import Span

SIZE = (120, 40)
Kind = TypeVar("Kind")
MOST_TURNS = 10_000


@asynccontextmanager
async def running(
    events: Sequence[Event], *keys: str, size: tuple[int, int] = SIZE, read_only: bool = False
) -> AsyncIterator[tuple[DemoApp, Pilot[int], FakeServices]]:
    """The app on some events, after some keys."""
    app = DemoApp(events, read_only=read_only)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.fake is not None)
        await press(pilot, *keys)
        assert app.fake is not None
        yield app, pilot, app.fake


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Press keys, each after what the one before it began has gone as far as it can."""
    for key in keys:
        await pilot.press(key)
        await drained()
        await pilot.pause()
    await shown(pilot)


async def drained() -> None:
    """Let everything run that waits neither for time nor for a gate, a thread or a file.

    Pilot's own pause is over when the process used little processor time, which on a busy
    machine says nothing.
    """
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    for _ in range(MOST_TURNS):
        await asyncio.sleep(0)
        if not ready:
            return
    raise AssertionError(f"something goes on without waiting, {MOST_TURNS} turns long")


async def shown(pilot: Pilot[int]) -> None:
    """Have what came in painted: a frame that waits for its time is not waited for."""
    await drained()
    await pilot.pause()
    app = pilot.app
    if isinstance(app, SpecctlApp) and app._pace.is_waiting:
        app.repaint()
        await drained()


async def until(pilot: Pilot[int], found: Callable[[], bool]) -> None:
    """Let the app run until something holds."""
    for _ in range(250):
        if found():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come to hold in 5 s")


async def settled(pilot: Pilot[int]) -> None:
    """Let the app run until nothing is read any more; what goes on for ever aside."""

    def is_idle() -> bool:
        manager = pilot.app.workers
        return all(worker.is_finished or worker.group == "monitor" for worker in manager)

    await pilot.pause()
    await until(pilot, is_idle)
    await shown(pilot)


def on(app: DemoApp, kind: type[Kind]) -> Kind:
    """The screen in front, which is of this kind."""
    assert isinstance(app.screen, kind)
    return app.screen


def spans(app: DemoApp) -> list[Span]:
    return [app.span]


def toasts(app: DemoApp) -> list[str]:
    return [f"{n.title}: {n.message}" for n in app._notifications]


def text_of(app: DemoApp) -> str:
    """Everything the panels of the screen in front show."""
    parts = []
    for panel in app.screen.query(Panel):
        if panel.display:
            drawing = panel.draw(app.scene, panel.size.width - 4, panel.inner_rows)
            parts.append(plain([[(drawing.title, "")], drawing.summary, *drawing.body]))
    return "\n".join(parts)
