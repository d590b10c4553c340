"""Stop a server and prove that it is gone."""

from __future__ import annotations

import secrets as random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.adapters.sglang import SglangClient
from specctl.domain.errors import DeadlineError, RefusedError, ServerAnswerError
from specctl.domain.measured_on import measuring_keys, with_measuring
from specctl.domain.stop_plan import plan_stop as make_plan
from specctl.services.choosing import the_server
from specctl.services.ending import Ending, StopTimes
from specctl.services.host_reading import read_host
from specctl.services.locks import hold_locks, look_at_locks
from specctl.services.measured_server import NO_KEYS, Keys, reachable_address
from specctl.services.mutating import mutating
from specctl.services.outcome import Outcome
from specctl.services.polling import ServerPoller
from specctl.services.preflight import read_preflight
from specctl.services.progress import Progress, require_allowed

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.domain.plan import Plan
    from specctl.domain.proof import Proof
    from specctl.domain.server import Server
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.host_reading import HostReading
    from specctl.services.watching import KeysOf


@dataclass(frozen=True, slots=True)
class StopOptions:
    """How a server is stopped."""

    now: bool = False
    """End its requests instead of waiting for them."""

    pid: int | None = None
    """Typed: the main process of a server that is not under specctl's care."""


async def plan_stop(
    connection: Connection,
    name: str | None,
    options: StopOptions,
    *,
    clock: Clock,
    keys_for: KeysOf | None = None,
    is_measuring: bool = False,
) -> Plan:
    """What stopping the server called `name`, or the only one of the host, would do.

    Where somebody measures it has to be typed for; `is_measuring` says that whoever asks is that
    somebody.
    """
    preflight, reading = await read_preflight(connection)
    server = _choose(reading, connection.host.name, name, options.pid)
    keys = keys_for(connection.host, server) if keys_for else NO_KEYS
    server = await with_requests(connection, server, clock, keys)
    plan = make_plan(
        server, preflight, plan_id=random.token_hex(4), now=options.now, typed_pid=options.pid
    )
    if is_measuring or not plan.steps:
        return plan
    holders = await look_at_locks(connection, measuring_keys(plan))
    return with_measuring(plan, holders, preflight.sample.time_s)


def _choose(reading: HostReading, host: str, name: str | None, pid: int | None) -> Server:
    """A typed pid names a server as well as its name does."""
    return the_server(reading, host, f"pid-{pid}" if name is None and pid is not None else name)


async def with_requests(connection: Connection, server: Server, clock: Clock, keys: Keys) -> Server:
    """`server` with the number of requests it is running, where it tells."""
    if server.port is None or not server.pids:
        return server
    client = client_of(connection, server, keys)
    try:
        poller = ServerPoller(
            client, clock, version=server.version, has_metrics=None, is_speculating=None
        )
        sample = await poller.poll()
    finally:
        await client.aclose()
    evidence = replace(server.evidence, running_requests=sample.running_requests, http=poller.http)
    return replace(server, evidence=evidence)


def client_of(connection: Connection, server: Server, keys: Keys) -> SglangClient:
    """A client of one server's HTTP."""
    return SglangClient(
        connection.session.transport(),
        server.port or 0,
        address=reachable_address(server.bind_address),
        key=keys.api,
        admin_key=keys.admin,
    )


@mutating("stop")
async def stop_server(
    connection: Connection,
    plan: Plan,
    *,
    store: Store,
    clock: Clock,
    keys: Keys = NO_KEYS,
    typed: str = "",
    times: StopTimes | None = None,
) -> Outcome:
    """Carry out the plan of a stop; a server that is not gone is an outcome, not an error."""
    require_allowed(plan, typed)
    progress = Progress(plan, store, clock)
    server = plan.target
    if server is None or not plan.steps:
        words = f"{server.name if server else 'It'} is gone already."
        progress.finish(words, succeeded=True)
        return Outcome(plan.id, plan.host, succeeded=True, words=words)
    async with hold_locks(connection, plan.lock_keys, f"specctl stop {server.name}"):
        reading = await read_host(connection)
        proof = await end_server(
            connection, reading, server, progress, keys=keys, now=plan.now, times=times
        )
    progress.finish(proof.words, succeeded=proof.gone)
    return outcome_of(plan, server, proof)


async def end_server(
    connection: Connection,
    reading: HostReading,
    server: Server,
    progress: Progress,
    *,
    keys: Keys,
    now: bool,
    times: StopTimes | None = None,
) -> Proof:
    """Stop one server of a plan whose locks are held, and prove that it is gone."""
    current = next((s for s in reading.servers if is_same(s, server)), None)
    if (
        current is None
        and server.identity is not None
        and server.identity.pid in {s.identity.pid for s in reading.servers if s.identity}
    ):
        raise RefusedError(
            f"{server.name} is not what it was when the plan was made",
            hint="Look again with specctl status, and plan again.",
        )
    ending = Ending(connection, current or server, reading, progress, times=times or StopTimes())
    client = client_of(connection, server, keys)
    try:
        return await ending.run(lambda: abort_requests(client), now=now)
    finally:
        await client.aclose()


def is_same(found: Server, planned: Server) -> bool:
    """The server a plan was made for: by launch id, else by its main process."""
    if planned.launch_id is not None:
        return found.launch_id == planned.launch_id
    mine, its = found.identity, planned.identity
    if mine is None or its is None:
        return False
    return (mine.boot_id, mine.pid, mine.start_ticks) == (its.boot_id, its.pid, its.start_ticks)


async def abort_requests(client: SglangClient) -> str:
    """End every request; what kept it from that, or nothing."""
    try:
        body = {"abort_all": True}
        answer = await client.post("/abort_request", body, timeout_s=5, admin=True)
        answer.require_ok()
    except (ServerAnswerError, DeadlineError) as error:
        return error.message
    return ""


def outcome_of(plan: Plan, server: Server, proof: Proof) -> Outcome:
    """A proof as an outcome."""
    hint = "" if proof.gone else "Its owner can end what is left; specctl status shows it."
    return Outcome(
        plan.id,
        plan.host,
        succeeded=proof.gone,
        words=proof.words,
        hint=hint,
        server=server.name,
        proofs=(proof,),
        log_path=server.log_path,
        elapsed_s=proof.elapsed_s,
        notes=proof.notes,
    )
