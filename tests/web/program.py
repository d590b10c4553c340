"""`specctl web` as it is installed: a process of its own, and what it says."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal
    from collections.abc import AsyncIterator, Mapping

WITHIN_S = 40.0


@dataclass
class Program:
    """One running `specctl web`."""

    process: asyncio.subprocess.Process
    link: str
    said: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return self.link.partition("/enter")[0]

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def children(self) -> list[int]:
        """Process ids of the screens."""
        pid = self.process.pid
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    async def until_said(self, words: str) -> None:
        async with asyncio.timeout(WITHIN_S):
            while not any(words in line for line in self.said):
                await asyncio.sleep(0.02)

    async def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        async with asyncio.timeout(WITHIN_S):
            return await self.process.wait()


async def all_gone(pids: list[int]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while any(_lives(pid) for pid in pids):
            await asyncio.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@asynccontextmanager
async def specctl_web(environ: Mapping[str, str], *words: str) -> AsyncIterator[Program]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "specctl", *words, env=dict(environ),
        stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe,
    )  # fmt: skip
    try:
        async with asyncio.TaskGroup() as group:
            said: list[str] = []
            reading = group.create_task(_read(process, said))
            async with asyncio.timeout(WITHIN_S):
                line = await process.stdout.readline() if process.stdout else b""
            assert line.startswith(b"http://"), (line, said)
            yield Program(process, line.decode().strip(), said)
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
            await reading
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _read(process: asyncio.subprocess.Process, said: list[str]) -> None:
    assert process.stderr is not None
    while line := await process.stderr.readline():
        said.append(line.decode().rstrip())
