"""One arm of a comparison: start a profile, probe it, stop it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from specctl.domain.comparison import Arm
from specctl.domain.errors import HostError, LockedError, SpecctlError, UsageError
from specctl.domain.events import RESTORING, PlanProgressed
from specctl.domain.plan import all_next_steps, all_words
from specctl.domain.preflight import StartOptions
from specctl.domain.server import ServerState
from specctl.services.host_reading import read_host
from specctl.services.keys import keys_of
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.measured_server import MeasuredServer
from specctl.services.probing import probe_server
from specctl.services.stop import StopOptions, plan_stop, stop_server

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.secrets import Secrets
    from specctl.domain.plan import Plan
    from specctl.domain.probe import ProbeResult
    from specctl.domain.profile import Profile
    from specctl.domain.server import Server
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.outcome import Outcome
    from specctl.services.probing import Settings

RECORDS_STEPS = "SGLANG_RECORD_STEP_TIME"
"""A server with this variable keeps how long each of its decode steps took."""

GONE = frozenset({ServerState.ABSENT, ServerState.CRASHED})
LOCKED_MOST_S, LOCK_PAUSE_S = 300.0, 2.0
"""A lock is held while a plan is applied: that ends, and is no failure of an arm."""

SETTLE_S = 2.0
"""A launch whose answer was not waited for appears within this time."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where arms run, and with what."""

    connection: Connection
    settings: Settings
    secrets: Secrets
    store: Store
    clock: Clock
    more: tuple[Settings, ...] = ()
    """To measure each launch with as well, after `settings`."""

    left: list[str] = field(default_factory=list)
    """What could not be stopped, in words; nothing more can be measured then."""


async def run_arm(bench: Bench, profile: Profile) -> Arm:
    """The arm's part; what fails in it is its result, a lost host is raised.

    The server is stopped whatever happens, also when this is cancelled; then it is cancelled on.
    """
    algorithm = profile.speculation.algorithm if profile.speculation else None
    arm = Arm(profile.name, algorithm)
    try:
        plan = await _plan(bench, profile)
    except HostError:
        raise
    except SpecctlError as error:
        return replace(arm, failure=error.message, hint=error.hint)
    if plan.is_refused:
        words, hint = all_words(plan.refusals), all_next_steps(plan.refusals)
        return replace(arm, failure=words, hint=hint)
    arm = replace(arm, launch_id=plan.id)
    try:
        arm = await _launch_and_probe(bench, arm, profile, plan)
    finally:
        await _stop_to_the_end(bench, plan.id, profile)
    return arm


async def _stop_to_the_end(bench: Bench, launch_id: str, profile: Profile) -> None:
    """A first cancelling that comes meanwhile is held until the server is stopped.

    One that comes on top of another leaves the server where it is, and that is told.
    """
    task = asyncio.current_task()
    is_first = task is not None and task.cancelling() == 0
    try:
        try:
            await stop_arm(bench, launch_id, profile)
        except asyncio.CancelledError:
            if not is_first:
                raise
            await stop_arm(bench, launch_id, profile)
            raise
    except asyncio.CancelledError:
        if task is None or task.cancelling() > 1:
            _tell_left(bench, launch_id, profile)
        raise


def _tell_left(bench: Bench, launch_id: str, profile: Profile) -> None:
    host, now_s = bench.connection.host.name, bench.clock.now()
    words = (
        f"interrupted while {profile.name} was stopped, which was measured: specctl status {host} "
        f"says whether it runs, then  specctl stop {host}/{launch_id[:4]}"
    )
    bench.store.apply(PlanProgressed(host, now_s, RESTORING, RESTORING, "failed", words))


async def _plan(bench: Bench, profile: Profile) -> Plan:
    """Of the start; while somebody else applies a plan here, that is waited for."""
    until_s = bench.clock.monotonic() + LOCKED_MOST_S
    while True:
        plan = await plan_launch(
            bench.connection,
            profile,
            StartOptions(replace=True),
            secrets=bench.secrets,
            clock=bench.clock,
            is_measuring=True,
        )
        is_only_locked = {check.name for check in plan.refusals} == {"lock"}
        if not is_only_locked or bench.clock.monotonic() >= until_s:
            return plan
        await bench.clock.sleep(LOCK_PAUSE_S)


async def _apply(bench: Bench, plan: Plan) -> Outcome:
    """The start; who took the lock since the plan was made is waited for."""
    until_s = bench.clock.monotonic() + LOCKED_MOST_S
    while True:
        try:
            return await apply_launch(
                bench.connection,
                plan,
                secrets=bench.secrets,
                store=bench.store,
                clock=bench.clock,
            )
        except LockedError:
            if bench.clock.monotonic() >= until_s:
                raise
        await bench.clock.sleep(LOCK_PAUSE_S)


