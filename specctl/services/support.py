"""A bug report: what is the case here and on hosts, with nobody and no secret in it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.adapters import surroundings
from specctl.adapters.command_log import read_file
from specctl.adapters.paths import command_file
from specctl.domain.errors import SpecctlError
from specctl.domain.events import AlertsChanged, LinkChanged, PlanProgressed, ServersSeen
from specctl.domain.redaction import Names, Redactor
from specctl.facts.key_blocks import redact_lines
from specctl.facts.redact import is_secret_key
from specctl.services.doctoring import examine
from specctl.services.readout import read_out
from specctl.services.server_keys import keys_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from specctl.adapters.agent_start import Hello
    from specctl.adapters.workspace import Workspace
    from specctl.domain.events import Event
    from specctl.domain.host import Host
    from specctl.domain.problem import Problem
    from specctl.domain.state import State
    from specctl.services.doctoring import Examination
    from specctl.services.fleet import Fleet

COMMANDS_MAX = 30
EVENTS_MAX = 60
PROBLEMS_MAX = 40


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the report, redacted."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SupportReport:
    """All of it."""

    sections: tuple[Section, ...]
    replaced: tuple[tuple[str, int], ...]
    """Kind of name to how many different ones became placeholders."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What hosts told, as they told it."""

    sections: tuple[Section, ...]
    hosts: frozenset[str]
    """How they call themselves."""

    users: frozenset[str]


NOBODY = Asked((), frozenset(), frozenset())


def describe_here(workspace: Workspace | None, trouble: str) -> list[Section]:
    """This machine and the workspace, as they are; `trouble` is why there is no workspace."""
    return [
        Section("Versions", _pairs(surroundings.versions())),
        Section("Terminal", _pairs(surroundings.terminal())),
        Section("Workspace", tuple(_workspace(workspace, trouble))),
        Section("Ledger", _pairs(surroundings.ledger_lines())),
        Section("Kept here", _pairs(surroundings.kept_lines())),
        Section("Commands on hosts", tuple(_commands())),
    ]


async def describe_hosts(fleet: Fleet, names: Sequence[str]) -> Asked:
    """What doctor says of hosts, what runs there, and what happened while both were asked."""
    told: list[str] = []

    def hear(event: Event, state: State) -> None:
        del state
        told.extend(_event_lines(event))

    leave = fleet.store.subscribe(hear)
    try:
        examined = await asyncio.gather(*(examine(fleet, name) for name in names))
        await read_out(fleet, names, keys_for(fleet.workspace))
    finally:
        leave()
    hellos = [hello for name in names if (hello := await _hello(fleet, name)) is not None]
    sections = [Section(f"Host {one.host}", tuple(_rows(one))) for one in examined]
    return Asked(
        (*sections, Section("Events", tuple(told[-EVENTS_MAX:]))),
        frozenset(hello.hostname for hello in hellos),
        frozenset(hello.user for hello in hellos if hello.user),
    )


async def _hello(fleet: Fleet, name: str) -> Hello | None:
    """What a connected host said of itself; None of one that is not reached."""
    try:
        return (await fleet.connect(name)).hello
    except SpecctlError:
        return None


def redact(
    here: Iterable[Section], workspace: Workspace | None, asked: Asked = NOBODY
) -> SupportReport:
    """The report without names and secrets."""
    redactor = Redactor(known_names(workspace, asked))
    done = tuple(
        Section(
            redactor.line(section.title),
            redactor.lines(redact_lines(section.lines)),
        )
        for section in (*here, *asked.sections)
    )
    replaced = ((kind, len(words)) for kind, words in redactor.seen.items())
    return SupportReport(done, tuple(sorted(replaced)))


def known_names(workspace: Workspace | None, asked: Asked = NOBODY) -> Names:
    """Everything that names a host or somebody: here, in the workspace, of ssh, on the hosts."""
    hosts = [one for one in _hosts(workspace) if not one.is_simulated]
    configured, logins = surroundings.configured_names()
    environment = surroundings.environment()
    secrets = {value for name, value in environment.items() if is_secret_key(name)}
    called = {name for one in hosts for name in (one.name, one.ssh, one.address) if name}
    practice = {one.name for one in _hosts(workspace) if one.is_simulated}
    return Names(
        hosts=(
            surroundings.own_hosts()
            | surroundings.noted_hosts()
            | configured
            | called
            | asked.hosts
        )
        - practice,
        users=surroundings.own_users()
        | logins
        | asked.users
        | {one.user for one in hosts if one.user},
        paths=surroundings.own_folders() | ({str(workspace.root)} if workspace else set()),
        homes=surroundings.own_homes(),
        secrets=frozenset(secrets),
    )


def _hosts(workspace: Workspace | None) -> Iterable[Host]:
    return workspace.hosts().values() if workspace else ()


def _pairs(pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{name}: {words}" for name, words in pairs)


def _workspace(workspace: Workspace | None, trouble: str) -> Iterator[str]:
    if workspace is None:
        yield f"none: {trouble}"
        return
    hosts = list(workspace.hosts().values())
    yield f"path: {workspace.root}"
    practice = sum(host.is_simulated for host in hosts)
    yield f"hosts: {len(hosts)}, of them {practice} SIMULATED"
    yield f"local: {sum(host.transport == 'local' for host in hosts)}"
    yield f"entered: {sum(bool(host.enter) for host in hosts)}"
    yield f"read-only: {sum(host.read_only for host in hosts)}"
    yield f"profiles: {len(workspace.profiles())} of {len(workspace.profile_names())} usable"
    found = workspace.check()
    yield f"problems: {len(found)}"
    for problem in found[:PROBLEMS_MAX]:
        yield f"  {problem_line(problem)}"


def problem_line(problem: Problem) -> str:
    """Without a colon behind its key, which would make a secret of the words that follow."""
    place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    at = f" at {problem.key}" if problem.key else ""
    near = f"; nearest {problem.nearest}" if problem.nearest else ""
    return f"{place}{at}; {problem.message}{near}"


def _commands() -> Iterator[str]:
    """The last ones that were kept; failures further back."""
    kept = read_file(command_file())
    failed = [one for one in kept[:-COMMANDS_MAX] if one.is_failure][-COMMANDS_MAX:]
    for one in (*failed, *kept[-COMMANDS_MAX:]):
        took = "" if one.elapsed_s is None else f" in {one.elapsed_s:.2f} s"
        yield f"{one.host} {one.way} {one.what}: {one.outcome or 'no outcome'}{took}"


def _rows(one: Examination) -> Iterator[str]:
    for row in one.rows:
        yield f"{row.level} {row.name}: {row.words}"
    for build in one.builds:
        yield f"SGLang {build.version} by {build.python}"
    for server in one.servers:
        yield (
            f"server {server.name}: {server.state}, {server.version or 'version unknown'}, "
            f"{server.algorithm or 'no drafts'}; {server.why}"
        )


def _event_lines(event: Event) -> Iterator[str]:
    match event:
        case LinkChanged():
            yield f"{event.host} link {event.link} {event.words}".rstrip()
        case AlertsChanged():
            yield f"{event.host} alert {event.rule}: {event.words}"
        case PlanProgressed():
            yield f"{event.host} {event.step} {event.status}: {event.words}"
        case ServersSeen():
            for server in event.servers:
                yield f"{event.host} server {server.name} {server.state}: {server.why}"
