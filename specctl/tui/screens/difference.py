"""Two things held against each other: what differs, and line against line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on

from specctl.domain.errors import SpecctlError
from specctl.tui.actions import Target
from specctl.tui.arrange import Places, arrange_difference
from specctl.tui.differing import changed_lines
from specctl.tui.later import Later
from specctl.tui.listing import Listed
from specctl.tui.listscreen import ListScreen
from specctl.tui.panels.difference import DifferingPanel, TextsPanel
from specctl.tui.screen import bindings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from specctl.tui.differing import Compared, Differing
    from specctl.tui.panel import Panel

Texts = tuple[str, str, str]
"""The name of what is compared, and both texts."""

REST_S = 0.12


class DifferenceScreen(ListScreen):
    """What differs, and the texts."""

    where = "difference"
    AUTO_FOCUS = "#differing"
    BINDINGS = bindings("difference")

    def __init__(
        self,
        title: str,
        crumbs: list[str],
        host: str | None,
        compare: Callable[[], Awaitable[Compared]],
        texts: Callable[[Differing | None], Awaitable[Texts | None]],
    ) -> None:
        """`texts` gives the two texts that belong to a row, or to the whole without one."""
        super().__init__()
        self._crumbs, self._host = crumbs, host
        self._compare, self._texts = compare, texts
        self.differing = DifferingPanel(title)
        self.lines = TextsPanel()

    @property
    def main(self) -> Listed:
        """Everything that differs."""
        return self.differing

    def panels(self) -> list[Panel]:
        """The list and the texts."""
        return [self.differing, self.lines]

    def places(self, cells: int, rows: int) -> Places:
        """By how much differs."""
        return arrange_difference(cells, rows, self.differing.count())

    def crumbs(self) -> list[str]:
        """The way here."""
        return self._crumbs

    def target(self) -> Target:
        """The host it is about, where it is about one."""
        scene = self.specctl.scene
        if self._host is None:
            return Target(read_only=scene.read_only)
        return Target(
            self._host, scene.state.host(self._host), None, scene.is_read_only(self._host)
        )

    def on_mount(self) -> None:
        """Read both sides."""
        self.run_worker(Later(self._read), group="difference", exclusive=True)

    async def _read(self) -> None:
        try:
            self.differing.compared = await self._compare()
        except SpecctlError as error:
            self.differing.error = error
        self.repaint()
        await self._show(None if self.differing.chosen is None else self.differing.chosen)

    async def _show(self, row: Differing | None, *, after_s: float = 0.0) -> None:
        await asyncio.sleep(after_s)
        try:
            found = await self._texts(row)
            if found is None:
                self.lines.put("", [])
            else:
                name, left, right = found
                self.lines.put(name, None)
                self.lines.put(name, await asyncio.to_thread(changed_lines, left, right))
        except SpecctlError as error:
            self.lines.put(row.file if row else "", [])
            self.lines.error = error
        self.repaint()

    @on(Listed.Moved)
    def follow_cursor(self, message: Listed.Moved) -> None:
        """The texts follow the list."""
        if message.panel is self.differing:
            row = self.differing.chosen
            self.run_worker(Later(self._show, row, after_s=REST_S), group="texts", exclusive=True)
        self.repaint()

    def do_row_open(self) -> None:
        """Look at the texts."""
        self.show_panel(self.lines)
        self.repaint()

    def do_match_next(self) -> None:
        """The next place that differs."""
        self._step(1)

    def do_match_previous(self) -> None:
        """The place before."""
        self._step(-1)

    def _step(self, by: int) -> None:
        places = [i for i, line in enumerate(self.lines.lines or ()) if line.sign == "@"]
        after = [i for i in places if (i > self.lines.at if by > 0 else i < self.lines.at)]
        if places:
            self.lines.choose((after[0] if by > 0 else after[-1]) if after else places[0])
            self.repaint()
