"""The panel of the log's own screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.tui.panel import Panel
from specctl.tui.reel import Reel
from specctl.tui.render.log_text import (
    LogStanding,
    LogView,
    bottom_for,
    cause_lines,
    draw_log_text,
    line_at,
    lines_in_sight,
)

if TYPE_CHECKING:
    from specctl.tui.render.lines import Drawing
    from specctl.tui.scene import Scene

SLIDE = 8
"""Columns that one press to the side moves."""


class LogTextPanel(Panel):
    """A log, followed or scrolled back."""

    number = "1"

    def __init__(self) -> None:
        super().__init__(id="log-text")
        self.reel = Reel()
        self.view = LogView()
        self.standing = LogStanding()
        self.wants_earlier = False
        """It was scrolled to its first line, and further."""

    @property
    def follows(self) -> bool:
        """The last line stays in sight as the log grows."""
        return self.view.bottom is None

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The lines in sight."""
        view = replace(self.view, offset_s=scene.offset_s)
        return draw_log_text(self.reel, self.standing, view, cells, rows)[0]

    @property
    def _cells(self) -> int:
        return max(1, self.size.width - (2 if self.rule else 4))

    @property
    def _rows(self) -> int:
        """Rows that are left for lines, beside what stands above and below them."""
        return max(1, self.inner_rows - len(cause_lines(self.standing, self._cells)) - 1)

    def _first(self) -> int:
        return lines_in_sight(self.reel, self.view, self._cells, self.inner_rows)[1]

    def move(self, rows: int) -> None:
        """Scroll by lines; at the end it follows again, at the beginning it wants more."""
        reel = self.reel
        if not len(reel):
            return
        bottom = reel.last if self.view.bottom is None else self.view.bottom
        lowest = bottom_for(reel, reel.first, self.view, self._cells, self._rows)
        self.wants_earlier = rows < 0 and self._first() <= reel.first
        wanted = min(max(bottom + rows, lowest), reel.last)
        self.view = replace(self.view, bottom=None if wanted >= reel.last else wanted)

    def follow(self, *, follows: bool) -> None:
        """Keep the end in sight, or stand still."""
        self.view = replace(self.view, bottom=None if follows else self.reel.last)

    def show(self, number: int) -> None:
        """Bring a line into sight and mark it."""
        rows = self._rows
        top = max(self.reel.first, number - rows // 2)
        view = replace(self.view, chosen=number)
        bottom = max(number, bottom_for(self.reel, top, view, self._cells, rows))
        self.view = replace(view, bottom=min(bottom, self.reel.last))

    def slide(self, by: int) -> None:
        """Look further to a side."""
        self.view = replace(self.view, left=max(0, self.view.left + by * SLIDE))

    def prepended(self, before: int) -> None:
        """Lines came before the first, which was `before`; the picture stays."""
        if self.view.bottom is None and before != self.reel.first:
            self.view = replace(self.view, bottom=self.reel.last)

    def pick(self, row: int) -> bool:
        """Choose the line that was clicked."""
        if not len(self.reel):
            return False
        reel, rows = self.reel, self.inner_rows
        number = line_at(reel, self.standing, self.view, self._cells, rows=rows, row=row)
        if number is not None:
            self.view = replace(self.view, chosen=number)
        return number is not None
