"""Trials asked for, carried out and looked at again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.trial.running import final_word
from specctl.domain.trial.screening_plan import ScreeningPlan
from specctl.tui.later import Later
from specctl.tui.recalling import Recalling
from specctl.tui.render.confirm import Question
from specctl.tui.screens.choice import Choice, ChoiceDialog
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.trials import TrialRun, make_sheet

if TYPE_CHECKING:
    from specctl.domain.events import TrialProgressed
    from specctl.domain.trial.running import TrialPlan
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial_plan import Proposal
    from specctl.tui.actions import Target
    from specctl.tui.application import SpecctlApp
    from specctl.tui.asked import TrialAsk
    from specctl.tui.services import ProfileChoice, Services

BACKGROUND, INTERRUPT, STAY = "go on in the background", "interrupt it", "stay here"


class Trying(Recalling):
    """Runs trials in workers of the app, so that leaving a screen ends none."""

    def __init__(self, app: SpecctlApp) -> None:
        super().__init__(app)
        self._heard: dict[str, TrialProgressed] = {}

    # ---------------------------------------------------------------- asking

    def do_trial_start(self, target: Target | None = None) -> None:
        """Choose a profile to be tried on the host."""
        target, services = target or self._app.target(), self._services()
        if services is None or target.host is None:
            return
        host = target.host
        runs = target.server.profile if target.server is not None else None
        choices = sorted(
            services.profiles(host), key=lambda c: (c.algorithm is None, c.name != runs)
        )

        def chosen(profile: str | None) -> None:
            if profile is not None:
                self.plan_trial(host, profile)

        title = f"Compare on {host}"
        dialog = ChoiceDialog(title, "shows the plan", [_choice(one) for one in choices], host=host)
        self._app.push_screen(dialog, chosen)

    def plan_trial(self, host: str, profile: str) -> None:
        """Show what a trial of the profile against its baseline would do."""
        services = self._services()
        if services is None or self._is_taken(host):
            return
        try:
            ask = services.ask_trial(host, profile)
        except SpecctlError as error:
            self._app.tell(error.message, error.hint, severity="error")
            return

        async def make(asked: TrialAsk | None) -> Proposal | ScreeningProposal:
            return await services.plan_trial(asked or ask)

        self._agree(TrialPlanDialog(
            f"Trial of {profile} on {host}", ask, make, self._app.scene.clock_s, host=host
        ))  # fmt: skip

    def resume_trial(self, trial: str) -> None:
        """Show how an old trial would go on."""
        services, sheet = self._services(), self.trials.sheets.get(trial)
        if services is None or sheet is None:
            return
        if self.trials.is_under_way(trial):
            self._app.tell("It goes on already", "x interrupts it.")
            return
        if sheet.next is None:
            self._app.tell("It has ended", "c begins a new one.", severity="warning")
            return
        host = sheet.plan.host
        if self._is_taken(host):
            return

        async def make(asked: TrialAsk | None) -> Proposal:
            del asked
            return await services.plan_resumption(trial)

        title = f"Go on with trial {trial} on {host}"
        self._agree(TrialPlanDialog(title, None, make, self._app.scene.clock_s, host=host))

    def _is_taken(self, host: str) -> bool:
        """A trial is under way there; says so."""
        going = [run for run in self.trials.under_way if run.proposal.plan.host == host]
        if going:
            trial = going[0].proposal.plan.id
            self._app.tell(f"A trial is under way on {host}", f"T shows it: {trial}")
        return bool(going)

    def _agree(self, dialog: TrialPlanDialog) -> None:
        def answered(proposal: Proposal | ScreeningProposal | None) -> None:
            ask = dialog.panel.ask
            budget_s = ask.budget_s if ask is not None else None
            if proposal is None:
                return
            if isinstance(proposal.plan, ScreeningPlan):
                self.begin_screening(proposal, budget_s)
            else:
                self.begin_trial(proposal, budget_s=budget_s)

        self._app.push_screen(dialog, answered)

    def begin_screening(self, proposal: ScreeningProposal, budget_s: float | None) -> None:
        """Carry a screening out."""
        raise NotImplementedError

    # ---------------------------------------------------------------- carrying out

    def begin_trial(self, proposal: Proposal, *, budget_s: float | None = None) -> None:
        """Carry it out, and follow it on its own screen; leaving that ends nothing."""
        services = self._services()
        if services is None:
            return
        trial = proposal.plan.id
        run = self.trials.runs[trial] = TrialRun(proposal, self._app.scene.clock_s, budget_s)
        until_s = None if budget_s is None else run.began_s + budget_s
        planned = replace(proposal.plan, budget_until_s=until_s)
        self.trials.sheets.setdefault(trial, make_sheet(planned, ()))
        worker = self._app.run_worker(
            Later(self._trial, services, proposal, run), group=f"run trial {trial}"
        )
        run.cancel = worker.cancel
        self.open_trial(trial)

    async def _trial(self, services: Services, proposal: Proposal, run: TrialRun) -> None:
        trial = proposal.plan.id
        try:
            run.outcome = await services.run_trial(proposal, budget_s=run.budget_s)
        except SpecctlError as error:
            run.failure = f"{error.message} {error.hint}".strip()
        finally:
            run.is_over = True
            self._ended(proposal.plan, run)
        await self._sheet_of(services, trial)
        await self._list(services)

    def _ended(self, plan: TrialPlan, run: TrialRun) -> None:
        if not self._app.screen_stack:  # the app is leaving
            return
        screen = self._app.front
        if run.failure:
            self._app.tell(f"Trial of {plan.profile} ended", run.failure, severity="error")
        elif not (isinstance(screen, TrialScreen) and screen.trial == plan.id):
            word = final_word(plan, run.outcome.standing) if run.outcome else None
            text = word.value if word else "interrupted; s goes on with it"
            self._app.tell(f"Trial of {plan.profile} on {plan.host}", text)

    def interrupt_trial(self, trial: str) -> None:
        """End it; what is measured is kept, and what ran before is started again."""
        run = self.trials.runs.get(trial)
        if run is not None and not run.is_over and not run.is_stopping:
            run.is_stopping = True
            run.cancel()
            self._app.repaint()

    def interrupt_trials(self) -> bool:
        """Interrupt every trial and quit after the last; False when nothing has to be awaited."""
        going = [run for run in self.trials.under_way if not run.is_stopping]
        for run in going:
            self.interrupt_trial(run.proposal.plan.id)
        if going:
            self._app.set_interval(0.2, self._quit_when_over)
            words = "What ran before is started again first. Quit again to leave at once."
            self._app.tell("Stopping the trial", words, severity="warning")
        return bool(going)

    def _quit_when_over(self) -> None:
        if not self.trials.under_way:
            self._app.exit(0)

    def ask_to_interrupt(self, trial: str) -> None:
        """Ask first."""
        run, sheet = self.trials.runs.get(trial), self.trials.sheets.get(trial)
        if run is None or run.is_over:
            self._app.tell("Nothing to interrupt", "This session does not carry it out.")
            return
        measured = (
            "All launches so far are" if sheet is None else f"{len(sheet.blocks)} launches are"
        )

        async def read() -> Question:
            words = f"{measured} measured and kept; s goes on from there."
            now = "The launch under way is lost. What ran before is started again."
            return Question([[(words, "text")], [(now, "text")]], "Interrupt it")

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001  Textual calls it so
            if confirmed:
                self.interrupt_trial(trial)

        what = "trial" if sheet is not None else "screening"
        host = run.proposal.plan.host
        dialog = ConfirmDialog(f"Interrupt {what} {trial}", read, host=host)
        self._app.push_screen(dialog, answered)

    def leave_trial(self, trial: str) -> None:
        """Leave the screen of a trial under way: it goes on, or is interrupted."""

        def answered(choice: str | None) -> None:
            if choice == INTERRUPT:
                self.interrupt_trial(trial)
            elif choice == BACKGROUND:
                self._app.go_back()

        choices = [
            Choice(BACKGROUND, [("T lists it; a toast says how it ended", "dim")]),
            Choice(INTERRUPT, [("keeps what is measured; s goes on with it", "dim")]),
            Choice(STAY),
        ]
        self._app.push_screen(ChoiceDialog("The trial is under way", "does it", choices), answered)

    # ---------------------------------------------------------------- looking

    def do_trials_open(self) -> None:
        """Trials of the ledger."""
        if isinstance(self._app.front, TrialScreen):
            self._app.go_back()
        if not isinstance(self._app.front, TrialsScreen):
            self._app.go_to(TrialsScreen(self.trials))

    def open_trial(self, trial: str) -> None:
        """One trial on its own screen."""
        self._app.go_to(TrialScreen(self.trials, trial))

    def list_trials(self) -> None:
        """Read the list."""
        services = self._services()
        if services is not None:
            self._work(Later(self._list, services), "trials")

    async def _list(self, services: Services) -> None:
        try:
            self.trials.entries, self.trials.error = await services.list_trials(), None
        except SpecctlError as error:
            self.trials.error = error
        self.trials.is_read = True
        self._trial_changed()

    def read_trial(self, trial: str) -> None:
        """Read one trial."""
        services = self._services()
        if services is not None and trial:
            self._work(Later(self._sheet_of, services, trial), f"trial {trial}")

    async def _sheet_of(self, services: Services, trial: str) -> None:
        try:
            self.trials.sheets[trial] = await services.read_trial(trial)
            self.trials.errors.pop(trial, None)
        except SpecctlError as error:
            self.trials.errors[trial] = error
        self._trial_changed()

    def follow_trial(self, trial: str) -> None:
        """Read it again when something new was heard of it."""
        event = self._app.scene.recent.trials.get(trial)
        if event is not None and self._heard.get(trial) is not event:
            self._heard[trial] = event
            self.read_trial(trial)

    def _trial_changed(self) -> None:
        screen = self._app.front
        if isinstance(screen, TrialsScreen | TrialScreen):
            screen.changed()


def _choice(one: ProfileChoice) -> Choice:
    note = f"against {one.baseline}" if one.baseline else one.note
    return Choice(one.name, [(f"{one.algorithm or 'no draft':<10} ", "text"), (note, "dim")])
