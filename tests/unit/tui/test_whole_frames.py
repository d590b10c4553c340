from __future__ import annotations

from textual.drivers.headless_driver import HeadlessDriver

from specctl.tui.whole_frames import BEGIN, END, whole_frames

written: list[str] = []


class LinuxDriver(HeadlessDriver):
    """Named as the one of a terminal; keeps what it is told to write."""

    def __init__(self) -> None:
        written.clear()
        self._output = None

    def write(self, data: str) -> None:
        written.append(data)


def test_a_frame_is_written_as_one_piece_and_all_else_at_once() -> None:
    made: type = whole_frames(LinuxDriver)
    driver = made()
    for piece in ("title", BEGIN, "lines", "more", END, "bell", BEGIN, END, f"{BEGIN}x{END}"):
        driver.write(piece)

    assert written == [
        "title", f"{BEGIN}linesmore{END}", "bell", f"{BEGIN}{END}", f"{BEGIN}x{END}",
    ]  # fmt: skip


def test_other_drivers_are_left_as_they_are() -> None:
    assert whole_frames(HeadlessDriver) is HeadlessDriver
