"""What differs between a running server and its profile, with the causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.drift import ServerDrift
from specctl.tui.render.drift import drift_lines
from specctl.tui.screens.reading import ReadingDialog, ReadPanel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from specctl.tui.render.lines import Line

WAITS = "Comparing profile, launch record, process and tree"


class DriftPanel(ReadPanel[ServerDrift]):
    """The differences, once they were read."""

    def __init__(self, host: str, server: str) -> None:
        super().__init__(f"Drift of {server} on {host}", WAITS, drift_lines, id="drift")

    def summary(self) -> Line:
        """How many there are."""
        found = len(self.found.drifted) if self.found else 0
        return [("≠ ", "warn"), (f"{found} drift", "text")] if found else []


class DriftDialog(ReadingDialog[ServerDrift]):
    """Reads, then shows; changes nothing."""

    closes = frozenset({"escape", "q", "enter", "d"})

    def __init__(self, host: str, server: str, read: Callable[[], Awaitable[ServerDrift]]) -> None:
        super().__init__(DriftPanel(host, server), read, "the drift", host=host)
