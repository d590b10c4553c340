"""What a screening and the trial after it would do to a host, before they do anything."""

from __future__ import annotations

import secrets as random
from dataclasses import dataclass, replace
from math import expm1, sqrt
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.estimate import Estimate, mean_estimate
from specctl.domain.figures import spoken
from specctl.domain.lint.finding import Severity
from specctl.domain.trial.design import floor_of, spread_of
from specctl.domain.trial.points import split_name
from specctl.domain.trial.running import TrialPlan
from specctl.domain.trial.screening import DROPPED_BEYOND, PRIOR_SPREAD
from specctl.domain.trial.screening_plan import Omitted, ScreeningPlan
from specctl.services.comparison import plan_comparison
from specctl.services.estimating import estimate_probe
from specctl.services.launch import recipe_hash
from specctl.services.linting import lint_on
from specctl.services.predicting import with_predictions
from specctl.services.restoring import before_of, formers_of, left_over_of, left_over_words
from specctl.services.trial_plan import FLOOR_AGE_S, UNKNOWN, Proposal, find_changed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.adapters.ledger import Ledger
    from specctl.adapters.secrets import Secrets
    from specctl.domain.lint.finding import Finding
    from specctl.domain.plan import Check
    from specctl.domain.profile import Profile
    from specctl.domain.trial.design import Design
    from specctl.services.connection import Connection
    from specctl.services.probing import Settings
    from specctl.services.restoring import Former


@dataclass(frozen=True, slots=True)
class ScreeningProposal:
    """A screening to be agreed to."""

    plan: ScreeningPlan
    profiles: tuple[Profile, ...]
    """The baseline first."""

    settings: tuple[Settings, ...]
    """By concurrency; the screening is at the first."""

    formers: tuple[Former, ...]
    refusals: tuple[Check, ...]
    load_s: float | None
    """Of one launch, the mean of all arms; None when one has never been loaded here."""

    lock_keys: tuple[str, ...] = ()
    """Held on the host from the first launch to the end."""

    trial: str | None = None
    """The trial that has been planned already, of a screening that goes on."""

    measuring: Estimate = UNKNOWN
    """How long measuring takes in one launch, the mean of the arms whose time is known."""

    left_over: tuple[Former, ...] = ()
    """Servers that an end by force left running, of a screening that goes on."""

    @property
    def least_launches(self) -> int:
        """When all but one leave after the first round, and the trial decides at its first look."""
        return len(self.plan.arms) + 2 * self.plan.design.looks[0]

    @property
    def most_launches(self) -> int:
        """Of screening and trial."""
        return self.plan.most_launches + 2 * self.plan.design.most_launches

    def profile(self, name: str) -> Profile:
        """The arm of that name."""
        return next(profile for profile in self.profiles if profile.name == name)

    @property
    def words(self) -> tuple[str, ...]:
        """What would be done, what it takes and what it can find, a line each."""
        plan, design = self.plan, self.plan.design
        gap = expm1(DROPPED_BEYOND * PRIOR_SPREAD * sqrt(2))
        load = "" if self.load_s is None else f", about {spoken(self.load_s)} to load"
        trained = f"; {plan.trained_on.words}" if plan.trained_on else ""
        return (
            *(f"leave out {one.profile}: {one.reason}" for one in plan.omitted),
            *(
                f"stop {former.server.name} ({former.profile.name})"
                for former in self.formers
                if former.server is not None
            ),
            *left_over_words(self.left_over),
            f"screen {', '.join(plan.candidates)}",
            f"at most {plan.rounds} rounds; each launches every one that is left once, and "
            f"{plan.baseline}: {len(plan.arms)} to {plan.most_launches} launches",
            f"each launch: {plan.prompts} prompts of {plan.workload} at concurrency "
            f"{plan.concurrencies[0]}{load}{trained}; {self.measuring.said('measuring')}",
            "after each round those leave that lie further behind the best than launches vary: "
            f"{gap:.1%} after the first, less later; of what cannot be told apart the one with the "
            "fewest steps is taken",
            f"then a trial of the one that is left against {plan.baseline}, with launches of its "
            f"own: a first verdict after {2 * design.looks[0]}, the last after "
            f"{2 * design.most_launches}",
            f"in all {self.least_launches} to {self.most_launches} launches{self._time_words()}",
            *(f"start {former.profile.name} again" for former in self.formers),
        )

    def _time_words(self) -> str:
        if self.load_s is None:
            return "; what a load takes here is not known yet"
        counts = (self.least_launches, self.most_launches)
        if self.measuring.seconds is not None:
            launch_s = self.load_s + self.measuring.seconds
            both = [spoken(launch_s * count) for count in counts]
            return f": about {both[0]} and at most {both[1]}, loading and measuring"
        times = [spoken(self.load_s * count) for count in counts]
        return f": {times[0]} to {times[1]} of loading alone; what is measured comes on top"


async def sift(
    connection: Connection, points: Sequence[Profile]
) -> tuple[tuple[Profile, ...], tuple[Omitted, ...]]:
    """Points that the host's build would run, and those it would not or would run as another."""
    sound: dict[str, Profile] = {}
    omitted: list[Omitted] = []
    for point in points:
        linted = await lint_on(connection, point)
        errors = [one for one in linted.findings if one.severity is Severity.ERROR]
        if errors:
            omitted.append(Omitted(point.name, _reason(errors[0])))
            continue
        resolved = repr(sorted(linted.resolved.items()))
        if resolved in sound:
            same = f"the build makes the same of it as of {sound[resolved].name}"
            omitted.append(Omitted(point.name, same))
            continue
        sound[resolved] = point
    return tuple(sound.values()), tuple(omitted)


