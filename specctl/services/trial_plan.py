"""What a trial would do to a host, before it does anything."""

from __future__ import annotations

import secrets as random
from dataclasses import dataclass, replace
from math import expm1
from typing import TYPE_CHECKING

from specctl.adapters.workloads import read_training, read_workload
from specctl.domain.errors import UsageError
from specctl.domain.estimate import UNTIL_THE_FIRST, Estimate, mean_estimate, sum_estimates
from specctl.domain.figures import spoken
from specctl.domain.trial.design import floor_of, spread_of
from specctl.domain.trial.running import TrialPlan
from specctl.services.comparison import plan_comparison
from specctl.services.estimating import estimate_probe
from specctl.services.launch import recipe_hash
from specctl.services.predicting import with_predictions
from specctl.services.probing import Settings
from specctl.services.restoring import before_of, formers_of, left_over_of, left_over_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.adapters.ledger import Ledger
    from specctl.adapters.secrets import Secrets
    from specctl.domain.plan import Check
    from specctl.domain.profile import Profile
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.screening_plan import ScreeningPlan
    from specctl.services.connection import Connection
    from specctl.services.restoring import Former

FLOOR_AGE_S = 30 * 86_400.0
"""Launches older than this say nothing of how a host varies today."""

USUAL_SPREAD = 0.01
"""Between launches, until the trial's own launches speak."""

