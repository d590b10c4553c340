"""Textual's web driver, for a process that must not outlive its server."""

from __future__ import annotations

import os
import sys
from threading import Event as Flag
from typing import TYPE_CHECKING

from textual import messages
from textual.drivers.web_driver import WebDriver

from specctl.tui.hangup import end_with, kill_group

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Event

UNHEARD_MOST = 256
"""So many keys and sizes are handed on before it is waited until they were heard.

What comes meanwhile stays in the pipe, and then in the browser: none of it takes memory here.
"""

_LOOKS_EVERY_S = 0.1


class ServedDriver(WebDriver):
    """Ends the app when nobody speaks to it, and writes frames whole."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._write = self._write_all  # type: ignore[assignment]
        self._unheard = 0

    def start_application_mode(self) -> None:
        """As Textual does; from now on the process ends with its server, whatever lies unread."""
        super().start_application_mode()
        if not self._mouse:  # Textual's asks for it all the same
            self._disable_mouse_support()
            self.flush()
        end_with(sys.__stdin__.fileno(), self._ask_to_end, kill_group)  # type: ignore[union-attr]

    def _ask_to_end(self) -> None:
        self._app.post_message(messages.ExitApp())

    def run_input_thread(self) -> None:
        """As Textual does; where the input ends before the app, so does the app."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._ask_to_end()

    def process_message(self, message: Event) -> None:
        """As Textual does, at the pace at which it is heard."""
        super().process_message(message)
        self._wait_until_heard()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """The same of a size, and of whether the window is turned to."""
        super().on_meta(packet_type, payload)
        self._wait_until_heard()

    def _wait_until_heard(self) -> None:
        """Runs in the thread that reads; the app hands keys to its screen, so both are asked."""
        self._unheard += 1
        if self._unheard < UNHEARD_MOST:
            return
        heard = Flag()
        self._app.call_later(self._ask_screen, heard)
        while not heard.wait(_LOOKS_EVERY_S) and not self.exit_event.is_set():
            pass
        self._unheard = 0

    def _ask_screen(self, heard: Flag) -> None:
        if self._app.screen_stack:
            self._app.screen.call_later(heard.set)
        else:
            heard.set()

    def _write_all(self, data: bytes) -> None:
        """All of it, also where a signal cuts a write short; to a server that is gone, nothing."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self.fileno, left) :]
        except BrokenPipeError:
            self._ask_to_end()
