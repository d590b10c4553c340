"""The panels of a comparison: what differs, and the two texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.listing import Listed, Sifted
from specctl.tui.render import difference
from specctl.tui.render.lines import Line, error_lines, wrap
from specctl.tui.render.listing import holds
from specctl.tui.render.syntax import language_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.errors import SpecctlError
    from specctl.tui.differing import Changed, Compared, Differing


class DifferingPanel(Sifted["Differing"]):
    """Everything that differs."""

    number = "1"

    def __init__(self, title: str) -> None:
        super().__init__(id="differing")
        self.heading = title
        self.compared: Compared | None = None
        self.error: SpecctlError | None = None

    @property
    def found(self) -> Sequence[Differing]:
        """Those that pass the filter."""
        rows = self.compared.rows if self.compared else ()
        if not self.terms:
            return rows
        return [r for r in rows if holds(f"{r.kind} {r.name} {r.left} {r.right}", self.terms)]

    def head(self, cells: int) -> list[Line]:
        """The two sides by name."""
        return [difference.differing_head(self.compared, cells)] if self.compared else []

    def item(self, index: int, cells: int) -> Line:
        """One of them."""
        return difference.differing_line(self.found[index], cells)

    def more(self, cells: int) -> list[Line]:
        """Both sides in full, where a column cut them."""
        item = self.chosen
        out: list[Line] = []
        for side, mark in ((item.left, "-"), (item.right, "+")) if item else ():
            if side is not None and len(side) > cells // 4:
                out += [[("  └ ", "faint"), (mark + " ", "dim"), (text, "text")]
                        for text in wrap(side, max(8, cells - 6))]  # fmt: skip
        return out

    def nothing(self, cells: int) -> list[Line]:
        """Still being read, failed, or the same."""
        if self.error is not None:
            return error_lines(self.error, cells)
        if self.compared is None:
            return [[("◐ ", "data"), ("Reading both sides", "text")]]
        words = f"Nothing matches {self.terms}." if self.terms else self.compared.same
        return [[("✓ " if not self.terms else "", "ok"), (words or "Nothing differs.", "text")]]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """How many of each kind."""
        del cells
        summary = difference.counts(self.found)
        if self.terms:
            summary = [("/" + self.terms, "prompt"), ("  ", ""), *summary]
        return self.heading, summary, []


class TextsPanel(Listed):
    """Two texts, line against line."""

    number = "2"

    def __init__(self) -> None:
        super().__init__(id="texts")
        self.file = ""
        self.lines: list[Changed] | None = None
        """None while they are read."""

        self.error: SpecctlError | None = None
        self.was_asked = False

    def put(self, file: str, lines: list[Changed] | None) -> None:
        """Show another text, or that it is being read."""
        self.file, self.lines, self.error, self.was_asked = file, lines, None, True
        self.at = self.top = 0

    def count(self) -> int:
        """Lines that are shown."""
        return len(self.lines or ())

    def item(self, index: int, cells: int) -> Line:
        """One line."""
        lines = self.lines or []
        return difference.changed_line(lines[index], language_of(self.file), cells)

    def nothing(self, cells: int) -> list[Line]:
        """No text, or none yet."""
        if self.error is not None:
            return error_lines(self.error, cells)
        if not self.file:
            return [[("No text belongs to this.", "dim")]] if self.was_asked else []
        if self.lines is None:
            return [[("◐ ", "data"), (f"Reading {self.file}", "text")]]
        return [[("The same text.", "dim")]]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """The file, lines that came and went."""
        del cells
        signs = [line.sign for line in self.lines or ()]
        summary: Line = []
        if self.lines:
            summary = [
                (f"-{signs.count('-'):,}", "bad"),
                ("  ", ""),
                (f"+{signs.count('+'):,}", "ok"),
            ]
        return self.file or "Lines", summary, []
