"""Textual's web driver, for a process that must not outlive its server."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from textual import messages
from textual.drivers.web_driver import WebDriver

from specctl.tui.hangup import end_with, kill_group

if TYPE_CHECKING:
    from textual.app import App


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

    def _write_all(self, data: bytes) -> None:
        """All of it, also where a signal cuts a write short; to a server that is gone, nothing."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self.fileno, left) :]
        except BrokenPipeError:
            self._ask_to_end()
