"""Processes and launch records put together into the servers of a host.

A server is known by its main process, whose command line starts SGLang; its children rename
themselves `sglang::…`. Children that outlived their launcher are a server too: they hold the GPUs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.command import ServerArguments, options_start, parse_argv
from specctl.domain.missing import Missing, Why
from specctl.domain.server import Evidence, Milestone, Server, ServerState
from specctl.domain.server_state import judge
from specctl.facts.members import Family, families
from specctl.facts.placement import gpus_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.sample import GpuSample
    from specctl.domain.server import Identity, ServerProcess


def group_servers(
    processes: Sequence[ServerProcess],
    *,
    records: Sequence[LaunchRecord] = (),
    gpus: Sequence[GpuSample] | None = None,
    is_simulated: bool = False,
) -> tuple[Server, ...]:
    """The servers of a host: those that run, those whose launcher died, and recorded ones gone.

    Their states rest on the processes alone until `judge` is given more evidence. `is_simulated`
    says that the host is one of the lab.
    """
    found: list[Server] = []
    of_record: dict[str, Family] = {}
    for family in families(processes):
        record = _record_of(family, records)
        if record is None:
            found.append(_server(family, None, gpus))
        else:
            known = of_record.get(record.launch_id)
            of_record[record.launch_id] = family if known is None else known.joined(family)
    for record in records:
        own = of_record.get(record.launch_id)
        found.append(_gone(record) if own is None else _server(own, record, gpus))
    if is_simulated:
        found = [replace(server, is_simulated=True) for server in found]
    return _named(found)


def _record_of(family: Family, records: Iterable[LaunchRecord]) -> LaunchRecord | None:
    return next((record for record in records if _is_same(family, record)), None)


def _is_same(family: Family, record: LaunchRecord) -> bool:
    """By identity; a pid alone, a name or a group alone is never enough."""
    known = (record.identity, *record.members)
    if any(_is_identity(p.identity, one) for p in family.processes for one in known):
        return True
    marker = record.identity.marker
    return bool(marker) and any(
        p.identity.marker == marker and p.identity.boot_id == record.identity.boot_id
        for p in family.processes
    )


def _is_identity(found: Identity, known: Identity) -> bool:
    is_same = (found.boot_id, found.pid, found.start_ticks) == (
        known.boot_id,
        known.pid,
        known.start_ticks,
    )
    return is_same and not (found.marker and known.marker and found.marker != known.marker)


def _server(
    family: Family, record: LaunchRecord | None, gpus: Sequence[GpuSample] | None
) -> Server:
    main = family.main
    argv = _argv(family, record)
    arguments = parse_argv(argv) if argv else None
    port = _port(family, record, arguments)
    indices, no_gpus = gpus_of(family.processes, gpus, arguments, record.gpus if record else None)
    speaker = main or family.processes[0]
    server = Server(
        name=f"pid-{speaker.identity.pid}",
        state=ServerState.UNKNOWN,
        identity=speaker.identity,
        is_ours=record is not None,
        owner=speaker.user,
        port=port,
        gpus=indices,
        argv=argv,
        log_path=_log_path(main),
        pids=tuple(p.identity.pid for p in family.processes),
        missing={} if no_gpus is None else {"gpus": no_gpus},
    )
    server = _with_arguments(server, arguments)
    server = _with_record(server, record)
    return judge(server, _evidence(family, record, port))


def _argv(family: Family, record: LaunchRecord | None) -> tuple[str, ...]:
    """Up to 0.5.2 the main process renamed itself too, which overwrites its command line."""
    if family.main is not None and options_start(family.main.argv) is not None:
        return family.main.argv
    return record.argv if record is not None else ()


def _port(
    family: Family, record: LaunchRecord | None, arguments: ServerArguments | None
) -> int | None:
    """The command line's, later words winning; else the record's, else the only one listened on."""
    if arguments is not None and arguments.port is not None:
        return arguments.port
    if record is not None and record.port is not None:
        return record.port
    listening = family.main.listening if family.main is not None else ()
    return listening[0] if len(listening) == 1 else None


def _with_arguments(server: Server, arguments: ServerArguments | None) -> Server:
    if arguments is None:
        why = Missing(Why.NOT_SUPPORTED, "its command line was overwritten by the process title")
        names = ("model", "argv") if server.port is not None else ("model", "argv", "port")
        return replace(server, missing={**server.missing, **dict.fromkeys(names, why)})
    return replace(
        server,
        model=arguments.model,
        bind_address=arguments.address,
        algorithm=arguments.algorithm,
        is_multi_node=arguments.is_multi_node,
        node_rank=arguments.node_rank if arguments.is_multi_node else None,
    )


def _with_record(server: Server, record: LaunchRecord | None) -> Server:
    if record is None:
        return server
    return replace(
        server,
        name=record.name,
        is_ours=True,
        profile=record.profile,
        launch_id=record.launch_id,
        launched_by=record.launched_by or None,
        log_path=record.log_path or server.log_path,
        model=server.model or record.model,
        missing={k: v for k, v in server.missing.items() if k != "model" or not record.model},
    )


def _evidence(family: Family, record: LaunchRecord | None, port: int | None) -> Evidence:
    main = family.main
    is_alive = main is not None and main.state != "Z"
    return Evidence(
        process_alive=is_alive,
        port_open=_port_open(family, port) if is_alive else None,
        milestone=Milestone.LAUNCHED if main is None and record is not None else None,
        exit_status=_exit_status(record),
        stop_asked=record is not None and record.stop_asked_at_s is not None,
        survivors=0 if is_alive else sum(p.state != "Z" for p in family.processes if p != main),
        frozen=sum(p.state in ("T", "t") for p in family.processes),
        age_s=main.age_s if main is not None else None,
    )


def _port_open(family: Family, port: int | None) -> bool | None:
    """None when the process's descriptors cannot be read: no listener seen proves nothing then."""
    if port is None:
        return None
    if any(port in process.listening for process in family.processes):
        return True
    is_visible = any(process.stdout is not None for process in family.processes)
    return False if is_visible else None


