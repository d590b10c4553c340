"""A server's API on a local port."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from specctl.adapters.forwarding import forward_port
from specctl.domain.errors import UsageError
from specctl.services.choosing import the_server
from specctl.services.host_reading import read_host
from specctl.services.measured_server import reachable_address
from specctl.services.mutating import mutating

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from specctl.services.connection import Connection


@mutating("forward")
def forward_server(
    connection: Connection, server: str | None, local_port: int
) -> AbstractAsyncContextManager[tuple[int, int]]:
    """The local port and the server's own, while the block runs.

    Refused on a read-only host: whoever reaches the port can do anything with the server.
    """
    return _forward(connection, server, local_port)


@asynccontextmanager
async def _forward(
    connection: Connection, name: str | None, local_port: int
) -> AsyncIterator[tuple[int, int]]:
    server = the_server(await read_host(connection), connection.host.name, name)
    if server.port is None:
        raise UsageError(f"the port of {server.name} is not known")
    async with forward_port(
        connection.session, server.port, local_port, address=reachable_address(server.bind_address)
    ) as port:
        yield port, server.port
