"""A frame reaches the terminal as one piece: every piece costs a write of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.driver import Driver

from specctl.tui.keyboard import Keyboard
from specctl.tui.terminal_output import TerminalOutput

if TYPE_CHECKING:
    from typing import TextIO

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""What is between them the terminal shows at once; Textual writes each by itself."""


class WholeFrames(Driver):
    """Holds a frame back until its end was written; writes without waiting where it can.

    Where the terminal cannot be opened again, Textual's thread writes.
    """

    _file: TextIO
    _held: str | None = None
    _output: TerminalOutput | None = None

    def start_application_mode(self) -> None:
        """Take the terminal over, or again: then it is open already."""
        if self._output is None:
            try:
                self._output = TerminalOutput(self._file.fileno(), self._app.refresh)
            except OSError:
                self._output = None
        super().start_application_mode()  # type: ignore[safe-super]  # the other base does

    def write(self, data: str) -> None:
        """Write what is no part of a frame now, a frame when it is whole."""
        if self._held is not None:
            data = self._held + data
        elif not data.startswith(BEGIN):
            self._send(data, is_frame=False)
            return
        if data.endswith(END):
            self._held = None
            self._send(data, is_frame=True)
        else:
            self._held = data

    def _send(self, data: str, *, is_frame: bool) -> None:
        if self._output is not None:
            encoding = self._file.encoding or "utf-8"
            self._output.write(data.encode(encoding, "replace"), is_frame=is_frame)
        else:
            super().write(data)  # type: ignore[safe-super]  # the other base writes

    def close(self) -> None:
        """Give the terminal back, when it has taken what was written."""
        if self._output is not None:
            self._output.close()
            self._output = None
        super().close()


def whole_frames(driver: type[Driver]) -> type[Driver]:
    """The driver to use instead of one that writes to a terminal."""
    if driver.__name__ != "LinuxDriver":
        return driver
    made: Any = type("WholeFramesDriver", (WholeFrames, Keyboard, driver), {})
    return made  # type: ignore[no-any-return]
