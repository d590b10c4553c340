"""Trials answered from the story; a run waits at a gate and can be cancelled."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from tests.tui import trials

if TYPE_CHECKING:
    from specctl.domain.run_sheet import RunSheet
    from specctl.domain.runs import RunBrief
    from specctl.services.screening import ScreeningOutcome
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial import TrialOutcome
    from specctl.services.trial_plan import Proposal
    from specctl.tui.asked import TrialAsk
    from specctl.tui.screenings import ScreeningSheet
    from specctl.tui.trials import TrialSheet


class FakeTrials:
    """What the screens ask of trials."""

    def __init__(self) -> None:
        self.sheets_of_trials = [trials.decided(), trials.cut_off(), trials.simulated()]
        self.other_runs: tuple[RunBrief, ...] = trials.OTHERS
        self.shown_reports: list[Path] = []
        self.proposal = trials.proposal()
        self.calls_to_learn = 0
        self.asked_trials: list[TrialAsk] = []
        self.budgets: list[float | None] = []
        self.trial_gate = asyncio.Event()
        self.trial_outcome: TrialOutcome | None = None
        self.restores = asyncio.Event()
        self.restores.set()

    def _asked(self, *call: object) -> None:
        raise NotImplementedError

    def ask_trial(self, host: str, profile: str) -> TrialAsk:
        self._asked("ask_trial", host, profile)
        return trials.ask(host, profile)

    async def plan_trial(self, ask: TrialAsk) -> Proposal | ScreeningProposal:
        self._asked("plan_trial", ask.host, ask.baseline, ask.profile)
        self.asked_trials.append(ask)
        return trials.screening_proposal() if ask.is_screened else self.proposal

    async def plan_resumption(self, trial: str) -> Proposal:
        self._asked("plan_resumption", trial)
        return trials.proposal(self._sheet(trial).plan)

    async def run_trial(self, proposal: Proposal, *, budget_s: float | None = None) -> TrialOutcome:
        """Ends when the gate opens; cancelled, it restores first and then says so."""
        self._asked("run_trial", proposal.plan.id)
        self.budgets.append(budget_s)
        try:
            await self.trial_gate.wait()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            await self.restores.wait()
            return trials.outcome(trials.live(), is_interrupted=True)
        assert self.trial_outcome is not None
        return self.trial_outcome

    async def plan_screening_on(self, screening: str) -> ScreeningProposal:
        self._asked("plan_screening_on", screening)
        return trials.screening_proposal()

    async def run_screening(
        self, proposal: ScreeningProposal, *, budget_s: float | None = None
    ) -> ScreeningOutcome:
        """Ends when the gate opens; cancelled, it says so."""
        self._asked("run_screening", proposal.plan.id, budget_s)
        self.budgets.append(budget_s)
        try:
            await self.trial_gate.wait()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            return trials.screening_outcome(is_interrupted=True)
        return trials.screening_outcome()

    async def read_screening(self, screening: str) -> ScreeningSheet:
        self._asked("read_screening", screening)
        return trials.screening_sheet(trial="37aabb01" if self.trial_gate.is_set() else None)

    async def list_trials(self) -> tuple[RunBrief, ...]:
        self._asked("list_trials")
        found = [*(trials.entry(sheet) for sheet in self.sheets_of_trials), *self.other_runs]
        return tuple(sorted(found, key=lambda entry: entry.began_s, reverse=True))

    async def learn_trials(self) -> None:
        self.calls_to_learn += 1

    async def read_trial(self, trial: str) -> TrialSheet:
        self._asked("read_trial", trial)
        return self._sheet(trial)

    async def read_run(self, run: str) -> RunSheet:
        self._asked("read_run", run)
        return trials.run_sheet(run)

    async def save_report(self, trial: str) -> Path:
        self._asked("save_report", trial)
        return Path("/srv/work") / f"trial-{trial}.html"

    async def show_report(self, path: Path) -> None:
        self._asked("show_report", path)
        self.shown_reports.append(path)

    def _sheet(self, trial: str) -> TrialSheet:
        for sheet in self.sheets_of_trials:
            if sheet.plan.id == trial:
                return sheet
        raise UsageError(f"no run {trial}", hint="specctl runs list shows them.")
