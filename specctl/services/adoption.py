"""Taking a server under care that was started some other way."""

from __future__ import annotations

import secrets as random
from typing import TYPE_CHECKING, Any

from specctl.adapters.clock import SystemClock
from specctl.domain.command import parse_argv
from specctl.domain.errors import DeadlineError, RefusedError, ServerAnswerError, UsageError
from specctl.domain.importing import draft_from_argv
from specctl.domain.launch_record import (
    LaunchRecord,
    choose_launch_id,
    read_identity,
    simulated_key,
)
from specctl.domain.state import Store
from specctl.domain.stop_plan import plan_adopt as make_plan
from specctl.facts.capabilities import server_info_paths
from specctl.facts.redact import MASK, redact_argv
from specctl.facts.server_info import ServerInfo, parse_server_info
from specctl.services.host_reading import ask_records, list_processes, read_host
from specctl.services.locks import hold_locks, operator
from specctl.services.measured_server import NO_KEYS, Keys
from specctl.services.mutating import mutating
from specctl.services.outcome import Outcome
from specctl.services.preflight import read_preflight
from specctl.services.progress import Progress, require_allowed
from specctl.services.stop import client_of, is_same

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.domain.importing import Draft
    from specctl.domain.plan import Plan
    from specctl.domain.server import Server
    from specctl.services.connection import Connection
    from specctl.services.host_reading import HostReading

VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE",
    "OMP_NUM_THREADS", "PYTHONPATH", "GLOO_SOCKET_IFNAME", "NCCL_P2P_DISABLE", "NCCL_IB_DISABLE",
    "NCCL_SOCKET_IFNAME", "NCCL_P2P_LEVEL", "NCCL_ALGO", "SGLANG_USE_CPU_ENGINE",
    "SGLANG_USE_MODELSCOPE", "SGLANG_TORCH_PROFILER_DIR", "SGLANG_RECORD_STEP_TIME",
    "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN", "TORCHDYNAMO_DISABLE",
)  # fmt: skip
"""What of a process's environment belongs into a profile; nothing else of it is read."""


async def plan_adopt(connection: Connection, pid: int) -> Plan:
    """What adopting the server that process `pid` belongs to would record."""
    preflight, reading = await read_preflight(connection)
    server = _server_of(connection, reading, pid)
    ids = [random.token_hex(4) for _ in range(16)]
    return make_plan(server, preflight, plan_id=choose_launch_id(ids, preflight.records))


def _server_of(connection: Connection, reading: HostReading, pid: int) -> Server:
    for server in reading.servers:
        if pid in server.pids:
            return server
    known = ", ".join(str(s.identity.pid) for s in reading.servers if s.identity and s.pids)
    raise UsageError(
        f"host {connection.host.name}: pid {pid} is no process of an SGLang server",
        hint=f"Their main processes: {known}." if known else "No SGLang server runs there.",
    )


async def adopt_pid(connection: Connection, pid: int) -> LaunchRecord:
    """Adopt the server of process `pid`; raises when it cannot or may not be."""
    plan = await plan_adopt(connection, pid)
    await adopt(connection, plan, store=Store(), clock=SystemClock())
    reading = await read_host(connection)
    record = reading.record(_server_of(connection, reading, pid))
    if record is None:
        raise RefusedError(
            f"host {connection.host.name}: pid {pid} ended while it was adopted",
            hint=f"specctl status {connection.host.name}",
        )
    return record


@mutating("adopt")
async def adopt(
    connection: Connection,
    plan: Plan,
    *,
    store: Store,
    clock: Clock,
    profile: str | None = None,
) -> Outcome:
    """Record the identity of the plan's server; the server itself notices nothing."""
    require_allowed(plan)
    progress = Progress(plan, store, clock)
    server = plan.target
    if server is None or server.identity is None or not plan.steps:
        name = server.name if server else ""
        words = f"{connection.host.name}/{name} is under specctl's care already."
        progress.finish(words, succeeded=True)
        return Outcome(plan.id, plan.host, succeeded=True, words=words, server=name)
    async with hold_locks(connection, plan.lock_keys, f"specctl adopt {server.name}"):
        reading = await read_host(connection)
        current = next((s for s in reading.servers if is_same(s, server)), None)
        if current is None:
            raise RefusedError(
                f"host {plan.host}: {server.name} has ended since the plan was made",
                hint=f"specctl status {plan.host}",
            )
        progress.begin("record", "recording its identity")
        answer = await _record(connection, plan, current, reading, profile=profile)
    identity = read_identity(answer["identity"])
    words = f"Adopted pid {identity.pid} as {plan.host}/{plan.id[:4]}."
    progress.done("record", f"recorded in {answer['directory']}")
    progress.finish(words, succeeded=True)
    return Outcome(
        plan.id,
        plan.host,
        succeeded=True,
        words=words,
        server=plan.id[:4],
        log_path=server.log_path,
    )


async def _record(
    connection: Connection,
    plan: Plan,
    server: Server,
    reading: HostReading,
    *,
    profile: str | None,
) -> dict[str, Any]:
    """The record keeper on the host reads identity and age itself, and refuses another process."""
    main = server.identity
    if main is None:
        raise RefusedError(f"{server.name} has no identity", hint="specctl status shows it.")
    record = {
        "profile": profile,
        "argv": list(redact_argv(server.argv)),
        "model": server.model,
        "port": server.port,
        "ports": sorted({p for q in reading.processes if q.identity.pid in server.pids
                         for p in q.listening}),
        "gpus": None if server.gpus is None else list(server.gpus),
        "log_path": server.log_path,
        "launched_by": operator(),
        **simulated_key(connection.host),
    }  # fmt: skip
    return await ask_records(
        connection,
        "adopt",
        pid=main.pid,
        start_ticks=main.start_ticks,
        launch_id=plan.id,
        record=record,
    )


async def draft_profile(
    connection: Connection, server: Server, keys: Keys = NO_KEYS
) -> tuple[Draft, ServerInfo | None]:
    """A profile of a running server, from its command line and what it says of itself.

    Secrets are named, never written: command line and description arrive redacted.
    """
    info = await _describe(connection, server, keys)
    argv = server.argv
    if info is not None and (not argv or parse_argv(argv).config is not None):
        argv = info.launch_argv or argv
    if not argv:
        raise UsageError(
            f"{connection.host.name}/{server.name}: its command line was overwritten",
            hint="specctl import NAME FILE makes a profile of the script that started it.",
        )
    environment = await _environment(connection, server)
    draft = draft_from_argv(argv, environment)
    if connection.host.is_simulated:
        draft.comments.append(f"SIMULATED: {connection.host.name} is a practice host of the lab")
    if info is not None and info.version:
        draft.comments.append(f"taken from a running server, SGLang {info.version}")
    return draft, info


async def _describe(connection: Connection, server: Server, keys: Keys) -> ServerInfo | None:
    if server.port is None:
        return None
    async with client_of(connection, server, keys) as client:
        for path in server_info_paths(server.version):
            try:
                answer = await client.get(path, timeout_s=10)
                answer.require_ok()
                return parse_server_info(answer.text)
            except (ServerAnswerError, DeadlineError):
                continue
    return None


async def _environment(connection: Connection, server: Server) -> dict[str, str]:
    answer = await list_processes(connection, server.pids[:1], variables=VARIABLES)
    main = next((p for p in answer if p.identity.pid in server.pids[:1]), None)
    named = dict(main.environment) if main else {}
    return {name: value for name, value in named.items() if name in VARIABLES and value != MASK}