def _reason(finding: Finding) -> str:
    return f"{finding.key}: {finding.message}" if finding.key else finding.message


async def plan_screening(
    connection: Connection,
    profiles: Sequence[Profile],
    settings: Sequence[Settings],
    design: Design,
    *,
    find: Callable[[str], Profile | None],
    secrets: Secrets,
    clock: Clock,
    workload_source: str = "",
    omitted: Sequence[Omitted] = (),
    ledger: Path | None = None,
) -> ScreeningProposal:
    """What screening `profiles`, the baseline first, would do.

    `ledger` is the file that says how long measuring took before.
    """
    comparison = await plan_comparison(
        connection, profiles, settings[0], find=find, secrets=secrets, clock=clock
    )
    host, workload = connection.host, settings[0].workload
    plan = ScreeningPlan(
        id=random.token_hex(4),
        host=host.name,
        baseline=profiles[0].name,
        candidates=tuple(profile.name for profile in profiles[1:]),
        workload=workload.name,
        workload_source=workload_source or workload.name,
        workload_sha256=workload.sha256,
        prompts=len(workload.prompts[: settings[0].most_prompts]),
        temperature=workload.sampling.temperature,
        concurrencies=tuple(one.concurrency for one in settings),
        design=design,
        created_s=clock.now(),
        recipes=tuple(map(recipe_hash, profiles)),
        is_simulated=host.is_simulated,
        before=before_of(comparison.formers),
        omitted=tuple(omitted),
        trained_on=settings[0].trained_on,
        training_source=settings[0].training_source,
    )
    loads = comparison.expected_s
    return ScreeningProposal(
        plan=plan,
        profiles=tuple(profiles),
        settings=tuple(settings),
        formers=comparison.formers,
        refusals=comparison.refusals,
        load_s=None if loads is None else loads / len(profiles),
        lock_keys=comparison.lock_keys,
        measuring=_measuring(ledger, host.name, profiles, settings[0], clock.now()),
    )


def _measuring(
    ledger: Path | None, host: str, profiles: Sequence[Profile], settings: Settings, now_s: float
) -> Estimate:
    """A point of a grid takes about as long as its profile."""
    if ledger is None:
        return UNKNOWN
    names = dict.fromkeys(split_name(profile.name)[0] for profile in profiles)
    found = [estimate_probe(ledger, host, name, settings, now_s=now_s) for name in names]
    return mean_estimate([one for one in found if one.seconds is not None] or found)


async def plan_screening_resumption(
    connection: Connection,
    plan: ScreeningPlan,
    profiles: Sequence[Profile],
    settings: Sequence[Settings],
    *,
    trial: str | None,
    find: Callable[[str], Profile | None],
    secrets: Secrets,
    clock: Clock,
) -> ScreeningProposal:
    """How a screening of the ledger goes on; raises UsageError when it would be another one."""
    changed = find_changed(plan, profiles, settings[0])
    if changed is not None:
        raise UsageError(
            f"{changed} has changed since screening {plan.id} began",
            hint="Restore its file (git), or begin a new screening.",
        )
    comparison = await plan_comparison(
        connection, profiles, settings[0], find=find, secrets=secrets, clock=clock
    )
    loads = comparison.expected_s
    return ScreeningProposal(
        plan=plan,
        profiles=tuple(profiles),
        settings=tuple(settings),
        formers=formers_of(plan.before, plan.arms, comparison.formers, find),
        refusals=comparison.refusals,
        load_s=None if loads is None else loads / len(profiles),
        lock_keys=comparison.lock_keys,
        trial=trial,
        left_over=left_over_of(plan.before, plan.arms, comparison.formers),
    )


def confirming(
    proposal: ScreeningProposal, survivor: str, *, clock: Clock, ledger: Ledger
) -> Proposal:
    """The trial of the survivor, which knows nothing of what the screening measured."""
    plan = proposal.plan
    recipes = dict(zip(plan.arms, plan.recipes, strict=True))
    pair = (recipes[plan.baseline], recipes[survivor])
    since_s = clock.now() - FLOOR_AGE_S
    known = ledger.spreads(
        plan.host, pair, plan.concurrencies[0], since_s, trained_on=plan.trained_on
    )
    trial = TrialPlan(
        id=proposal.trial or random.token_hex(4),
        host=plan.host,
        baseline=plan.baseline,
        profile=survivor,
        workload=plan.workload,
        workload_source=plan.workload_source,
        workload_sha256=plan.workload_sha256,
        prompts=plan.prompts,
        temperature=plan.temperature,
        concurrencies=plan.concurrencies,
        design=replace(plan.design, floor=floor_of(known), known_spread=spread_of(known)),
        created_s=clock.now(),
        recipes=pair,
        is_simulated=plan.is_simulated,
        before=plan.before,
        trained_on=plan.trained_on,
        training_source=plan.training_source,
    )
    is_plain = proposal.profile(plan.baseline).speculation is None
    return confirming_again(proposal, with_predictions(ledger, trial, is_baseline_plain=is_plain))


def confirming_again(proposal: ScreeningProposal, trial: TrialPlan) -> Proposal:
    """A trial that is in the ledger already."""
    return Proposal(
        plan=trial,
        profiles=(proposal.profile(trial.baseline), proposal.profile(trial.profile)),
        settings=proposal.settings,
        formers=proposal.formers,
        refusals=(),
        load_s=proposal.load_s,
        lock_keys=proposal.lock_keys,
        left_over=proposal.left_over,
    )
