"""Logs for the screens, from lists of lines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError, UsageError
from specctl.services.log_paging import LogPart, save_lines
from tests.tui import parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PATH = "/var/tmp/specctl/launches/7c1e2d90/server.log"


class FakeLogs:
    """The log of every server is the same, in parts of `part_lines`."""

    def __init__(self) -> None:
        self.log_lines: list[str] = list(parts.LOG)
        self.runs_before: list[list[str]] = []
        """Logs of the launches before, the newest first."""

        self.part_lines = 1000
        self.new_lines: asyncio.Queue[LogPart | SpecctlError] = asyncio.Queue()

    def _asked(self, *call: object) -> None:
        raise NotImplementedError

    def _of(self, back: int) -> list[str]:
        if back > len(self.runs_before):
            raise UsageError("no launch before this one is kept on pro6k-01", hint="p goes back.")
        return self.runs_before[back - 1] if back else self.log_lines

    async def log_end(self, host: str, server: str | None, back: int) -> LogPart:
        self._asked("log_end", host, server, back)
        lines = self._of(back)
        start = max(0, len(lines) - self.part_lines)
        return LogPart(
            PATH, tuple(lines[start:]), start, len(lines), 7, f"{back or '7c1e2d90'}", bool(back)
        )

    async def log_before(self, host: str, part: LogPart) -> LogPart:
        self._asked("log_before", host, part.start)
        start = max(0, part.start - self.part_lines)
        return LogPart(PATH, tuple(self.log_lines[start : part.start]), start, part.start)

    async def follow_log(self, host: str, part: LogPart) -> AsyncIterator[LogPart]:
        self._asked("follow_log", host, part.end)
        while True:
            found = await self.new_lines.get()
            if isinstance(found, SpecctlError):
                raise found
            yield found

    async def save_log(self, host: str, part: LogPart, file: Path, first_line: str) -> str:
        self._asked("save_log", host, part.path)
        return f"{save_lines(self.log_lines, file, first_line)} characters in {file}"
