"""The process behind one screen: the TUI on Textual's web driver, spoken to through pipes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from specctl.domain.text import clean
from specctl.domain.web.frames import DATA, HEAD_BYTES, READY, about, frame, read_head
from specctl.domain.web.messages import Focused, Message, Size, Typed

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Mapping, Sequence

_QUIT_S, _TERM_S, _KILL_S = 3.0, 2.0, 2.0
"""How long it may take to end when asked, when told, and when killed."""

_PRELUDE_LINES = 10
_WORDS_MAX = 4096
_PIPE = asyncio.subprocess.PIPE


class Child:
    """One screen's process."""

    def __init__(self, process: Process, errors: IO[bytes]) -> None:
        self._process, self._errors = process, errors
        if process.stdin is None or process.stdout is None:  # pragma: no cover
            raise TypeError(process)
        self._stdin, self._stdout = process.stdin, process.stdout

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def paints(self) -> AsyncIterator[bytes]:
        """What it writes to its terminal, until it ends."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionResetError):
            for _ in range(_PRELUDE_LINES):
                if await self._stdout.readline() == READY:
                    break
            else:
                return
            while head := read_head(await self._stdout.readexactly(HEAD_BYTES)):
                payload = await self._stdout.readexactly(head[1])
                if head[0] == DATA:
                    yield payload

    async def hear(self, message: Message) -> None:
        """Pass on what a browser said; a process that has ended hears nothing."""
        match message:
            case Typed(data):
                await self._write(frame(DATA, data))
            case Size(columns, rows):
                await self._write(about({"type": "resize", "width": columns, "height": rows}))
            case Focused(is_focused):
                await self._write(about({"type": "focus" if is_focused else "blur"}))

    async def _write(self, sent: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self._stdin.write(sent)
            await self._stdin.drain()

    async def last_words(self) -> str:
        """Why it failed, in a line of its standard error; empty where it ended as it should."""
        if await self._has_ended(_QUIT_S) and not self._process.returncode:
            return ""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - _WORDS_MAX))
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        told = [line for line in lines if line.startswith("specctl:")]
        return clean((told or lines[-1:] or ["The screen ended without a word."])[0])

    async def end(self) -> None:
        """Ask it to end, tell it, then kill it and what it started."""
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(self._discard())
            try:
                await self._write(about({"type": "quit"}))
                if not await self._has_ended(_QUIT_S):
                    self._signal(signal.SIGTERM)
                    await self._has_ended(_TERM_S)
            finally:
                self._kill()
                reading.cancel()
        await self._has_ended(_KILL_S)

    async def _discard(self) -> None:
        """One that waits until its paint is read could not hear that it shall end."""
        with contextlib.suppress(ConnectionError):
            while await self._stdout.read(65536):
                pass

    async def _has_ended(self, within_s: float) -> bool:
        try:
            async with asyncio.timeout(within_s):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _kill(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


@asynccontextmanager
async def running(
    argv: Sequence[str], environ: Mapping[str, str], size: Size
) -> AsyncIterator[Child]:
    """A screen's process while the block runs, in a session of its own.

    A Ctrl-C of the operator's terminal does not reach it, and the end of this process does:
    its standard input ends.
    """
    variables = {**environ, "COLUMNS": str(size.columns), "ROWS": str(size.rows)}
    with TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=_PIPE, stdout=_PIPE, stderr=errors, env=variables, start_new_session=True
        )
        child = Child(process, errors)
        try:
            yield child
        finally:
            await child.end()
