"""A local port that leads to one on the host's side, for people and their tools."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from specctl.domain.errors import HostError, UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from specctl.adapters.session import ByteStream, Session

_CHUNK_BYTES = 64 << 10
LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def forward_port(
    session: Session, remote_port: int, local_port: int = 0, *, address: str = LOOPBACK
) -> AsyncIterator[int]:
    """Listen on this machine's loopback while the block runs; gives the port listened on.

    `local_port` 0 lets the system choose. Connections end with the block.
    """
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            connections.add(task)
            task.add_done_callback(connections.discard)
        try:
            await _join(session, address, remote_port, reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    try:
        server = await asyncio.start_server(serve, LOOPBACK, local_port)
    except OSError as error:
        raise UsageError(
            f"port {local_port} of this machine cannot be listened on: {error.strerror}",
            hint="Choose another with --port, or 0 for any.",
        ) from error
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def _join(
    session: Session,
    address: str,
    port: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Carry bytes both ways until both sides have ended; a refusal shows as a closed connection."""
    try:
        far = await session.connect_tcp(address, port)
    except HostError:
        return
    try:
        async with asyncio.TaskGroup() as both:
            both.create_task(_carry_out(reader, far))
            both.create_task(_carry_in(far, writer))
    except* (HostError, OSError):
        pass  # one side is gone, so the connection is
    finally:
        await far.close()


async def _carry_out(reader: asyncio.StreamReader, far: ByteStream) -> None:
    while data := await reader.read(_CHUNK_BYTES):
        await far.write(data)
    await far.write_eof()


async def _carry_in(far: ByteStream, writer: asyncio.StreamWriter) -> None:
    while data := await far.read(_CHUNK_BYTES):
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()
