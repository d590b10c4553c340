"""Keys as they come: Textual's own thread wakes ten times a second to see whether there are any."""

from __future__ import annotations

import os
import select
import time
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from textual._xterm_parser import XTermParser
from textual.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.message import Message

READ_BYTES = 4096
ATTENTIVE_S, TICK_S = 1.0, 0.1
"""So long after input, and so often, it is seen whether a sequence that began stays unfinished."""


class Keyboard(Driver):
    """Sleeps until the terminal sends something, or input is no longer wanted."""

    fileno: int
    _wake: tuple[int, int] | None = None

    def start_application_mode(self) -> None:
        """Make what wakes the thread, then start it; one that is there already ends first.

        Textual starts one more when the process goes on (SIGCONT), as it is told to at a hangup.
        """
        if self._wake is not None:
            self.disable_input()
        self._wake = os.pipe()
        super().start_application_mode()  # type: ignore[safe-super]  # the other base does

    def disable_input(self) -> None:
        """Have the thread end, which is waited for."""
        if self._wake is not None:
            os.write(self._wake[1], b"x")
        super().disable_input()  # type: ignore[safe-super]  # the other base does
        if self._wake is not None:
            for end in self._wake:
                os.close(end)
            self._wake = None

    def run_input_thread(self) -> None:
        """Hand on what the terminal sends until input is disabled."""
        if self._wake is None:
            return
        wake, listening = self._wake[0], select.poll()
        listening.register(self.fileno, select.POLLIN)
        listening.register(wake, select.POLLIN)
        parser = XTermParser()
        decode = getincrementaldecoder("utf-8")("replace").decode
        attentive_until_s = 0.0
        while True:
            is_attentive = time.monotonic() < attentive_until_s
            ready = {fd for fd, _ in listening.poll(TICK_S * 1000 if is_attentive else None)}
            if wake in ready:
                return
            if self.fileno in ready:
                data = os.read(self.fileno, READ_BYTES)
                if not data:
                    listening.unregister(self.fileno)  # it is gone: somebody else ends this
                attentive_until_s = time.monotonic() + ATTENTIVE_S
                if text := decode(data):  # part of a character is none yet, and "" ends a parser
                    self._hand_on(parser.feed(text))
            self._hand_on(parser.tick())

    def _hand_on(self, found: Iterable[Message]) -> None:
        for message in found:
            self.process_message(message)
