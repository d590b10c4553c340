"""The help over a screen: its keys and commands, found by typing, pressed by clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.editor import Editor
from specctl.tui.panel import Panel
from specctl.tui.pressing import press
from specctl.tui.render.help import FIELD_ROWS, draw_help, help_lines
from specctl.tui.screen import Dialog

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from specctl.tui.action import Action, Target
    from specctl.tui.render.lines import Drawing, Line
    from specctl.tui.scene import Scene

OWN = ("esc", "↓", "↑")
"""Keys that mean something in the help itself."""


class HelpPanel(Panel):
    """Keys and commands of the screen below."""

    def __init__(self, where: str, target: Target, why: Callable[[Action, Target], str]) -> None:
        super().__init__(id="help")
        self.where, self.target, self.why = where, target, why
        self.search = Editor()
        self.top = 0

    def lines(self, cells: int) -> list[Line]:
        """All of them, or those found."""
        return help_lines(self.where, self.target, self.search.text, cells, self.why)

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Those in sight."""
        del scene
        body = self.lines(cells)
        self.top = min(self.top, max(0, len(body) - max(1, rows - FIELD_ROWS)))
        return draw_help(self.where, self.search, body, rows, top=self.top)

    def move(self, rows: int) -> None:
        """Scroll."""
        self.top = max(0, self.top + rows)


class HelpDialog(Dialog[None]):
    """The help; typing searches it."""

    where = "help"
    wanted = (104, 30)
    AUTO_FOCUS = "#help"

    def __init__(self, where: str, target: Target, why: Callable[[Action, Target], str]) -> None:
        super().__init__()
        self.panel = HelpPanel(where, target, why)

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All of it."""
        panel = self.panel
        return len(help_lines(panel.where, panel.target, "", cells, panel.why)) + FIELD_ROWS + 2

    def on_painted_hit(self, message: Panel.Hit) -> None:
        """A key of the screen below that was clicked closes the help, and is pressed there."""
        if message.written not in OWN:
            self.dismiss(None)
        press(self.app, message.written)

    def on_key(self, event: events.Key) -> None:
        """Close, scroll, search."""
        event.stop()
        event.prevent_default()
        if event.key in {"escape", "f1"} or (
            event.key == "question_mark" and not self.panel.search.text
        ):
            self.dismiss(None)
            return
        page = self.panel.inner_rows // 2
        rows = {"down": 1, "up": -1, "pagedown": page, "pageup": -page}.get(event.key)
        if rows is not None:
            self.panel.move(rows)
        elif (edited := self.panel.search.key(event.key, event.character)) is not None:
            self.panel.search, self.panel.top = edited, 0
        self.repaint()
