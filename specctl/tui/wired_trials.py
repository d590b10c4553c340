"""Trials on a real workspace, by the services that `specctl compare` and `specctl runs` use."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from importlib import resources
from typing import TYPE_CHECKING

from specctl.adapters.ledger import Ledger
from specctl.adapters.paths import ledger_file
from specctl.adapters.workloads import bundled_names, workload_files
from specctl.domain.errors import UsageError
from specctl.domain.report.references import Published, read_published
from specctl.domain.runs import RunKind, brief
from specctl.domain.training import warm_words
from specctl.domain.trial.summary import summarise
from specctl.services.arm_profile import arm_profile
from specctl.services.evens import ledger_mark
from specctl.services.finished import refuse_finished
from specctl.services.reporting import save_report, show_report
from specctl.services.runs import conditions, sheet_of_run
from specctl.services.trial import read_trial, run_trial
from specctl.services.trial_plan import plan_resumption, settings_again
from specctl.services.unasked import unasked_of
from specctl.tui.asked import TrialAsk
from specctl.tui.services import Reference
from specctl.tui.trials import TrialSheet, make_sheet
from specctl.tui.wired_screening import WorkspaceScreenings

if TYPE_CHECKING:
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.adapters.workspace import Workspace
    from specctl.domain.profile import Profile
    from specctl.domain.run_sheet import RunSheet
    from specctl.domain.runs import Run, RunBrief
    from specctl.domain.state import Store
    from specctl.services.trial import TrialOutcome
    from specctl.services.trial_plan import Proposal

WORKLOAD = "mixed"
MOST_TRIALS = 200
MOST_LEARNED = 30
LOOK_EVERY_S = 3.0
"""How often the ledger is looked at: another specctl may have written a trial to it."""

Learned = dict[str, tuple[float, Reference | None]]
"""Trial to when it ended and what it says; one that has ended says the same until it goes on."""


class WorkspaceTrials(WorkspaceScreenings):
    """What the trial screens ask for."""

    _clock: Clock

    def __init__(self, workspace: Workspace, store: Store) -> None:
        super().__init__(workspace, store)
        self._learned: dict[tuple[str, str], Reference] = {}
        """By host and profile: what its newest trial says of it."""

        self._said: Learned = {}
        self._ledger_was: tuple[float, ...] = ()

    # ---------------------------------------------------------------- asking

    def ask_trial(self, host: str, profile: str) -> TrialAsk:
        """The profile against its own baseline, else against the first that has no draft."""
        known = self._workspace.profiles()
        chosen = known.get(profile)
        if chosen is None:
            raise UsageError(f"no profile {profile}", hint="P lists them.")
        plain = sorted(name for name, p in known.items() if p.speculation is None)
        others = sorted(name for name in known if name not in plain)
        names = [name for name in (*plain, *others) if name != profile]
        own = chosen.baseline if chosen.baseline in names else None
        if not names:
            raise UsageError(
                f"nothing to compare {profile} with", hint="Write a profile without a draft."
            )
        same = [name for name in names if known[name].model == chosen.model]
        bundled = bundled_names()
        speculation = chosen.speculation
        return TrialAsk(
            host,
            own or (same or names)[0],
            profile,
            WORKLOAD if WORKLOAD in bundled else bundled[0],
            baselines=tuple(names),
            workloads=(*bundled, *workload_files(self._workspace.root)),
            own_keys=tuple(speculation.arguments) if speculation else (),
        )

    async def plan_resumption(self, trial: str) -> Proposal:
        """How a trial of the ledger would go on."""
        with closing(Ledger(ledger_file())) as ledger:
            plan, _ = read_trial(ledger, trial)
            refuse_finished(ledger, trial)
        settings = settings_again(plan, self._workspace.root)
        return await plan_resumption(
            await self._connection(plan.host),
            plan,
            self._arms(plan.host, plan.baseline, plan.profile),
            settings,
            find=lambda name: self._found(name, plan.host),
            secrets=self._known_secrets(),
            clock=self._clock,
            ledger=ledger_file(),
        )

    def _arms(self, host: str, baseline: str, profile: str) -> tuple[Profile, Profile]:
        return arm_profile(self._workspace, baseline, host), arm_profile(
            self._workspace, profile, host
        )

    async def run_trial(self, proposal: Proposal, *, budget_s: float | None = None) -> TrialOutcome:
        """Carry it out, or on where the ledger has launches of it already."""
        plan = proposal.plan
        connection = await self._connection(plan.host)
        with closing(Ledger(ledger_file())) as ledger:
            outcome = await run_trial(
                connection,
                proposal,
                secrets=self._known_secrets(),
                store=self._store,
                clock=self._clock,
                ledger=ledger,
                budget_s=budget_s,
            )
        await self.learn_trials()
        return outcome

    # ---------------------------------------------------------------- the ledger

    async def learn_trials(self) -> None:
        """Work out what the newest trials say, for the screens of the hosts."""
        self._ledger_was = await asyncio.to_thread(ledger_mark, ledger_file())
        with suppress(UsageError):  # a ledger that cannot be used is told of where it is asked for
            self._learned = await asyncio.to_thread(_learn, self._said)

    async def follow_trials(self) -> None:
        """Work it out again whenever the ledger was written to, until cancelled."""
        while True:
            await self._clock.sleep(LOOK_EVERY_S)
            await self.learn_new_trials()

    async def learn_new_trials(self) -> None:
        """Work it out again, unless the ledger is as it was."""
        if await asyncio.to_thread(ledger_mark, ledger_file()) != self._ledger_was:
            await self.learn_trials()

    def with_trial(self, reference: Reference, host: str, profile: str | None) -> Reference:
        """The reference of this session's probes; where they give no break-even, a trial's."""
        if reference.even is not None:
            return reference
        return self._learned.get((host, profile or ""), reference)

    async def list_trials(self) -> tuple[RunBrief, ...]:
        """Trials and other runs of the ledger, the newest first."""
        return await asyncio.to_thread(_list)

    async def read_trial(self, trial: str) -> TrialSheet:
        """One trial, worked out from its samples."""
        return await asyncio.to_thread(_read, trial)

    async def read_run(self, run: str) -> RunSheet:
        """Everything that was kept of a run, of any kind."""
        return await asyncio.to_thread(_run, run)

    async def save_report(self, trial: str) -> Path:
        """Write a trial's page where the operator is; where that is."""
        return await asyncio.to_thread(_report, trial, self._clock.now())

    async def show_report(self, path: Path) -> None:
        """Show a written page in the operator's browser."""
        await asyncio.to_thread(show_report, path)


