"""What the screens of logs ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from specctl.domain.remote_command import RemoteCommand
    from specctl.services.log_paging import LogPart


class LogServices(Protocol):
    """Logs of servers in parts, and of what was done; expected failures are `SpecctlError`."""

    def commands(self) -> Sequence[RemoteCommand]:
        """What was done on hosts in this session, the oldest first."""

    async def log_end(self, host: str, server: str | None, back: int) -> LogPart:
        """The end of a server's log, or of the launch `back` launches before."""

    async def log_before(self, host: str, part: LogPart) -> LogPart:
        """What was written before a part."""

    def follow_log(self, host: str, part: LogPart) -> AsyncIterator[LogPart]:
        """What is written after a part, as it comes."""

    async def save_log(self, host: str, part: LogPart, file: Path, first_line: str) -> str:
        """Write all of it into a new file; says how much, and where it is."""
