"""In which order hosts stand, and in which groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.tui.render.fleet_columns import BY_NAME, HostRow
from specctl.tui.render.glyphs import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specctl.tui.scene import Scene

WORST, HOST = "worst", "host"
ORDERS = (WORST, *BY_NAME)
GROUP = "group"
"""The label by which hosts stand together unless another one is chosen."""


@dataclass(frozen=True, slots=True)
class Order:
    """By a column or the worst first; turned round; and by which label in groups."""

    by: str = HOST
    is_turned: bool = False
    group: str = GROUP
    """Empty for no groups."""

    def chosen(self, by: str) -> Order:
        """By another column; the same again turns it round."""
        return replace(self, by=by, is_turned=by == self.by and not self.is_turned)

    @property
    def usual_falls(self) -> bool:
        """The highest is first, unless it is turned round."""
        return self.by != WORST and BY_NAME[self.by].falls

    @property
    def falls(self) -> bool:
        """The highest is first."""
        return self.usual_falls is not self.is_turned

    @property
    def has_groups(self) -> bool:
        """Hosts stand by label; the worst first is one list."""
        return bool(self.group) and self.by != WORST


def ranked(rows: Iterable[HostRow], order: Order) -> list[str]:
    """The hosts in order; those of which it is not known last, like ones by name."""
    found = sorted(rows, key=lambda r: r.name)
    if order.by == WORST:
        found.sort(key=_trouble, reverse=order.is_turned)
        return [row.name for row in found]
    keyed = [(BY_NAME[order.by].key(row), row.name) for row in found]
    known = [(key, name) for key, name in keyed if key is not None]
    known.sort(key=lambda one: one[0], reverse=order.falls)
    return [name for _, name in known] + [name for key, name in keyed if key is None]


def _trouble(row: HostRow) -> tuple[int, int, int]:
    return ORDER.index(row.standing.state), -row.errors, -row.warnings


def grouped(scene: Scene, names: Sequence[str], order: Order) -> list[tuple[str, list[str]]]:
    """The hosts, in their order, by the label of the groups; those without it first."""
    if not order.has_groups:
        return [("", list(names))] if names else []
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(scene.state.host(name).labels.get(order.group, ""), []).append(name)
    return sorted(groups.items())


def labels_of(scene: Scene) -> list[str]:
    """The labels that hosts can stand by, and none."""
    found: Mapping[str, None] = dict.fromkeys(
        key for name in scene.hosts for key in sorted(scene.state.host(name).labels)
    )
    return [GROUP, *sorted(set(found) - {GROUP}), ""]


def next_group(scene: Scene, order: Order) -> Order:
    """By the next label, round and round."""
    labels = labels_of(scene)
    at = labels.index(order.group) if order.group in labels else -1
    return replace(order, group=labels[(at + 1) % len(labels)])
