"""Keys through a real terminal: handed on as they come, and no waking up when there are none."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
import tty
from typing import TYPE_CHECKING, Any

import pytest
from textual import events
from textual.driver import Driver

from specctl.tui import keyboard
from specctl.tui.keyboard import Keyboard

if TYPE_CHECKING:
    from collections.abc import Iterator


class Under(Driver):
    """What Textual's driver does of it."""

    def start_application_mode(self) -> None:
        self.thread = threading.Thread(target=self.run_input_thread)  # type: ignore[attr-defined]
        self.thread.start()

    def disable_input(self) -> None:
        self.exit_event.set()  # type: ignore[attr-defined]
        self.thread.join(5)


class Played(Keyboard, Under):
    """A driver of one terminal that keeps what it was handed."""

    def __init__(self, fileno: int) -> None:
        self.fileno, self.exit_event = fileno, threading.Event()
        self.got: list[Any] = []

    def process_message(self, message: Any) -> None:
        self.got.append(message)

    def write(self, data: str) -> None:
        """Nothing is shown."""

    stop_application_mode = write  # type: ignore[assignment]

    def keys(self, count: int) -> list[str]:
        until_s = time.monotonic() + 5
        while len(self.got) < count and time.monotonic() < until_s:
            time.sleep(0.01)
        return [message.key for message in self.got if isinstance(message, events.Key)]


@pytest.fixture
def played() -> Iterator[tuple[Played, int]]:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    driver = Played(theirs)
    driver.start_application_mode()
    yield driver, ours
    driver.disable_input()
    assert not driver.thread.is_alive()
    for end in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(end)


def test_keys_come_as_they_are_typed(played):
    driver, terminal = played
    os.write(terminal, b"a\x1b[A\r")
    assert driver.keys(3) == ["a", "up", "enter"]


def test_an_escape_alone_is_a_key_once_nothing_follows_it(played):
    driver, terminal = played
    os.write(terminal, b"\x1b")
    assert driver.keys(1) == ["escape"]
    os.write(terminal, b"\x1b")
    assert driver.keys(2) == ["escape", "escape"]


def test_a_character_in_two_pieces_is_one_and_what_is_none_ends_nothing(played):
    driver, terminal = played
    first, second = "é".encode()[:1], "é".encode()[1:]
    os.write(terminal, first)
    time.sleep(0.05)
    os.write(terminal, second)
    assert [event.character for event in driver.got] == ["é"] or driver.keys(1)
    os.write(terminal, b"\xff")
    os.write(terminal, b"b")
    assert driver.keys(3)[-1] == "b"
    assert driver.got[0].character == "é"


def test_it_ends_at_once_when_input_is_disabled_and_begins_again(played):
    driver, terminal = played
    began_s = time.monotonic()
    driver.disable_input()
    assert time.monotonic() - began_s < 1
    driver.exit_event.clear()
    driver.start_application_mode()
    os.write(terminal, b"x")
    assert driver.keys(1) == ["x"]


def test_a_second_start_leaves_one_thread_which_ends_with_the_input(played):
    driver, terminal = played
    before = driver.thread
    driver.start_application_mode()
    assert not before.is_alive()
    os.write(terminal, b"x")
    assert driver.keys(1) == ["x"]
    driver.disable_input()
    assert not driver.thread.is_alive()


def test_it_sleeps_while_nothing_is_typed(played, monkeypatch):
    driver, terminal = played
    waits: list[object] = []
    poll = select.poll

    class Counted:
        def __init__(self) -> None:
            self._poll = poll()
            self.register = self._poll.register

        def poll(self, timeout_ms: float | None) -> object:
            waits.append(timeout_ms)
            return self._poll.poll(timeout_ms)

    monkeypatch.setattr(select, "poll", Counted)
    monkeypatch.setattr(keyboard, "ATTENTIVE_S", 0.2)
    driver.disable_input()
    driver.exit_event.clear()
    driver.start_application_mode()
    os.write(terminal, b"a")
    driver.keys(1)
    time.sleep(0.6)
    assert waits[0] is None
    assert waits[-1] is None
    assert 2 <= len(waits) <= 5


def test_a_terminal_that_is_gone_keeps_no_processor_busy(played):
    driver, terminal = played
    os.close(terminal)
    before_s = time.process_time()
    time.sleep(0.4)
    assert time.process_time() - before_s < 0.2
    driver.disable_input()
    assert not driver.thread.is_alive()
