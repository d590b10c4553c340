"""What a profile comes to: the exact command, and every value with its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Finding, Severity
from specctl.tui.render.lines import Line, middle, row, width
from specctl.tui.render.profiles import MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.adapters.recipe import Recipe, Row


def flag_of(key: str) -> str:
    """The flag that a dotted key becomes; empty for what is no argument."""
    table, _, name = key.partition(".")
    if key == "model":
        return "--model-path"
    return {"arguments": f"--{name}", "speculation": f"--speculative-{name}"}.get(table, "")


def flagged(findings: Sequence[Finding]) -> dict[str, Finding]:
    """The worst finding of each flag."""
    order = list(Severity)
    out: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda f: order.index(f.severity), reverse=True):
        flag = flag_of(finding.key)
        if flag:
            out[flag] = finding
    return out


def command_rows(recipe: Recipe, findings: Sequence[Finding], cells: int) -> list[Line]:
    """The exact command, an option beside the next while they fit; what lint minds is coloured."""
    minded = flagged(findings)
    out: list[Line] = []
    line: Line = []
    for group in _groups(recipe, minded):
        size = width(group)
        if line and width(line) + 1 + size > cells - 2:
            out.append([*line, (" \\", "faint")])
            line = [("  ", ""), *group]
        else:
            line = [*line, *([(" ", "")] if line else []), *group]
    return [*out, line] if line else out


def _groups(recipe: Recipe, minded: Mapping[str, Finding]) -> list[Line]:
    groups: list[Line] = [
        [(f"{name}=", "dim"), (value, "text")] for name, value in recipe.environment.items()
    ]
    at = len(groups)
    for word in recipe.argv:
        finding = minded.get(word)
        if word.startswith("--"):
            tone = MARKS[finding.severity][1] if finding else "dim"
            groups.append([(word, tone)])
        elif len(groups) > at and groups[-1][0][0].startswith("--"):
            of = minded.get(groups[-1][0][0])
            own = groups[-1][0][0].startswith("--speculative")
            tone = MARKS[of.severity][1] if of else "strong" if own else "text"
            groups[-1] = [*groups[-1], (" " + word, tone)]
        else:
            groups.append([(word, "text")])
    return groups


def recipe_head(cells: int) -> Line:
    """The heads of the columns."""
    key, value, origin = _recipe_cells(cells)
    return row(
        ([("KEY", "faint")], key), ([("VALUE", "faint")], value), ([("FROM", "faint")], origin)
    )


def _recipe_cells(cells: int) -> tuple[int, int, int]:
    key = min(36, cells * 2 // 5)
    origin = min(30, cells // 3)
    return key, max(4, cells - key - origin - 4), origin


def recipe_line(item: Row, cells: int) -> Line:
    """One value, and where it was written."""
    key, value, origin = _recipe_cells(cells)
    where: Line = (
        [(middle(item.origin, origin), "accent")] if item.origin else [("default", "faint")]
    )
    tone = "strong" if item.key.startswith("speculation") else "text"
    return row(
        ([(middle(item.key, key), "dim")], key), ([(middle(item.text, value), tone)], value),
        (where, origin),
    )  # fmt: skip
