"""Logs for the screens, from lists of lines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError, UsageError
from specctl.domain.remote_command import RemoteCommand, Way, in_order
from specctl.services.log_paging import LogPart, save_lines
from tests.tui import parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

PATH = "/var/tmp/specctl/launches/7c1e2d90/server.log"


_T = parts.NOW_S
_HOST = "pro6k-01"
_PYTHON = ("/opt/sglang/bin/python", "-I", "-c", "import sys", "specctl-9f")
LAUNCH = (
    "python", "-m", "sglang.launch_server", "--model-path", "moonshotai/Kimi-K2.5",
    "--speculative-algorithm", "EAGLE3", "--tp", "8", "--api-key", "***",
)  # fmt: skip
DONE = (
    RemoteCommand(_T - 900, _HOST, Way.COMMAND, "agent", _PYTHON, {"action": "start"}, "started",
                  elapsed_s=0.41),
    RemoteCommand(_T - 2, _HOST, Way.AGENT, "processes", (), {"patterns": ["sglang"]}, "ok",
                  elapsed_s=0.02, times=412),
    RemoteCommand(_T - 1, _HOST, Way.HTTP, "GET /v1/loads", (),
                  {"url": "http://127.0.0.1:30000/v1/loads"}, "200", elapsed_s=0.004, times=874),
    RemoteCommand(_T - 340, _HOST, Way.COMMAND, "holder", _PYTHON, {"keys": ["gpu0", "gpu1"]},
                  "started", changes=True, elapsed_s=0.09),
    RemoteCommand(_T - 338, _HOST, Way.COMMAND, "launcher", _PYTHON,
                  {"launch_id": "7c1e2d90", "argv": LAUNCH}, "ok", changes=True, elapsed_s=0.62),
    RemoteCommand(_T - 60, _HOST, Way.HTTP, "POST /flush_cache", (),
                  {"url": "http://127.0.0.1:30000/flush_cache"}, "400", is_failure=True,
                  changes=True, elapsed_s=0.03),
    RemoteCommand(_T - 30, _HOST, Way.AGENT, "probe", (), {}, "ok", changes=True, elapsed_s=24.8),
)  # fmt: skip


class FakeLogs:
    """The log of every server is the same, in parts of `part_lines`."""

    def __init__(self) -> None:
        self.log_lines: list[str] = list(parts.LOG)
        self.runs_before: list[list[str]] = []
        """Logs of the launches before, the newest first."""

        self.part_lines = 1000
        self.done: list[RemoteCommand] = list(in_order(DONE))
        self.new_lines: asyncio.Queue[LogPart | SpecctlError] = asyncio.Queue()

    def _asked(self, *call: object) -> None:
        raise NotImplementedError

    def _of(self, back: int) -> list[str]:
        if back > len(self.runs_before):
            raise UsageError("no launch before this one is kept on pro6k-01", hint="p goes back.")
        return self.runs_before[back - 1] if back else self.log_lines

    def commands(self) -> Sequence[RemoteCommand]:
        return tuple(self.done)

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
