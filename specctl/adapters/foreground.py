"""Another program in the foreground of the terminal, which has it to itself until it ends."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a command."""


async def run_in_foreground(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program on this process's own streams; returns its exit status as a shell counts it.

    Ctrl-C is the program's alone: this waits for what it makes of that. Cancelled, it tells the
    program to end, and waits too.
    """
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    try:
        process = await asyncio.create_subprocess_exec(*argv, env=dict(environment))
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
            raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    return status if status >= 0 else _SIGNALLED - status
