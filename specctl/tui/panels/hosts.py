"""The fleet's table, and the preview of the host under its cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from specctl.tui.panel import Panel
from specctl.tui.render.fleet import arranged, draw_fleet, matches
from specctl.tui.render.preview import draw_preview, draw_strip

if TYPE_CHECKING:
    from specctl.tui.render.lines import Drawing
    from specctl.tui.scene import Scene


class HostsPanel(Panel):
    """One row a host; the cursor stays on its host when the order changes."""

    number = "1"

    class Selected(Message):
        """The cursor came to another host."""

    def __init__(self) -> None:
        super().__init__(id="hosts")
        self.selected: str | None = None
        self._was_moved = False
        """The user put the cursor somewhere; until then it is on the first host."""

        self.order = "name"
        self.terms = ""
        self._owners: list[str | None] = []

    def names(self) -> list[str]:
        """The hosts that pass the filter, as they stand in the table."""
        scene = self.scene
        found = [name for name in scene.hosts if matches(scene, name, self.terms)]
        return [name for _, group in arranged(scene, found, self.order) for name in group]

    def lines_needed(self) -> int:
        """Rows of the whole table with its head."""
        groups = arranged(self.scene, self.names(), self.order)
        heads = len(groups) if len(groups) > 1 or (groups and groups[0][0]) else 0
        return 1 + heads + max(2, sum(len(group) for _, group in groups))

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The table; a cursor whose host is gone moves to the first."""
        names = self.settle()
        drawing, self._owners = draw_fleet(
            scene, names, cells, rows, selected=self.selected, order=self.order, terms=self.terms
        )
        return drawing

    def settle(self) -> list[str]:
        """Leave the cursor on its host, or put it on the first; returns all hosts shown."""
        names = self.names()
        if self.selected not in names or not self._was_moved:
            self.selected = names[0] if names else None
        return names

    def move(self, rows: int) -> None:
        """Put the cursor on another host."""
        names = self.names()
        if names:
            at = names.index(self.selected) if self.selected in names else 0
            self._select(names[min(max(0, at + rows), len(names) - 1)])

    def pick(self, row: int) -> None:
        """Put the cursor on the host that was clicked."""
        if 0 <= row < len(self._owners) and self._owners[row] is not None:
            self._select(self._owners[row])

    def _select(self, name: str | None) -> None:
        self._was_moved = True
        if name != self.selected:
            self.selected = name
            self.post_message(self.Selected())


class PreviewPanel(Panel):
    """The selected host: its sentence, plots, GPUs; on a short screen the sentence alone."""

    number = "2"

    def __init__(self) -> None:
        super().__init__(id="preview")
        self.host: str | None = None

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The preview for the room there is."""
        if self.rule:
            return draw_strip(scene, self.host)
        return draw_preview(scene, self.host, cells, rows)
