"""Screenings carried out and looked at again: several profiles, of which the best is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.runs import RunKind
from specctl.tui.later import Later
from specctl.tui.screens.screening import ScreeningDialog
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.trials import TrialRun
from specctl.tui.trying import Trying

if TYPE_CHECKING:
    from specctl.domain.runs import RunBrief
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.tui.asked import TrialAsk
    from specctl.tui.services import Services


class Sifting(Trying):
    """Runs screenings in workers of the app, as trials are run."""

    def begin_screening(self, proposal: ScreeningProposal, budget_s: float | None) -> None:
        """Carry it out with its trial, and follow it in a dialog; leaving that ends nothing."""
        services = self._services()
        if services is None:
            return
        plan = proposal.plan
        run = self.trials.runs[plan.id] = TrialRun(proposal, self._app.scene.clock_s, budget_s)
        worker = self._app.run_worker(
            Later(self._screening, services, proposal, run), group=f"run screening {plan.id}"
        )
        run.cancel = worker.cancel
        self.open_screening(plan.id, plan.host)

    async def _screening(
        self, services: Services, proposal: ScreeningProposal, run: TrialRun
    ) -> None:
        words, failed = "", False
        try:
            found = await services.run_screening(proposal, budget_s=run.budget_s)
            run.outcome = found.trial
            words = found.ended or found.standing.survivor or "nobody is left"
            if found.is_interrupted:
                words = "interrupted; s in the list goes on with it"
        except SpecctlError as error:
            words, failed = f"{error.message} {error.hint}".strip(), True
            run.failure = words
        finally:
            run.is_over = True
        if not self._app.screen_stack:  # the app is leaving
            return
        title = f"Screening on {proposal.plan.host}"
        self._app.tell(title, words, severity="error" if failed else "information")
        await self._list(services)

    def open_entry(self, entry: RunBrief) -> None:
        """One run of the ledger, where its kind is looked at."""
        match entry.kind:
            case RunKind.TRIAL:
                self.open_trial(entry.id)
            case RunKind.SCREENING:
                self.open_screening(entry.id, entry.where)
            case _:
                self.open_run(entry)

    def follow_screenings(self) -> None:
        """A trial that follows a screening of this session is of this session too."""
        for run in list(self.trials.under_way):
            plan = run.proposal.plan
            for trial, event in self._app.scene.recent.trials.items():
                is_new = trial not in self.trials.runs and event.time_s >= run.began_s
                if is_new and event.host == plan.host:
                    self.trials.runs[trial] = run

    def open_screening(self, screening: str, host: str) -> None:
        """One screening, live or of the ledger."""
        services = self._services()
        if services is not None:
            self._app.push_screen(
                ScreeningDialog(
                    self.trials, screening, host, lambda: services.read_screening(screening)
                )
            )

    def resume_screening(self, entry: RunBrief) -> None:
        """Show how an old screening would go on."""
        services = self._services()
        if services is None or self._is_taken(entry.where):
            return

        async def make(asked: TrialAsk | None) -> ScreeningProposal:
            del asked
            return await services.plan_screening_on(entry.id)

        title = f"Go on with screening {entry.id} on {entry.host}"
        self._agree(TrialPlanDialog(title, None, make, self._app.scene.clock_s, host=entry.where))
