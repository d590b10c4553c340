"""A probe: shown before it is sent, followed, and its result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from specctl.tui.editor import Editor
from specctl.tui.panel import Panel
from specctl.tui.render.lines import Drawing, plain
from specctl.tui.render.probe import (
    ProbeForm,
    draw_failure,
    draw_probe_plan,
    draw_probing,
    draw_result,
    probe_plan_lines,
)
from specctl.tui.screen import Dialog
from specctl.tui.services import Reference

if TYPE_CHECKING:
    from textual import events

    from specctl.domain.errors import SpecctlError
    from specctl.domain.probe import ProbeResult
    from specctl.tui.application import SpecctlApp
    from specctl.tui.scene import Scene
    from specctl.tui.services import ProbePlan

SPIN_S = 0.25
RESULT_ROWS = 22
ROWS_AROUND = 4
"""A frame, an empty row and the keys."""

SETTING_ROWS = {1: False, 2: True}
"""Row of the dialog to whether it is the training set."""


class ProbePanel(Panel):
    """Before, during and after."""

    def __init__(self, plan: ProbePlan) -> None:
        super().__init__(id="probe")
        self.plan = plan
        self.form = ProbeForm()

    @property
    def probe_run(self) -> ProbeRun | None:
        """The probe, once it was begun."""
        work = cast("SpecctlApp", self.app).work
        return work.probes.get((self.plan.host, self.plan.server))

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Whichever it is."""
        run = self.probe_run
        if run is None:
            return draw_probe_plan(self.plan, cells, rows, self.form)
        if run.error is not None:
            return draw_failure(self.plan, run.error.message, run.error.hint, cells)
        if run.result is not None:
            return draw_result(self.plan, run.result, self._reference(scene), cells, rows)
        heard = scene.recent.probes.get((self.plan.host, self.plan.server))
        return draw_probing(scene, self.plan, heard, cells, run.began_s)

    def pick(self, row: int) -> bool:
        """Go to the setting that was clicked, unless one is being typed."""
        is_setting = row in SETTING_ROWS and self.probe_run is None
        if is_setting and self.form.editor is None:
            self.form = ProbeForm(is_training=SETTING_ROWS[row])
        return is_setting

    def _reference(self, scene: Scene) -> Reference:
        server = scene.state.host(self.plan.host).server(self.plan.server)
        return scene.details(self.plan.host, server).reference if server else Reference()


class ProbeRun:
    """A probe that was begun."""

    def __init__(self, began_s: float) -> None:
        self.began_s = began_s
        self.result: ProbeResult | None = None
        self.error: SpecctlError | None = None

    @property
    def is_over(self) -> bool:
        """It has a result or an error."""
        return self.result is not None or self.error is not None


class ProbeDialog(Dialog[None]):
    """Asks, then follows; leaving it does not end the probe."""

    where = "probe"
    wanted = (92, 10)
    AUTO_FOCUS = "#probe"

    def __init__(self, plan: ProbePlan) -> None:
        super().__init__()
        self.about = plan.host
        self.panel = ProbePanel(plan)

    @property
    def stage(self) -> str:
        """Asked for, under way, or at its end."""
        run = self.panel.probe_run
        if run is None:
            return "probe"
        return "probed" if run.is_over else "probing"

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """A result takes more room than a question."""
        run = self.panel.probe_run
        if run is not None:
            return RESULT_ROWS if run.result is not None else self.wanted[1]
        lines = probe_plan_lines(self.panel.plan, cells, self.panel.form)
        return max(self.wanted[1], len(lines) + ROWS_AROUND)

    def repaint(self) -> None:
        """A result changes the height."""
        self.place()
        super().repaint()

    def on_mount(self) -> None:
        """The one thing in progress turns four times a second."""
        self.set_interval(SPIN_S, self.specctl.repaint)

    def on_key(self, event: events.Key) -> None:
        """Send it, copy the result, close."""
        event.stop()
        event.prevent_default()
        run = self.panel.probe_run
        if run is None:
            self._ask(event)
            self.repaint()
        elif event.key in {"escape", "q"} or (event.key == "enter" and run.is_over):
            self.dismiss(None)
        elif event.key == "y":
            drawing = self.panel.draw(
                self.panel.scene, self.panel.size.width - 4, self.panel.inner_rows
            )
            self.specctl.copy(plain(drawing.body), "the result")

    def _ask(self, event: events.Key) -> None:
        """Settings, before it is sent."""
        panel, step = self.panel, {"left": -1, "right": 1}.get(event.key)
        if panel.form.editor is not None:
            self._edit(event, panel.form.editor)
        elif event.key == "escape" or (event.key == "q" and not panel.form.is_training):
            self.dismiss(None)
        elif event.key in {"up", "down"}:
            panel.form = ProbeForm(is_training=event.key == "down")
        elif event.key == "enter":
            if not panel.plan.off[0]:
                self.specctl.work.begin_probe(panel.plan)
        elif panel.form.is_training:
            self._train(event, step)
        elif step is not None:
            self._take(panel.plan.resized(step))

    def _train(self, event: events.Key, step: int | None) -> None:
        """Turn the training set, or begin to type one; backspace takes the present one up."""
        panel = self.panel
        if step is not None:
            self._take(panel.plan.turned(step))
            return
        editor = Editor().key(event.key, event.character)
        if event.key == "backspace":
            name = panel.plan.trained_on or ""
            editor = Editor(name, len(name))
        if editor is not None and (editor.text or event.key == "backspace"):
            panel.form = replace(panel.form, editor=editor)

    def _edit(self, event: events.Key, editor: Editor) -> None:
        """Keys of the training set being typed."""
        panel = self.panel
        if event.key == "escape":
            panel.form = replace(panel.form, editor=None)
        elif event.key == "tab":
            found = panel.plan.completions(editor.text)
            if found:
                panel.form = replace(panel.form, editor=Editor(found[0], len(found[0])))
        elif event.key in {"enter", "up", "down"}:
            panel.form = replace(panel.form, editor=None)
            self._take(panel.plan.typed(editor.text))
        elif (edited := editor.key(event.key, event.character)) is not None:
            panel.form = replace(panel.form, editor=edited)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is typing."""
        panel = self.panel
        if panel.probe_run is None and panel.form.is_training:
            editor = (panel.form.editor or Editor()).insert(event.text)
            panel.form = replace(panel.form, editor=editor)
            self.repaint()

    def _take(self, plan: ProbePlan) -> None:
        """Ask again how long it takes, and whether it can be sent so."""
        was = self.panel.plan
        if plan == was:
            return
        is_cold = plan.trained_on is None and was.trained_on is None
        self.panel.plan = plan if is_cold else self.specctl.work.plan_probe_again(plan)
