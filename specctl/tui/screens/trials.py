"""Trials of the ledger: what was tried before, and what did it say?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on

from specctl.domain.runs import RunKind
from specctl.tui.actions import Target
from specctl.tui.arrange import Places, is_short
from specctl.tui.arrange_trials import arrange_trials
from specctl.tui.listing import Listed
from specctl.tui.listscreen import ListScreen
from specctl.tui.panel import Panel
from specctl.tui.panels.trials import AnswerPanel, Looked, MapPanel, RatioPanel, TrialsPanel
from specctl.tui.render.standing import worst
from specctl.tui.render.trial import answer_lines
from specctl.tui.render.why import verdict_text
from specctl.tui.screen import bindings

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.tui.trial_desk import TrialDesk

LOOK_AGAIN_S = 10.0
ANSWER_ROWS = 7


class TrialsScreen(ListScreen):
    """The list, and the chosen trial's answer under it; with `t` every other run too."""

    where = "trials"
    AUTO_FOCUS = "#trials"
    BINDINGS = bindings("trials")

    def __init__(self, desk: TrialDesk) -> None:
        super().__init__()
        self.desk = desk
        self.looked = Looked(desk)
        self.list = TrialsPanel(desk)
        self._panels: list[Panel] = [
            self.list,
            AnswerPanel(self.looked, number="2"),
            RatioPanel(self.looked, number="3"),
            MapPanel(self.looked, number="4"),
        ]

    @property
    def main(self) -> Listed:
        """The trials."""
        return self.list

    def shape(self) -> object:
        """The list takes the rows it needs, and so does the answer."""
        return self.list.count(), self._answer_rows(*self.app.size)

    def narrowed(self) -> None:
        """The other panels follow the list."""
        self._follow()

    def repaint(self) -> None:
        """What goes on is followed."""
        self.specctl.work.follow_screenings()
        self.specctl.work.follow_trial(self.looked.trial)
        super().repaint()

    def panels(self) -> list[Panel]:
        """List, answer, interval, map."""
        return self._panels

    def places(self, cells: int, rows: int) -> Places:
        """By how many trials there are."""
        answer = self._answer_rows(cells, rows)
        return arrange_trials(cells, rows, trials=self.list.count(), answer=answer)

    def _answer_rows(self, cells: int, rows: int) -> int:
        sheet = self.looked.sheet
        if sheet is None:
            return ANSWER_ROWS
        scene, short = self.specctl.scene, is_short(rows)
        lines = answer_lines(scene, sheet, self.looked.under, cells - 4, is_short=short)
        return max(ANSWER_ROWS, len(lines))

    def crumbs(self) -> list[str]:
        """From the fleet."""
        return ["Fleet", "Trials"]

    def target(self) -> Target:
        """The host of the chosen trial, where there still is one; without a trial that below."""
        scene, chosen = self.specctl.scene, self.list.chosen
        if chosen is None:
            return replace(self.specctl.target_below(self), trial="")
        if chosen.host not in scene.hosts:
            return Target(read_only=scene.read_only, trial=self.desk.standing_of(chosen))
        state = scene.state.host(chosen.host)
        standing = self.desk.standing_of(chosen)
        guarded = scene.is_read_only(chosen.host)
        return Target(chosen.host, state, worst(state), guarded, standing)

    def on_mount(self) -> None:
        """Show what is known, and read the ledger."""
        self.specctl.work.list_trials()
        self.set_interval(LOOK_AGAIN_S, self._look_again)

    def _look_again(self) -> None:
        """Others write into the ledger too."""
        if self.is_current:
            self.specctl.work.list_trials()

    def changed(self) -> None:
        """Something was read; the cursor stays on its trial."""
        found = self.list.found
        ids = [entry.id for entry in found]
        if self.looked.trial in ids:
            self.list.at = ids.index(self.looked.trial)
        self._follow()
        self.repaint()

    @on(Listed.Moved)
    def follow_cursor(self, message: Listed.Moved) -> None:
        """The other panels follow the list."""
        if message.panel is self.list:
            self._follow()
        self.repaint()

    def _follow(self) -> None:
        """Read the chosen trial, unless it is known."""
        chosen = self.list.chosen
        is_trial = chosen is not None and chosen.kind is RunKind.TRIAL
        self.looked.other = None if is_trial else chosen
        trial = chosen.id if chosen is not None and is_trial else ""
        is_other, self.looked.trial = trial != self.looked.trial, trial
        if trial and (is_other or trial not in self.desk.errors) and self.looked.sheet is None:
            self.specctl.work.read_trial(trial)

    # ---------------------------------------------------------------- keys

    def do_row_open(self) -> None:
        """The trial on its own screen."""
        if self.list.chosen is not None:
            self.specctl.work.open_entry(self.list.chosen)

    def do_order_choose(self) -> None:
        """The next order of the list; the cursor stays on its run."""
        self._keeping(self.desk.turn_order)

    @on(Panel.Headed)
    def order_clicked(self) -> None:
        """The head of a column was clicked."""
        if self.list.wanted:
            self._keeping(self.order_by)

    def order_by(self) -> None:
        """The order whose head was clicked."""
        self.desk.order = self.list.wanted

    def do_kinds_choose(self) -> None:
        """Trials alone, or every run of the ledger."""

        def turn() -> None:
            self.desk.shows_all = not self.desk.shows_all

        self._keeping(turn)

    def _keeping(self, change: Callable[[], object]) -> None:
        before = self.list.chosen
        change()
        ids = [entry.id for entry in self.list.found]
        self.list.at = ids.index(before.id) if before and before.id in ids else 0
        self._follow()
        self.repaint()

    def do_diff_show(self) -> None:
        """Hold the chosen run against another."""
        if self.list.chosen is not None:
            self.specctl.work.compare_run(self.list.chosen)

    def do_report_save(self) -> None:
        """Write the chosen trial's report."""
        self.specctl.work.save_report(self.looked.trial)

    def do_copy_selection(self) -> None:
        """Copy the verdict of the chosen trial."""
        sheet = self.looked.sheet
        if sheet is not None:
            self.specctl.copy(verdict_text(sheet), "the verdict" if sheet.word else "how it stands")

    def do_trial_start(self) -> None:
        """The chosen trial's profile in a new trial, else any."""
        sheet = self.looked.sheet
        if sheet is None:
            self.specctl.work.do_trial_start()
        else:
            self.specctl.work.plan_trial(sheet.plan.host, sheet.plan.profile)

    def do_trial_resume(self) -> None:
        """Go on with the chosen one."""
        chosen = self.list.chosen
        if chosen is not None and chosen.kind is RunKind.SCREENING:
            self.specctl.work.resume_screening(chosen)
            return
        self.specctl.work.resume_trial(self.looked.trial)

    def do_trial_stop(self) -> None:
        """Interrupt the chosen one."""
        chosen = self.list.chosen
        if chosen is not None:
            self.specctl.work.ask_to_interrupt(chosen.id)

    def do_trials_read(self) -> None:
        """Read the ledger again."""
        self.specctl.work.list_trials()
        self.specctl.work.read_trial(self.looked.trial)
