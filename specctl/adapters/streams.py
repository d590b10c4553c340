"""TCP connections on a host's side, as asyncio and asyncssh both give them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Protocol

from specctl.domain.errors import ConnectionLostError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_CLOSE_S = 2.0


class _Reader(Protocol):
    def read(self, n: int = -1) -> Awaitable[bytes]: ...

    def at_eof(self) -> bool: ...


class _Writer(Protocol):
    def write(self, data: bytes) -> None: ...

    def drain(self) -> Awaitable[None]: ...

    def write_eof(self) -> None: ...

    def close(self) -> None: ...

    def wait_closed(self) -> Awaitable[None]: ...


class PairStream:
    """A ByteStream over a reader and a writer."""

    def __init__(
        self,
        reader: _Reader,
        writer: _Writer,
        is_link_gone: Callable[[], bool],
        broken: tuple[type[Exception], ...] = (OSError,),
    ) -> None:
        self._reader, self._writer, self._is_link_gone = reader, writer, is_link_gone
        self._broken = broken

    async def read(self, max_bytes: int) -> bytes:
        try:
            return await self._reader.read(max_bytes)
        except self._broken as error:
            raise _lost(error) from error

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except self._broken as error:
            raise _lost(error) from error

    async def write_eof(self) -> None:
        with contextlib.suppress(OSError):  # a closed connection has said it already
            self._writer.write_eof()

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self._writer.wait_closed()
        except self._broken:
            return  # it is closed as far as this side is concerned

    @property
    def at_eof(self) -> bool:
        return self._reader.at_eof() or self._is_link_gone()


def _lost(error: Exception) -> ConnectionLostError:
    words = str(error) or type(error).__name__
    return ConnectionLostError(f"the connection through the host broke: {words}")
