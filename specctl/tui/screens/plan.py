"""Confirming a plan: nothing runs before it was shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.command import shell_lines
from specctl.domain.errors import SpecctlError
from specctl.domain.plan import Plan
from specctl.facts.plan_shown import shown_plan
from specctl.tui.editor import Editor
from specctl.tui.later import Later
from specctl.tui.panel import Panel
from specctl.tui.render.lines import Drawing, Line, wrap
from specctl.tui.render.plan import (
    Choice,
    draw_plan,
    is_allowed,
    last_top,
    natural_rows,
)
from specctl.tui.screen import Dialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events

    from specctl.tui.scene import Scene

Confirmed = tuple[Plan, str]
"""The plan, and what was typed to allow it."""


class PlanPanel(Panel):
    """The plan, once it is made; why it could not be made."""

    def __init__(self, words: str, began_s: float) -> None:
        super().__init__(id="plan")
        self.words = words
        self.began_s = began_s
        self.plan: Plan | None = None
        self.error: SpecctlError | None = None
        self.choice = Choice()

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """What there is to say so far."""
        if self.plan is not None:
            return draw_plan(scene, self.plan, cells, rows, self.choice)
        if self.error is not None:
            return self._no_plan(self.error, cells)
        elapsed = scene.clock_s - self.began_s
        waiting: Line = [
            ("◐ ", "data"),
            ("Reading the host", "text"),
            (f", {figures.spoken(elapsed)}", "dim"),
        ]
        return Drawing(self.words, [waiting], [("nothing has been done yet", "dim")])

    def _no_plan(self, error: SpecctlError, cells: int) -> Drawing:
        body: list[Line] = [
            [("✗ " if i == 0 else "  ", "bad"), (text, "bright")]
            for i, text in enumerate(wrap(error.message, cells - 2))
        ]
        body += [[], *[[("  ", ""), (text, "dim")] for text in wrap(error.hint, cells - 2)]]
        return Drawing(
            self.words,
            body,
            [("nothing has been done", "dim")],
            [("esc", "key"), (" closes", "dim")],
        )

    def move(self, rows: int) -> None:
        """Scroll the text above the buttons."""
        if self.plan is not None:
            cells = max(1, self.size.width - (2 if self.rule else 4))
            most = last_top(self.scene, self.plan, cells, self.inner_rows, self.choice)
            self.choice = replace(self.choice, top=min(max(0, self.choice.top + rows), most))


class PlanDialog(Dialog[Confirmed | None]):
    """Shows a plan and asks; answers with it, or with None."""

    where = "plan"
    wanted = (96, 12)
    AUTO_FOCUS = "#plan"

    def __init__(
        self, words: str, make: Callable[[], Awaitable[Plan]], began_s: float, *, host: str = ""
    ) -> None:
        super().__init__()
        self.about = host
        self.panel = PlanPanel(words, began_s)
        self._plan = make
        self._typed = Editor()

    @property
    def stage(self) -> str:
        """Not made yet, refused, or which of the two buttons is chosen."""
        plan = self.panel.plan
        if plan is None:
            return "planning" if self.panel.error is None else "refused"
        if plan.is_refused:
            return "refused"
        return "plan" if self.panel.choice.on_action else "plan-cancel"

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """Everything of the plan, when the screen has the rows."""
        plan = self.panel.plan
        if plan is None:
            return self.wanted[1]
        return natural_rows(self.panel.scene, plan, cells, self.panel.choice) + 2

    def on_mount(self) -> None:
        """Make the plan while the dialog says so."""
        self.run_worker(Later(self._read), group="plan", exclusive=True)

    async def _read(self) -> None:
        try:
            plan = await self._plan()
        except SpecctlError as error:
            self.panel.error = error
        else:
            self.panel.plan = plan
            on_action = plan.default_is_safe and is_allowed(plan, "")
            self.panel.choice = Choice(on_action=on_action)
        self.place()
        self.repaint()

    def on_key(self, event: events.Key) -> None:
        """Buttons, scrolling, and the name that has to be typed."""
        event.stop()
        event.prevent_default()
        plan = self.panel.plan
        if event.key == "escape":
            self.dismiss(None)
        elif plan is not None:
            self._key(plan, event)
            self.repaint()

    def _key(self, plan: Plan, event: events.Key) -> None:
        choice = self.panel.choice
        typing = plan.needs_typed is not None and not plan.is_refused
        if event.key == "enter":
            self._enter(plan)
        elif event.key == "tab":
            self.panel.choice = replace(choice, lists_passed=not choice.lists_passed)
            self.place()
        elif event.key in {"left", "right"} and is_allowed(plan, choice.typed):
            self.panel.choice = replace(choice, on_action=event.key == "right")
        elif event.key in {"down", "up", "pagedown", "pageup"}:
            self._scroll(event.key)
        elif typing:
            self._type(plan, self._typed.key(event.key, event.character))
        elif event.key in {"j", "k"}:
            self._scroll("down" if event.key == "j" else "up")
        elif event.key == "y":
            shown = shown_plan(plan)
            self.specctl.copy(shell_lines(shown.argv, shown.environment), "the command")

    def on_paste(self, event: events.Paste) -> None:
        """A pasted name counts as typed."""
        plan = self.panel.plan
        if plan is not None and plan.needs_typed is not None:
            self._type(plan, self._typed.insert(event.text))
            self.repaint()

    def _type(self, plan: Plan, edited: Editor | None) -> None:
        if edited is None:
            return
        self._typed = edited
        allowed = is_allowed(plan, edited.text)
        self.panel.choice = replace(self.panel.choice, typed=edited.text, on_action=allowed)

    def _scroll(self, key: str) -> None:
        page = self.panel.inner_rows // 2
        self.panel.move({"down": 1, "up": -1, "pagedown": page, "pageup": -page}[key])

    def agree(self) -> None:
        """Do it, where it may be done."""
        plan, choice = self.panel.plan, self.panel.choice
        if plan is not None and is_allowed(plan, choice.typed):
            self.panel.choice = replace(choice, on_action=True)
            self._enter(plan)

    def _enter(self, plan: Plan) -> None:
        choice = self.panel.choice
        if choice.on_action and is_allowed(plan, choice.typed):
            self.dismiss((plan, choice.typed))
        elif not choice.typed:
            self.dismiss(None)
