"""A server's log in parts: its end, what was before, what comes, and all of it into a file."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import UsageError
from specctl.facts.log import LogReader
from specctl.services.host_reading import list_records
from specctl.services.reading_logs import open_log
from specctl.services.server_log import is_poll

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.server import Server
    from specctl.facts.log_lines import LogLine
    from specctl.services.connection import Connection

PART_BYTES = 256 << 10
SAVED_CHARACTERS_MOST = 256 << 20


@dataclass(frozen=True, slots=True)
class LogPart:
    """Some lines of a log and where in its file they lie."""

    path: str
    lines: tuple[str, ...]
    """Cleaned and redacted."""

    start: int = 0
    """Bytes before its first line."""

    end: int = 0
    """Bytes up to the end of its last line."""

    inode: int | None = None
    launch: str = ""
    """Id of the launch that wrote it; empty where that is not known."""

    is_over: bool = False
    """The launch has ended: nothing more will be written."""

    begins_anew: bool = False
    """What was read before is of another file, or another time."""


async def log_end(
    connection: Connection, server: Server | None, name: str | None, *, back: int
) -> LogPart:
    """The end of the log of a server, or of the launch `back` launches before it.

    Raises UsageError when there is none, or when it is no file.
    """
    if back:
        return await _of_record(connection, server, back)
    if server is None or server.log_path is None:
        opened = await open_log(connection, name, 1)
        server = replace(opened.server, log_path=opened.path)
    launch = server.launch_id or ""
    is_over = server.evidence.process_alive is False
    return await _read_end(connection, server.log_path or "", launch, is_over=is_over)


async def _of_record(connection: Connection, server: Server | None, back: int) -> LogPart:
    found = launches_before(await list_records(connection), server)
    if len(found) < back:
        raise UsageError(
            f"no launch before this one is kept on {connection.host.name}",
            hint="p goes back to the present one.",
        )
    record = found[back - 1]
    if record.log_path is None:
        raise UsageError(f"launch {record.launch_id} wrote its log to no file")
    return await _read_end(connection, record.log_path, record.launch_id, is_over=True)


def launches_before(
    records: Sequence[LaunchRecord], server: Server | None
) -> tuple[LaunchRecord, ...]:
    """Launches that began before a server's, the newest first; of its profile when it has one."""
    own = next((r for r in records if server is not None and r.launch_id == server.launch_id), None)
    began_s = own.started_at_s if own is not None else None
    older = [
        record
        for record in records
        if not record.is_adopted
        and record is not own
        and (began_s is None or (record.started_at_s or 0.0) < began_s)
    ]
    same = [r for r in older if own is not None and r.profile == own.profile]
    return tuple(sorted(same or older, key=lambda r: -(r.started_at_s or 0.0)))


async def _read_end(connection: Connection, path: str, launch: str, *, is_over: bool) -> LogPart:
    stat = (await connection.agent.call("stat", paths=[path])).get(path) or {}
    size = stat.get("size")
    if not isinstance(size, int):
        raise UsageError(f"{path} cannot be read: {stat.get('error') or 'it is not there'}")
    part = LogPart(path, (), size, size, _inode(stat), launch, is_over)
    data, start = await _before(connection, part)
    whole = len(data) if is_over else data.rfind(b"\n") + 1
    lines = _lines(data[:whole])
    return replace(part, lines=lines, start=start, end=start + whole)


def _inode(answer: dict[str, Any]) -> int | None:
    found = answer.get("inode")
    return found if isinstance(found, int) else None


async def log_before(connection: Connection, part: LogPart) -> LogPart:
    """The lines before a part, about a quarter of a MiB of them."""
    data, start = await _before(connection, part)
    return replace(part, lines=_lines(data), start=start, end=part.start)


async def _before(connection: Connection, part: LogPart) -> tuple[bytes, int]:
    """Whole lines before a part, and where they begin; of one longer than that its end."""
    start = max(0, part.start - PART_BYTES)
    data = await _bytes(connection, part.path, start, part.start - start)
    skipped = data.find(b"\n") + 1 if start else 0
    return (data, start) if skipped == len(data) else (data[skipped:], start + skipped)


def _lines(data: bytes) -> tuple[str, ...]:
    reader = LogReader()
    return _shown([*reader.feed(data), *reader.finish()])


async def _bytes(connection: Connection, path: str, offset: int, length: int) -> bytes:
    found = bytearray()
    while len(found) < length:
        asked = length - len(found)
        answer = await connection.agent.call(
            "read", path=path, offset=offset + len(found), length=asked
        )
        data = base64.b64decode(answer.get("data") or b"")
        if not data:
            break
        found += data
    return bytes(found)


def _shown(lines: Sequence[LogLine]) -> tuple[str, ...]:
    return tuple(line.shown for line in lines if not is_poll(line))


async def follow(connection: Connection, part: LogPart) -> AsyncGenerator[LogPart]:
    """New lines after a part as they are written, until cancelled; a rotated file begins anew."""
    reader = LogReader()
    stream = connection.agent.stream(
        "tail", path=part.path, offset=part.end, inode=part.inode, follow=True
    )
    async with stream:
        async for item in stream:
            begins_anew = item.get("event") in {"rotated", "truncated"}
            reader = LogReader() if begins_anew else reader
            lines = _shown(reader.feed(base64.b64decode(item.get("data") or b"")))
            part = replace(
                part, lines=lines, end=int(item["offset"]), inode=_inode(item),
                start=0 if begins_anew else part.start, begins_anew=begins_anew,
            )  # fmt: skip
            yield part


async def save_log(connection: Connection, part: LogPart, file: Path, first_line: str) -> int:
    """Write all of a log into a new file, cleaned and redacted; returns its characters.

    A last line says where it was too long. Raises UsageError when there is such a file already.
    """
    handle = _new_file(file)
    reader, offset, written = LogReader(), 0, 0
    with os.fdopen(handle, "w", encoding="utf-8") as target:
        written += target.write(first_line)
        while written < SAVED_CHARACTERS_MOST:
            data = await _bytes(connection, part.path, offset, PART_BYTES)
            lines = reader.feed(data) if data else reader.finish()
            written += sum(target.write(line.shown + "\n") for line in lines)
            if not data:
                break
            offset += len(data)
        else:
            written += target.write(f"# the rest, from byte {offset:,} on, was not saved\n")
    return written


def save_lines(lines: Sequence[str], file: Path, first_line: str) -> int:
    """Write lines into a new file; raises UsageError when there is such a file already."""
    with os.fdopen(_new_file(file), "w", encoding="utf-8") as target:
        return target.write(first_line) + sum(target.write(line + "\n") for line in lines)


def _new_file(file: Path) -> int:
    try:
        return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{file} is there already", hint="Give another name.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
