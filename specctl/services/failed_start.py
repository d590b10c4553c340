"""What a start that failed says of itself: the end of its log, and how it ended."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from specctl.facts.log import LogReader
from specctl.facts.repeats import collapse

if TYPE_CHECKING:
    from specctl.facts.diagnosis import Cause
    from specctl.facts.log_lines import LogLine
    from specctl.services.connection import Connection

LOG_BYTES = 4 * 1024 * 1024
"""A crash repeats itself for hundreds of lines: the first cause is rarely near the end."""

READ_BYTES = 512 * 1024
EXCERPT_LINES = 12


async def read_log_end(connection: Connection, path: str) -> list[str]:
    """The last lines of a log, as they may be shown."""
    stat = await connection.agent.call("stat", paths=[path])
    size = int((stat.get(path) or {}).get("size") or 0)
    offset, reader = max(0, size - LOG_BYTES), LogReader()
    lines: list[LogLine] = []
    while offset < size:
        part = await connection.agent.call("read", path=path, offset=offset, length=READ_BYTES)
        data = base64.b64decode(part.get("data") or b"")
        if not data:
            break
        offset += len(data)
        lines += reader.feed(data)
    return [line.shown for line in (*lines, *reader.finish())]


def exit_words(exit_status: int | None) -> str:
    """An exit that nobody asked for is a crash, also with status 0."""
    if exit_status is None:
        return "its process ended and nothing recorded how"
    hidden = ": SGLang ends its parent with 0 after a crash" if exit_status == 0 else ""
    return f"it ended with status {exit_status} before it was ready{hidden}"


def excerpt(lines: list[str], cause: Cause | None, count: int = EXCERPT_LINES) -> tuple[str, ...]:
    """Lines around the first cause, else the last ones."""
    if cause is None or not cause.line_number:
        return tuple(collapse(lines)[-count:])
    first = max(0, cause.line_number - count // 2)
    return tuple(collapse(lines[first:])[:count])
