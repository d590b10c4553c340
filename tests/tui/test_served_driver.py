"""What the page's terminal is told of the mouse, and how fast it is read."""

from __future__ import annotations

from functools import partial
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest
from textual.drivers.web_driver import WebDriver
from textual.events import Key

from specctl.tui import served_driver
from specctl.tui.served_driver import ServedDriver

if TYPE_CHECKING:
    from collections.abc import Callable

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


class Deaf:
    """An app, and its screen, that hears nothing until it is told to."""

    def __init__(self) -> None:
        self.screen, self.screen_stack = self, [self]
        self.calls: list[Callable[[], object]] = []

    def call_later(self, call: Callable[..., object], *arguments: object) -> None:
        self.calls.append(partial(call, *arguments))


def test_what_is_typed_is_read_no_faster_than_it_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    posted: list[object] = []
    monkeypatch.setattr(WebDriver, "process_message", lambda _, message: posted.append(message))
    monkeypatch.setattr(WebDriver, "on_meta", lambda _, *said: posted.append(said))
    driver, app = ServedDriver.__new__(ServedDriver), Deaf()
    driver._app, driver._unheard, driver.exit_event = app, 0, Event()  # type: ignore[assignment]

    def read() -> None:
        for number in range(served_driver.UNHEARD_MOST):
            driver.process_message(Key("j", "j"))
            driver.on_meta("resize", {"width": 80, "height": number})

    reading = Thread(target=read, daemon=True)
    reading.start()
    for most in (1, 2):
        for _ in range(2):  # the app, then its screen
            until(lambda: bool(app.calls))
            assert len(posted) == most * served_driver.UNHEARD_MOST
            app.calls.pop()()
    reading.join(10)
    assert not reading.is_alive()


def test_an_app_that_ends_does_not_wait_for_what_it_will_not_hear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(WebDriver, "process_message", lambda *_: None)
    driver = ServedDriver.__new__(ServedDriver)
    driver._app, driver._unheard, driver.exit_event = Deaf(), 0, Event()  # type: ignore[assignment]
    driver.exit_event.set()
    for _ in range(3 * served_driver.UNHEARD_MOST):
        driver.process_message(Key("j", "j"))


def until(holds: Callable[[], bool]) -> None:
    end_s = monotonic() + 10
    while not holds():
        assert monotonic() < end_s
        sleep(0.005)
