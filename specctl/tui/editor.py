"""One line of text being typed: values only, so that every prompt edits alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.tui.render.lines import ending, safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.tui.render.lines import Line

LONGEST = 8000


@dataclass(frozen=True, slots=True)
class Editor:
    """Text and where the next character goes."""

    text: str = ""
    at: int = 0

    def insert(self, typed: str) -> Editor:
        """Take characters in, made safe; a paste of several lines becomes one."""
        clean = safe(typed)[: max(0, LONGEST - len(self.text))]
        return Editor(self.text[: self.at] + clean + self.text[self.at :], self.at + len(clean))

    def key(self, name: str, character: str | None) -> Editor | None:
        """The line after a key; None when the key does not edit."""
        edit = _EDITS.get(name)
        if edit is not None:
            return edit(self)
        if character is not None and character.isprintable():
            return self.insert(character)
        return None

    def line(self, cells: int | None = None) -> Line:
        """The text with its caret, which stays in sight of so many cells."""
        before = self.text[: self.at]
        if cells is not None:
            before = ending(before, cells - 2)
        if self.at >= len(self.text):
            return [(before, "bright"), ("▏", "accent")]
        return [
            (before, "bright"),
            (self.text[self.at], "badge"),
            (self.text[self.at + 1 :], "bright"),
        ]


def _back(e: Editor) -> Editor:
    return Editor(e.text[: max(0, e.at - 1)] + e.text[e.at :], max(0, e.at - 1))


def _delete(e: Editor) -> Editor:
    return Editor(e.text[: e.at] + e.text[e.at + 1 :], e.at)


def _word_back(e: Editor) -> Editor:
    start = e.text[: e.at].rstrip().rfind(" ") + 1
    return Editor(e.text[:start] + e.text[e.at :], start)


_EDITS: dict[str, Callable[[Editor], Editor]] = {
    "backspace": _back,
    "delete": _delete,
    "left": lambda e: replace(e, at=max(0, e.at - 1)),
    "right": lambda e: replace(e, at=min(len(e.text), e.at + 1)),
    "home": lambda e: replace(e, at=0),
    "ctrl+a": lambda e: replace(e, at=0),
    "end": lambda e: replace(e, at=len(e.text)),
    "ctrl+e": lambda e: replace(e, at=len(e.text)),
    "ctrl+u": lambda e: Editor(e.text[e.at :], 0),
    "ctrl+w": _word_back,
}
