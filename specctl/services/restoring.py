"""What ran before a comparison, and starting it again afterwards."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.events import RESTORING, PlanProgressed
from specctl.domain.plan import all_words, refused
from specctl.domain.preflight import StartOptions
from specctl.domain.start_plan import place
from specctl.domain.trial.running import Before
from specctl.services.launch import apply_launch, plan_launch, recipe_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from specctl.adapters.clock import Clock
    from specctl.adapters.secrets import Secrets
    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.plan import Check, Plan
    from specctl.domain.profile import Profile
    from specctl.domain.server import Server
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.host_reading import HostReading

ADOPT = "Stop it yourself first, or adopt it: specctl adopt {0} PID --write-profile NAME."
STOP = "Stop it yourself first: specctl stop {0}/{1}."


@dataclass(frozen=True, slots=True)
class Former:
    """A server that has to make way, and how it is started again."""

    server: Server | None
    """None: it has been stopped already, by a trial that goes on now."""

    profile: Profile
    options: StartOptions


def plan_restoring(
    host: str,
    servers: Iterable[Server],
    reading: HostReading,
    find: Callable[[str], Profile | None],
) -> tuple[tuple[Former, ...], tuple[Check, ...]]:
    """How each of `servers` would be started again, and those that could not be, refused."""
    formers: list[Former] = []
    checks: list[Check] = []
    for server in servers:
        found = _former(host, server, reading.record(server), find)
        if isinstance(found, Former):
            formers.append(found)
        else:
            checks.append(found)
    return tuple(formers), tuple(checks)


def _former(
    host: str,
    server: Server,
    record: LaunchRecord | None,
    find: Callable[[str], Profile | None],
) -> Former | Check:
    name = f"{host}/{server.name}"
    if not server.is_ours:
        words = f"{name} holds what a profile needs and is not under specctl's care"
        return refused("restore", words, ADOPT.format(host))
    stop = STOP.format(host, server.name)
    profile = find(server.profile) if server.profile else None
    if profile is None:
        words = f"{name} could not be started again: no profile says how"
        return refused("restore", words, stop)
    options = _options(server, profile, record)
    if options is None:
        words = f"{name} could not be started again as it is: {profile.name} has changed since"
        return refused("restore", words, stop)
    return Former(server, profile, options)


def _options(server: Server, profile: Profile, record: LaunchRecord | None) -> StartOptions | None:
    """Where it was; None when the profile is not the one it was launched from."""
    here = StartOptions(port=server.port)
    wanted = record.profile_hash if record else ""
    if not wanted or recipe_hash(place(profile, here)) == wanted:
        return here
    moved = StartOptions(port=server.port, gpus=server.gpus)
    return moved if recipe_hash(place(profile, moved)) == wanted else None


def formers_of(
    before: Iterable[Before],
    arms: Sequence[str],
    found: Iterable[Former],
    find: Callable[[str], Profile | None],
) -> tuple[Former, ...]:
    """What is to run again after a trial that goes on.

    A server of one of its own arms that did not run before it is what an end by force left over.
    """
    known = {one.launch_id: one for one in before}
    kept = [
        former
        for former in found
        if former.profile.name not in arms
        or (former.server is not None and former.server.launch_id in known)
    ]
    there = {former.server.launch_id for former in kept if former.server is not None}
    stopped = [one for one in known.values() if one.launch_id not in there]
    again = [(one, profile) for one in stopped if (profile := find(one.profile)) is not None]
    return (
        *kept,
        *(
            Former(None, profile, StartOptions(port=one.port, gpus=one.gpus))
            for one, profile in again
        ),
    )


def left_over_of(
    before: Iterable[Before], arms: Sequence[str], found: Iterable[Former]
) -> tuple[Former, ...]:
    """Servers of a trial's own arms that did not run before it."""
    known = {one.launch_id for one in before}
    return tuple(
        former
        for former in found
        if former.server is not None
        and former.profile.name in arms
        and former.server.launch_id not in known
    )


def left_over_words(left_over: Iterable[Former]) -> tuple[str, ...]:
    """What is to happen to them, a line each."""
    return tuple(
        f"stop {former.server.name} ({former.profile.name}), left over from an end by force"
        for former in left_over
        if former.server is not None
    )


def before_of(formers: Iterable[Former]) -> tuple[Before, ...]:
    """What a trial has to remember of them."""
    return tuple(
        Before(
            former.server.launch_id, former.profile.name, former.options.port, former.options.gpus
        )
        for former in formers
        if former.server is not None and former.server.launch_id is not None
    )


async def restore(
    connection: Connection,
    formers: Iterable[Former],
    *,
    secrets: Secrets,
    store: Store,
    clock: Clock,
) -> tuple[str, ...]:
    """Start everything again; what became of each, in words.

    Cancelled, it says of each that is not back what to do, and is cancelled on.
    """
    left, told = list(formers), []

    def tell(status: str, words: str) -> None:
        host, now_s = connection.host.name, clock.now()
        store.apply(PlanProgressed(host, now_s, RESTORING, RESTORING, status, words))

    if left:
        names = ", ".join(former.profile.name for former in left)
        tell("begun", f"starting {names} again, which ran before; Ctrl-C would leave that undone")
    try:
        while left:
            told.append(
                await _restore_one(connection, left[0], secrets=secrets, store=store, clock=clock)
            )
            del left[0]
    except asyncio.CancelledError:
        for former in left:
            tell("failed", _unrestored(connection.host.name, former.profile.name))
        raise
    return tuple(told)


def _unrestored(host: str, name: str) -> str:
    return (
        f"interrupted before {name} ran again, which ran before: specctl status {host} says "
        f"whether it is starting, else  specctl start {host} {name}"
    )


async def _restore_one(
    connection: Connection, former: Former, *, secrets: Secrets, store: Store, clock: Clock
) -> str:
    name = former.profile.name
    retry = f"specctl start {connection.host.name} {name}"
    try:
        plan = await plan_launch(
            connection,
            former.profile,
            former.options,
            secrets=secrets,
            clock=clock,
            is_measuring=True,
        )
        if plan.is_refused:
            return f"{name} was NOT started again: {all_words(plan.refusals)}. {retry}"
        outcome = await apply_launch(
            connection, plan, secrets=secrets, store=store, clock=clock, typed=_typed(plan)
        )
    except SpecctlError as error:
        return f"{name} was NOT started again: {error.message}. {retry}"
    if not outcome.succeeded:
        return f"{name} was NOT started again: {outcome.words} {retry}"
    return f"{name}, which ran before, runs again: {outcome.words}"


def _typed(plan: Plan) -> str:
    """Restoring was agreed to with the comparison; nothing foreign is ever in its plan."""
    return (plan.needs_typed or "") if not plan.stops else ""
