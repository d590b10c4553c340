"""One server's log, followed on its host: lines, milestones and decode reports."""

from __future__ import annotations

import asyncio
import base64
from collections import deque
from typing import TYPE_CHECKING

from specctl.facts.log import LogReader
from specctl.facts.log_lines import LineKind, LogLine
from specctl.facts.log_meter import LogMeter
from specctl.facts.milestones import MilestoneTracker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from specctl.adapters.agent_channel import AgentChannel
    from specctl.adapters.clock import Clock
    from specctl.domain.server import Server

LINES_KEPT = 2000
POLLS = ('"GET /v1/loads', '"GET /metrics', '"GET /ready', '"GET /server_info', '"GET /get_load')
"""Access lines of requests such as specctl's own: kept, they would drown the log they report on."""

HEAD_BYTES = 4 * 1024 * 1024
"""A start's milestones lie in the first MiB of a log, also at 8 ranks with progress bars."""

TAIL_BYTES = 256 * 1024
READ_BYTES = 1024 * 1024


class ServerLog:
    """What a log says so far; `follow` keeps it up to date."""

    def __init__(self, path: str, launch_id: str | None, clock: Clock) -> None:
        self.path = path
        self.tracker = MilestoneTracker(launch_id)
        self.meter = LogMeter()
        self.lines: deque[LogLine] = deque(maxlen=LINES_KEPT)
        self.grew_at_s: float | None = None
        """By the operator's clock; None while nothing new has been seen."""

        self.lines_fed = 0
        """How many lines have been read in all."""

        self.trouble = ""
        """Why nothing is read, in words; empty while it is."""

        self.caught_up = asyncio.Event()
        """Set once all that was there at first has been read, or it is known that it cannot be."""

        self._reader = LogReader()
        self._clock = clock
        self._old_bytes = 0
        self._place: tuple[int, int | None] | None = None
        """Offset and inode after the last byte read; None before the first."""

    @property
    def age_s(self) -> float | None:
        """Seconds since it last grew, as far as it was watched."""
        return None if self.grew_at_s is None else self._clock.now() - self.grew_at_s

    async def follow(
        self, agent: AgentChannel, *, every_s: float | None = None
    ) -> AsyncIterator[tuple[LogLine, ...]]:
        """New lines as they come, or at the instants of samples, the old ones first.

        It goes on until cancelled. Followed again, through another connection, it goes on where it
        was: no line is lost or read twice.
        """
        offset, inode = self._place or await self._read_head(agent)
        paced = {} if every_s is None else {"every_s": every_s}
        stream = agent.stream(
            "tail", path=self.path, offset=offset, inode=inode, follow=True, **paced
        )
        async with stream:
            async for item in stream:
                is_missing = item.get("event") == "missing"
                self._place = int(item["offset"]), item.get("inode")
                self.trouble = f"{self.path} is not there" if is_missing else ""
                lines = self._feed(base64.b64decode(item.get("data") or b""))
                if self._old_bytes <= 0 or item.get("event"):
                    self.caught_up.set()
                if lines:
                    yield lines

    def fail(self, why: str) -> None:
        """It cannot be read, for a reason in words."""
        self.trouble = why
        self.caught_up.set()

    async def _read_head(self, agent: AgentChannel) -> tuple[int, int | None]:
        """Where to go on from: of a long log only its milestones and its end are read."""
        stat = (await agent.call("stat", paths=[self.path])).get(self.path) or {}
        size, written_at_s = stat.get("size"), stat.get("mtime")
        if not isinstance(size, int):
            return 0, None
        if size == 0:
            self.caught_up.set()
        if isinstance(written_at_s, float):
            self.grew_at_s = min(written_at_s, self._clock.now())
        self._old_bytes = min(size, TAIL_BYTES) if size > HEAD_BYTES + TAIL_BYTES else size
        if self._old_bytes == size:
            return 0, None
        head, offset = LogReader(), 0
        while offset < HEAD_BYTES:
            part = await agent.call("read", path=self.path, offset=offset, length=READ_BYTES)
            data = base64.b64decode(part.get("data") or b"")
            if not data:
                break
            offset += len(data)
            for line in head.feed(data):
                self.tracker.feed(line)
        inode = stat.get("inode")
        return -TAIL_BYTES, inode if isinstance(inode, int) else None

    def _feed(self, data: bytes) -> tuple[LogLine, ...]:
        lines = tuple(line for line in self._reader.feed(data) if not is_poll(line))
        if self._old_bytes > 0:
            self._old_bytes -= len(data)
        elif lines:
            self.grew_at_s = self._clock.now()
        for line in lines:
            self.tracker.feed(line)
            self.meter.feed(line, now_s=self._clock.now())
        self.lines.extend(lines)
        self.lines_fed += len(lines)
        return lines

    def shown(self) -> list[str]:
        """The lines kept, as they may be shown."""
        return [line.shown for line in self.lines]


def is_poll(line: LogLine) -> bool:
    """It is the access line of a request that only asks how the server does."""
    return line.kind is LineKind.ACCESS and any(poll in line.text for poll in POLLS)


def launch_of_log(server: Server) -> str | None:
    """The launch that the log's first line names; None for an adopted server's, which has none."""
    marker = server.identity.marker if server.identity else ""
    return server.launch_id if marker == server.launch_id else None


def log_path_of(stdout: str | None, stderr: str | None) -> tuple[str | None, str]:
    """The file a process writes its log to, and where it goes when it is no file.

    SGLang logs on stderr; uvicorn's access lines go to stdout.
    """
    for target in (stderr, stdout):
        if target and target.startswith("/") and not target.startswith(("/dev/", "/proc/")):
            return target.removesuffix(" (deleted)"), ""
    target = stderr or stdout
    if target is None:
        return None, "its file descriptors cannot be read by this user"
    if target.startswith("/dev/pts/"):
        return None, f"it writes to the terminal {target}"
    if target.startswith("/dev/null"):
        return None, "its output is discarded (/dev/null)"
    return None, f"it writes to {target}, which is no file"
