"""Screenings on a real workspace, by the services that `specctl compare` uses."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

from specctl.adapters.ledger import Ledger
from specctl.adapters.paths import ledger_file
from specctl.adapters.workloads import lasting_name, read_training, read_workload
from specctl.domain.errors import InvalidFileError, RefusedError, UsageError
from specctl.domain.trial.asking import design_of
from specctl.domain.trial.points import grid, read_axis
from specctl.services.arm_profile import arm_profile
from specctl.services.finished import refuse_finished
from specctl.services.probing import Settings
from specctl.services.screening import run_screening
from specctl.services.screening_keeping import read_screening
from specctl.services.screening_plan import plan_screening, plan_screening_resumption, sift
from specctl.services.trial_plan import plan_trial, settings_again
from specctl.tui.asked import ONE_LOOK
from specctl.tui.screenings import ScreeningSheet, make_screening_sheet
from specctl.tui.wired_reading import WorkspaceReading

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.secrets import Secrets
    from specctl.domain.profile import Profile
    from specctl.domain.trial.screening_plan import Omitted
    from specctl.services.screening import ScreeningOutcome
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial_plan import Proposal
    from specctl.tui.asked import TrialAsk

TWO = 2


class WorkspaceScreenings(WorkspaceReading):
    """Trials planned, with a screening first where there is a choice."""

    _clock: Clock

    def _known_secrets(self) -> Secrets:
        raise NotImplementedError

    async def plan_trial(self, ask: TrialAsk) -> Proposal | ScreeningProposal:
        """What the trial would do; with several profiles to choose from, the screening first."""
        connection = await self._connection(ask.host)
        settings = self._settings_of(ask)
        design = design_of(
            ask.launches,
            ask.margin,
            strict=ask.strict == "yes",
            is_looked_at_once=ask.strict == ONE_LOOK,
        )
        arms, omitted = await self._arms_of(ask)
        if len(arms) > TWO:
            return await plan_screening(
                connection,
                arms,
                settings,
                design,
                find=lambda name: self._found(name, ask.host),
                secrets=self._known_secrets(),
                clock=self._clock,
                workload_source=lasting_name(ask.workload, self._workspace.root),
                omitted=omitted,
                ledger=ledger_file(),
            )
        with closing(Ledger(ledger_file())) as ledger:
            return await plan_trial(
                connection,
                (arms[0], arms[1]),
                settings,
                design,
                find=lambda name: self._found(name, ask.host),
                secrets=self._known_secrets(),
                clock=self._clock,
                ledger=ledger,
                workload_source=lasting_name(ask.workload, self._workspace.root),
            )

    def _settings_of(self, ask: TrialAsk) -> list[Settings]:
        """By concurrency; raises UsageError for a training set that shares a prompt."""
        root, most, source = self._workspace.root, ask.prompts, ""
        workload, training = read_workload(ask.workload, root=root), None
        if ask.trained_on is not None:
            measured = workload.prompts[:most]
            training = read_training(ask.trained_on, measured, root=root, most=most)
            source = lasting_name(ask.trained_on, root)
        return [
            Settings(
                workload,
                concurrency=level,
                most_prompts=most,
                training=training,
                training_source=source,
            )
            for level in ask.concurrencies
        ]

    async def _arms_of(self, ask: TrialAsk) -> tuple[tuple[Profile, ...], tuple[Omitted, ...]]:
        """The baseline, what is tried against it, and points of a grid that would not run."""
        names = (ask.baseline, ask.profile, *ask.others)
        base, profile, *others = (arm_profile(self._workspace, name, ask.host) for name in names)
        if not ask.over:
            return (base, profile, *others), ()
        if others:
            raise UsageError(
                "over goes over one profile against its baseline",
                hint="Set also try to none, or over to none.",
            )
        own = tuple(profile.speculation.arguments) if profile.speculation else ()
        points = grid(profile, [read_axis(axis, own) for axis in ask.over])
        sound, omitted = await sift(await self._connection(ask.host), points)
        if not sound:
            why = "; ".join(f"{one.profile}: {one.reason}" for one in omitted)
            raise RefusedError(
                f"host {ask.host}: no point of the grid would run: {why}",
                hint=f"specctl check {profile.name} --on {ask.host} says what the build takes.",
            )
        return (base, *sound), omitted

    def _found(self, name: str, host: str) -> Profile | None:
        """The profile that a running server came from, as it is on the host."""
        try:
            return arm_profile(self._workspace, name, host)
        except (UsageError, InvalidFileError):
            return None

    async def plan_screening_on(self, screening: str) -> ScreeningProposal:
        """How a screening of the ledger would go on."""
        with closing(Ledger(ledger_file())) as ledger:
            kept, _ = read_screening(ledger, screening)
            refuse_finished(ledger, screening)
        plan = kept.plan
        settings = settings_again(plan, self._workspace.root)
        return await plan_screening_resumption(
            await self._connection(plan.host),
            plan,
            [arm_profile(self._workspace, name, plan.host) for name in plan.arms],
            settings,
            trial=kept.trial,
            find=lambda name: self._found(name, plan.host),
            secrets=self._known_secrets(),
            clock=self._clock,
        )

    async def run_screening(
        self, proposal: ScreeningProposal, *, budget_s: float | None = None
    ) -> ScreeningOutcome:
        """Carry a screening and its trial out, or on; cancelled, it restores what ran."""
        plan = proposal.plan
        connection = await self._connection(plan.host)
        with closing(Ledger(ledger_file())) as ledger:
            return await run_screening(
                connection,
                proposal,
                secrets=self._known_secrets(),
                store=self._store,
                clock=self._clock,
                ledger=ledger,
                budget_s=budget_s,
            )

    async def read_screening(self, screening: str) -> ScreeningSheet:
        """A screening of the ledger, as far as it has come."""
        return await asyncio.to_thread(_read, screening)


def _read(screening: str) -> ScreeningSheet:
    with closing(Ledger(ledger_file())) as ledger:
        try:
            kept, blocks = read_screening(ledger, screening)
        except ValueError as error:
            raise UsageError(f"run {screening} does not hold a screening: {error}") from error
    return make_screening_sheet(kept.plan, blocks, kept.trial)
