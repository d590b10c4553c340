"""A dialog that reads something, shows it as lines to scroll, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from specctl.domain.errors import SpecctlError
from specctl.tui.later import Later
from specctl.tui.panel import Panel
from specctl.tui.render.chrome import hints
from specctl.tui.render.lines import Drawing, Line, error_lines, plain
from specctl.tui.screen import Dialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events

    from specctl.tui.scene import Scene

Found = TypeVar("Found")
COPY_CELLS = 96


class ReadPanel(Panel, Generic[Found]):
    """What was read, once it was."""

    def __init__(
        self, title: str, waits: str, lines_of: Callable[[Found, int], list[Line]], *, id: str  # noqa: A002
    ) -> None:  # fmt: skip
        super().__init__(id=id)
        self.title, self.waits = title, waits
        self._lines_of = lines_of
        self.found: Found | None = None
        self.error: SpecctlError | None = None
        self.top = 0

    def lines(self, cells: int) -> list[Line]:
        """Everything there is to say so far."""
        if self.error is not None:
            return error_lines(self.error, cells)
        if self.found is None:
            return [[("◐ ", "data"), (self.waits, "text")]]
        return self._lines_of(self.found, cells)

    def summary(self) -> Line:
        """Right in the top edge."""
        return []

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """What is in sight of it."""
        del scene
        lines = self.lines(cells)
        self.top = min(self.top, max(0, len(lines) - rows))
        more = len(lines) - self.top - rows
        summary = self.summary()
        if more > 0:
            summary = [(f"{more} more rows", "dim"), *([("  ", "")] if summary else []), *summary]
        keys = [("↓ ↑", "scroll")] if len(lines) > rows else []
        note = hints([*keys, ("y", "copies it"), ("esc", "closes")])
        return Drawing(self.title, lines[self.top : self.top + rows], summary, note)

    def move(self, rows: int) -> None:
        """Scroll."""
        self.top = max(0, self.top + rows)


class ReadingDialog(Dialog[None], Generic[Found]):
    """Reads, then shows."""

    wanted = (100, 14)
    closes = frozenset({"escape", "q", "enter"})

    def __init__(
        self, panel: ReadPanel[Found], read: Callable[[], Awaitable[Found]], what: str,
        *, host: str = "",
    ) -> None:  # fmt: skip
        super().__init__()
        self.about, self.panel, self.what = host, panel, what
        self._read = read

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All of it."""
        return len(self.panel.lines(cells)) + 2

    def on_mount(self) -> None:
        """Read while the dialog says so."""
        self.panel.focus()
        self.read()

    def read(self) -> None:
        """Read it, or read it again."""
        self.run_worker(Later(self._load), group=f"read {self.what}", exclusive=True)

    async def _load(self) -> None:
        try:
            self.panel.found, self.panel.error = await self._read(), None
        except SpecctlError as error:
            self.panel.error = error
        self.place()
        self.repaint()

    def on_key(self, event: events.Key) -> None:
        """Scroll, copy, close."""
        event.stop()
        event.prevent_default()
        page, end = max(1, self.panel.inner_rows // 2), 1_000_000
        rows = {
            "down": 1, "j": 1, "up": -1, "k": -1, "pagedown": page, "pageup": -page,
            "ctrl+d": page, "ctrl+u": -page, "g": -end, "home": -end, "G": end, "end": end,
        }  # fmt: skip
        if event.key in self.closes:
            self.dismiss(None)
        elif event.key == "y":
            self.specctl.copy(plain(self.panel.lines(COPY_CELLS)), self.what)
        elif event.key in rows:
            self.panel.move(rows[event.key])
            self.repaint()
