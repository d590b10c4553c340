"""The screen that is told to end by the system."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from specctl.tui.running import INTERRUPTED, run_until_told


class App:
    """One that runs until it is ended, as far as running it goes."""

    def __init__(self, *numbers: int, ends_with: int | None = None) -> None:
        self.return_code: int | None = None
        self._numbers, self._ends_with = numbers, ends_with
        self.ended: list[int] = []

    def exit(self, return_code: int = 0) -> None:
        self.ended.append(return_code)
        self.return_code = return_code
        self._over.set()

    async def run_async(self, *, mouse: bool) -> None:
        assert mouse
        self._over = asyncio.Event()
        for number in self._numbers:
            os.kill(os.getpid(), number)
            await asyncio.sleep(0.05)
        if self._ends_with is not None:
            self.exit(self._ends_with)
        await self._over.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it(number: int) -> None:
    app: Any = App(number)
    assert run_until_told(app, has_mouse=True) == INTERRUPTED
    assert app.ended == [INTERRUPTED]


def test_the_first_signal_waits_for_what_is_undone_and_the_second_does_not() -> None:
    app: Any = App(signal.SIGTERM, signal.SIGTERM)
    answers = [True, False]
    assert run_until_told(app, has_mouse=True, is_held_up=lambda: answers.pop(0)) == INTERRUPTED
    assert (app.ended, answers) == ([INTERRUPTED], [])


@pytest.mark.parametrize("code", [0, 3])
def test_one_that_ends_by_itself_says_how(code: int) -> None:
    app: Any = App(ends_with=code)
    assert run_until_told(app, has_mouse=True) == code
