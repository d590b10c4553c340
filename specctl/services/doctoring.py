"""Examining hosts: every prerequisite of driving them, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.adapters.clock import Clock, SystemClock
from specctl.domain.doctor import (
    FoundSglang,
    Level,
    Row,
    judge_clock,
    judge_disk,
    judge_driver,
    judge_faults,
    judge_gpus,
    judge_ports,
    judge_python,
    judge_sglang,
    judge_shell,
    judge_shm,
    judge_state_dir,
    judge_survival,
)
from specctl.domain.errors import HostError, SpecctlError
from specctl.facts.preflight import read_builds
from specctl.services.preflight import read_preflight

if TYPE_CHECKING:
    from specctl.domain.preflight import Preflight
    from specctl.domain.proof import PortHolder
    from specctl.domain.server import Server
    from specctl.services.fleet import Fleet, HostConnection

INTERPRETERS_S = 30.0
SHELL_S = 20.0


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found out about one host."""

    host: str
    rows: tuple[Row, ...]
    builds: tuple[FoundSglang, ...] = ()
    servers: tuple[Server, ...] = ()


async def examine(fleet: Fleet, name: str) -> Examination:
    """Examine the host called `name`; a host that cannot be reached is one failed row."""
    begun_s, begun_at_s = fleet.clock.monotonic(), fleet.clock.now()
    try:
        connection = await fleet.connect(name)
    except HostError as error:
        return Examination(name, (Row("connect", Level.FAIL, error.message, error.hint),))
    took_s = fleet.clock.monotonic() - begun_s
    skew_s = connection.hello.time_s - (begun_at_s + took_s)
    connected = Row("connect", Level.PASS, f"{_who(connection)} in {took_s * 1000:.0f} ms")
    try:
        examination = await examine_connection(connection, _ports(fleet), fleet.clock)
    except SpecctlError as error:
        return Examination(
            name, (connected, Row("readings", Level.FAIL, error.message, error.hint))
        )
    rows = (connected, *examination.rows, judge_clock(skew_s))
    return Examination(name, rows, examination.builds, examination.servers)


async def examine_connection(
    connection: HostConnection, ports: tuple[int, ...] = (), clock: Clock | None = None
) -> Examination:
    """Examine a host that is connected."""
    host, hello = connection.host, connection.hello
    shell = await _shell(connection, clock or SystemClock())
    answer = await connection.agent.call(
        "interpreters", timeout_s=INTERPRETERS_S, extra=[host.python] if host.python else []
    )
    builds = tuple(
        FoundSglang(build.python, build.version, build.path or "") for build in read_builds(answer)
    )
    preflight, reading = await read_preflight(connection, ports=ports)
    judged = [
        shell,
        judge_python(hello.python, hello.executable),
        judge_sglang(builds, host.python),
        judge_driver(preflight.sample, preflight.driver_kernel),
        judge_gpus(preflight.sample.gpus),
        judge_faults(preflight.driver_faults, preflight.sample),
        judge_ports({port: _holder(preflight, port) for port in ports}),
        judge_state_dir(preflight.state_dir, preflight.state_dir_failures),
    ]
    judged += [judge_disk(preflight.disk)] if preflight.disk else []
    judged += [judge_shm(preflight.shm)] if preflight.shm else []
    judged.append(judge_survival(preflight.user, preflight.survival))
    rows = tuple(row for row in judged if row is not None)
    return Examination(host.name, rows, builds, reading.servers)


async def _shell(connection: HostConnection, clock: Clock) -> Row:
    """Asked by an ordinary command, as every other one is run."""
    begun_s = clock.monotonic()
    ended = await connection.session.run(("printenv", "SHELL"), timeout_s=SHELL_S)
    last = ended.text.strip().rpartition("\n")[2]
    shell = last if ended.exit_status == 0 and last.startswith("/") else None
    return judge_shell(shell, clock.monotonic() - begun_s)


def _who(connection: HostConnection) -> str:
    hello = connection.hello
    return f"{hello.user or hello.uid} on {hello.hostname}"


def _ports(fleet: Fleet) -> tuple[int, ...]:
    """Those that the workspace's profiles name."""
    profiles = fleet.workspace.profiles().values()
    return tuple(sorted({p.placement.port for p in profiles if p.placement.port is not None}))


def _holder(preflight: Preflight, port: int) -> str:
    holder: PortHolder | None = preflight.ports.get(port)
    return "" if holder is None else str(holder)
