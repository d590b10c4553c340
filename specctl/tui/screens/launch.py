"""A plan being carried out, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.actions import Target
from specctl.tui.arrange import Places, arrange_launch
from specctl.tui.panels.launch import LaunchLogPanel, LeftBehindPanel, StepsPanel, VerdictPanel
from specctl.tui.render.glyphs import SPINNER
from specctl.tui.screen import PanelScreen, bindings
from specctl.tui.screens.host import HostScreen

if TYPE_CHECKING:
    from specctl.domain.plan import Plan
    from specctl.tui.panel import Panel
    from specctl.tui.render.lines import Line

SPIN_S = 0.25
NAME_DIGITS = 4


class LaunchScreen(PanelScreen):
    """Follows one plan; leaving it stops nothing."""

    where = "launch"
    AUTO_FOCUS = "#verdict"
    BINDINGS = bindings("launch")

    def __init__(self, plan: Plan, began_s: float) -> None:
        super().__init__()
        self.plan = plan
        self.log_panel = LaunchLogPanel(plan, began_s)
        self._panels: list[Panel] = [
            VerdictPanel(plan, began_s),
            StepsPanel(plan, began_s),
            LeftBehindPanel(plan, began_s),
            self.log_panel,
        ]

    def panels(self) -> list[Panel]:
        """Answer, steps, what is left, log."""
        return self._panels

    @property
    def stage(self) -> str:
        """Under way, or at its end."""
        return "launch" if self.plan.id in self.specctl.work.outcomes else "launching"

    @property
    def has_failed(self) -> bool:
        """It ended, and not well."""
        outcome = self.specctl.work.outcomes.get(self.plan.id)
        return outcome is not None and not outcome.succeeded

    def places(self, cells: int, rows: int) -> Places:
        """A failure has more to say."""
        return arrange_launch(cells, rows, has_failed=self.has_failed)

    def crumbs(self) -> list[str]:
        """From the fleet over the host."""
        what = {"stop": "Stop", "adopt": "Adopt"}.get(self.plan.kind, "Launch")
        return ["Fleet", self.plan.host, f"{what} {self.plan.id[:NAME_DIGITS]}"]

    def target(self) -> Target:
        """The host of the plan."""
        scene = self.specctl.scene
        host = self.plan.host
        return Target(host, scene.state.host(host), None, scene.is_read_only(host))

    def status(self) -> Line | None:
        """How it stands."""
        outcome = self.specctl.work.outcomes.get(self.plan.id)
        if outcome is None:
            spin = SPINNER[int(self.specctl.scene.clock_s / SPIN_S) % len(SPINNER)]
            return [(f"{spin} under way", "data")]
        return [("✓ done", "ok")] if outcome.succeeded else [("✗ failed", "bad")]

    def on_mount(self) -> None:
        """The one thing in progress turns four times a second."""
        self.set_interval(SPIN_S, self._turn)

    def _turn(self) -> None:
        if self.plan.id not in self.specctl.work.outcomes and self.is_current:
            self.specctl.repaint()

    def repaint(self) -> None:
        """The log is that of the server the plan starts, or stops."""
        self.log_panel.server_name = self._server_name()
        super().repaint()

    def _server_name(self) -> str | None:
        """The server that a start makes is named after its launch, the others are there."""
        if self.plan.kind in {"start", "replace"}:
            return self.plan.id[:NAME_DIGITS]
        return self.plan.target.name if self.plan.target is not None else None

    def finished(self) -> None:
        """It ended: what failed needs other panels, what started is looked at next."""
        server = self._server_name()
        if server is not None and self.plan.kind in {"start", "replace"}:
            self._let_hosts_show(server)
        self.place()
        self.repaint()

    def _let_hosts_show(self, server: str) -> None:
        """Screens of its host, below or visited before, turn to the server."""
        for screen in {*self.app.screen_stack, *self.specctl.visits.screens}:
            if isinstance(screen, HostScreen) and screen.host == self.plan.host:
                screen.show(self.plan.host, server)

    def do_log_open(self) -> None:
        """The log on the whole screen."""
        self.zoom(self.log_panel)

    def do_host_open(self) -> None:
        """The host of the plan, and its server."""
        self.specctl.open_host(self.plan.host, self._server_name())

    def do_server_start(self) -> None:
        """Start again: the plan is made anew."""
        if self.plan.profile is not None and self.plan.kind in {"start", "replace"}:
            self.specctl.work.plan_start(self.plan.host, self.plan.profile)
        else:
            self.specctl.work.do_server_start()
