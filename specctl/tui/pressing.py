"""Keys as they are written on the screen, and as a terminal would send them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.keys import _character_to_key  # Textual has no public name for it

if TYPE_CHECKING:
    from textual.app import App

NAMED = {
    "esc": "escape", "enter": "enter", "tab": "tab", "space": "space", "f1": "f1", "f2": "f2",
    "pgdn": "pagedown", "pgup": "pageup", "↓": "down", "↑": "up", "←": "left", "→": "right",
}  # fmt: skip


def named(written: str) -> str:
    """Textual's name of a key; empty for what is none."""
    if written in NAMED:
        return NAMED[written]
    if written.startswith(("ctrl+", "shift+")):
        return written
    return _character_to_key(written) if len(written) == 1 and written.isascii() else ""


def press(app: App[int], written: str) -> None:
    """Have the app hear the key, as if it were typed."""
    key = named(written)
    if key:
        is_typed = len(written) == 1 and written not in NAMED
        character = written if is_typed else " " if key == "space" else None
        event = events.Key(key, character)
        event.set_sender(app)  # from anything else it would not get past its parent
        app.post_message(event)
