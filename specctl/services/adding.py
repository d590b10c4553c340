"""Looking a new host over before its file is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain.doctor import Level, Row
from specctl.services.doctoring import examine_connection
from specctl.services.fleet import close_host, open_host

if TYPE_CHECKING:
    from specctl.adapters.command_log import CommandLog
    from specctl.domain.host import Host
    from specctl.domain.server import Server
    from specctl.services.doctoring import Examination

NEEDED = frozenset({"connect", "python", "state"})
"""Without these nothing can be done there; the rest may be mended later."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a new host turned out to be."""

    host: Host
    """With its interpreter filled in."""

    rows: tuple[Row, ...]
    servers: tuple[Server, ...]
    comments: tuple[str, ...]
    """For the head of its file."""

    @property
    def is_usable(self) -> bool:
        """Everything that is needed is there."""
        return not any(r.level is Level.FAIL and r.name in NEEDED for r in self.rows)


async def look_over(host: Host, commands: CommandLog | None = None) -> Found:
    """Connect to `host`, which has no file yet, and examine it; raises HostError."""
    connection = await open_host(host, commands)
    try:
        examination = await examine_connection(connection)
        hello = connection.hello
    finally:
        await close_host(connection)
    connected = Row("connect", Level.PASS, f"{hello.user or hello.uid} on {hello.hostname}")
    return Found(
        host=replace(host, python=host.python or _python(examination)),
        rows=(connected, *examination.rows),
        servers=examination.servers,
        comments=_comments(examination),
    )


def _python(examination: Examination) -> str | None:
    """The interpreter of what runs, else the only one that has SGLang."""
    builds = examination.builds
    return builds[0].python if builds else None


def _comments(examination: Examination) -> tuple[str, ...]:
    words = {row.name: row.words for row in examination.rows}
    first = "; ".join(words[name] for name in ("gpus", "driver", "sglang") if name in words)
    others = [f"also: python = {b.python!r} ({b.version})" for b in examination.builds[1:]]
    return (first, *others)
