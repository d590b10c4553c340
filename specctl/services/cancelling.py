"""What has to be done after a cancellation, and awaited."""

from __future__ import annotations

import asyncio


def take_back_cancelling() -> None:
    """What ran before has to run again: that is awaited although this task was cancelled."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
