"""Which part of a list is shown, and which of it a filter keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.tui.render.lines import Line


def window(at: int, top: int, room: int, total: int) -> int:
    """The first item shown: `top` unless the cursor would be out of sight."""
    top = min(max(0, top), max(0, total - room))
    if at < top:
        return at
    return at - room + 1 if at >= top + room else top


def span_note(top: int, shown: int, total: int) -> Line:
    """`12-30 of 64` where not everything is in sight."""
    if shown >= total:
        return []
    return [(f"{top + 1:,}-{top + shown:,} of {total:,}", "dim")]


def holds(text: str, terms: str) -> bool:
    """Every word of a filter is in the text, or is not where it begins with `!`."""
    text = text.lower()
    return all((t[1:] not in text) if t[:1] == "!" else t in text for t in terms.lower().split())
