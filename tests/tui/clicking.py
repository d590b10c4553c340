"""Clicking on what is shown, and turning the wheel over it."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING

from rich.console import Console
from textual.events import MouseDown, MouseScrollDown, MouseUp

from tests.tui.driving import shown

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

SMALL = (80, 24)


def screen_text(app: App[int]) -> list[str]:
    """What the terminal shows, row by row."""
    width, height = app.size
    console = Console(width=width, height=height, file=io.StringIO(), legacy_windows=False)
    console.print(
        app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    )
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().splitlines()


def place(app: App[int], words: str, *, row: int | None = None) -> tuple[int, int]:
    """Where the last of these words on the screen begin."""
    lines = screen_text(app)
    for y in range(len(lines) - 1, -1, -1):
        if words in lines[y] and row in {None, y}:
            return lines[y].index(words), y
    raise AssertionError(f"{words!r} is not shown:\n" + "\n".join(lines))


async def click(pilot: Pilot[int], words: str, *, by: int = 0, times: int = 1) -> None:
    """Click on what is shown, some cells after its begin."""
    x, y = place(pilot.app, words)
    await pilot.click(offset=(x + by, y), times=times)
    await shown(pilot)


async def wait_for_a_click_of_its_own(app: App[int]) -> None:
    """Until a click at the same place is no second one of a double click."""
    await asyncio.sleep(app.CLICK_CHAIN_TIME_THRESHOLD)


async def wheel(pilot: Pilot[int], panel: str) -> None:
    await pilot._post_mouse_events([MouseScrollDown], panel)
    await shown(pilot)


def mouse(kind: type[MouseDown | MouseUp], x: int, y: int) -> MouseDown | MouseUp:
    return kind(None, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)
