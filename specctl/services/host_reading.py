"""One look at a host: its GPUs, its processes, its launch records, and the servers they make."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.oneshot import run_oneshot
from specctl.domain.errors import AgentError, UsageError
from specctl.domain.launch_record import SHORT_ID
from specctl.domain.missing import Missing, Why
from specctl.domain.nearest import nearest
from specctl.domain.sample import HostSample, Sample
from specctl.facts.agent_sample import read_sample
from specctl.facts.listing import group_servers
from specctl.facts.preflight import read_records
from specctl.facts.processes import PATTERNS, VARIABLES, read_processes

if TYPE_CHECKING:
    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.server import Server, ServerProcess
    from specctl.services.connection import Connection

PROCESSES_S = 15.0
SAMPLE_S = 10.0
RECORDS_S = 20.0


@dataclass(frozen=True, slots=True)
class HostReading:
    """What a host looked like at one moment."""

    sample: Sample
    processes: tuple[ServerProcess, ...]
    records: tuple[LaunchRecord, ...]
    servers: tuple[Server, ...]

    def server(self, name: str) -> Server:
        """The server called `name`, by name, port, pid, launch id or profile; raises UsageError."""
        found = [server for server in self.servers if _is_called(server, name)]
        alive = [server for server in found if server.pids] or found
        if len(alive) == 1:
            return alive[0]
        if alive:
            names = ", ".join(server.name for server in alive)
            raise UsageError(f"{name} may be any of {names}", hint="Name one of them.")
        known = [server.name for server in self.servers]
        close = nearest(name, known)
        hint = f"nearest: {close}" if close else "specctl status shows the servers of a host."
        raise UsageError(f"no server called {name} runs there", hint=hint)

    def record(self, server: Server) -> LaunchRecord | None:
        """The launch record of a server; None when it has none."""
        return next((r for r in self.records if r.launch_id == server.launch_id), None)


def _is_called(server: Server, name: str) -> bool:
    if name in (server.name, server.profile, server.launch_id):
        return True
    if server.launch_id is not None and len(name) >= SHORT_ID and server.launch_id.startswith(name):
        return True
    pid = server.identity.pid if server.identity else None
    return name == f"pid-{pid}" or (server.port is not None and name == str(server.port))


async def read_host(connection: Connection) -> HostReading:
    """Look at a host now."""
    sample, processes, records = await asyncio.gather(
        read_gpus(connection), list_processes(connection), list_records(connection)
    )
    servers = group_servers(
        processes,
        records=records,
        gpus=sample.gpus,
        is_simulated=connection.host.is_simulated,
    )
    return HostReading(sample, processes, records, servers)


async def read_gpus(connection: Connection) -> Sample:
    """One sample of the host, once the reason for GPUs that cannot be read is known.

    A driver that hangs leaves its reason, and holds nobody up.
    """
    try:
        async with (
            asyncio.timeout(SAMPLE_S),
            connection.agent.stream("sample", interval_s=1.0) as items,
        ):
            async for item in items:
                sample, _ = read_sample(item, None)
                if sample.tells_of_gpus:
                    return sample
    except TimeoutError:
        missing = Missing(Why.TIMED_OUT, f"no GPU reading within {SAMPLE_S:g} s")
        return Sample(connection.hello.time_s, HostSample(), (), None, gpu_missing=missing)
    raise AgentError(f"host {connection.host.name}: the agent sent no sample")


async def list_processes(
    connection: Connection, pids: tuple[int, ...] = (), *, variables: tuple[str, ...] = ()
) -> tuple[ServerProcess, ...]:
    """SGLang's processes and those with the pids asked for, with some of their variables."""
    answer = await connection.agent.call(
        "processes",
        timeout_s=PROCESSES_S,
        patterns=list(PATTERNS),
        environment=[*VARIABLES, *variables],
        pids=list(pids),
    )
    return read_processes(answer)


async def list_records(connection: Connection) -> tuple[LaunchRecord, ...]:
    """The launch records on the host, newest first."""
    return read_records(await ask_records(connection, "read"))


async def ask_records(connection: Connection, action: str, **request: Any) -> dict[str, Any]:
    """Let the host's record keeper do something."""
    asked = {"state_dir": connection.host.state_dir, **request, "action": action}
    python = (connection.hello.executable,)
    return await run_oneshot(connection.session, python, "records", asked, timeout_s=RECORDS_S)
