"""Rows of text in columns, measured in terminal cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.text import cell_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GAP = "  "


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = "") -> list[str]:
    """Lines with aligned columns; a head that is in `right` (space-separated) aligns right."""
    lines = [list(heads), *(list(row) for row in rows)]
    widths = [max(cell_width(line[place]) for line in lines) for place in range(len(heads))]
    to_right = {place for place, head in enumerate(heads) if head in right.split()}
    return [_line(line, widths, to_right) for line in lines]


def _line(cells: Sequence[str], widths: Sequence[int], to_right: set[int]) -> str:
    parts = []
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        padding = " " * (width - cell_width(cell))
        parts.append(padding + cell if place in to_right else cell + padding)
    return GAP.join(parts).rstrip()
