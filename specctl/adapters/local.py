"""A Session on this machine, by the same rules as over a connection."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

import httpx

from specctl.adapters.output import Output
from specctl.adapters.running import finish, name_of
from specctl.adapters.session import LINE_BYTES_MAX, Finished
from specctl.adapters.streams import PairStream
from specctl.domain.errors import (
    ConnectionLostError,
    DeadlineError,
    UnreachableError,
)
from specctl.domain.text import clean_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from specctl.adapters.session import ByteStream

_WRITE_S = 30.0
_CONNECT_S = 10.0
_CLOSE_S = 2.0
"""A killed child ends at once, unless the kernel holds it."""

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
"""What a shell would answer."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class _Listener(asyncio.SubprocessProtocol):
    """Passes what one child writes on to an Output."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.may_write = asyncio.Event()
        self.may_write.set()
        self._transport: asyncio.SubprocessTransport | None = None
        self._open_fds = {_STDOUT, _STDERR}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.SubprocessTransport):  # pragma: no cover
            raise TypeError(transport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self._output.feed_stderr(data)
        else:
            self._output.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDIN:
            self.may_write.set()
            return
        self._open_fds.discard(fd)
        if not self._open_fds:
            self._output.end()

    def process_exited(self) -> None:
        status = self._transport.get_returncode() if self._transport else None
        if status is not None:
            self._output.set_exit_status(status if status >= 0 else 128 - status)

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()


class LocalProcess:
    """A child in a session of its own: a Ctrl-C of the operator's terminal does not reach it."""

    def __init__(
        self, output: Output, transport: asyncio.SubprocessTransport, listener: _Listener
    ) -> None:
        self.output = output
        self._transport, self._listener = transport, listener
        stdout = transport.get_pipe_transport(_STDOUT)
        if isinstance(stdout, asyncio.ReadTransport):
            output.pause_wire, output.resume_wire = stdout.pause_reading, stdout.resume_reading

    async def write(self, data: bytes) -> None:
        stdin = self._stdin()
        if stdin is None or stdin.is_closing() or self.output.exit_status is not None:
            raise self.output.broken_pipe()
        stdin.write(data)
        try:
            async with asyncio.timeout(_WRITE_S):
                await self._listener.may_write.wait()
        except TimeoutError as error:
            raise DeadlineError(f"`{self.output.name}` does not read its stdin") from error

    def send_all(self, data: bytes) -> None:
        if (stdin := self._stdin()) is not None:
            stdin.write(data)
            stdin.close()

    async def close_stdin(self) -> None:
        if (stdin := self._stdin()) is not None:
            stdin.close()

    def _stdin(self) -> asyncio.WriteTransport | None:
        stdin = self._transport.get_pipe_transport(_STDIN)
        return stdin if isinstance(stdin, asyncio.WriteTransport) else None

    def lines(self, max_bytes: int = LINE_BYTES_MAX) -> AsyncIterator[bytes]:
        return self.output.lines(max_bytes)

    async def stderr_tail(self) -> str:
        return "\n".join(clean_lines(self.output.stderr.decode("utf-8", "replace")))

    async def wait(self) -> int:
        return await self.output.wait_exit()

    async def kill(self) -> None:
        """Kill it and its children; those that made a session of their own live on."""
        if self._transport.get_returncode() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._transport.get_pid(), signal.SIGKILL)

    async def close(self) -> None:
        """Stop talking to it, and kill it when it still runs.

        The transport is closed after the end: asyncio's close() polls a child that it believes
        alive, and a status taken there is missed by the watcher, which then reports 255.
        """
        await self.kill()
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self.output.wait_exit()
        except TimeoutError:
            pass
        finally:
            self._transport.close()


class LocalSession:
    """This machine, reached by starting children."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._open: list[LocalProcess] = []
        self._ended = asyncio.Event()

    @property
    def outside(self) -> LocalSession:
        return self

    @property
    def host(self) -> str:
        return self._host

    async def run(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Finished:
        try:
            process = await self._start(argv)
        except OSError as error:
            return _not_started(argv, error)
        return await finish(process, argv, host=self._host, timeout_s=timeout_s, stdin=stdin)

    async def open(self, argv: Sequence[str]) -> LocalProcess:
        """As a login shell would start it: what cannot be started ends with 126 or 127."""
        process = await self._start(argv, through=("/bin/sh", "-c", 'exec "$@"', "sh"))
        self._open.append(process)
        return process

    async def _start(self, argv: Sequence[str], *, through: Sequence[str] = ()) -> LocalProcess:
        self._require_open()
        starting = asyncio.create_task(_spawn((*through, *argv), name_of(argv)))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # asyncio would wait for ever for a child cancelled before its pipes are connected
            await (await starting).close()
            raise

    async def connect_tcp(self, address: str, port: int) -> ByteStream:
        self._require_open()
        try:
            async with asyncio.timeout(_CONNECT_S):
                reader, writer = await asyncio.open_connection(address, port)
        except OSError as error:  # TimeoutError is one
            raise UnreachableError(
                f"host {self._host}: nothing to connect to at {address}:{port}: "
                f"{os.strerror(error.errno) if error.errno else 'no answer'}"
            ) from error
        return PairStream(reader, writer, lambda: self.is_closed)

    def transport(self) -> httpx.AsyncBaseTransport:
        return httpx.AsyncHTTPTransport()

    async def close(self) -> None:
        self._ended.set()
        for process in self._open:
            await process.close()
        self._open.clear()

    @property
    def is_closed(self) -> bool:
        return self._ended.is_set()

    async def wait_closed(self) -> str:
        await self._ended.wait()
        return "it was closed"

    def _require_open(self) -> None:
        if self.is_closed:
            raise ConnectionLostError(f"host {self._host}: the session was closed")


async def _spawn(argv: Sequence[str], name: str) -> LocalProcess:
    output = Output(name)
    transport, listener = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Listener(output), *argv, start_new_session=True, cwd=_home()
    )
    return LocalProcess(output, transport, listener)


def _home() -> str:
    """Where a login shell would start a command."""
    home = os.path.expanduser("~")
    return home if os.path.isdir(home) else "/"


def _not_started(argv: Sequence[str], error: OSError) -> Finished:
    status = _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE
    words = f"{argv[0]}: {error.strerror}\n".encode("utf-8", "replace")
    return Finished(tuple(argv), status, b"", words)
