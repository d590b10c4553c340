"""What differs, one line a thing; and two texts, line against line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.render.lines import Line, clip, middle, row, safe
from specctl.tui.render.syntax import TAB_CELLS, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.tui.differing import Changed, Compared, Differing
    from specctl.tui.render.syntax import Language

KIND_CELLS, NUMBER_CELLS = 9, 5
SIGNS = {"-": ("-", "bad"), "+": ("+", "ok")}


def differing_head(compared: Compared, cells: int) -> Line:
    """The heads of the columns: the two sides by name."""
    name, side = _sides(cells)
    return row(
        ([("WHAT", "faint")], KIND_CELLS), ([("NAME", "faint")], name),
        ([(middle(compared.left, side), "faint")], side),
        ([(middle(compared.right, side), "faint")], side),
    )  # fmt: skip


def _sides(cells: int) -> tuple[int, int]:
    name = max(16, min(44, cells * 2 // 5))
    return name, max(8, (cells - KIND_CELLS - name - 6) // 2)


def differing_line(item: Differing, cells: int) -> Line:
    """One thing that differs, as it is on both sides."""
    name, side = _sides(cells)
    return row(
        ([(item.kind, "dim")], KIND_CELLS), ([(middle(item.name, name), "title")], name),
        (_side(item.left, side, item.right is None), side),
        (_side(item.right, side, item.left is None), side),
    )  # fmt: skip


def _side(value: str | None, cells: int, alone: bool) -> Line:  # noqa: FBT001
    if value is None:
        return [("not there", "faint")]
    return [(middle(value, cells), "strong" if alone else "text")]


def counts(rows: Sequence[Differing]) -> Line:
    """`3 algorithms  12 flags  40 files`."""
    out: Line = []
    for kind in dict.fromkeys(item.kind for item in rows):
        number = sum(item.kind == kind for item in rows)
        out += [*([("  ", "")] if out else []), (f"{number:,}", "strong")]
        out.append((f" {kind}{'' if number == 1 else 's'}", "dim"))
    return out


def changed_line(item: Changed, language: Language | None, cells: int) -> Line:
    """One line of the two texts."""
    if item.sign == "@":
        return [("╌╌╌ ", "faint"), (item.text, "faint")]
    number = item.right if item.right is not None else item.left
    sign, tone = SIGNS.get(item.sign, (" ", "faint"))
    text = safe(item.text.expandtabs(TAB_CELLS))
    spans: Line = [(text, {"-": "bad", "+": "ok"}.get(item.sign, "dim"))]
    if item.sign == " " and language is not None:
        spans = [(t, "dim" if k == "text" else k) for t, k in tokens(text, language)]
    head: Line = [(f"{number or '':>{NUMBER_CELLS}} ", "faint"), (sign + " ", tone)]
    return clip([*head, *spans], cells)
