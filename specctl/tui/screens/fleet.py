"""The fleet: which host needs a look?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on

from specctl.tui.actions import Target
from specctl.tui.arrange import Places, arrange_fleet
from specctl.tui.editor import Editor
from specctl.tui.panels.hosts import HostsPanel, PreviewPanel
from specctl.tui.render.prompt import filter_bar
from specctl.tui.render.standing import worst
from specctl.tui.screen import PanelScreen, bindings

if TYPE_CHECKING:
    from textual import events

    from specctl.tui.panel import Panel
    from specctl.tui.render.lines import Line


class FleetScreen(PanelScreen):
    """The table of hosts and the cursor's host."""

    where = "fleet"
    AUTO_FOCUS = "#hosts"
    BINDINGS = bindings("fleet")

    ORDERS: ClassVar[tuple[str, ...]] = ("name", "worst")

    def __init__(self) -> None:
        super().__init__()
        self.hosts = HostsPanel()
        self.preview = PreviewPanel()
        self.filter: Editor | None = None

    def panels(self) -> list[Panel]:
        """Table and preview."""
        return [self.hosts, self.preview]

    def places(self, cells: int, rows: int) -> Places:
        """By how many rows the table needs."""
        return arrange_fleet(cells, rows, self.hosts.lines_needed())

    def crumbs(self) -> list[str]:
        """Here is the top."""
        return ["Fleet"]

    def target(self) -> Target:
        """The cursor's host and its worst server."""
        name = self.hosts.selected
        scene = self.specctl.scene
        if name is None:
            return Target(read_only=scene.read_only)
        state = scene.state.host(name)
        return Target(name, state, worst(state), scene.is_read_only(name))

    def repaint(self) -> None:
        """The table takes the rows it needs, and the preview follows the cursor."""
        needed = self.hosts.lines_needed()
        if needed != getattr(self, "_lines", None):
            self._lines = needed
            self.place()
        self.hosts.settle()
        self.preview.host = self.hosts.selected
        super().repaint()

    @on(HostsPanel.Selected)
    def follow_cursor(self) -> None:
        """Show the host the cursor came to."""
        self.repaint()

    @on(HostsPanel.Opened)
    def open_clicked(self) -> None:
        """A double click opens."""
        self.do_row_open()

    def do_row_open(self) -> None:
        """Open the cursor's host."""
        if self.hosts.selected is not None:
            self.specctl.open_host(self.hosts.selected)

    def do_order_choose(self) -> None:
        """The next order."""
        at = self.ORDERS.index(self.hosts.order)
        self.hosts.order = self.ORDERS[(at + 1) % len(self.ORDERS)]
        self.repaint()

    def do_filter_open(self) -> None:
        """Type a filter over the footer."""
        self.filter = Editor(self.hosts.terms, len(self.hosts.terms))
        self.prompt = self._filter_bar
        self.repaint()

    def set_filter(self, terms: str) -> None:
        """Show only hosts that match."""
        self.hosts.terms = terms
        self.repaint()

    def _filter_bar(self, cells: int) -> Line:
        return filter_bar(self.filter or Editor(), len(self.hosts.names()), cells)

    def on_key(self, event: events.Key) -> None:
        """While a filter is typed, keys edit it."""
        if self.filter is None:
            return
        event.stop()
        event.prevent_default()
        if event.key in {"enter", "escape"}:
            if event.key == "escape":
                self.hosts.terms = ""
            self.filter, self.prompt = None, None
        elif (edited := self.filter.key(event.key, event.character)) is not None:
            self.filter = edited
            self.hosts.terms = edited.text
        self.repaint()

    def do_go_back(self) -> None:
        """Clear the filter, then the zoom."""
        if self.hosts.terms:
            self.set_filter("")
        else:
            super().do_go_back()
