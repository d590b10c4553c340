"""The fleet's table, and the preview of the host under its cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from specctl.domain.filter_fields import chooses, filter_of
from specctl.domain.filter_terms import Filter
from specctl.tui.panel import Panel
from specctl.tui.render.fleet import Table, draw_fleet, host_line, subject_of
from specctl.tui.render.fleet_columns import column_at, host_row, name_of
from specctl.tui.render.fleet_order import HOST, Order, grouped, next_group, ranked
from specctl.tui.render.preview import draw_preview, draw_strip

if TYPE_CHECKING:
    from specctl.domain.state import HostState
    from specctl.tui.render.fleet_columns import HostRow
    from specctl.tui.render.lines import Drawing, Line
    from specctl.tui.scene import Scene

LINE_HOLDS_S = 2.0
"""What a line shows beside its host's state, such as a break-even, is looked up so often."""

RESTS_S = 10.0
"""Rows change their places no sooner after the cursor moved, or after they last did."""


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

        self.order = Order()
        self._filter = Filter()
        self._terms = ""
        self._owners: list[str | None] = []
        self._seen: Scene | None = None
        self._names: list[str] = []
        self._rows: dict[str, HostRow] = {}
        self._lines: dict[str, tuple[HostState, tuple[object, ...], Line]] = {}
        self._ranks: dict[str, int] = {}
        self._ranked_for: tuple[object, ...] = ()
        self._rested_s = float("-inf")

    # ---------------------------------------------------------------- which hosts

    @property
    def terms(self) -> str:
        """The filter as it was typed."""
        return self._terms

    @terms.setter
    def terms(self, terms: str) -> None:
        self._terms, self._filter, self._seen = terms, filter_of(terms), None

    @property
    def problems(self) -> list[str]:
        """What is wrong with the filter."""
        return [str(problem) for problem in self._filter.problems]

    def row(self, name: str) -> HostRow:
        """What the row of a host shows in this frame."""
        self._gather()
        if name not in self._rows:
            self._rows[name] = host_row(self.scene, name)
        return self._rows[name]

    def _gather(self) -> None:
        """Rows are made once a frame."""
        if self._seen is not self.scene:
            self._seen, self._rows, self._names = self.scene, {}, []
            self._names = self._arranged()

    def names(self) -> list[str]:
        """The hosts that pass the filter, as they stand in the table."""
        self._gather()
        return self._names

    def _arranged(self) -> list[str]:
        scene, found = self.scene, self._filter
        names = list(scene.hosts)
        if found.terms:
            with_evens = "even" in found.fields
            names = [
                name
                for name in names
                if chooses(found, subject_of(scene, name, with_evens=with_evens))
            ]
        groups = grouped(scene, self._ordered(names), self.order)
        return [name for _, members in groups for name in members]

    def _ordered(self, names: list[str]) -> list[str]:
        """In order; what was measured since moves nothing under the cursor."""
        if self.order.by == HOST:
            return sorted(names, reverse=self.order.falls)
        key = (self.order, self._terms, self.scene.hosts)
        rests = self.scene.now_s - self._rested_s
        if key != self._ranked_for or not 0 <= rests < RESTS_S:
            order = ranked((self.row(name) for name in self.scene.hosts), self.order)
            self._ranks = {name: rank for rank, name in enumerate(order)}
            self._ranked_for, self._rested_s = key, self.scene.now_s
        return sorted(names, key=lambda name: self._ranks.get(name, len(self._ranks)))

    def rank_now(self) -> None:
        """Order by what is known now."""
        self._seen, self._ranked_for = None, ()

    # ---------------------------------------------------------------- order

    def order_by(self, name: str, *, turned: bool | None = None) -> None:
        """Order by a column; the same again, or `turned`, turns it round."""
        if turned is None:
            self.order = self.order.chosen(name)
        else:
            self.order = replace(self.order, by=name, is_turned=turned)
        self.rank_now()

    def group_by(self, label: str | None) -> None:
        """Groups by a label, by the next one where none is named, or no groups."""
        if label is None:
            self.order = next_group(self.scene, self.order)
        else:
            self.order = replace(self.order, group="" if label == "none" else label)
        self.rank_now()

    # ---------------------------------------------------------------- drawing

    def lines_needed(self) -> int:
        """Rows of the whole table with its head."""
        groups = grouped(self.scene, self.names(), self.order)
        heads = len(groups) if len(groups) > 1 or (groups and groups[0][0]) else 0
        return 1 + heads + max(2, sum(len(group) for _, group in groups))

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The table; a cursor whose host is gone moves to the first."""
        table = Table(self.settle(), self.selected, self.order, self._terms, self.problems)
        drawing, self._owners = draw_fleet(
            scene, table, cells, rows, lambda name: self._line(name, cells)
        )
        return drawing

    def _line(self, name: str, cells: int) -> Line:
        """The line of a host; as it was, while nothing more is known and it is not much older."""
        scene = self.scene
        host, age = scene.state.host(name), int(scene.age_s(name) or 0)
        key = (cells, age, int(scene.now_s / LINE_HOLDS_S), scene.acknowledged)
        known = self._lines.get(name)
        if known is not None and known[0] is host and known[1] == key:
            return known[2]
        line = host_line(self.row(name), cells)
        self._lines[name] = (host, key, line)
        return line

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

    def pick(self, row: int) -> bool:
        """Put the cursor on the host that was clicked."""
        owner = self._owners[row] if 0 <= row < len(self._owners) else None
        if owner is not None:
            self._select(owner)
        return owner is not None

    def pick_head(self, row: int, cell: int, cells: int) -> bool:
        """Order by the column whose head was clicked."""
        column = column_at(cell, cells) if row == 0 else None
        if column is not None:
            self.order_by(name_of(column))
        return row == 0

    def _select(self, name: str | None) -> None:
        self._was_moved = True
        self._rested_s = max(self._rested_s, self.scene.now_s)
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
