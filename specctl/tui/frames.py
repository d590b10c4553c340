"""When a frame is painted: now, or by a timer when the next one is due."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from textual.message import Message

from specctl.tui.bridge import GATHERED_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.tui.bridge import Pace
    from specctl.tui.panel import Kinds


class Paint(Protocol):
    """Paints everything, or what shows some of the numbers heard."""

    def __call__(self, heard: Kinds | None = None) -> None:
        """Paint."""


class FrameDue(Message):
    """The next frame is."""


class Frames:
    """The one frame that is due next."""

    def __init__(self, pace: Pace, paint: Paint, post: Callable[[Message], object]) -> None:
        """`post` puts a message among those of the app, which has `due` called for it."""
        self._pace, self._paint, self._post = pace, paint, post
        self._next: asyncio.TimerHandle | None = None
        self._awaits_numbers = False

    def soon(self, *, has_news: bool = True) -> None:
        """Paint now, or when the next frame is due; only news bring that forward."""
        if self._pace.is_waiting and not (has_news and self._awaits_numbers):
            return
        if self._next is not None:
            self._next.cancel()
        wait_s = self._pace.wait_s(has_news=has_news)
        self._pace.is_waiting, self._awaits_numbers = wait_s > 0, not has_news
        if wait_s > 0:
            loop = asyncio.get_running_loop()
            self._next = loop.call_later(wait_s, self._post, FrameDue())
        else:
            self._paint()

    def due(self) -> None:
        """The next frame, unless a key had one painted meanwhile: then the one after that."""
        self._pace.is_waiting, self._next = False, None
        if self._pace.wait_s(has_news=not self._awaits_numbers) > GATHERED_S:
            self.soon(has_news=not self._awaits_numbers)
        else:
            self._paint(frozenset(self._pace.heard) if self._awaits_numbers else None)
