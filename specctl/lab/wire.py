"""The way between an operator and a lab host, which can be slow, silent or cut."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CHUNK = 1 << 16


class CutError(Exception):
    """The way is cut."""


@dataclass
class Wire:
    """One host's way, shared by all its connections."""

    delay_s: float = 0.0
    bytes_per_s: float | None = None
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    """Set unless the way is silent."""

    cut: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while the way is cut."""

    def __post_init__(self) -> None:
        self.heard.set()

    def set(self, slow: Mapping[str, Any] | None, cut: Mapping[str, Any] | None) -> None:
        """Take over what the faults `slow-link` and `cut-link` say."""
        self.delay_s = slow["delay_ms"] / 1e3 if slow else 0.0
        self.bytes_per_s = slow["kib_per_s"] * 1024 if slow else None
        is_silent = cut is not None and bool(cut["silent"])
        _put(self.heard, is_set=not is_silent)
        _put(self.cut, is_set=cut is not None and not is_silent)

    async def carry(self, size: int) -> None:
        """Take as long as `size` bytes take."""
        if self.delay_s:
            await asyncio.sleep(self.delay_s + size / (self.bytes_per_s or size))
        await self.heard.wait()

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Bring what comes in one way to the other side, until it ends."""
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                await self.carry(len(data))
                writer.write(data)
                await writer.drain()
        writer.close()

    async def until_cut(self) -> None:
        """Raise CutError once the way is cut."""
        await self.cut.wait()
        raise CutError


def _put(event: asyncio.Event, *, is_set: bool) -> None:
    if is_set:
        event.set()
    else:
        event.clear()