def _exit_status(record: LaunchRecord | None) -> int | None:
    return record.exit.shell_status if record is not None and record.exit is not None else None


def _log_path(main: ServerProcess | None) -> str | None:
    """The file that standard error or output goes to; None for a terminal or a pipe."""
    for target in (main.stderr, main.stdout) if main is not None else ():
        if target and target.startswith("/") and not target.startswith("/dev/"):
            return None if target.endswith(" (deleted)") else target
    return None


def _gone(record: LaunchRecord) -> Server:
    server = Server(
        name=record.name,
        state=ServerState.ABSENT,
        identity=record.identity,
        is_ours=True,
        port=record.port,
        gpus=record.gpus,
        argv=record.argv,
    )
    server = _with_arguments(server, parse_argv(record.argv) if record.argv else None)
    evidence = Evidence(
        process_alive=False,
        milestone=record.reached[-1][0] if record.reached else Milestone.LAUNCHED,
        exit_status=_exit_status(record),
        ended_with=record.ended_with,
        stop_asked=record.stop_asked_at_s is not None,
    )
    return judge(_with_record(server, record), evidence)


def _named(servers: list[Server]) -> tuple[Server, ...]:
    """Short names, the whole launch id where two begin alike; in a stable order.

    One that runs keeps its short name against those that have ended.
    """
    wanted = Counter(server.name for server in servers)
    running = Counter(server.name for server in servers if server.pids)
    unique = [
        server
        if wanted[server.name] == 1 or (server.pids and running[server.name] == 1)
        else replace(server, name=server.launch_id or server.name)
        for server in servers
    ]
    return tuple(sorted(unique, key=lambda s: (s.port is None, s.port or 0, s.name)))
