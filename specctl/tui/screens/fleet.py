"""The fleet: which host needs a look?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from specctl.domain.filter_fields import FIELDS
from specctl.domain.filter_terms import completed
from specctl.tui.action import Target
from specctl.tui.arrange import Places, arrange_fleet
from specctl.tui.editor import Editor
from specctl.tui.panel import Panel
from specctl.tui.panels.hosts import HostsPanel, PreviewPanel
from specctl.tui.render.fleet_order import ORDERS, WORST
from specctl.tui.render.fleet_prompt import LETTERS, filter_bar, order_bar
from specctl.tui.render.standing import worst
from specctl.tui.screen import PanelScreen, bindings

if TYPE_CHECKING:
    from textual import events

    from specctl.tui.render.lines import Line


class FleetScreen(PanelScreen):
    """The table of hosts and the cursor's host."""

    where = "fleet"
    AUTO_FOCUS = "#hosts"
    BINDINGS = bindings("fleet")

    def __init__(self) -> None:
        super().__init__()
        self.hosts = HostsPanel()
        self.preview = PreviewPanel()
        self.filter: Editor | None = None
        self.is_ordering = False

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
        """Show the host the cursor came to, unless the key that moved it had that done."""
        if self.preview.host != self.hosts.selected:
            self.repaint()

    @on(Panel.Headed)
    def ordered(self) -> None:
        """A head was clicked."""
        self.repaint()

    @on(Panel.Opened)
    def open_clicked(self) -> None:
        """A double click opens."""
        self.do_row_open()

    def do_row_open(self) -> None:
        """Open the cursor's host."""
        if self.hosts.selected is not None:
            self.specctl.open_host(self.hosts.selected)

    # ---------------------------------------------------------------- order and groups

    def do_order_choose(self) -> None:
        """The next key names the column."""
        self.is_ordering = True
        self.prompt = self._order_bar
        self.repaint()

    def _order_bar(self, cells: int) -> Line:
        return order_bar(self.hosts.order, cells)

    def _choose_order(self, key: str) -> None:
        self.is_ordering, self.prompt = False, None
        if key in LETTERS:
            self.hosts.order_by(LETTERS[key])

    def set_order(self, name: str, way: str = "") -> None:
        """By a column, or the worst first; `falling` and `rising` say which way."""
        if name in ORDERS:
            falls = {"falling": True, "rising": False}.get(way)
            usual = name != WORST and self.hosts.order.chosen(name).usual_falls
            self.hosts.order_by(name, turned=None if falls is None else falls is not usual)
        self.repaint()

    def do_fleet_group(self, label: str | None = None) -> None:
        """Groups by the next label, or the one named."""
        self.hosts.group_by(label)
        self.repaint()

    # ---------------------------------------------------------------- filter

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
        hosts = self.hosts
        return filter_bar(self.filter or Editor(), len(hosts.names()), hosts.problems, cells)

    def on_key(self, event: events.Key) -> None:
        """While an order is chosen or a filter typed, keys are for that."""
        if self.filter is None and not self.is_ordering:
            return
        event.stop()
        event.prevent_default()
        if self.is_ordering:
            self._choose_order(event.character or event.key)
        else:
            self._type(event)
        self.repaint()

    def _type(self, event: events.Key) -> None:
        if self.filter is None:
            return
        if event.key in {"enter", "escape"}:
            if event.key == "escape":
                self.hosts.terms = ""
            self.filter, self.prompt = None, None
        elif event.key == "tab":
            self._typed(Editor(text := completed(self.filter.text, FIELDS), len(text)))
        elif (edited := self.filter.key(event.key, event.character)) is not None:
            self._typed(edited)

    def _typed(self, edited: Editor) -> None:
        self.filter = edited
        self.hosts.terms = edited.text

    def on_paste(self, event: events.Paste) -> None:
        """A paste is typing."""
        if self.filter is not None:
            self._typed(self.filter.insert(event.text))
            self.repaint()

    def do_go_back(self) -> None:
        """Clear the filter, then the zoom."""
        if self.hosts.terms:
            self.set_filter("")
        else:
            super().do_go_back()
