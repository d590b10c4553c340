"""What differs between a running server and its profile, with the causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.tui.panel import Panel
from specctl.tui.render.chrome import hints
from specctl.tui.render.drift import drift_lines
from specctl.tui.render.lines import Drawing, Line, error_lines, plain
from specctl.tui.screen import Dialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events

    from specctl.domain.drift import ServerDrift
    from specctl.tui.scene import Scene


class DriftPanel(Panel):
    """The differences, once they were read."""

    def __init__(self, host: str, server: str) -> None:
        super().__init__(id="drift")
        self.host, self.server_name = host, server
        self.drift: ServerDrift | None = None
        self.error: SpecctlError | None = None
        self.top = 0

    def lines(self, cells: int) -> list[Line]:
        """Everything there is to say so far."""
        if self.error is not None:
            return error_lines(self.error, cells)
        if self.drift is None:
            words = "Comparing profile, launch record, process and tree"
            return [[("◐ ", "data"), (words, "text")]]
        return drift_lines(self.drift, cells)

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """What is in sight of it."""
        del scene
        lines = self.lines(cells)
        self.top = min(self.top, max(0, len(lines) - rows))
        found = len(self.drift.drifted) if self.drift else 0
        summary: Line = [("≠ ", "warn"), (f"{found} drift", "text")] if found else []
        note = hints([("y", "copies it"), ("esc", "closes")])
        title = f"Drift of {self.server_name} on {self.host}"
        return Drawing(title, lines[self.top : self.top + rows], summary, note)

    def move(self, rows: int) -> None:
        """Scroll."""
        self.top = max(0, self.top + rows)


class DriftDialog(Dialog[None]):
    """Reads, then shows; changes nothing."""

    wanted = (100, 14)
    AUTO_FOCUS = "#drift"

    def __init__(self, host: str, server: str, read: Callable[[], Awaitable[ServerDrift]]) -> None:
        super().__init__()
        self.about = host
        self.panel = DriftPanel(host, server)
        self._read = read

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All of it."""
        return len(self.panel.lines(cells)) + 2

    def on_mount(self) -> None:
        """Read while the dialog says so."""
        self.run_worker(self._load(), group="drift", exclusive=True)

    async def _load(self) -> None:
        try:
            self.panel.drift = await self._read()
        except SpecctlError as error:
            self.panel.error = error
        self.place()
        self.repaint()

    def on_key(self, event: events.Key) -> None:
        """Scroll, copy, close."""
        event.stop()
        event.prevent_default()
        page = max(1, self.panel.inner_rows // 2)
        rows = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": page, "pageup": -page}
        if event.key in {"escape", "q", "enter", "d"}:
            self.dismiss(None)
        elif event.key == "y":
            self.specctl.copy(plain(self.panel.lines(96)), "the drift")
        elif event.key in rows:
            self.panel.move(rows[event.key])
            self.repaint()
