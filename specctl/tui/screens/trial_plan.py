"""Confirming a trial: what it is asked as can be changed, and nothing runs before it was shown."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.errors import SpecctlError
from specctl.tui.asked import SETTINGS
from specctl.tui.editor import Editor
from specctl.tui.later import Later
from specctl.tui.panel import Panel
from specctl.tui.render.confirm import is_allowed, last_top, natural_rows
from specctl.tui.render.lines import Drawing, plain
from specctl.tui.render.trial_plan import Form, draw_form, draw_waiting, question_of
from specctl.tui.screen import Dialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events

    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial_plan import Proposal
    from specctl.tui.asked import TrialAsk
    from specctl.tui.render.confirm import Question
    from specctl.tui.scene import Scene

    Proposed = Proposal | ScreeningProposal

SETTLE_S = 0.3
"""A setting that is being turned makes a plan when it has come to rest."""


class TrialPlanPanel(Panel):
    """The settings, and the plan once it is made."""

    def __init__(self, title: str, ask: TrialAsk | None, began_s: float) -> None:
        super().__init__(id="trial-plan")
        self.title, self.ask, self.began_s = title, ask, began_s
        self.proposal: Proposed | None = None
        self.error: SpecctlError | None = None
        self.form = Form()

    def question(self, cells: int) -> Question | None:
        """What is asked; None while there is no plan."""
        if self.proposal is None:
            return None
        return question_of(self.scene, self.ask, self.proposal, self.form, cells)

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """What there is to say so far."""
        question = self.question(cells)
        if question is not None:
            return draw_form(self.title, question, self.form, cells, rows)
        words = f"Reading the host, {figures.spoken(scene.clock_s - self.began_s)}"
        return draw_waiting(self.title, self.ask, self.form, self.error or words, cells)

    @property
    def inner_cells(self) -> int:
        """Cells inside the frame."""
        return max(10, self.size.width - (2 if self.rule else 4))

    def move(self, rows: int) -> None:
        """Scroll the text above the buttons."""
        question = self.question(self.inner_cells)
        if question is not None:
            top = self.form.answer.top + rows
            top = min(max(0, top), last_top(question, self.inner_rows))
            self.form = replace(self.form, answer=replace(self.form.answer, top=top))

    def pick(self, row: int) -> bool:
        """Go to the setting that was clicked, unless one is being typed."""
        at = row + self.form.answer.top
        is_setting = self.ask is not None and 0 <= at < len(SETTINGS)
        if is_setting and self.form.editor is None:
            self.form = replace(self.form, at=at)
        return is_setting


class TrialPlanDialog(Dialog["Proposed | None"]):
    """Answers with the plan that was agreed to, or None."""

    where = "trial-plan"
    wanted = (100, 22)
    AUTO_FOCUS = "#trial-plan"

    def __init__(
        self,
        title: str,
        ask: TrialAsk | None,
        make: Callable[[TrialAsk | None], Awaitable[Proposed]],
        began_s: float,
        *,
        host: str,
    ) -> None:
        """Without an `ask` there is nothing to change: an old trial goes on as it was planned."""
        super().__init__()
        self.about = host
        self.panel = TrialPlanPanel(title, ask, began_s)
        self._make, self._began_s = make, began_s
        self._typed = Editor()

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All of it, when the screen has the rows."""
        question = self.panel.question(cells)
        return natural_rows(question) + 2 if question else self.wanted[1]

    def on_mount(self) -> None:
        """Make the plan while the dialog says so."""
        self._plan(0.0)

    def _plan(self, after_s: float) -> None:
        self.run_worker(Later(self._read, after_s), group="trial plan", exclusive=True)

    async def _read(self, after_s: float) -> None:
        panel = self.panel
        await asyncio.sleep(after_s)
        try:
            panel.proposal = await self._make(panel.ask)
        except SpecctlError as error:
            panel.error = error
        self.place()
        self.repaint()

    def on_key(self, event: events.Key) -> None:
        """Settings, buttons, and the name that has to be typed."""
        event.stop()
        event.prevent_default()
        if self.panel.form.editor is not None:
            self._edit(event)
            self.repaint()
            return
        if event.key == "escape":
            self.dismiss(None)
            return
        form, step = self.panel.form, {"left": -1, "right": 1}.get(event.key)
        rows = {"up": -1, "down": 1}.get(event.key)
        if rows is not None:
            self._walk(rows)
        elif step is not None and form.at < len(SETTINGS):
            self._turn(SETTINGS[form.at], step)
        elif event.key == "enter" and form.at < len(SETTINGS):
            self.panel.form = replace(form, at=len(SETTINGS))
        elif form.at < len(SETTINGS):
            self._begin_edit(event)
        else:
            self._button(event, step)
        self.repaint()

    def _walk(self, rows: int) -> None:
        """Over the settings; where there are none the text is scrolled."""
        form = self.panel.form
        if self.panel.ask is None:
            self.panel.move(rows)
            return
        at = min(max(0, form.at + rows), len(SETTINGS))
        below = form.at == len(SETTINGS) and rows > 0
        top = form.answer.top + 1 if below else 0 if at < len(SETTINGS) else form.answer.top
        self.panel.form = replace(form, at=at, answer=replace(form.answer, top=top))

    def _turn(self, setting: str, step: int) -> None:
        panel = self.panel
        if panel.ask is None:
            return
        self._take(panel.ask.turned(setting, step))

    def _take(self, turned: TrialAsk) -> None:
        """Plan again for other settings, once they rest; the safe button is chosen."""
        panel = self.panel
        if turned == panel.ask:
            return
        panel.ask, panel.proposal, panel.error = turned, None, None
        panel.form = replace(panel.form, answer=replace(panel.form.answer, on_action=False))
        panel.began_s = self.specctl.scene.clock_s
        self._plan(SETTLE_S)

    def _begin_edit(self, event: events.Key) -> None:
        """The first character of a value; backspace takes the present one up."""
        ask, form = self.panel.ask, self.panel.form
        editor = Editor().key(event.key, event.character)
        if event.key == "backspace" and ask is not None:
            words = ask.written(SETTINGS[form.at])
            editor = Editor(words, len(words))
        if editor is not None and (editor.text or event.key == "backspace"):
            self.panel.form = replace(form, editor=editor, wrong=("", ""))

    def _edit(self, event: events.Key) -> None:
        """Keys of the value being typed."""
        ask, form = self.panel.ask, self.panel.form
        if ask is None or form.editor is None:
            return
        name = SETTINGS[form.at]
        if event.key == "escape":
            self.panel.form = replace(form, editor=None, wrong=("", ""))
        elif event.key == "tab":
            found = ask.completions(name, form.editor.text)
            if found:
                self.panel.form = replace(form, editor=Editor(found[0], len(found[0])))
        elif event.key in {"enter", "up", "down"}:
            self._keep(ask, name, form.editor.text)
        elif (edited := form.editor.key(event.key, event.character)) is not None:
            self.panel.form = replace(form, editor=edited, wrong=("", ""))

    def _keep(self, ask: TrialAsk, name: str, text: str) -> None:
        """Take what was typed, or say why it cannot be."""
        form = self.panel.form
        try:
            taken = ask.typed(name, text)
        except SpecctlError as error:
            self.panel.form = replace(form, wrong=(error.message, error.hint))
            return
        self.panel.form = replace(form, editor=None, wrong=("", ""))
        self._take(taken)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is typing."""
        form = self.panel.form
        if self.panel.ask is not None and form.at < len(SETTINGS):
            editor = (form.editor or Editor()).insert(event.text)
            self.panel.form = replace(form, editor=editor, wrong=("", ""))
            self.repaint()

    def _button(self, event: events.Key, step: int | None) -> None:
        panel = self.panel
        question = panel.question(panel.inner_cells)
        if question is None:
            return
        answer = panel.form.answer
        allowed = is_allowed(question, answer.typed)
        if event.key == "enter":
            self._enter(question)
        elif step is not None and allowed:
            panel.form = replace(panel.form, answer=replace(answer, on_action=step > 0))
        elif question.needs_typed is not None and not question.off:
            self._typed = self._typed.key(event.key, event.character) or self._typed
            typed = self._typed.text
            answer = replace(answer, typed=typed, on_action=is_allowed(question, typed))
            panel.form = replace(panel.form, answer=answer)
        elif event.key == "y":
            self.specctl.copy(plain(list(question.body)), "the plan")

    def agree(self) -> None:
        """Begin it, where it may be begun."""
        panel = self.panel
        question = panel.question(panel.inner_cells)
        if question is not None and is_allowed(question, panel.form.answer.typed):
            answer = replace(panel.form.answer, on_action=True)
            panel.form = replace(panel.form, at=len(SETTINGS), answer=answer)
            self._enter(question)

    def _enter(self, question: Question) -> None:
        answer = self.panel.form.answer
        if answer.on_action and is_allowed(question, answer.typed):
            self.dismiss(self.panel.proposal)
        elif not answer.typed:
            self.dismiss(None)
