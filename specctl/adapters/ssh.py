"""A Session over one SSH connection."""

from __future__ import annotations

import asyncio
import contextlib
from random import SystemRandom
from typing import TYPE_CHECKING

import asyncssh

from specctl.adapters.output import Output
from specctl.adapters.quoting import quote_for_any_shell
from specctl.adapters.running import finish, name_of, status_of_signal
from specctl.adapters.session import LINE_BYTES_MAX
from specctl.adapters.streams import PairStream
from specctl.adapters.tunnel import TunnelTransport
from specctl.domain.errors import (
    ConnectionLostError,
    DeadlineError,
    RemoteFailedError,
    SpecctlError,
    UnreachableError,
)
from specctl.domain.text import clean, clean_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import httpx

    from specctl.adapters.session import ByteStream, Finished
    from specctl.adapters.ssh_connect import SshLink

EXECS_MAX = 6
"""Below sshd's MaxSessions, 10 by default, so that other tools on the connection find room."""

_OPEN_S = 20.0
"""To start a command: a login shell's startup files may take seconds."""

_WRITE_S = 30.0
_CONNECT_S = 10.0
_REFUSED_TRIES = 5
_REFUSED_WAIT_S = 0.2


class _ExecChannel(asyncssh.SSHClientSession[bytes]):
    """Passes what one channel hears on to an Output."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.may_write = asyncio.Event()
        self.may_write.set()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if datatype == asyncssh.EXTENDED_DATA_STDERR:
            self._output.feed_stderr(data)
        else:
            self._output.feed(data)

    def eof_received(self) -> bool:
        """Keep the channel: the exit status comes after the end of stdout."""
        self._output.end()
        return True

    def exit_status_received(self, status: int) -> None:
        self._output.set_exit_status(status)

    def exit_signal_received(
        self,
        signal: str,
        core_dumped: bool,  # noqa: FBT001  asyncssh's signature
        msg: str,
        lang: str,
    ) -> None:
        del core_dumped, msg, lang
        self._output.set_exit_status(status_of_signal(signal))

    def connection_lost(self, exc: Exception | None) -> None:
        reason = clean(str(exc)) if exc else "the channel closed without an exit status"
        self._output.end(lost=reason)
        self.may_write.set()

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()


class SshProcess:
    """A command running over one channel."""

    def __init__(
        self,
        output: Output,
        channel: asyncssh.SSHClientChannel[bytes],
        session: _ExecChannel,
        slots: asyncio.Semaphore,
    ) -> None:
        self.output = output
        self._channel, self._session, self._slots = channel, session, slots
        self._is_closed = False
        output.pause_wire, output.resume_wire = channel.pause_reading, channel.resume_reading

    async def write(self, data: bytes) -> None:
        try:
            self._channel.write(data)
            async with asyncio.timeout(_WRITE_S):
                await self._session.may_write.wait()
        except TimeoutError as error:
            raise DeadlineError(f"`{self.output.name}` does not read its stdin") from error
        except OSError as error:
            raise self.output.broken_pipe() from error

    def send_all(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # it may end without reading
            self._channel.write(data)
            self._channel.write_eof()

    async def close_stdin(self) -> None:
        with contextlib.suppress(OSError):
            self._channel.write_eof()

    def lines(self, max_bytes: int = LINE_BYTES_MAX) -> AsyncIterator[bytes]:
        return self.output.lines(max_bytes)

    async def stderr_tail(self) -> str:
        return "\n".join(clean_lines(self.output.stderr.decode("utf-8", "replace")))

    async def wait(self) -> int:
        return await self.output.wait_exit()

    async def kill(self) -> None:
        """Ask for its end; sshd passes the signal on for an ordinary user, for root it may not."""
        with contextlib.suppress(OSError):
            self._channel.kill()

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._channel.close()
            self._slots.release()


class SshSession:
    """One SSH connection, used for everything on a host."""

    def __init__(self, host: str, link: SshLink) -> None:
        self._host, self._link, self._connection = host, link, link.connection
        self._slots = asyncio.Semaphore(EXECS_MAX)
        self._first_exec = asyncio.Lock()
        self._had_exec = False

    @property
    def outside(self) -> SshSession:
        return self

    @property
    def host(self) -> str:
        return self._host

    async def run(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Finished:
        process = await self._start(argv, timeout_s)
        return await finish(process, argv, host=self._host, timeout_s=timeout_s, stdin=stdin)

    async def open(self, argv: Sequence[str]) -> SshProcess:
        return await self._start(argv, _OPEN_S)

    async def _start(self, argv: Sequence[str], timeout_s: float) -> SshProcess:
        name = name_of(argv)
        try:
            async with asyncio.timeout(timeout_s):
                await self._slots.acquire()
                try:
                    return await self._open_channel(
                        Output(name, host=self._host), quote_for_any_shell(argv)
                    )
                except BaseException:
                    self._slots.release()
                    raise
        except TimeoutError as error:
            raise DeadlineError(
                f"host {self._host}: `{name}` could not be started within {timeout_s:g} s",
                hint="The host is slow, or other commands still run there.",
            ) from error

    async def _open_channel(self, output: Output, command: str) -> SshProcess:
        """Ask again for a session that is refused: the command has not run."""
        for attempt in range(1, _REFUSED_TRIES):
            try:
                return await self._create_session(output, command)
            except RemoteFailedError:
                wait_s = attempt * _REFUSED_WAIT_S * SystemRandom().uniform(0.5, 1.5)
                await asyncio.sleep(wait_s)
        return await self._create_session(output, command)

    async def _create_session(self, output: Output, command: str) -> SshProcess:
        listener = _ExecChannel(output)
        try:
            channel, _ = await self._connection.create_session(
                lambda: listener, command, encoding=None
            )
        except asyncssh.ChannelOpenError as error:
            raise self._open_error(output.name, error) from error
        except (asyncssh.Error, OSError) as error:
            raise self._lost_error() from error
        self._had_exec = True
        return SshProcess(output, channel, listener, self._slots)

    async def connect_tcp(self, address: str, port: int) -> ByteStream:
        await self._make_sure_of_an_exec()
        try:
            async with asyncio.timeout(_CONNECT_S):
                reader, writer = await self._connection.open_connection(
                    address, port, encoding=None
                )
        except asyncssh.ChannelOpenError as error:
            raise self._connect_error(address, port, clean(error.reason)) from error
        except TimeoutError as error:
            raise self._connect_error(address, port, f"no answer in {_CONNECT_S:g} s") from error
        except (asyncssh.Error, OSError) as error:
            raise self._lost_error() from error
        return PairStream(reader, writer, lambda: self.is_closed, (asyncssh.Error, OSError))

    async def _make_sure_of_an_exec(self) -> None:
        """OpenSSH sets TCP_NODELAY when the first command starts; before, answers lag by 40 ms."""
        async with self._first_exec:
            if not self._had_exec:
                await self.run(("true",), timeout_s=_OPEN_S)

    def transport(self) -> httpx.AsyncBaseTransport:
        return TunnelTransport(self)

    async def close(self) -> None:
        await self._link.close()

    @property
    def is_closed(self) -> bool:
        return self._link.client.has_ended.is_set() or self._connection.is_closed()

    async def wait_closed(self) -> str:
        await self._link.client.has_ended.wait()
        return self._link.client.lost or "it was closed"

    def _lost_error(self) -> ConnectionLostError:
        reason = self._link.client.lost or "it was cut"
        return ConnectionLostError(f"host {self._host}: the connection is gone: {reason}")

    def _open_error(self, name: str, error: asyncssh.ChannelOpenError) -> SpecctlError:
        if self.is_closed or "connection closed" in error.reason:
            return self._lost_error()
        return RemoteFailedError(
            f"host {self._host} refused another session: {clean(error.reason)}; "
            f"`{name}` did not run",
            hint="Its sshd allows too few sessions on one connection (MaxSessions) or none "
            "(ForceCommand, a no-login account). Repeating is safe.",
        )

    def _connect_error(self, address: str, port: int, words: str) -> UnreachableError:
        return UnreachableError(
            f"host {self._host}: nothing to connect to at {address}:{port}: {words}"
        )
