"""Running the screen until it is closed, or until the system tells it to end."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

INTERRUPTED = 130
TOLD_BY = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""Of these Python ends at once, and would leave the terminal as the screen had set it."""


def run_until_told(
    app: App[Any], *, has_mouse: bool, is_held_up: Callable[[], bool] = lambda: False
) -> int:
    """Run the app; the exit status, 130 after a signal. The terminal is as before either way.

    `is_held_up` is asked at each signal: the app then ends by itself, once something is undone.
    """
    told: list[int] = []

    def end(number: int) -> None:
        told.append(number)
        if not is_held_up():
            app.exit(return_code=INTERRUPTED)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for number in TOLD_BY:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup's stays ignored
                loop.add_signal_handler(number, end, number)
        await app.run_async(mouse=has_mouse)

    asyncio.run(run())
    return INTERRUPTED if told else app.return_code or 0
