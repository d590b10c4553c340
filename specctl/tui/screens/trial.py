"""One trial: how sure is it, how long still; then what it says, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.actions import Target
from specctl.tui.arrange import WIDE_CELLS, Places, is_short
from specctl.tui.arrange_trials import arrange_trial, is_stacked
from specctl.tui.panels.trials import (
    AnswerPanel,
    LaunchesPanel,
    Looked,
    MapPanel,
    RatioPanel,
    WhyPanel,
)
from specctl.tui.render.glyphs import SPINNER
from specctl.tui.render.standing import worst
from specctl.tui.render.trial import answer_lines
from specctl.tui.render.why import verdict_text
from specctl.tui.screen import PanelScreen, bindings
from specctl.tui.slots import name_hidden

if TYPE_CHECKING:
    from specctl.tui.panel import Panel
    from specctl.tui.render.lines import Line
    from specctl.tui.trial_desk import TrialDesk

SPIN_S, LOOK_AGAIN_S = 0.25, 5.0
NAME_DIGITS, ANSWER_ROWS = 4, 8
NAMES = {"ratio": "Ratio", "map": "Map", "why": "Why", "launches": "Launches"}
PLOTS = ("ratio", "map")


class TrialScreen(PanelScreen):
    """Follows one trial; leaving it ends nothing unless that is asked for."""

    where = "trial"
    AUTO_FOCUS = "#answer"
    BINDINGS = bindings("trial")

    def __init__(self, desk: TrialDesk, trial: str) -> None:
        super().__init__()
        self.desk, self.trial = desk, trial
        self.looked = Looked(desk, trial)
        self.slot = self.plot = ""
        self.launches = LaunchesPanel(self.looked)
        self._panels: list[Panel] = [
            AnswerPanel(self.looked),
            RatioPanel(self.looked),
            MapPanel(self.looked),
            WhyPanel(self.looked),
            self.launches,
        ]
        self._shape: tuple[object, ...] = ()

    def panels(self) -> list[Panel]:
        """In the order of their numbers."""
        return self._panels

    @property
    def default_plot(self) -> str:
        """The interval while it narrows, then the map."""
        sheet = self.looked.sheet
        return "ratio" if sheet is None or sheet.next is not None else "map"

    def places(self, cells: int, rows: int) -> Places:
        """By how much there is to say."""
        return arrange_trial(
            cells,
            rows,
            answer=self._answer_rows(cells, rows),
            launches=self.launches.count(),
            slot=self.slot or self.default_plot,
            plot=self.plot or self.default_plot,
        )

    def _answer_rows(self, cells: int, rows: int) -> int:
        sheet = self.looked.sheet
        if sheet is None:
            return ANSWER_ROWS
        scene, short = self.specctl.scene, is_short(rows)
        return len(answer_lines(scene, sheet, self.looked.under, cells - 4, is_short=short))

    def arranged(self) -> None:
        """Name the panels that share a slot with the one shown."""
        cells, rows = self.app.size
        shown_in = tuple(NAMES) if is_stacked(cells, rows) else PLOTS
        shown_in = () if cells >= WIDE_CELLS and not is_short(rows) else shown_in
        name_hidden(self.panels(), NAMES, shown_in=shown_in, is_zoomed=self.zoomed is not None)

    def crumbs(self) -> list[str]:
        """From the fleet over the host."""
        sheet = self.looked.sheet
        host = [sheet.plan.host] if sheet is not None else []
        return ["Fleet", *host, f"Trial {self.trial[:NAME_DIGITS]}"]

    def target(self) -> Target:
        """The host of the trial, where the workspace still has it."""
        scene, sheet = self.specctl.scene, self.looked.sheet
        if sheet is None or sheet.plan.host not in scene.hosts:
            return Target(read_only=scene.read_only, trial=self.desk.standing(self.trial))
        host = sheet.plan.host
        state = scene.state.host(host)
        return Target(
            host, state, worst(state), scene.is_read_only(host), self.desk.standing(self.trial)
        )

    def status(self) -> Line | None:
        """How it stands."""
        sheet = self.looked.sheet
        if sheet is None:
            return None
        if sheet.next is None:
            return [("✓ ended", "ok")]
        if self.looked.under is None:
            return [("‖ open", "warn")]
        spin = SPINNER[int(self.specctl.scene.clock_s / SPIN_S) % len(SPINNER)]
        return [(f"{spin} launch {sheet.next.place + 1} of {len(sheet.plan.order)}", "data")]

    def on_mount(self) -> None:
        """Read it, and the one thing in progress turns four times a second."""
        if self.looked.under is None:
            self.specctl.work.read_trial(self.trial)
        self.set_interval(SPIN_S, self._turn)
        self.set_interval(LOOK_AGAIN_S, self._look_again)

    def _turn(self) -> None:
        if self.looked.under is not None and self.is_current:
            self.specctl.repaint()

    def _look_again(self) -> None:
        """Another specctl may be carrying it out."""
        sheet = self.looked.sheet
        if self.is_current and self.looked.under is None and sheet and not sheet.outcome:
            self.specctl.work.read_trial(self.trial)

    def changed(self) -> None:
        """It was read again."""
        self.launches.follow()
        self.repaint()

    def repaint(self) -> None:
        """A trial that moved on needs other panels."""
        self.specctl.work.follow_trial(self.trial)
        cells, rows = self.app.size
        shape = (self.default_plot, self._answer_rows(cells, rows), self.launches.count())
        if shape != self._shape:
            self._shape = shape
            self.place()
        super().repaint()

    # ---------------------------------------------------------------- keys

    def show_panel(self, panel: Panel) -> None:
        """Bring the panel into the slot it shares, then focus it."""
        if panel.id in NAMES:
            self.slot = panel.id
        if panel.id in PLOTS:
            self.plot = panel.id
        self.place()
        super().show_panel(panel)
        self.repaint()

    def do_go_back(self) -> None:
        """Close the zoom; of a trial under way ask whether it goes on."""
        run = self.desk.runs.get(self.trial)
        if self.zoomed is None and run is not None and not run.is_over and not run.is_stopping:
            self.specctl.work.leave_trial(self.trial)
        else:
            super().do_go_back()

    def do_copy_selection(self) -> None:
        """Copy the verdict; of a launch what is said of it."""
        sheet = self.looked.sheet
        if sheet is None:
            return
        text = verdict_text(sheet)
        if sheet.plan.is_simulated and not self.specctl.scene.state.host(sheet.plan.host).simulated:
            text = f"# SIMULATED: {sheet.plan.host} is a practice host of the lab\n{text}"
        self.specctl.copy(text, "the verdict" if sheet.word else "how it stands")

    def do_report_save(self) -> None:
        """Write its report."""
        self.specctl.work.save_report(self.trial)

    def do_report_open(self) -> None:
        """Show its report in a browser."""
        self.specctl.work.save_report(self.trial, opens=True)

    def do_trial_start(self) -> None:
        """The same profile in a new trial."""
        sheet = self.looked.sheet
        if sheet is not None:
            self.specctl.work.plan_trial(sheet.plan.host, sheet.plan.profile)

    def do_trial_resume(self) -> None:
        """Go on with it."""
        self.specctl.work.resume_trial(self.trial)

    def do_trial_stop(self) -> None:
        """Interrupt it."""
        self.specctl.work.ask_to_interrupt(self.trial)

    def do_trials_read(self) -> None:
        """Read it again."""
        self.specctl.work.read_trial(self.trial)
