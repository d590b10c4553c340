"""Which tmux pane a terminal is."""

from __future__ import annotations

from specctl.domain.text import clean

LIST_PANES = (
    "tmux", "list-panes", "-a", "-F", "#{pane_tty} #{session_name}:#{window_index}.#{pane_index}",
)  # fmt: skip
"""Asks the user's own tmux server for every pane and its terminal (tmux(1), FORMATS)."""


def pane_at(listing: str, terminal: str) -> str | None:
    """The pane whose terminal it is, as `tmux attach -t` takes it; None when tmux has none."""
    for line in listing.splitlines():
        tty, _, pane = clean(line).partition(" ")
        if tty == terminal and pane:
            return pane
    return None
