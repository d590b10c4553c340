"""A frame reaches the terminal as one piece: every piece wakes the thread that writes."""

from __future__ import annotations

from textual.driver import Driver

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""What is between them the terminal shows at once; Textual writes each by itself."""


class WholeFrames(Driver):
    """Holds a frame back until its end was written."""

    _held: str | None = None

    def write(self, data: str) -> None:
        """Write what is no part of a frame now, a frame when it is whole."""
        if self._held is not None:
            data = self._held + data
        elif not data.startswith(BEGIN):
            super().write(data)  # type: ignore[safe-super]  # the other base writes
            return
        if data.endswith(END):
            self._held = None
            super().write(data)  # type: ignore[safe-super]  # the other base writes
        else:
            self._held = data


def whole_frames(driver: type[Driver]) -> type[Driver]:
    """The driver to use instead of one that writes to a terminal."""
    if driver.__name__ != "LinuxDriver":
        return driver
    return type("WholeFramesDriver", (WholeFrames, driver), {})
