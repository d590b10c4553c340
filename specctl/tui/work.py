"""What keys and commands ask of the services: plans shown and carried out, probes, logs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.services.outcome import Outcome
from specctl.tui.enrolling import Enrolling
from specctl.tui.guide import LOADING, PROBING, TRYING, Moment
from specctl.tui.lab_guide import GUIDES
from specctl.tui.later import Later
from specctl.tui.own_measuring import probe_words, trial_words
from specctl.tui.render.plan import VERBS
from specctl.tui.screen import Dialog, PanelScreen
from specctl.tui.screens.launch import LaunchScreen
from specctl.tui.screens.plan import PlanDialog
from specctl.tui.screens.probe import ProbeDialog, ProbeRun
from specctl.tui.screens.prompts import ProfilesDialog
from specctl.tui.sifting import Sifting
from specctl.tui.tending import Tending

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from specctl.domain.plan import Plan
    from specctl.domain.server import Server
    from specctl.tui.actions import Target
    from specctl.tui.application import SpecctlApp
    from specctl.tui.screens.plan import Confirmed
    from specctl.tui.services import ProbePlan


class Work(Sifting):
    """Work under way, and its results, for as long as the app lives."""

    def __init__(self, app: SpecctlApp) -> None:
        super().__init__(app)
        self.tending = Tending(app)
        self.enrolling = Enrolling(app)
        self.outcomes: dict[str, Outcome] = {}
        """By plan id; a plan without one is still carried out."""

        self.carried: dict[str, Plan] = {}
        self.probes: dict[tuple[str, str], ProbeRun] = {}
        """By host and server: the last one."""

        self.guide = GUIDES[app.settings.guide]()

    @property
    def moment(self) -> Moment:
        """What the guide goes by."""
        screen = self._app.front
        stage = screen.stage if isinstance(screen, PanelScreen | Dialog) else ""
        return Moment(stage, self._app.store.state, self.carried, self.outcomes, self._goes_on)

    @property
    def _goes_on(self) -> str:
        if self.trials.under_way:
            return TRYING
        if any(not run.is_over for run in self.probes.values()):
            return PROBING
        return LOADING if self.under_way else ""

    def do_guide_hide(self) -> None:
        """No more of it in this session."""
        self.guide.is_dismissed = True
        self._app.repaint()

    def measuring(self, host: str, server: Server) -> str:
        """What this session measures on a server; empty where it measures nothing."""
        key = (host, server.name)
        probe = probe_words(self.probes.get(key), self._app.recent.probes.get(key))
        return probe or trial_words(host, server, self.trials.under_way)

    @property
    def under_way(self) -> list[Plan]:
        """Plans that are being carried out."""
        return [plan for key, plan in self.carried.items() if key not in self.outcomes]

    @property
    def holds_up(self) -> str:
        """What speaks against quitting now; empty when nothing does."""
        if self.trials.under_way:
            host = self.trials.under_way[0].proposal.plan.host
            return (
                f"A trial is under way on {host}. Quit again to interrupt it: what is measured is "
                "kept, and what ran before is started again first."
            )
        if self.under_way:
            return (
                f"A plan is being carried out on {self.under_way[0].host}. Quit again to leave; "
                "a server that is loading goes on."
            )
        going = [key for key, run in self.probes.items() if not run.is_over]
        if going:
            return f"A probe of {'/'.join(going[0])} is under way. Quit again to give it up."
        return ""

    # ---------------------------------------------------------------- plans

    def do_server_start(self) -> None:
        """Choose a profile, then show what starting it would do."""
        target = self._app.target()
        services = self._services()
        if services is None or target.host is None:
            return
        host = target.host

        def chosen(profile: str | None) -> None:
            if profile is not None:
                self.plan_start(host, profile)

        self._app.push_screen(ProfilesDialog(host, services.profiles(host)), chosen)

    def plan_start(self, host: str, profile: str) -> None:
        """Show what starting `profile` would do; what runs there would be replaced."""
        services = self._services()
        if services is not None:
            words = f"Start {profile} on {host}"
            self._ask(host, words, lambda: services.plan_start(host, profile, replace=True))

    def do_server_stop(self, target: Target | None = None) -> None:
        """Show what stopping the server would do."""
        target, services = target or self._app.target(), self._services()
        if services is not None and target.host is not None and target.server is not None:
            host, server = target.host, target.server.name
            words = f"Stop {server} on {host}"
            self._ask(host, words, lambda: services.plan_stop(host, server, now=False))

    def do_server_adopt(self, target: Target | None = None) -> None:
        """Show what adopting the server would record."""
        target, services = target or self._app.target(), self._services()
        if services is not None and target.host is not None and target.server is not None:
            host, server = target.host, target.server.name
            words = f"Adopt {server} on {host}"
            self._ask(host, words, lambda: services.plan_adopt(host, server))

    def _ask(self, host: str, words: str, make: Callable[[], Awaitable[Plan]]) -> None:
        def answered(confirmed: Confirmed | None) -> None:
            if confirmed is not None:
                self.carry_out(*confirmed)

        dialog = PlanDialog(words, make, self._app.scene.clock_s, host=host)
        self._app.push_screen(dialog, answered)

    def carry_out(self, plan: Plan, typed: str) -> None:
        """Carry a plan out, and follow it on its own screen; leaving that stops nothing."""
        self.carried[plan.id] = plan
        self._app.go_to(LaunchScreen(plan, self._app.scene.clock_s))
        self._app.run_worker(Later(self._apply, plan, typed), group=f"plan {plan.id}")

    async def _apply(self, plan: Plan, typed: str) -> None:
        services = self._services()
        if services is None:
            return
        try:
            outcome = await services.apply(plan, typed=typed)
        except SpecctlError as error:
            outcome = Outcome(
                plan.id, plan.host, succeeded=False, words=error.message, hint=error.hint
            )
        self.outcomes[plan.id] = outcome
        screen = self._app.front
        if isinstance(screen, LaunchScreen) and screen.plan.id == plan.id:
            screen.finished()
        else:
            verb = VERBS[plan.kind]
            title = f"{verb} on {plan.host}: {'done' if outcome.succeeded else 'failed'}"
            self._app.tell(
                title, outcome.words, severity="information" if outcome.succeeded else "error"
            )

    # ---------------------------------------------------------------- probes

    def do_probe_start(self, target: Target | None = None) -> None:
        """Show what a probe would send; one that is under way is shown instead."""
        target, services = target or self._app.target(), self._services()
        if services is None or target.host is None or target.server is None:
            return
        key = (target.host, target.server.name)
        run = self.probes.get(key)
        if run is not None and run.is_over:
            del self.probes[key]
        try:
            plan = services.plan_probe(*key)
        except SpecctlError as error:
            self._app.tell("Probe is off", f"{error.message} {error.hint}", severity="warning")
        else:
            self._app.push_screen(ProbeDialog(plan))

    def plan_probe_again(self, plan: ProbePlan) -> ProbePlan:
        """With other requests or another training set; with why, where it cannot be sent so."""
        services = self._services()
        if services is None:
            return plan
        try:
            return services.plan_probe(
                plan.host, plan.server, requests=plan.requests, trained_on=plan.trained_on
            )
        except SpecctlError as error:
            off = (error.message, error.hint)
            return replace(plan, expected_s=None, expected_words="", training_words="", off=off)

    def begin_probe(self, plan: ProbePlan) -> None:
        """Send it."""
        run = self.probes[plan.host, plan.server] = ProbeRun(self._app.scene.clock_s)
        self._app.run_worker(
            Later(self._probe, plan, run), group=f"probe {plan.host}/{plan.server}"
        )

    async def _probe(self, plan: ProbePlan, run: ProbeRun) -> None:
        services = self._services()
        if services is None:
            return
        try:
            run.result = await services.probe(plan)
        except SpecctlError as error:
            run.error = error
        self._app.repaint()
        if not isinstance(self._app.front, ProbeDialog):
            words = "p shows the result." if run.result else run.error.message if run.error else ""
            self._app.tell(f"Probe of {plan.host}/{plan.server} ended", words)

    # ---------------------------------------------------------------- reading

    def do_facts_read(self, target: Target | None = None) -> None:
        """Read the host again; reconnect when the link is down."""
        target, services = target or self._app.target(), self._services()
        if services is not None and target.host is not None:
            self._work(Later(self._read_again, target.host), f"read {target.host}")

    async def _read_again(self, host: str) -> None:
        services = self._services()
        if services is None:
            return
        try:
            await services.read_again(host)
        except SpecctlError as error:
            self._app.tell(error.message, error.hint, severity="error")
