"""What the page's terminal is told of the mouse."""

from __future__ import annotations

import pytest
from textual.drivers.web_driver import WebDriver

from specctl.tui import served_driver
from specctl.tui.served_driver import ServedDriver

ON, OFF = "\x1b[?1000h", "\x1b[?1000l"


@pytest.mark.parametrize("has_mouse", [True, False])
def test_the_page_is_told_that_the_mouse_is_off(
    monkeypatch: pytest.MonkeyPatch, *, has_mouse: bool
) -> None:
    written: list[str] = []

    def as_textual_does(driver: WebDriver) -> None:
        driver._enable_mouse_support()

    monkeypatch.setattr(WebDriver, "start_application_mode", as_textual_does)
    monkeypatch.setattr(WebDriver, "write", lambda _, data: written.append(data))
    monkeypatch.setattr(served_driver, "end_with", lambda *_: None)

    driver = ServedDriver.__new__(ServedDriver)  # without the thread that reads its input
    driver._mouse = has_mouse
    driver.start_application_mode()

    said = "".join(written)
    assert (said.rindex(ON) > said.rfind(OFF)) == has_mouse
