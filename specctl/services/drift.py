"""Servers against what their profiles say now, what was launched, and what is installed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from specctl.domain.command import options_start, server_environment
from specctl.domain.drift import DriftSources, ServerDrift, find_drift
from specctl.domain.errors import AgentAnswerError, DeadlineError, SpecctlError
from specctl.domain.lint.build import LATEST, Build
from specctl.domain.lint.engine import lint_argv
from specctl.domain.lint.finding import Severity
from specctl.domain.missing import NOT_YET, Missing, Why
from specctl.facts.drift import SKIPPED, SOURCES, find_rewrites, read_build
from specctl.facts.redact import MASK
from specctl.services.host_reading import list_processes, read_host
from specctl.services.launch import recipe_hash
from specctl.services.measured_server import MeasuredServer
from specctl.services.tree_hash import hash_of_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.adapters.workspace import Workspace
    from specctl.domain.drift import BuildNow, Rewrite
    from specctl.domain.host import Host
    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.profile import Profile
    from specctl.domain.server import Server
    from specctl.facts.server_info import ServerInfo
    from specctl.services.connection import Connection
    from specctl.services.host_reading import HostReading
    from specctl.services.watching import KeysOf

BUILD_S = 30.0
FORETOLD = "the server will change"


@dataclass(frozen=True, slots=True)
class Looked:
    """What was read of one server beyond its process and its record; a reason where it was not."""

    info: ServerInfo | Missing = NOT_YET
    build: BuildNow | Missing = NOT_YET
    environment: Mapping[str, str] | Missing = NOT_YET


def profile_of(workspace: Workspace, host: str, name: str | None) -> Profile | Missing:
    """The profile that a server follows, as its file is now; why there is none to compare with."""
    if name is None:
        return Missing(Why.NOT_SUPPORTED, "it follows no profile")
    try:
        return workspace.profile(name, host)
    except SpecctlError as error:
        return Missing(Why.ERROR, error.message)


def _why_no_record(server: Server) -> Missing:
    if server.identity is not None and server.identity.marker:
        words = f"launch {server.identity.marker}, whose record is gone or damaged"
        return Missing(Why.MALFORMED, words)
    return Missing(Why.NOT_SUPPORTED, "specctl did not start it")


def drift_of(
    server: Server,
    *,
    host: Host,
    profile: Profile | Missing,
    record: LaunchRecord | None = None,
    looked: Looked | None = None,
) -> ServerDrift:
    """One server's differences from what is at hand; nothing is read for it.

    The first time for a command line it takes some milliseconds, then a fraction of one.
    """
    looked = looked or Looked()
    info = looked.info if not isinstance(looked.info, Missing) else None
    known = profile if not isinstance(profile, Missing) else None
    missing = {
        name: found
        for name, found in (
            ("profile", profile),
            ("resolved", looked.info),
            ("build", looked.build),
            ("environment", looked.environment),
        )
        if isinstance(found, Missing)
    }
    if record is None:
        missing["record"] = _why_no_record(server)
    if not server.argv:
        missing["argv"] = server.missing.get("argv") or NOT_YET
    sources = DriftSources(
        profile=known,
        profile_hash=recipe_hash(known) if known is not None else None,
        host=host,
        record=record,
        argv=server.argv,
        environment=None if isinstance(looked.environment, Missing) else looked.environment,
        rewrites=_rewrites(server, info) if info else (),
        server_version=info.version if info else server.version,
        build=None if isinstance(looked.build, Missing) else looked.build,
    )
    return ServerDrift(
        host=host.name,
        server=server.name,
        profile=server.profile,
        launch_id=server.launch_id,
        rows=find_drift(sources),
        version=sources.server_version,
        build=sources.build,
        missing=missing,
    )


def _rewrites(server: Server, info: ServerInfo) -> tuple[Rewrite, ...]:
    return find_rewrites(server.argv, info.arguments, rules_of(server.argv, info.version))


@lru_cache(maxsize=256)
def rules_of(argv: tuple[str, ...], version: str | None) -> Mapping[str, str]:
    """By flag, which rule of this version rewrites it; empty where no rule is known."""
    start = options_start(argv)
    if start is None:
        return {}
    build = Build(version=version or LATEST, is_assumed=version is None)
    found = lint_argv(argv[start:], build).findings
    return {
        finding.key.removeprefix("--"): _rule_words(finding.message)
        for finding in found
        if finding.severity is Severity.REWRITE
    }


def _rule_words(message: str) -> str:
    """A rule foretells; here it has come about."""
    return message.replace(FORETOLD, "it changes", 1)


async def read_drift(
    connection: Connection, workspace: Workspace, keys_for: KeysOf, name: str | None = None
) -> tuple[ServerDrift, ...]:
    """Every running server of a host, or the one called `name`, compared."""
    reading = await read_host(connection)
    if name is not None:
        servers: Sequence[Server] = (reading.server(name),)
    else:
        servers = tuple(server for server in reading.servers if server.pids)
    found = [_one(connection, workspace, keys_for, reading, server) for server in servers]
    return tuple(await asyncio.gather(*found))


async def _one(
    connection: Connection,
    workspace: Workspace,
    keys_for: KeysOf,
    reading: HostReading,
    server: Server,
) -> ServerDrift:
    profile = profile_of(workspace, connection.host.name, server.profile)
    info, build, environment = await asyncio.gather(
        read_info(connection, server, keys_for),
        look_at_build(connection, reading, server),
        read_environment(connection, server, profile),
    )
    return drift_of(
        server,
        host=connection.host,
        profile=profile,
        record=reading.record(server),
        looked=Looked(info, build, environment),
    )


async def read_info(
    connection: Connection, server: Server, keys_for: KeysOf
) -> ServerInfo | Missing:
    """What the server says of itself."""
    if not server.pids:
        return Missing(Why.UNREACHABLE, "it has ended")
    try:
        keys = keys_for(connection.host, server)
        async with MeasuredServer(connection, server, keys) as measured:
            return (await measured.read()).info
    except SpecctlError as error:
        return Missing(Why.UNREACHABLE, error.message)


async def look_at_build(
    connection: Connection, reading: HostReading, server: Server
) -> BuildNow | Missing:
    """The tree that the server was started from, as it is now."""
    pid = server.identity.pid if server.identity else None
    main = next((p for p in reading.processes if p.identity.pid == pid), None)
    python = interpreter_of(server.argv, main.exe if main is not None else None)
    if main is None or main.age_s is None or python is None:
        return Missing(
            Why.NOT_SUPPORTED, "which interpreter it runs in, and since when, is unknown"
        )
    record = reading.record(server)
    in_folder = main.cwd if "-m" in server.argv else None
    try:
        answer = await connection.agent.call(
            "tree_changes",
            timeout_s=BUILD_S,
            python=python,
            folder=in_folder,
            age_s=main.age_s,
            files=SOURCES,
            skipped=list(SKIPPED),
        )
    except (AgentAnswerError, DeadlineError) as error:
        return Missing(Why.ERROR, error.message)
    return await _with_hash(connection, read_build(answer), record, python)


async def _with_hash(
    connection: Connection, build: BuildNow, record: LaunchRecord | None, python: str
) -> BuildNow:
    """Read the sources only where their hash would tell more than their times do."""
    had = record.tree_hash if record is not None else None
    if had is None or record is None or build.version != record.version:
        return build
    return replace(build, tree_hash=await hash_of_tree(connection, python))


def interpreter_of(argv: Sequence[str], exe: str | None = None) -> str | None:
    """The Python of a command line, else the program that runs; None where no path tells.

    The program of a virtual environment is its base, so the command line comes first.
    """
    names = (argv[0] if argv else "", exe or "")
    is_python = (one for one in names if one.startswith("/") and "python" in one.rpartition("/")[2])
    return next(is_python, None)


async def read_environment(
    connection: Connection, server: Server, profile: Profile | Missing
) -> dict[str, str] | Missing:
    """The process's own values of the variables that the profile sets; nothing else is read."""
    pid = server.identity.pid if server.identity else None
    if isinstance(profile, Missing) or pid is None or not server.pids:
        return Missing(Why.NOT_SUPPORTED, "no profile says which variables matter")
    wanted = server_environment(profile, connection.host)
    processes = await list_processes(connection, (pid,), variables=tuple(wanted))
    main = next((p for p in processes if p.identity.pid == pid), None)
    if main is None:
        return Missing(Why.UNREACHABLE, "its process has ended")
    if not main.environment and wanted:
        words = "it has none of the profile's variables, or they may not be read"
        return Missing(Why.NO_PERMISSION, words)
    # what looks like a secret arrives masked and cannot be compared
    return {name: wanted.get(name, "") if v == MASK else v for name, v in main.environment}
