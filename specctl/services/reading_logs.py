"""A server's log read for people, wherever the server writes it."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING

from specctl.domain.backoff import backoff_s
from specctl.domain.errors import DeadlineError, HostError, UsageError
from specctl.facts.diagnosis import Cause, first_cause
from specctl.facts.log import LogReader
from specctl.facts.terminals import LIST_PANES, pane_at
from specctl.services.choosing import the_server
from specctl.services.host_reading import HostReading, read_host
from specctl.services.monitor import NEEDS_THE_USER
from specctl.services.server_log import log_path_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from specctl.domain.server import Server
    from specctl.services.connection import Connection
    from specctl.services.fleet import Fleet

TERMINALS = "/dev/pts/"
PANES_S = 5.0
BYTES_PER_LINE = 400
"""Decode lines are about 200 bytes; what is read of the end is generous."""


@dataclass(slots=True)
class OpenLog:
    """A log, read up to some place."""

    host: str
    server: Server
    path: str
    last: tuple[str, ...]
    reader: LogReader
    offset: int
    inode: int | None


async def open_log(connection: Connection, name: str | None, lines: int) -> OpenLog:
    """The end of a server's log; raises UsageError that names where it goes when it is no file."""
    reading = await read_host(connection)
    server = _server(reading, connection.host.name, name)
    path = server.log_path or await _path_of(connection, reading, server)
    reader, shown = LogReader(), []
    stream = connection.agent.stream(
        "tail", path=path, offset=-lines * BYTES_PER_LINE, follow=False
    )
    offset, inode = 0, None
    async with stream:
        async for item in stream:
            shown += reader.feed(base64.b64decode(item.get("data") or b""))
            offset, inode = int(item.get("offset") or 0), item.get("inode")
    last = tuple(line.shown for line in shown[-lines:])
    return OpenLog(connection.host.name, server, path, last, reader, offset, inode)


def _server(reading: HostReading, host: str, name: str | None) -> Server:
    """Of a host without a living server the one that ended last, whose log explains it."""
    if name is None and not any(server.pids for server in reading.servers):
        ended = [record.name for record in reading.records[:1]]
        return the_server(reading, host, ended[0] if ended else None)
    return the_server(reading, host, name)


async def _path_of(connection: Connection, reading: HostReading, server: Server) -> str:
    main = next((p for p in reading.processes if p.identity == server.identity), None)
    path, why = log_path_of(main.stdout, main.stderr) if main else (None, "it has ended")
    if path is not None:
        return path
    terminal = (main.stderr or main.stdout or "") if main else ""
    hint = "A server that specctl starts logs to a file."
    if terminal.startswith(TERMINALS):
        pane = await _pane(connection, terminal)
        where = f"tmux attach -t {pane}" if pane else f"whoever has {terminal} open"
        hint = f"On the host, {where} shows it. {hint}"
    raise UsageError(f"the log of {server.name} cannot be read: {why}", hint=hint)


async def _pane(connection: Connection, terminal: str) -> str | None:
    """The tmux pane of a terminal, as far as this user's tmux knows it."""
    try:
        listed = await connection.session.run(LIST_PANES, timeout_s=PANES_S)
    except DeadlineError:
        return None
    return pane_at(listed.text, terminal) if listed.exit_status == 0 else None


async def follow_log(fleet: Fleet, log: OpenLog, say: Callable[[str], None]) -> AsyncGenerator[str]:
    """New lines as they are written, until cancelled; rotation and a lost link are followed.

    After a lost link it goes on at the byte where it was; `say` is told of the loss.
    """
    attempt = 0
    while True:
        try:
            connection = await fleet.connect(log.host)
            async for line in _new_lines(connection, log):
                attempt = 0
                yield line
        except NEEDS_THE_USER:
            raise
        except HostError as error:
            wait_s = backoff_s(attempt, SystemRandom().uniform(0, 1))
            say(f"{error.message}; connecting again in {wait_s:.0f} s")
            await fleet.drop(log.host)
            await fleet.clock.sleep(wait_s)
            attempt += 1


async def _new_lines(connection: Connection, log: OpenLog) -> AsyncGenerator[str]:
    stream = connection.agent.stream(
        "tail", path=log.path, offset=log.offset, inode=log.inode, follow=True
    )
    async with stream:
        async for item in stream:
            log.offset, log.inode = int(item["offset"]), item.get("inode")
            for line in log.reader.feed(base64.b64decode(item.get("data") or b"")):
                yield line.shown


def why_it_failed(log: OpenLog) -> Cause:
    """The first cause in what was read; raises UsageError when nothing failed there."""
    cause = first_cause(
        log.last, exit_status=log.server.evidence.exit_status, version=log.server.version
    )
    if cause is None:
        raise UsageError(
            f"nothing in the last {len(log.last)} lines of {log.path} explains a failure",
            hint="-n 100000 reads more of it.",
        )
    return cause
