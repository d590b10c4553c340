"""The table of hosts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.filter_fields import Subject
from specctl.domain.state import Link
from specctl.tui.render.fleet_columns import columns, host_row, name_of
from specctl.tui.render.fleet_order import GROUP, WORST, Order, grouped
from specctl.tui.render.lines import Drawing, Line, picked, row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.tui.render.fleet_columns import Column, HostRow
    from specctl.tui.scene import Scene


def subject_of(scene: Scene, name: str, *, with_evens: bool) -> Subject:
    """A host as filters ask of it."""
    host = scene.state.host(name)
    evens: dict[str, float] = {}
    for server in (host.servers or ()) if with_evens else ():
        even = scene.details(name, server).reference.even
        if even is not None:
            evens[server.name] = even
    return Subject(name, host, scene.now_s, evens, scene.interval_s)


@dataclass(frozen=True, slots=True)
class Table:
    """What is drawn: the hosts in their order, and how that came about."""

    names: Sequence[str]
    selected: str | None = None
    order: Order = field(default_factory=Order)
    terms: str = ""
    problems: Sequence[str] = ()
    """What is wrong with the filter."""


def draw_fleet(
    scene: Scene,
    table: Table,
    cells: int,
    rows: int,
    line_of: Callable[[str], Line] | None = None,
) -> tuple[Drawing, list[str | None]]:
    """The table, and which host each of its lines is about."""
    line_of = line_of or (lambda name: host_line(host_row(scene, name), cells))
    groups = grouped(scene, table.names, table.order)
    owners: list[str | None] = []
    heads: dict[int, Line] = {}
    for group, members in groups:
        if group or len(groups) > 1:
            heads[len(owners)] = _group_head(group, len(members), table.order)
            owners.append(None)
        owners += members
    top = _top(owners, table.selected, max(1, rows - 1))
    body: list[Line] = []
    for at in range(top, min(len(owners), top + max(1, rows - 1))):
        name = owners[at]
        if name is None:
            body.append(heads[at])
            continue
        line = line_of(name)
        body.append(picked(line, cells) if name == table.selected else line)
    shown: list[str | None] = [None, *owners[top : top + len(body)]]
    cursor = shown.index(table.selected) if table.selected in shown and table.selected else None
    note: Line = []
    if len(owners) > len(body):
        note = [(f"{top + 1}-{top + len(body)} of {len(owners)}", "dim")]
    chosen = columns(cells)
    head: Line = row(*[(_head(c, size, table.order), size, c.align) for c, size in chosen])
    shown_body = body if table.names else _nothing(scene, table.terms)
    return Drawing("Hosts", [head, *shown_body], _summary(scene, table), note, cursor), shown


def host_line(r: HostRow, cells: int) -> Line:
    """One host, in the columns that fit."""
    return row(*[(c.draw(r, size), size, c.align) for c, size in columns(cells)])


def _group_head(group: str, count: int, order: Order) -> Line:
    word = group or f"no {order.group}"
    before = f"{order.group} " if group and order.group != GROUP else ""
    return [("▾ ", "faint"), (before, "faint"), (word, "dim"), (f" {count}", "faint")]


def _head(column: Column, size: int, order: Order) -> Line:
    """The name of a column; the one ordered by is marked, where there is a cell for that."""
    if name_of(column) != order.by:
        return [(column.head, "faint")]
    arrow = "▼" if order.falls else "▲"
    if len(column.head) + 1 > size:
        return [(column.head, "prompt")]
    if column.align == ">":
        return [(arrow, "prompt"), (column.head, "dim")]
    return [(column.head, "dim"), (arrow, "prompt")]


def _top(owners: Sequence[str | None], selected: str | None, rows: int) -> int:
    """The first line shown, so that the selected one is in sight."""
    if len(owners) <= rows or selected not in owners:
        return 0
    at = owners.index(selected)
    return min(max(0, at - rows // 2), len(owners) - rows)


def order_words(scene: Scene, table: Table) -> str:
    """`by group, by name`, `worst first`, `by tok/s, highest first`."""
    order = table.order
    if order.by == WORST:
        return "best first" if order.is_turned else "worst first"
    named = {"host": "name", "server": "state", "alerts": "alerts"}.get(order.by, order.by)
    way = ", turned" if order.is_turned else ""
    has_labels = any(scene.state.host(name).labels.get(order.group) for name in table.names)
    return (f"by {order.group}, " if order.has_groups and has_labels else "") + f"by {named}{way}"


def _summary(scene: Scene, table: Table) -> Line:
    out: Line = [(str(len(table.names)), "text"), (" " + order_words(scene, table), "dim")]
    if not table.terms:
        return out
    mark: Line = [("✗ ", "bad")] if table.problems else []
    return [*mark, ("/" + table.terms, "prompt"), ("  ", ""), *out]


def _nothing(scene: Scene, terms: str) -> list[Line]:
    if terms and scene.hosts:
        return [
            [],
            [
                (f"Nothing matches {terms}. ", "text"),
                ("esc", "key"),
                (" clears the filter.", "text"),
            ],
        ]
    return [
        [("No hosts in this workspace yet. ", "text"), ("n", "key"), (" adds one.", "text")],
        [
            ("specctl add SSH_ALIAS", "strong"),
            (" does the same from the shell.", "dim"),
        ],
    ]


def reachable(scene: Scene) -> tuple[int, int]:
    """How many hosts are linked, of how many."""
    up = sum(scene.state.host(name).link is Link.UP for name in scene.hosts)
    return up, len(scene.hosts)
