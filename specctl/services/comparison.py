"""Several profiles on one host, each started, probed with the same prompts, and stopped.

Whatever specctl had running where the arms need it is started again at the end, also when the
comparison is interrupted or an arm fails.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.command import server_environment
from specctl.domain.comparison import Arm, Comparison, find_unasked
from specctl.domain.errors import HostError, RefusedError, UsageError
from specctl.domain.measured_on import MEASURING
from specctl.domain.plan import all_next_steps, all_words, refused
from specctl.domain.preflight import StartOptions
from specctl.domain.simulated_acceptance import forced_on
from specctl.services.arm import Bench, run_arm
from specctl.services.cancelling import take_back_cancelling
from specctl.services.host_reading import read_host
from specctl.services.launch import plan_launch
from specctl.services.locks import find_measuring, hold_locks
from specctl.services.mutating import mutating
from specctl.services.restoring import Former, plan_restoring, restore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.adapters.clock import Clock
    from specctl.adapters.secrets import Secrets
    from specctl.domain.plan import Check
    from specctl.domain.profile import Profile
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.probing import Settings

INTERRUPTED = "not measured: interrupted"
NOT_REACHED = "not measured: an arm before it could not be stopped"


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """What a comparison would do to a host."""

    host: str
    profiles: tuple[Profile, ...]
    """The baseline first."""

    settings: Settings
    formers: tuple[Former, ...]
    refusals: tuple[Check, ...]
    expected_s: float | None
    """Of the loads alone; None when one of them has never been loaded here."""

    lock_keys: tuple[str, ...] = ()
    """Held on the host from the first launch to the end."""

    @property
    def steps(self) -> tuple[str, ...]:
        """What would be done, in order."""
        workload = self.settings.workload
        prompts = len(workload.prompts[: self.settings.most_prompts])
        trained = f", {self.settings.trained_on.words}" if self.settings.trained_on else ""
        probe = f"probe it with {prompts} prompts of {workload.name}{trained}, stop it"
        return (
            *(
                f"stop {former.server.name} ({former.profile.name})"
                for former in self.formers
                if former.server is not None
            ),
            *(f"start {profile.name}, {probe}" for profile in self.profiles),
            *(f"start {former.profile.name} again" for former in self.formers),
        )


async def plan_comparison(
    connection: Connection,
    profiles: Sequence[Profile],
    settings: Settings,
    *,
    find: Callable[[str], Profile | None],
    secrets: Secrets,
    clock: Clock,
    is_acceptance_forced: bool = False,
) -> ComparisonPlan:
    """What comparing `profiles` would do; `find` gives the profile that a server came from.

    Profiles that have their accepted tokens made up are refused unless `is_acceptance_forced`.
    """
    names = [profile.name for profile in profiles]
    if len(set(names)) < max(len(names), 2):
        raise UsageError(
            "a comparison needs a baseline and at least one other profile, each once",
            hint="specctl compare HOST BASELINE PROFILE",
        )
    options = StartOptions(replace=True)
    plans = [
        await plan_launch(
            connection, profile, options, secrets=secrets, clock=clock, is_measuring=True
        )
        for profile in profiles
    ]
    stops = {server.name: server for plan in plans for server in plan.stops}
    reading = await read_host(connection)
    host = connection.host.name
    formers, unrestorable = plan_restoring(host, stops.values(), reading, find)
    loads = [plan.expected_s for plan in plans]
    keys = sorted({key for plan in plans for key in plan.lock_keys})
    measuring = await find_measuring(connection, keys)
    forced = () if is_acceptance_forced else _find_forced(connection, profiles)
    refused_plans = [check for plan in plans for check in plan.refusals]
    refusals = (*measuring, *unrestorable, *forced, *refused_plans)
    return ComparisonPlan(
        host=host,
        profiles=tuple(profiles),
        settings=settings,
        formers=formers,
        refusals=tuple(dict.fromkeys(refusals)),
        expected_s=None if None in loads else sum(load for load in loads if load is not None),
        lock_keys=tuple(MEASURING + key for key in keys),
    )


def _find_forced(connection: Connection, profiles: Sequence[Profile]) -> tuple[Check, ...]:
    host = connection.host
    next_step = f"Take it out, or see specctl cost {host.name} --simulate-accept-length."
    return tuple(
        refused("acceptance", f"{profile.name} sets {name}: accepted tokens are made up", next_step)
        for profile in profiles
        if (name := forced_on(server_environment(profile, host))) is not None
    )


@mutating("a comparison")
async def compare(
    connection: Connection,
    plan: ComparisonPlan,
    *,
    secrets: Secrets,
    store: Store,
    clock: Clock,
) -> Comparison:
    """Carry a comparison out; cancelled, it restores what ran before and returns what it has."""
    if plan.refusals:
        raise RefusedError(
            f"host {plan.host}: {all_words(plan.refusals)}", hint=all_next_steps(plan.refusals)
        )
    async with hold_locks(connection, plan.lock_keys, "specctl compare"):
        return await _carry_out(connection, plan, secrets=secrets, store=store, clock=clock)


async def _carry_out(
    connection: Connection, plan: ComparisonPlan, *, secrets: Secrets, store: Store, clock: Clock
) -> Comparison:
    bench = Bench(connection, plan.settings, secrets, store, clock)
    arms: list[Arm] = []
    is_interrupted = False
    try:
        for profile in plan.profiles:
            arm = await run_arm(bench, profile)
            arms.append(arm)
            if bench.left:
                break
    except asyncio.CancelledError:
        take_back_cancelling()
        is_interrupted = True
    except HostError as error:
        error.hint = f"{error.hint} {_after_loss(plan)}".strip()
        raise
    restored = await restore(connection, plan.formers, secrets=secrets, store=store, clock=clock)
    restored = (*bench.left, *restored)
    return _comparison(plan, arms, restored, is_interrupted=is_interrupted)


def _after_loss(plan: ComparisonPlan) -> str:
    names = ", ".join(former.profile.name for former in plan.formers)
    before = f" Before, this ran: {names}." if names else ""
    return f"specctl status {plan.host} shows what is left of the comparison.{before}"


def _comparison(
    plan: ComparisonPlan, arms: list[Arm], restored: tuple[str, ...], *, is_interrupted: bool
) -> Comparison:
    words = INTERRUPTED if is_interrupted else NOT_REACHED
    arms += [Arm(profile.name, failure=words) for profile in plan.profiles[len(arms) :]]
    baseline = arms[0]
    differences = [
        one
        for arm, profile in zip(arms[1:], plan.profiles[1:], strict=True)
        if baseline.arguments and arm.arguments
        for one in find_unasked(baseline, arm, plan.profiles[0], profile)
    ]
    return Comparison(
        host=plan.host,
        workload=plan.settings.workload.name,
        concurrency=plan.settings.concurrency,
        arms=tuple(arms),
        differences=tuple(differences),
        restored=restored,
        interrupted=is_interrupted,
        trained_on=plan.settings.trained_on,
    )
