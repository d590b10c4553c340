"""Connecting hop by hop, so that every hop gets the same checks and every error names its hop."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING

import asyncssh

from specctl.adapters.hostkeys import KnownHosts, key_error
from specctl.adapters.ssh_failures import hop_error, is_dropped_handshake
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.hops import Hop
    from specctl.adapters.ssh_settings import SshSettings
    from specctl.domain.errors import SpecctlError

_FIRST_RETRY_S = 0.3
_CLOSE_S = 2.0


class HopClient(asyncssh.SSHClient):
    """Remembers what one connection would not tell afterwards."""

    def __init__(self) -> None:
        self.offered: asyncssh.SSHKey | None = None
        """The host key that is not in known_hosts."""

        self.peer = ""
        self.lost: str | None = None
        """Why the connection ended; None while it is open."""

        self.has_ended = asyncio.Event()

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        """Keep the key that nothing vouches for, and refuse it."""
        del host, port
        self.offered, self.peer = key, addr
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Keep the reason."""
        self.lost = clean(str(exc)) if exc is not None and str(exc) else "it was closed"
        self.has_ended.set()


class SshLink:
    """The open connections to one host: its own, and those to the jump hosts before it."""

    def __init__(
        self, connections: Sequence[asyncssh.SSHClientConnection], client: HopClient
    ) -> None:
        self.connection = connections[-1]
        self.connections = tuple(connections)
        self.client = client

    async def close(self) -> None:
        """Close all of them, the last first."""
        await close_connections(self.connections)


async def connect_hops(host: str, hops: Sequence[Hop], settings: SshSettings) -> SshLink:
    """Connect all `hops`; raises UnreachableError and its kin, and leaves nothing open then."""
    connections: list[asyncssh.SSHClientConnection] = []
    client = HopClient()
    try:
        for hop in hops:
            tunnel = connections[-1] if connections else None
            connection, client = await _Attempt(host, hop, tunnel, settings).connect_patiently()
            connections.append(connection)
    except BaseException:
        await close_connections(connections)
        raise
    return SshLink(connections, client)


async def close_connections(connections: Sequence[asyncssh.SSHClientConnection]) -> None:
    """Close, the last first; one whose other side is silent is cut after a moment."""
    for connection in reversed(connections):
        connection.close()
        try:
            async with asyncio.timeout(_CLOSE_S):
                await connection.wait_closed()
        except TimeoutError:
            connection.abort()


class _DroppedHandshakeError(Exception):
    def __init__(self, translated: SpecctlError) -> None:
        super().__init__(translated.message)
        self.translated = translated


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Connecting one hop."""

    host: str
    hop: Hop
    tunnel: asyncssh.SSHClientConnection | None
    settings: SshSettings

    async def connect_patiently(self) -> tuple[asyncssh.SSHClientConnection, HopClient]:
        """Try again, after a wait unlike everyone else's, when the handshake is dropped."""
        for attempt in range(self.settings.handshake_tries - 1):
            with contextlib.suppress(_DroppedHandshakeError):
                return await self._connect()
            await asyncio.sleep(_FIRST_RETRY_S * 2**attempt * SystemRandom().uniform(0.5, 1.5))
        try:
            return await self._connect()
        except _DroppedHandshakeError as dropped:
            raise dropped.translated from dropped.__cause__

    async def _connect(self) -> tuple[asyncssh.SSHClientConnection, HopClient]:
        client, known = HopClient(), KnownHosts(self.hop.known_hosts_files)
        try:
            async with asyncio.timeout(self.settings.connect_timeout_s):
                connection = await asyncssh.connect(
                    **self.hop.options,
                    tunnel=self.tunnel,
                    known_hosts=known.for_asyncssh(),
                    client_factory=lambda: client,
                )
        except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed) as error:
            raise await self._key_refusal(error, client, known) from error
        except (asyncssh.Error, OSError, ValueError) as error:
            translated = hop_error(self.hop, error, timeout_s=self.settings.connect_timeout_s)
            if is_dropped_handshake(error):
                raise _DroppedHandshakeError(translated) from error
            raise translated from error
        return connection, client

    async def _key_refusal(
        self, error: Exception, client: HopClient, known: KnownHosts
    ) -> SpecctlError:
        """What to raise when the host's key was refused, or no algorithm for it agreed upon.

        A revoked key is refused unseen, and a host without any key of an allowed kind fails the
        key exchange before it shows the one it has: both are asked for once more.
        """
        offered = client.offered or await offered_key(self.hop, self.tunnel, self.settings)
        if offered is not None:
            refusal = key_error(self.hop, self.host, known, offered, client.peer)
            if refusal is not None:
                return refusal
        return hop_error(self.hop, error, timeout_s=self.settings.connect_timeout_s)


async def offered_key(
    hop: Hop, tunnel: asyncssh.SSHClientConnection | None, settings: SshSettings
) -> asyncssh.SSHKey | None:
    """The key a host shows, without trusting it or logging in."""
    options = asyncssh.SSHClientConnectionOptions(**hop.options)
    try:
        async with asyncio.timeout(settings.connect_timeout_s):
            return await asyncssh.get_server_host_key(
                hop.destination.name, hop.port, options=options, config=None, tunnel=tunnel
            )
    except (asyncssh.Error, OSError, ValueError) as error:
        raise hop_error(hop, error, timeout_s=settings.connect_timeout_s) from error
