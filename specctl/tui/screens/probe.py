"""A probe: shown before it is sent, followed, and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from specctl.tui.panel import Panel
from specctl.tui.render.lines import Drawing, plain
from specctl.tui.render.probe import draw_failure, draw_probe_plan, draw_probing, draw_result
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


class ProbePanel(Panel):
    """Before, during and after."""

    def __init__(self, plan: ProbePlan) -> None:
        super().__init__(id="probe")
        self.plan = plan

    @property
    def probe_run(self) -> ProbeRun | None:
        """The probe, once it was begun."""
        work = cast("SpecctlApp", self.app).work
        return work.probes.get((self.plan.host, self.plan.server))

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Whichever it is."""
        run = self.probe_run
        if run is None:
            return draw_probe_plan(self.plan, cells, rows)
        if run.error is not None:
            return draw_failure(self.plan, run.error.message, run.error.hint, cells)
        if run.result is not None:
            return draw_result(self.plan, run.result, self._reference(scene), cells, rows)
        heard = scene.recent.probes.get((self.plan.host, self.plan.server))
        return draw_probing(scene, self.plan, heard, cells, run.began_s)

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
        del cells
        run = self.panel.probe_run
        return RESULT_ROWS if run is not None and run.result is not None else self.wanted[1]

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
        if event.key in {"escape", "q"} or (
            event.key == "enter" and run is not None and run.is_over
        ):
            self.dismiss(None)
        elif event.key in {"left", "right"} and run is None:
            self.panel.plan = self.panel.plan.resized(1 if event.key == "right" else -1)
            self.repaint()
        elif event.key == "enter" and run is None:
            self.specctl.work.begin_probe(self.panel.plan)
            self.repaint()
        elif event.key == "y":
            drawing = self.panel.draw(
                self.panel.scene, self.panel.size.width - 4, self.panel.inner_rows
            )
            self.specctl.copy(plain(drawing.body), "the result")
