"""Runs of the ledger looked at again: opened, held against each other, written as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.errors import SpecctlError
from specctl.domain.run_sheet import compare_runs
from specctl.tui.differing import Compared, Differing
from specctl.tui.later import Later
from specctl.tui.screens.choice import Choice, ChoiceDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.run import RunDialog
from specctl.tui.shelving import Shelving
from specctl.tui.trial_desk import TrialDesk

if TYPE_CHECKING:
    from pathlib import Path

    from specctl.domain.run_sheet import RunSheet
    from specctl.domain.runs import RunBrief
    from specctl.tui.application import SpecctlApp
    from specctl.tui.screens.difference import Texts
    from specctl.tui.services import Services


class Recalling(Shelving):
    """Reads in workers of the app."""

    def __init__(self, app: SpecctlApp) -> None:
        super().__init__(app)
        self.trials = TrialDesk()
        self._reports: dict[str, Path] = {}

    def open_run(self, entry: RunBrief) -> None:
        """Everything that was kept of a run, in a dialog."""
        services = self._services()
        if services is not None:
            self._app.push_screen(RunDialog(entry, lambda: services.read_run(entry.id)))

    def compare_run(self, entry: RunBrief) -> None:
        """Choose another run, and show what differs."""
        others = [one for one in self.trials.entries if one.id != entry.id]
        others.sort(key=lambda one: (one.kind is not entry.kind, one.host != entry.host))
        choices = {_name(one): one for one in others}

        def chosen(name: str | None) -> None:
            if name is not None:
                self._open_run_difference(entry, choices[name])

        now_s = self._app.scene.clock_s
        notes = [Choice(name, _note(one, now_s)) for name, one in choices.items()]
        title = f"Hold {_name(entry)} against"
        self._app.push_screen(ChoiceDialog(title, "shows what differs", notes), chosen)

    def _open_run_difference(self, left: RunBrief, right: RunBrief) -> None:
        services = self._services()
        if services is None:
            return
        sheets: list[RunSheet] = []

        async def compare() -> Compared:
            sheets.extend([await services.read_run(left.id), await services.read_run(right.id)])
            found = compare_runs(*sheets)
            rows = tuple(Differing(one.kind, one.name, one.left, one.right) for one in found)
            return Compared(_name(left), _name(right), rows, "" if rows else "All of it is alike.")

        async def texts(row: Differing | None) -> Texts | None:
            del row
            a, b = (_recipe(sheet) for sheet in sheets)
            return (f"recipes of {left.id} and {right.id}", a, b) if a or b else None

        crumbs = ["Fleet", "Trials", f"{left.id} and {right.id}"]
        self._app.push_screen(DifferenceScreen("What differs", crumbs, left.host, compare, texts))

    # ---------------------------------------------------------------- reports

    def save_report(self, trial: str, *, opens: bool = False) -> None:
        """Write a trial's report where the operator is; with `opens` show it."""
        services = self._services()
        if self._app.is_web:
            words = "A page in the browser writes no file. specctl runs report writes it."
            self._app.tell("Report is off", words, severity="warning")
        elif services is not None and trial:
            self._work(Later(self._report, services, trial, opens=opens), f"report {trial}")

    async def _report(self, services: Services, trial: str, *, opens: bool) -> None:
        try:
            path = self._reports.get(trial) if opens else None
            if path is None:
                path = self._reports[trial] = await services.save_report(trial)
                self._app.tell("Report written", f"{path}  o opens it")
            if opens:
                await services.show_report(path)
        except SpecctlError as error:
            self._app.tell(error.message, error.hint, severity="warning")


def _name(entry: RunBrief) -> str:
    return f"{entry.kind.value} {entry.id}"


def _note(entry: RunBrief, now_s: float) -> list[tuple[str, str]]:
    age = figures.age(now_s - entry.began_s)
    simulated = [("SIMULATED", "badge"), (" ", "")] if entry.simulated else []
    words = f"{entry.outcome or 'open'}, {entry.host}, {age}, {entry.profiles[-1]}"
    return [*simulated, (words, "dim")]


def _recipe(sheet: RunSheet) -> str:
    """The recipe that the run is about: the last of its profiles."""
    return sheet.recipes[-1][1] if sheet.recipes else ""
