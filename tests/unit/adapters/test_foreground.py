"""A program that has the terminal to itself."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from specctl.adapters.foreground import run_in_foreground


def python(code):
    return [sys.executable, "-c", code]


async def test_it_returns_the_exit_status_and_passes_the_environment():
    code = "import os, sys; sys.exit(int(os.environ['STATUS']))"
    assert await run_in_foreground(python(code), {"STATUS": "7"}) == 7


async def test_a_signal_is_counted_as_a_shell_counts_it():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert await run_in_foreground(python(code), {}) == 128 + signal.SIGKILL


async def test_ctrl_c_is_left_to_the_program(tmp_path):
    """As a terminal does it: both get the signal."""
    ready = tmp_path / "ready"
    code = (
        "import pathlib, sys, time\n"
        f"pathlib.Path({str(ready)!r}).touch()\n"
        "try:\n    time.sleep(30)\nexcept KeyboardInterrupt:\n    sys.exit(130)"
    )
    running = asyncio.create_task(run_in_foreground(python(code), {}))
    while not ready.exists():
        await asyncio.sleep(0.01)
    (child,) = children()
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(child, signal.SIGINT)
    assert await running == 130


async def test_cancelled_it_ends_the_program_first():
    running = asyncio.create_task(run_in_foreground(python("import time; time.sleep(30)"), {}))
    while not children():
        await asyncio.sleep(0.01)
    (child,) = children()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]
