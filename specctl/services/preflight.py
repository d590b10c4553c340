"""Everything a plan is made from, read from a host in one go."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import AgentAnswerError
from specctl.domain.preflight import BuildReading, ModelReading, Preflight
from specctl.facts import preflight as facts
from specctl.facts.hub_cache import (
    INDEX_BYTES,
    INDEXES,
    cache_dir,
    is_path,
    read_hub,
    repository_dir,
)
from specctl.services.checkpoint_reading import read_checkpoint
from specctl.services.host_files import FileReader
from specctl.services.host_reading import HostReading, read_host
from specctl.services.locks import look_at_locks
from specctl.services.outside import with_outside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.checkpoint.values import ModelConfig
    from specctl.services.connection import Connection

DOCTOR_S = 30.0
INTERPRETERS_S = 30.0
WALK_S = 20.0
PORTS_AHEAD = 10
"""Ports after the wanted one that are looked at too, to suggest a free one."""

CACHE_VARIABLES = ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HF_HUB_OFFLINE")


async def read_preflight(
    connection: Connection,
    *,
    ports: Sequence[int] = (),
    models: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    needs_build: bool = False,
) -> tuple[Preflight, HostReading]:
    """The readings for a plan; a start asks for models, ports and a build, a stop for none."""
    reading, doctor = await asyncio.gather(read_host(connection), _doctor(connection))
    sample = await with_outside(connection, reading.sample)
    holders = await _ports(connection, reading, ports)
    build = await find_build(connection) if needs_build else None
    variables = await read_variables(connection, environment or {}) if models else {}
    found = {name: await read_model(connection, name, variables) for name in models}
    configs = await read_configs(connection, models, variables) if len(models) > 1 else {}
    state_dir, failures = facts.read_state_dir(doctor.get("state_dirs"))
    module = doctor.get("kernel_module")
    preflight = Preflight(
        host=connection.host,
        user=connection.hello.user or str(connection.hello.uid),
        sample=sample,
        servers=reading.servers,
        records=reading.records,
        are_pids_comparable=facts.are_pids_comparable(
            connection.hello.pid_namespace, connection.host.enter
        ),
        ports=holders,
        models=found,
        configs=configs,
        disk=await _disk(connection, state_dir),
        shm=facts.read_space("/dev/shm", doctor.get("shm")),
        state_dir=state_dir,
        state_dir_failures=failures,
        survival=facts.read_survival(doctor.get("survival")),
        build=build,
        driver_faults=facts.read_faults(doctor.get("xid")),
        driver_kernel=module if isinstance(module, str) else None,
        is_offline=_is_set(variables.get("HF_HUB_OFFLINE")),
    )
    return preflight, reading


async def with_locks(connection: Connection, reading: Preflight, keys: Sequence[str]) -> Preflight:
    """The readings, and who holds the locks a plan would need."""
    return replace(reading, locks=await look_at_locks(connection, keys))


async def _doctor(connection: Connection) -> dict[str, Any]:
    named = [connection.host.state_dir] if connection.host.state_dir else []
    return await connection.agent.call("doctor", timeout_s=DOCTOR_S, state_dirs=named)


async def _ports(
    connection: Connection, reading: HostReading, ports: Sequence[int]
) -> dict[int, Any]:
    if not ports:
        return {}
    ahead = range(ports[0], ports[0] + PORTS_AHEAD)
    wanted = sorted({*ports, *(port for port in ahead if port < 2**16)})
    answer = await connection.agent.call("ports", ports=wanted)
    found = facts.read_ports(answer, reading.processes)
    is_shared = connection.host.is_simulated
    return {p: h and replace(h, is_shared=is_shared) for p, h in found.items()}


async def _disk(connection: Connection, state_dir: str | None) -> Any:
    if state_dir is None:
        return None
    answer = await connection.agent.call("disk", paths=[state_dir])
    return facts.read_space(state_dir, answer.get(state_dir))


async def find_build(connection: Connection) -> BuildReading | None:
    """The SGLang that would run: of the host's interpreter, else the only one there is."""
    python = connection.host.python
    extra = [python] if python else []
    answer = await connection.agent.call("interpreters", timeout_s=INTERPRETERS_S, extra=extra)
    builds = facts.read_builds(answer)
    if python:
        build = next((b for b in builds if b.python == python), BuildReading(python))
    elif len(builds) == 1:
        build = builds[0]
    else:
        return None
    if build.path is None:
        return build
    places = facts.config_readers(build.path)
    found = await connection.agent.call("stat", paths=list(places))
    return replace(build, has_config=any(found.get(p, {}).get("exists") for p in places))


async def read_variables(
    connection: Connection, environment: Mapping[str, str]
) -> dict[str, str | None]:
    """Those that decide where models are looked for, as the server would see them."""
    answer = await connection.agent.call("environment", names=list(CACHE_VARIABLES))
    return {**answer, **{k: v for k, v in environment.items() if k in CACHE_VARIABLES}}


async def read_configs(
    connection: Connection, names: Sequence[str], variables: Mapping[str, str | None]
) -> dict[str, ModelConfig]:
    """What `config.json` of those models says, where it can be read."""
    reader = FileReader(connection)
    read = [await read_checkpoint(reader, name, variables) for name in names]
    return {one.name: one.config for one in read if one.config is not None}


def _is_set(value: str | None) -> bool:
    return (value or "").upper() in {"1", "ON", "YES", "TRUE"}


async def read_model(
    connection: Connection, name: str, variables: Mapping[str, str | None]
) -> ModelReading:
    """A model's path, or its repository in the host's cache."""
    if is_path(name):
        config = f"{name}/config.json"
        found = await connection.agent.call("stat", paths=[name, config])
        return facts.read_model_path(name, found.get(name), found.get(config))
    place = cache_dir(variables)
    directory = repository_dir(place, name)
    walk, detail = await _walk(connection, directory)
    if walk is None:
        return read_hub(name, place, None, detail=detail)
    commit = (await _read(connection, f"{directory}/refs/main", 64)).strip() or None
    index = await _index(connection, directory, commit) if commit else ""
    return read_hub(name, place, walk, commit=commit, index=index)


async def _walk(connection: Connection, root: str) -> tuple[dict[str, Any] | None, str]:
    try:
        return await connection.agent.call("walk", timeout_s=WALK_S, root=root, follow=True), ""
    except AgentAnswerError as error:
        return None, "" if error.kind == "not_found" else error.message


async def _index(connection: Connection, directory: str, commit: str) -> str:
    for name in INDEXES:
        text = await _read(connection, f"{directory}/snapshots/{commit}/{name}", INDEX_BYTES)
        if text:
            return text
    return ""


async def _read(connection: Connection, path: str, length: int) -> str:
    try:
        answer = await connection.agent.call("read", path=path, offset=0, length=length)
    except AgentAnswerError:
        return ""
    return base64.b64decode(answer.get("data") or b"").decode("utf-8", "replace")
