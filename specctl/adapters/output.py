"""What a running command has written and nobody has read yet, fed by callbacks of the wire."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import ConnectionLostError, RemoteFailedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_HIGH_BYTES = 1 << 20
_LOW_BYTES = 1 << 18
_STDERR_BYTES = 256 << 10
_GRACE_S = 1.0
"""How long output is awaited after the exit: a child left behind may hold stdout for ever."""


class Output:
    """Output, exit status and end of one command; pauses the wire when nobody reads."""

    def __init__(self, name: str, *, host: str = "") -> None:
        self.name = name
        """What the command is called in error messages."""

        self._where = f"host {host}: " if host else ""

        self.pause_wire: Callable[[], None] = _nothing
        self.resume_wire: Callable[[], None] = _nothing
        self._chunks: list[bytes] = []
        self._held_bytes = 0
        self._is_paused = False
        self._stderr = bytearray()
        self._exit_status: int | None = None
        self._has_ended = False
        self._lost: str | None = None
        self._changed = asyncio.Event()

    def feed(self, data: bytes) -> None:
        """Take a piece of stdout."""
        self._chunks.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > _HIGH_BYTES and not self._is_paused:
            self._is_paused = True
            self.pause_wire()
        self._changed.set()

    def feed_stderr(self, data: bytes) -> None:
        """Take a piece of stderr; only the end is kept."""
        self._stderr += data
        if len(self._stderr) > _STDERR_BYTES:
            del self._stderr[:-_STDERR_BYTES]

    def set_exit_status(self, status: int) -> None:
        """The command has exited; output may still arrive."""
        self._exit_status = status
        self._changed.set()

    def end(self, lost: str | None = None) -> None:
        """No more stdout will arrive; `lost` says why, when the wire broke."""
        self._has_ended = True
        self._lost = lost if self._lost is None else self._lost
        self._changed.set()

    @property
    def exit_status(self) -> int | None:
        """None while it runs, and for ever when the connection was lost before the end."""
        return self._exit_status

    @property
    def stderr(self) -> bytes:
        """The end of stderr."""
        return bytes(self._stderr)

    async def read(self) -> bytes:
        """All that is held of stdout, waiting for some; nothing at the end."""
        while not self._chunks and not self._has_ended:
            if not await self._wait_for_change():
                break
        data = b"".join(self._chunks)
        self._chunks.clear()
        self._held_bytes = 0
        if self._is_paused:
            self._is_paused = False
            self.resume_wire()
        return data

    async def _wait_for_change(self) -> bool:
        """False when the command has exited and its output does not end by itself."""
        self._changed.clear()
        if self._exit_status is None:
            await self._changed.wait()
            return True
        try:
            async with asyncio.timeout(_GRACE_S):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def wait_exit(self) -> int:
        """The exit status, read or not; ConnectionLostError when it will never arrive."""
        while self._exit_status is None:
            if self._lost is not None:
                raise self.lost_error()
            self._changed.clear()
            await self._changed.wait()
        return self._exit_status

    def broken_pipe(self) -> ConnectionLostError:
        """It cannot be written to any more, because it ended or the connection did."""
        if self._lost is not None:
            return self.lost_error()
        return ConnectionLostError(f"{self._where}`{self.name}` no longer reads its stdin")

    def lost_error(self) -> ConnectionLostError:
        """Whether the command ran to its end is not known."""
        return ConnectionLostError(
            f"{self._where}the connection dropped while `{self.name}` ran: {self._lost}",
            hint="It may or may not have run to its end; look before repeating it.",
        )

    async def lines(self, max_bytes: int) -> AsyncIterator[bytes]:
        """Complete lines of stdout; what stands after the last newline is one, too."""
        rest = b""
        while data := await self.read():
            *lines, rest = (rest + data).split(b"\n") if rest else data.split(b"\n")
            for line in lines:
                if len(line) > max_bytes:
                    raise self._too_long(max_bytes)
                yield line
            if len(rest) > max_bytes:
                raise self._too_long(max_bytes)
        if rest:
            yield rest
        if self._lost is not None and self._exit_status is None:
            raise self.lost_error()

    def _too_long(self, max_bytes: int) -> RemoteFailedError:
        return RemoteFailedError(f"`{self.name}` wrote a line of more than {max_bytes} bytes")


def _nothing() -> None:
    pass
