"""A line typed over the footer of a screen: filters, searches, patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.tui.editor import Editor
from specctl.tui.render.prompt import ask_bar
from specctl.tui.screen import PanelScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from specctl.tui.render.lines import Line


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what its answer does."""

    label: str
    """In front of what is typed, e.g. `/`."""

    edited: Callable[[str], None]
    """Told what is typed, as it is typed."""

    answered: Callable[[str | None], None]
    """Told what was typed in the end; None when it was given up."""

    enter: str
    """What `enter` does, e.g. `keeps it`."""

    words: Callable[[], str] = str
    """How far it has come, e.g. `12 match`."""


class AskingScreen(PanelScreen):
    """A screen that can ask for a line of text."""

    def __init__(self) -> None:
        super().__init__()
        self._question: Question | None = None
        self._typed = Editor()

    def ask(self, question: Question, text: str = "") -> None:
        """Ask over the footer, with something typed already."""
        self._question, self._typed = question, Editor(text, len(text))
        self.prompt = self._bar
        self.repaint()

    def _bar(self, cells: int) -> Line:
        question = self._question
        if question is None:
            return []
        return ask_bar(question.label, self._typed, question.words(), question.enter, cells)

    def on_key(self, event: events.Key) -> None:
        """While something is asked, keys edit the answer."""
        question = self._question
        if question is None:
            return
        event.stop()
        event.prevent_default()
        if event.key in {"enter", "escape"}:
            self._question, self.prompt = None, None
            question.answered(self._typed.text if event.key == "enter" else None)
        elif (edited := self._typed.key(event.key, event.character)) is not None:
            self._typed = edited
            question.edited(edited.text)
        self.repaint()

    def on_paste(self, event: events.Paste) -> None:
        """A paste is typing."""
        if self._question is not None:
            self._typed = self._typed.insert(event.text)
            self._question.edited(self._typed.text)
            self.repaint()
