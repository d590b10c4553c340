"""One stream of items from an agent, held in a bounded queue until it is read."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError

ITEMS_MAX = 64


class StreamQueue:
    """Items that arrived and were not read; the wire waits for room, the reader for items."""

    def __init__(self) -> None:
        self._items: deque[dict[str, Any]] = deque()
        self._error: SpecctlError | None = None
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self.end: dict[str, Any] | None = None
        """What the agent said at the end; None before it, or when there was none."""

    @property
    def is_ended(self) -> bool:
        """The agent will send no more; items may still wait to be read."""
        return self.end is not None or self._error is not None

    async def put(self, item: dict[str, Any], *, patience_s: float) -> bool:
        """Hold `item`; False when nobody made room for it in time."""
        if not self._has_room.is_set():
            try:
                async with asyncio.timeout(patience_s):
                    await self._has_room.wait()
            except TimeoutError:
                return False
        self._items.append(item)
        if len(self._items) >= ITEMS_MAX:
            self._has_room.clear()
        self._changed.set()
        return True

    def finish(self, end: dict[str, Any]) -> None:
        """The agent ended the stream."""
        self.end = end
        self._changed.set()

    def fail(self, error: SpecctlError) -> None:
        """The stream broke; what arrived before can still be read."""
        if not self.is_ended:
            self._error = error
        self._has_room.set()
        self._changed.set()

    async def get(self) -> dict[str, Any] | None:
        """The next item, waiting for it; None at the end; raises what the stream failed with."""
        while not self._items:
            if self._error is not None:
                raise self._error
            if self.end is not None:
                return None
            self._changed.clear()
            await self._changed.wait()
        self._has_room.set()
        return self._items.popleft()
