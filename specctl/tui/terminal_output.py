"""The terminal, written to without waiting for it: one that takes nothing holds up nothing."""

from __future__ import annotations

import asyncio
import os
import select
import threading
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 1 << 18
"""So much may wait for the terminal before frames are left out."""

CLOSE_WITHIN_S = 2.0
CLOSED = -1
"""What is written late goes nowhere: the number may stand for another file by then."""

FLAGS = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class TerminalOutput:
    """A terminal opened once more, since not to block is a property of the opening.

    What it does not take at once waits, in order. Of frames that wait too long only the screen as
    it is in the end is sent, when the terminal takes something again.
    """

    def __init__(self, descriptor: int, repaint: Callable[[], object]) -> None:
        """Raises OSError where `descriptor` is no terminal, or one that may not be opened."""
        self._own = os.open(os.ttyname(descriptor), FLAGS)
        self._repaint = repaint
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._is_behind = False
        """Frames were left out."""

    def write(self, data: bytes, *, is_frame: bool) -> None:
        """Write it now, or when the terminal takes it; a frame may be left out for a later one."""
        if threading.get_ident() != self._thread:  # Textual's thread for keys answers the terminal
            self._loop.call_soon_threadsafe(partial(self.write, data, is_frame=is_frame))
        elif self._waiting:
            self._wait(data, is_frame=is_frame)
        elif left := self._write(data):
            self._waiting.append((left, False))
            self._loop.add_writer(self._own, self._go_on)

    def _wait(self, data: bytes, *, is_frame: bool) -> None:
        self._waiting.append((data, is_frame))
        if sum(len(piece) for piece, _ in self._waiting) > MOST_BYTES:
            self._waiting = deque(piece for piece in self._waiting if not piece[1])
            self._is_behind = True

    def _write(self, data: bytes) -> bytes:
        """What the terminal did not take; nothing once it is gone."""
        try:
            return data[os.write(self._own, data) :]
        except BlockingIOError:
            return data
        except OSError:
            return b""

    def _go_on(self) -> None:
        while self._waiting:
            data, _ = self._waiting.popleft()
            left = self._write(data)
            if left:
                self._waiting.appendleft((left, False))
                return
        self._loop.remove_writer(self._own)
        if self._is_behind:
            self._is_behind = False
            self._repaint()

    def close(self) -> None:
        """Wait a moment for the terminal to take the rest."""
        self._loop.remove_writer(self._own)
        until_s = time.monotonic() + CLOSE_WITHIN_S
        while self._waiting and (left_s := until_s - time.monotonic()) > 0:
            if select.select([], [self._own], [], left_s)[1]:
                data, _ = self._waiting.popleft()
                if left := self._write(data):
                    self._waiting.appendleft((left, False))
        os.close(self._own)
        self._own = CLOSED
