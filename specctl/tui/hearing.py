"""The part of the app that hears the mouse, or leaves it to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import App

if TYPE_CHECKING:
    from specctl.tui.switches import Switches


class Hearing(App[int]):
    """Takes no word of the mouse while it is off: not every terminal is told, or obeys at once."""

    switches: Switches

    async def on_event(self, event: events.Event) -> None:
        """Everything but the mouse while that is off."""
        if isinstance(event, events.MouseEvent) and not self.switches.has_mouse:
            return
        await super().on_event(event)
