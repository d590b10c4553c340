"""The lab hosts' ssh server: one asyncio loop, a port of loopback for each host."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import signal
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncssh

from specctl.lab.children import Child
from specctl.lab.shells import arguments, environment, settle_startup_files
from specctl.lab.wire import CutError, Wire

if TYPE_CHECKING:
    from specctl.lab.place import LabHost

LOOPBACK = "127.0.0.1"
BACKLOG = 128
CHUNK = 1 << 16
CLOSED = (OSError, asyncssh.Error)
_sessions = itertools.count(1)


@dataclass
class Served:
    """One host as it is served."""

    host: LabHost
    options: asyncssh.SSHServerConnectionOptions
    wire: Wire = field(default_factory=Wire)
    port: int = 0
    ended: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """Connections that are over, as their processes carry them."""

    async def listen(self) -> asyncio.Server:
        """Answer on a port of loopback that nobody has."""
        server = await asyncio.start_server(self._answer, LOOPBACK, 0, backlog=BACKLOG)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, over a wire that can be slow, silent or cut."""
        ours, theirs = socket.socketpair()
        inner_reader, inner_writer = await asyncio.open_connection(sock=ours)
        session = f"{self.host.folder.name}-{next(_sessions)}"
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.wire.pump(reader, inner_writer))
                cut = group.create_task(self.wire.until_cut())
                served = group.create_task(self._serve(theirs, session))
                await self.wire.pump(inner_reader, writer)
                await served
                cut.cancel()
        except* (CutError, ConnectionError):
            pass
        finally:
            for each in (writer, inner_writer):
                each.transport.abort()
            self.ended.put_nowait(session)

    async def _serve(self, sock: socket.socket, session: str) -> None:
        with contextlib.suppress(*CLOSED):
            connection = await asyncssh.run_server(
                sock, options=self.options, server_factory=_LoopbackServer,
                process_factory=lambda process: self._run(process, session), encoding=None,
            )  # fmt: skip
            await connection.wait_closed()

    async def _run(self, process: asyncssh.SSHServerProcess[bytes], session: str) -> None:
        """One exec request: a shell with that command."""
        settle_startup_files(self.host)
        argv = arguments(self.host, process.command)
        child = await Child.start(argv, environment(self.host, session), self.host.home)
        try:
            async with asyncio.TaskGroup() as group:
                feeding = group.create_task(_feed(process, child))
                status = await _drain(process, child)
                feeding.cancel()
            _say_end(process, status)
        except* CLOSED:
            process.close()
        finally:
            child.let_go()


class _LoopbackServer(asyncssh.SSHServer):
    """Lets its clients reach the host's loopback, and nothing else."""

    def begin_auth(self, username: str) -> bool:
        """Everyone needs the key."""
        del username
        return True

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> bool:
        """A port of this machine's loopback, which is the host's own."""
        del dest_port, orig_host, orig_port
        return dest_host in {LOOPBACK, "localhost", "::1"}


async def _feed(process: asyncssh.SSHServerProcess[bytes], child: Child) -> None:
    """What the client sends, and the signals it asks for."""
    while True:
        try:
            data = await process.stdin.read(CHUNK)
        except asyncssh.SignalReceived as received:
            child.signal(received.signal)
            continue
        except (asyncssh.BreakReceived, asyncssh.TerminalSizeChanged):
            continue
        if not data:
            break
        try:
            child.stdin.write(data)
            await child.stdin.drain()
        except OSError:  # it reads no more; what it says and how it ends still counts
            break
    child.stdin.close()


async def _drain(process: asyncssh.SSHServerProcess[bytes], child: Child) -> int:
    """All output, until whoever holds the pipes has closed them, then the exit status."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_pass_on(child.stdout, process.stdout))
        group.create_task(_pass_on(child.stderr, process.stderr))
    return await child.wait()


async def _pass_on(reader: asyncio.StreamReader, writer: Any) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()


def _say_end(process: asyncssh.SSHServerProcess[bytes], status: int) -> None:
    if status >= 0:
        process.exit(status)
        return
    name = signal.Signals(-status).name.removeprefix("SIG")
    process.exit_with_signal(name)


def make_options(
    host_key: asyncssh.SSHKey, client_key: asyncssh.SSHKey
) -> asyncssh.SSHServerConnectionOptions:
    """What all connections to a host have in common."""
    public = client_key.export_public_key().decode()
    return asyncssh.SSHServerConnectionOptions(
        server_host_keys=[host_key],
        authorized_client_keys=asyncssh.import_authorized_keys(public),
        agent_forwarding=False,
        allow_pty=False,
        line_editor=False,
        compression_algs=None,
        login_timeout=120,
    )
