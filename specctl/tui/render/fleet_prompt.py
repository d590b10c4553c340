"""What covers the footer of the fleet while an order is chosen or a filter typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.render.chrome import hints
from specctl.tui.render.fleet_columns import BY_NAME
from specctl.tui.render.fleet_order import WORST, Order
from specctl.tui.render.lines import Line, clip, few, spread, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.tui.editor import Editor

LETTERS = {"o": WORST, **{column.letter: name for name, column in BY_NAME.items()}}
"""Key to what it orders by."""

FIRST = ("o", "h", "s", "t", "a", "u", "m", "!", "e", "q", "p", "w", "g", "f", "d", "l")
SHORTEST_FILTER, WIDE_CELLS = 24, 100


def order_bar(order: Order, cells: int) -> Line:
    """The keys of the columns; the one ordered by is marked, the same again turns it round."""
    right: Line = [*hints([("esc", "back")]), (" ", "")]
    if cells >= WIDE_CELLS:
        right = [("again: turns", "faint"), ("  ", ""), *right]
    items: list[Line] = []
    for letter in FIRST:
        name = LETTERS[letter]
        mark = ("▼" if order.falls else "▲") if name == order.by else ""
        tone = "bright" if name == order.by else "dim"
        items.append([(letter, "key"), (f" {name}{mark}", tone)])
    left: Line = [(" order ", "prompt"), *few(items, cells - width(right) - 9, gap=2)]
    return spread(left, right, cells)


def filter_bar(editor: Editor, count: int, problems: Sequence[str], cells: int) -> Line:
    """The filter as it is typed, how many hosts match, and everything that is wrong with it."""
    keys: Line = [*hints([("tab", "field"), ("enter", "keeps it"), ("esc", "clears")]), (" ", "")]
    typed: Line = [(" /", "prompt"), *editor.line()]
    if not problems:
        return spread(typed, [(f"{count} match", "dim"), ("  ", ""), *keys], cells)
    room = cells - max(SHORTEST_FILTER, width(typed)) - 2
    said: Line = [("✗ ", "bad"), ("; ".join(problems), "text"), (" ", "")]
    return spread(typed, clip(said, max(cells // 2, room)), cells)