async def _launch_and_probe(bench: Bench, arm: Arm, profile: Profile, plan: Plan) -> Arm:
    try:
        outcome = await _apply(bench, plan)
        if not outcome.succeeded:
            return _failed(arm, outcome)
        arm = replace(arm, load_s=outcome.elapsed_s)
        server = (await read_host(bench.connection)).server(plan.id)
        arm = await _with_info(bench, arm, profile, server)
        for settings in (bench.settings, *bench.more):
            arm = _with_result(arm, await _probe(bench, server, settings, profile))
        if RECORDS_STEPS in profile.environment:
            arm = await _with_step_times(bench, arm, profile, server)
    except HostError:
        raise
    except SpecctlError as error:
        return await _explained(bench, replace(arm, failure=error.message, hint=error.hint), plan)
    return await _explained(bench, arm, plan)


async def _probe(bench: Bench, server: Server, settings: Settings, profile: Profile) -> ProbeResult:
    return await probe_server(
        bench.connection,
        server,
        settings,
        store=bench.store,
        clock=bench.clock,
        keys=keys_of(profile, bench.connection.host, bench.secrets),
        is_measuring=True,
    )


def _with_result(arm: Arm, result: ProbeResult) -> Arm:
    if arm.result is None:
        return replace(arm, result=result)
    return replace(arm, others=(*arm.others, result))


def _failed(arm: Arm, outcome: Outcome) -> Arm:
    arm = replace(arm, is_own_failure=True)
    if outcome.cause is None:
        return replace(arm, failure=outcome.words, hint=outcome.hint)
    return replace(arm, failure=outcome.cause.words, hint=outcome.cause.next_step)


async def _with_info(bench: Bench, arm: Arm, profile: Profile, server: Server) -> Arm:
    keys = keys_of(profile, bench.connection.host, bench.secrets)
    async with MeasuredServer(bench.connection, server, keys) as measured:
        info = (await measured.read()).info
    steps = info.arguments.get("speculative_num_steps")
    return replace(
        arm,
        algorithm=info.algorithm,
        arguments=info.arguments,
        steps=steps if isinstance(steps, int) else None,
        max_total_tokens=info.max_total_tokens,
        max_running_requests=info.max_running_requests,
    )


async def _with_step_times(bench: Bench, arm: Arm, profile: Profile, server: Server) -> Arm:
    keys = keys_of(profile, bench.connection.host, bench.secrets)
    async with MeasuredServer(bench.connection, server, keys) as measured:
        info = (await measured.read()).info
    times = {str(size): median(times) for size, times in info.step_times_s.items() if times}
    return replace(arm, recorded_step_s=times)


async def _explained(bench: Bench, arm: Arm, plan: Plan) -> Arm:
    """A server that died while it was measured is what happened to the arm."""
    results = () if arm.result is None else (arm.result, *arm.others)
    if len(results) > len(bench.more) and not any(result.void for result in results):
        return arm
    try:
        server = (await read_host(bench.connection)).server(plan.id)
    except UsageError:
        server = None
    if server is not None and server.pids and server.state not in GONE:
        return arm
    status = server.evidence.exit_status if server else None
    words = "the server died while it was measured"
    words += "" if status is None else f" (exit status {status})"
    hint = f"specctl logs {bench.connection.host.name}/{plan.id[:4]} shows its last words."
    return replace(arm, failure=words, hint=hint, is_own_failure=True)


async def stop_arm(bench: Bench, launch_id: str, profile: Profile) -> None:
    """Stop the server of this launch when it is there; notes when it stays."""
    try:
        stop = await _plan_stop(bench, launch_id)
        if stop is None:
            return
        outcome = await stop_server(
            bench.connection,
            stop,
            store=bench.store,
            clock=bench.clock,
            keys=keys_of(profile, bench.connection.host, bench.secrets),
            typed=stop.needs_typed or "",
        )
    except SpecctlError as error:
        bench.left.append(f"{profile.name} could not be stopped: {error.message}")
        return
    if not outcome.succeeded:
        bench.left.append(f"{profile.name} could not be stopped: {outcome.words}")


async def _plan_stop(bench: Bench, launch_id: str) -> Plan | None:
    options = StopOptions(now=True)
    for pause_s in (SETTLE_S, None):
        try:
            return await plan_stop(
                bench.connection, launch_id, options, clock=bench.clock, is_measuring=True
            )
        except UsageError:
            if pause_s is not None:
                await bench.clock.sleep(pause_s)
    return None
