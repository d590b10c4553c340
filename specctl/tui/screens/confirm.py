"""Asking for a yes before something is told to a server, or written on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.tui.editor import Editor
from specctl.tui.later import Later
from specctl.tui.panel import Panel
from specctl.tui.render.confirm import Answer, draw_question, is_allowed, last_top, natural_rows
from specctl.tui.render.lines import Drawing, Line, error_lines, plain
from specctl.tui.screen import Dialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events

    from specctl.tui.render.confirm import Question
    from specctl.tui.scene import Scene


class ConfirmPanel(Panel):
    """The question, once what it is about was read."""

    def __init__(self, title: str) -> None:
        super().__init__(id="confirm")
        self.title = title
        self.question: Question | None = None
        self.error: SpecctlError | None = None
        self.answer = Answer()

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """What there is to say so far."""
        del scene
        note: Line = [("esc", "key"), (" closes", "dim")]
        if self.error is not None:
            return Drawing(self.title, error_lines(self.error, cells), note=note)
        if self.question is None:
            return Drawing(self.title, [[("◐ ", "data"), ("Asking the host", "text")]], note=note)
        return draw_question(self.title, self.question, self.answer, cells, rows)

    def move(self, rows: int) -> None:
        """Scroll the text above the buttons."""
        if self.question is not None:
            top = min(max(0, self.answer.top + rows), last_top(self.question, self.inner_rows))
            self.answer = replace(self.answer, top=top)


class ConfirmDialog(Dialog[bool]):
    """Answers whether it may be done."""

    wanted = (96, 8)
    AUTO_FOCUS = "#confirm"

    def __init__(self, title: str, read: Callable[[], Awaitable[Question]], *, host: str) -> None:
        super().__init__()
        self.about = host
        self.panel = ConfirmPanel(title)
        self._read = read
        self._typed = Editor()

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All of the question."""
        del cells
        question = self.panel.question
        return natural_rows(question) + 2 if question else self.wanted[1]

    def on_mount(self) -> None:
        """Read while the dialog says so."""
        self.run_worker(Later(self._load), group="confirm", exclusive=True)

    async def _load(self) -> None:
        panel = self.panel
        try:
            panel.question = await self._read()
        except SpecctlError as error:
            panel.error = error
        else:
            safe = panel.question.is_safe and is_allowed(panel.question, "")
            panel.answer = Answer(on_action=safe)
        self.place()
        self.repaint()

    def on_key(self, event: events.Key) -> None:
        """Buttons, scrolling, and the name that has to be typed."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(result=False)
        elif self.panel.question is not None:
            self._key(self.panel.question, event)
            self.repaint()

    def _key(self, question: Question, event: events.Key) -> None:
        panel = self.panel
        allowed = is_allowed(question, panel.answer.typed)
        rows = {"down": 1, "up": -1}.get(event.key)
        if event.key == "enter":
            self._enter(question)
        elif event.key in {"left", "right"} and allowed:
            panel.answer = replace(panel.answer, on_action=event.key == "right")
        elif rows is not None:
            panel.move(rows)
        elif question.needs_typed is not None and not question.off:
            self._typed = self._typed.key(event.key, event.character) or self._typed
            typed = self._typed.text
            panel.answer = replace(panel.answer, typed=typed, on_action=is_allowed(question, typed))
        elif event.key == "y":
            self.specctl.copy(plain(list(question.body)), "what is asked")

    def agree(self) -> None:
        """Do it, where it may be done."""
        question, answer = self.panel.question, self.panel.answer
        if question is not None and is_allowed(question, answer.typed):
            self.panel.answer = replace(answer, on_action=True)
            self._enter(question)

    def _enter(self, question: Question) -> None:
        answer = self.panel.answer
        if answer.on_action and is_allowed(question, answer.typed):
            self.dismiss(result=True)
        elif not answer.typed:
            self.dismiss(result=False)
