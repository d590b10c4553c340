"""Which processes belong to one SGLang server."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from specctl.domain.command import options_start, parse_argv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specctl.domain.server import ServerProcess

_TITLE = "sglang::"
_MAIN_TITLE = "sglang::http_server"
"""What the main process called itself up to 0.5.2."""


@dataclass(frozen=True, slots=True)
class Family:
    """The processes of one server."""

    main: ServerProcess | None
    """The HTTP server and launcher; None when only its children are left."""

    processes: tuple[ServerProcess, ...]
    """All of them, the main one first."""

    def joined(self, other: Family) -> Family:
        """Both as one: what one launch started and a process that lost its parent."""
        first, second = (self, other) if self.main is not None else (other, self)
        return Family(first.main, (*first.processes, *second.processes))


def families(processes: Sequence[ServerProcess]) -> tuple[Family, ...]:
    """Every server among `processes`: main processes with their descendants, then orphans.

    Last those that go by another name, and are told by the marker of their launch.
    """
    by_pid = {process.identity.pid: process for process in processes}
    mains = [p for p in processes if is_main(p) and not _has_main_above(p, by_pid)]
    found = [Family(main, (main, *_descendants(main, processes))) for main in mains]
    taken = {p.identity.pid for family in found for p in family.processes}
    orphans = [p for p in processes if is_member(p) and p.identity.pid not in taken]
    named = (*found, *(Family(None, group) for group in _grouped(orphans)))
    return (*named, *_renamed(processes, named))


def _renamed(processes: Sequence[ServerProcess], named: Sequence[Family]) -> tuple[Family, ...]:
    """A launch begins a session: what merely inherited its marker does not lead one."""
    known = {process.identity.marker for family in named for process in family.processes}
    leaders = [
        process
        for process in processes
        if process.identity.marker not in known | {""}
        and process.identity.pid == process.identity.sid
    ]
    return tuple(Family(leader, (leader, *_descendants(leader, processes))) for leader in leaders)


def is_main(process: ServerProcess) -> bool:
    """Whether its command line starts SGLang, not counting wrappers such as `timeout` or `sudo`."""
    if process.title.startswith(_MAIN_TITLE):
        return True
    if process.title.startswith(_TITLE) or options_start(process.argv) is None:
        return False
    return _is_interpreter(process.argv)


def _is_interpreter(argv: Sequence[str]) -> bool:
    """`python [-options] -m MODULE`, `python SCRIPT` or `sglang serve`, with nothing around it."""
    command = parse_argv(argv).command
    program = command[0].rpartition("/")[2]
    if program in {"sglang", "launch_server.py"}:
        return True
    own = command[1:-1] if command[-1] != "serve" else command[1:-2]
    is_plain = all(
        word.startswith("-") or before in ("-X", "-W") for before, word in pairwise(("", *own))
    )
    return program.startswith("python") and is_plain


def is_member(process: ServerProcess) -> bool:
    """Whether it has renamed itself as SGLang's children do."""
    first = process.argv[0] if process.argv else ""
    return process.title.startswith(_TITLE) or first.startswith(_TITLE)


def _ancestors(
    process: ServerProcess, by_pid: Mapping[int, ServerProcess]
) -> Iterator[ServerProcess]:
    seen = {process.identity.pid}
    while process.ppid in by_pid and process.ppid not in seen:
        process = by_pid[process.ppid]
        seen.add(process.identity.pid)
        yield process


def _has_main_above(process: ServerProcess, by_pid: Mapping[int, ServerProcess]) -> bool:
    """A forked child carries its parent's command line until it renames itself."""
    return any(is_main(above) for above in _ancestors(process, by_pid))


def _descendants(main: ServerProcess, processes: Sequence[ServerProcess]) -> list[ServerProcess]:
    by_pid = {process.identity.pid: process for process in processes}
    return [p for p in processes if p != main and main in _ancestors(p, by_pid)]


def _grouped(orphans: Iterable[ServerProcess]) -> list[tuple[ServerProcess, ...]]:
    """By launch marker where one is readable, else by user, session and process group."""
    groups: dict[tuple[object, ...], list[ServerProcess]] = {}
    for process in orphans:
        one = process.identity
        key = ("marker", one.marker) if one.marker else (process.uid, one.sid, one.pgid)
        groups.setdefault(key, []).append(process)
    return [tuple(group) for group in groups.values()]
