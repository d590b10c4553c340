"""A Session inside something a host must be entered through, such as a container."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from specctl.adapters.session import ByteStream, Finished, Process, Session


class EnteredSession:
    """Puts `enter` before every command; connections are made from the host around it.

    `enter` must pass its further arguments on untouched, as `docker exec -i NAME` does.
    """

    def __init__(self, outside: Session, enter: Sequence[str]) -> None:
        self._outside = outside
        self._enter = tuple(enter)

    @property
    def outside(self) -> Session:
        return self._outside

    @property
    def host(self) -> str:
        return self._outside.host

    async def run(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Finished:
        return await self._outside.run((*self._enter, *argv), timeout_s=timeout_s, stdin=stdin)

    async def open(self, argv: Sequence[str]) -> Process:
        return await self._outside.open((*self._enter, *argv))

    async def connect_tcp(self, address: str, port: int) -> ByteStream:
        return await self._outside.connect_tcp(address, port)

    def transport(self) -> httpx.AsyncBaseTransport:
        return self._outside.transport()

    async def close(self) -> None:
        await self._outside.close()

    @property
    def is_closed(self) -> bool:
        return self._outside.is_closed

    async def wait_closed(self) -> str:
        return await self._outside.wait_closed()
