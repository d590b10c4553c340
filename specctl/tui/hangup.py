"""Ends a process whose server is gone, also when what the server sent last was never read."""

from __future__ import annotations

import os
import select
import signal
import time
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

END_S = 2.0
"""How long it may take to end by itself."""


def end_with(
    fd: int,
    ask: Callable[[], object],
    kill: Callable[[], object],
    *,
    sleep: Callable[[float], object] = time.sleep,
) -> Thread:
    """Once nobody can write to the pipe `fd` any more: `ask` to end, and soon after `kill`.

    In a thread that does not keep the process: one that ends when asked is never killed.
    """

    def watch() -> None:
        wait_for_hangup(fd)
        ask()
        sleep(END_S)
        kill()

    thread = Thread(target=watch, name="specctl-hangup", daemon=True)
    thread.start()
    return thread


def wait_for_hangup(fd: int) -> None:
    """Until the other end of a pipe is closed; what lies unread in it does not count."""
    poll = select.poll()
    poll.register(fd, 0)
    while not poll.poll():
        pass


def kill_group() -> None:
    """This process and, where it leads a group as a screen does, what it has started."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
