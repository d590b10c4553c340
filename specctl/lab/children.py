"""A session's process: started as sshd does it, and never ended by whoever only looks at it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass
class Child:
    """One process in a session of its own, its three streams pipes."""

    process: subprocess.Popen[bytes]
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    @classmethod
    async def start(
        cls, argv: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> Child:
        """Start it in `folder`."""
        process = subprocess.Popen(  # noqa: ASYNC220  a fork takes a millisecond
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            bufsize=0,
        )
        stdin = await _writer(process.stdin)
        return cls(process, stdin, await _reader(process.stdout), await _reader(process.stderr))

    @property
    def pid(self) -> int:
        """Also its process group and session."""
        return self.process.pid

    def signal(self, name: str) -> None:
        """Pass on what the client asks for (`TERM`), to the process group."""
        number = getattr(signal, f"SIG{name}", None)
        if number is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    async def wait(self) -> int:
        """Its exit status, negative when a signal ended it."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        handle = os.pidfd_open(self.pid)
        loop.add_reader(handle, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(handle)
            os.close(handle)
        return self.process.wait()

    def let_go(self) -> None:
        """Close the pipes; it goes on without them, if it can."""
        if not self.stdin.transport.is_closing():
            self.stdin.transport.abort()
        for reader in (self.stdout, self.stderr):
            transport: Any = getattr(reader, "_transport", None)
            if transport is not None:
                transport.close()


async def _reader(pipe: Any) -> asyncio.StreamReader:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def _writer(pipe: Any) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)