WORTH_SAYING = 1
UNKNOWN = Estimate(None, UNTIL_THE_FIRST)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A trial to be agreed to."""

    plan: TrialPlan
    profiles: tuple[Profile, Profile]
    """The baseline first."""

    settings: tuple[Settings, ...]
    """By concurrency, the primary one first."""

    formers: tuple[Former, ...]
    refusals: tuple[Check, ...]
    load_s: float | None
    """Of one launch, the mean of both arms; None when one has never been loaded here."""

    lock_keys: tuple[str, ...] = ()
    """Held on the host from the first launch to the end."""

    measuring: Estimate = UNKNOWN
    """How long measuring takes in one launch, the mean of both arms."""

    left_over: tuple[Former, ...] = ()
    """Servers that an end by force left running, of a trial that goes on."""

    @property
    def words(self) -> tuple[str, ...]:
        """What would be done, what it takes and what it can find, a line each."""
        plan, design = self.plan, self.plan.design
        order = " ".join(
            f"{first}{second}"
            for first, second in zip(plan.order[::2], plan.order[1::2], strict=True)
        )
        lines = [
            *(
                f"stop {former.server.name} ({former.profile.name})"
                for former in self.formers
                if former.server is not None
            ),
            *left_over_words(self.left_over),
            f"A is {plan.baseline}, B is {plan.profile}; launches in the order {order}, "
            "each with a restart",
            self._block_words(),
            *self._look_words(),
            *(f"at concurrency {one.concurrency} {one.words(None)}" for one in plan.predicted),
            *(f"start {former.profile.name} again" for former in self.formers),
        ]
        if design.most_launches == WORTH_SAYING:
            lines.append("one launch each is a number, never a verdict")
        return tuple(lines)

    def _block_words(self) -> str:
        plan = self.plan
        levels = ", ".join(map(str, plan.concurrencies))
        load = "" if self.load_s is None else f", about {spoken(self.load_s)} to load"
        what = f"{plan.prompts} prompts of {plan.workload} at concurrency {levels}"
        trained = f"; {plan.trained_on.words}" if plan.trained_on else ""
        return f"each launch: {what}{load}{trained}; {self.measuring.said('measuring')}"

    def _look_words(self) -> list[str]:
        design = self.plan.design
        if not design.looks:
            return []
        first, last = design.looks[0], design.most_launches
        lines = [
            f"a first verdict is possible after {2 * first} launches, the last after {2 * last}"
            + self._time_words(2 * first, 2 * last)
        ]
        spread = design.known_spread or USUAL_SPREAD
        smallest = design.smallest_found(last, spread)
        if smallest is not None:
            here = ", as in earlier trials here" if design.known_spread else ""
            lines.append(
                f"where launches vary by {spread:.1%}{here}, a difference of "
                f"{expm1(smallest):.1%} is found with 80 % chance; margin ±{design.margin:.0%}"
            )
        return lines

    def _time_words(self, first: int, last: int) -> str:
        if self.load_s is None:
            return ""
        if self.measuring.seconds is not None:
            launch_s = self.load_s + self.measuring.seconds
            both = [spoken(launch_s * count) for count in (first, last)]
            return f": about {both[0]} and at most {both[1]}, loading and measuring"
        times = [spoken(self.load_s * count) for count in (first, last)]
        return f": {times[0]} and {times[1]} of loading alone; what is measured comes on top"


def settings_again(plan: TrialPlan | ScreeningPlan, root: Path) -> list[Settings]:
    """What a plan of the ledger measures with, by concurrency; its workload is read again."""
    workload = read_workload(plan.workload_source, root=root)
    measured, training = workload.prompts[: plan.prompts], None
    if plan.trained_on is not None:
        most = plan.trained_on.prompts
        training = read_training(plan.training_source, measured, root=root, most=most)
    return [
        Settings(
            workload=workload,
            concurrency=concurrency,
            most_prompts=plan.prompts,
            training=training,
            training_source=plan.training_source,
        )
        for concurrency in plan.concurrencies
    ]


def find_changed(
    plan: TrialPlan | ScreeningPlan, profiles: Sequence[Profile], settings: Settings
) -> str | None:
    """What is no longer as it was when the plan was made."""
    for profile, recipe in zip(profiles, plan.recipes, strict=True):
        if recipe_hash(profile) != recipe:
            return profile.name
    if settings.workload.sha256 != plan.workload_sha256:
        return f"the workload {plan.workload_source}"
    if settings.trained_on != plan.trained_on:
        return f"the training set {plan.training_source}"
    return None


async def plan_trial(
    connection: Connection,
    profiles: tuple[Profile, Profile],
    settings: Sequence[Settings],
    design: Design,
    *,
    find: Callable[[str], Profile | None],
    secrets: Secrets,
    clock: Clock,
    ledger: Ledger,
    workload_source: str = "",
) -> Proposal:
    """What a trial of `profiles` would do; raises UsageError for what makes none."""
    concurrencies = tuple(one.concurrency for one in settings)
    if len(set(concurrencies)) != len(concurrencies):
        raise UsageError("a concurrency is named twice", hint="Name each once.")
    comparison = await plan_comparison(
        connection, profiles, settings[0], find=find, secrets=secrets, clock=clock
    )
    recipes = (recipe_hash(profiles[0]), recipe_hash(profiles[1]))
    host, workload = connection.host, settings[0].workload
    since_s = clock.now() - FLOOR_AGE_S
    known = ledger.spreads(
        host.name, recipes, concurrencies[0], since_s, trained_on=settings[0].trained_on
    )
    plan = TrialPlan(
        id=random.token_hex(4),
        host=host.name,
        baseline=profiles[0].name,
        profile=profiles[1].name,
        workload=workload.name,
        workload_source=workload_source or workload.name,
        workload_sha256=workload.sha256,
        prompts=len(workload.prompts[: settings[0].most_prompts]),
        temperature=workload.sampling.temperature,
        concurrencies=concurrencies,
        design=replace(design, floor=floor_of(known), known_spread=spread_of(known)),
        created_s=clock.now(),
        recipes=recipes,
        is_simulated=host.is_simulated,
        before=before_of(comparison.formers),
        trained_on=settings[0].trained_on,
        training_source=settings[0].training_source,
    )
    is_plain = profiles[0].speculation is None
    plan = with_predictions(ledger, plan, is_baseline_plain=is_plain)
    loads = comparison.expected_s
    return Proposal(
        plan=plan,
        profiles=profiles,
        settings=tuple(settings),
        formers=comparison.formers,
        refusals=comparison.refusals,
        load_s=None if loads is None else loads / 2,
        lock_keys=comparison.lock_keys,
        measuring=_measuring(ledger.path, host.name, profiles, settings, clock.now()),
    )


def _measuring(
    ledger: Path,
    host: str,
    profiles: tuple[Profile, Profile],
    settings: Sequence[Settings],
    now_s: float,
) -> Estimate:
    arms = [
        sum_estimates(
            [estimate_probe(ledger, host, profile.name, one, now_s=now_s) for one in settings]
        )
        for profile in profiles
    ]
    return mean_estimate(arms)


async def plan_resumption(
    connection: Connection,
    plan: TrialPlan,
    profiles: tuple[Profile, Profile],
    settings: Sequence[Settings],
    *,
    find: Callable[[str], Profile | None],
    secrets: Secrets,
    clock: Clock,
    ledger: Path,
) -> Proposal:
    """How a trial of the ledger goes on; raises UsageError when it would be another one.

    `ledger` is the file that earlier measurements are looked up in.
    """
    changed = find_changed(plan, profiles, settings[0])
    if changed is not None:
        raise UsageError(
            f"{changed} has changed since trial {plan.id} began",
            hint="Restore its file (git), or begin a new trial.",
        )
    comparison = await plan_comparison(
        connection, profiles, settings[0], find=find, secrets=secrets, clock=clock
    )
    loads, arms = comparison.expected_s, (plan.baseline, plan.profile)
    return Proposal(
        plan=plan,
        profiles=profiles,
        settings=tuple(settings),
        formers=formers_of(plan.before, arms, comparison.formers, find),
        refusals=comparison.refusals,
        load_s=None if loads is None else loads / 2,
        lock_keys=comparison.lock_keys,
        measuring=_measuring(ledger, connection.host.name, profiles, settings, clock.now()),
        left_over=left_over_of(plan.before, arms, comparison.formers),
    )
