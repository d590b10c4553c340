"""The frame around a panel: a box, or one rule where rows are scarce."""

from __future__ import annotations

from specctl.tui.render.lines import BLANK, Drawing, Line, aged, clip, few, fit, guard, width


def framed(
    drawing: Drawing, cells: int, rows: int, *, number: str, has_focus: bool, rule: bool
) -> list[Line]:
    """The drawing in its frame, `rows` lines of `cells`."""
    body = [guard(line) for line in drawing.body]
    if drawing.is_stale:
        body = [aged(line) for line in body]
    left = _heading(drawing.title, number, has_focus=has_focus)
    token = "focus" if has_focus else "border"
    if rule:
        return _ruled(
            body, cells, rows, _edge(left, guard(drawing.summary), cells, token), drawing.cursor
        )
    top = [("╭", token), *_edge(left, guard(drawing.summary), cells - 2, token), ("╮", token)]
    bottom = [("╰", token), *_edge([], guard(drawing.note), cells - 2, token), ("╯", token)]
    out = [top]
    for y in range(rows - 2):
        line = body[y] if y < len(body) else []
        side = ("▌", "accent") if y == drawing.cursor else ("│", token)
        out.append([side, BLANK, *fit(line, cells - 4), BLANK, ("│", token)])
    return [*out[: max(1, rows - 1)], bottom] if rows > 1 else out[:rows]


def _heading(title: str, number: str, *, has_focus: bool) -> Line:
    words: Line = guard([(title, "bright" if has_focus else "title")])
    if not number:
        return words
    if has_focus:
        return [(f" {number} ", "keybox"), BLANK, *words]
    return [(number + " ", "faint"), *words]


def _edge(left: Line, right: Line, cells: int, token: str) -> Line:
    """Titles in a horizontal edge; the right one goes before the left one is cut."""
    if left:
        left = [("─ ", token), *left, (" ", token)]
    left = clip(left, max(0, cells - 2))
    room = cells - width(left) - 1
    if right and width(right) + 3 > room:
        right = few(_items(right), max(0, room - 3), gap=2)
    if right:
        right = [(" ", token), *right, (" ─", token)]
    return [*left, ("─" * max(0, cells - width(left) - width(right)), token), *right]


def _items(line: Line) -> list[Line]:
    """The line split at its double spaces, so that it can lose whole items."""
    items: list[Line] = [[]]
    for text, token in line:
        if text == "  ":
            items.append([])
        elif text.startswith("  "):
            items.append([(text[2:], token)])
        else:
            items[-1].append((text, token))
    return [item for item in items if item]


def _ruled(body: list[Line], cells: int, rows: int, top: Line, cursor: int | None) -> list[Line]:
    out = [top]
    for y in range(rows - 1):
        line = body[y] if y < len(body) else []
        out.append([("▌", "accent") if y == cursor else BLANK, *fit(line, cells - 2), BLANK])
    return out[:rows]
