"""A Session whose commands and requests are noted in the command log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from specctl.adapters.command_log import HostLog
    from specctl.adapters.session import ByteStream, Finished, Process, Session


class NotedSession:
    """Passes everything on; what is run is noted with how it ended."""

    def __init__(self, inner: Session, log: HostLog) -> None:
        self._inner, self._log = inner, log

    @property
    def host(self) -> str:
        return self._inner.host

    @property
    def outside(self) -> Session:
        outside = self._inner.outside
        return self if outside is self._inner else NotedSession(outside, self._log)

    async def run(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Finished:
        with self._log.command(argv) as end:
            finished = await self._inner.run(argv, timeout_s=timeout_s, stdin=stdin)
            end("ok" if finished.exit_status == 0 else f"exit {finished.exit_status}")
            return finished

    async def open(self, argv: Sequence[str]) -> Process:
        with self._log.command(argv) as end:
            process = await self._inner.open(argv)
            end("started")
            return process

    async def connect_tcp(self, address: str, port: int) -> ByteStream:
        return await self._inner.connect_tcp(address, port)

    def transport(self) -> httpx.AsyncBaseTransport:
        # httpx takes a sixth of a second to import: only where it is used
        from specctl.adapters.noted_http import NotedTransport

        return NotedTransport(self._inner.transport(), self._log)

    async def close(self) -> None:
        await self._inner.close()

    @property
    def is_closed(self) -> bool:
        return self._inner.is_closed

    async def wait_closed(self) -> str:
        return await self._inner.wait_closed()
