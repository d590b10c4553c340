"""Panels that share one place of the screen: the hidden ones are named in the edge of the shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.tui.panel import Panel
    from specctl.tui.render.lines import Line


def tabs(hidden: Sequence[Panel], names: Mapping[str, str]) -> Line:
    """`4 Log  5 Processes`: what a number brings into the slot."""
    out: Line = []
    for panel in hidden:
        name = names[panel.id or ""]
        out += [*([("  ", "")] if out else []), (panel.number, "tab"), (" " + name, "dim")]
    return out


def name_hidden(
    panels: Sequence[Panel], names: Mapping[str, str], *, shown_in: Sequence[str], is_zoomed: bool
) -> None:
    """Put the tabs of hidden panels on the shown one of their slot, and on no other."""
    hidden = [panel for panel in panels if not panel.display and panel.id in names]
    for panel in panels:
        has_tabs = panel.display and panel.id in shown_in and not is_zoomed
        panel.tabs = tabs(hidden, names) if has_tabs else []
