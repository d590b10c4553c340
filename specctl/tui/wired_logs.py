"""Logs of a real workspace's servers, in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.services import log_paging
from specctl.tui.wired_trials import WorkspaceTrials

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from specctl.services.log_paging import LogPart


class WorkspaceLogs(WorkspaceTrials):
    """What the log's screen asks for."""

    async def log_end(self, host: str, server: str | None, back: int) -> LogPart:
        """The end of a server's log, or of the launch `back` launches before."""
        found = self._store.state.host(host).server(server) if server else None
        connection = await self._connection(host)
        return await log_paging.log_end(connection, found, server, back=back)

    async def log_before(self, host: str, part: LogPart) -> LogPart:
        """What was written before a part."""
        return await log_paging.log_before(await self._connection(host), part)

    async def follow_log(self, host: str, part: LogPart) -> AsyncIterator[LogPart]:
        """What is written after a part, as it comes."""
        async for found in log_paging.follow(await self._connection(host), part):
            yield found

    async def save_log(self, host: str, part: LogPart, file: Path, first_line: str) -> str:
        """Write all of it into a new file; says how much, and where it is."""
        connection = await self._connection(host)
        written = await log_paging.save_log(connection, part, file, first_line)
        return f"{written:,} characters in {file}"