def _list() -> tuple[RunBrief, ...]:
    """So many trials, and so many of the newest runs of any kind."""
    with closing(Ledger(ledger_file())) as ledger:
        found = {run.id: brief(run) for run in ledger.runs(kind=RunKind.TRIAL, most=MOST_TRIALS)}
        found |= {run.id: brief(run) for run in ledger.runs(most=MOST_TRIALS)}
    return tuple(sorted(found.values(), key=lambda entry: entry.began_s, reverse=True))


def _run(run_id: str) -> RunSheet:
    with closing(Ledger(ledger_file())) as ledger:
        run = ledger.run(run_id)
    return sheet_of_run(run)


def _report(trial: str, now_s: float) -> Path:
    with closing(Ledger(ledger_file())) as ledger:
        return save_report(ledger, trial, now_s)


def _learn(said: Learned) -> dict[tuple[str, str], Reference]:
    """What the newest trials say; of those in `said` that ended then, nothing is read again.

    A trial that was warm after a training set says it only where no cold one does.
    """
    cold: dict[tuple[str, str], Reference] = {}
    warm: dict[tuple[str, str], Reference] = {}
    with closing(Ledger(ledger_file())) as ledger:
        for run in ledger.runs(kind=RunKind.TRIAL, most=MOST_LEARNED):
            key = (run.where, run.profiles[-1])
            found = cold if run.provenance.trained_on is None else warm
            if key in found:
                continue
            before = said.get(run.id)
            if before is not None and before[0] == run.ended_s:
                reference = before[1]
            else:
                reference = _said_by(ledger, run)
                if run.ended_s is not None:
                    said[run.id] = run.ended_s, reference
            if reference is not None:
                found[key] = reference
    return warm | cold


def _said_by(ledger: Ledger, run: Run) -> Reference | None:
    try:
        one = summarise(*read_trial(ledger, run.id)).concurrencies[0]
    except ValueError:  # not a trial as this version keeps them
        return None
    if one.break_even is None:
        return None
    source = f"trial {run.id} against {run.profiles[0]}{warm_words(run.provenance.trained_on)}"
    return Reference(one.arms[0].tokens_per_s.mean, one.break_even.break_even, source)


def _read(trial: str) -> TrialSheet:
    with closing(Ledger(ledger_file())) as ledger:
        run = ledger.run(trial)
        try:
            plan, blocks = read_trial(ledger, run.id)
        except ValueError as error:
            raise UsageError(f"run {run.id} does not hold a trial: {error}") from error
    return make_sheet(
        plan,
        blocks,
        outcome=run.outcome,
        ended_s=run.ended_s,
        conditions=conditions(run),
        published=_published(),
        differences=unasked_of(run),
    )


def _published() -> tuple[Published, ...]:
    text = resources.files("specctl").joinpath("reference/published.csv").read_text("utf-8")
    return read_published(text.splitlines())
