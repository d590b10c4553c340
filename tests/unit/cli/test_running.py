"""What Ctrl-C, SIGTERM and a closed terminal do to work: each time it is cancelled once more."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import click
import pytest

from specctl.cli.running import run


async def puts_back(said: list[str], signals: list[int]) -> str:
    """Told to end it puts something back; told again it says that it is not back."""
    try:
        os.kill(os.getpid(), signals[0])
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        said.append("putting back")
        try:
            for number in signals[1:]:
                os.kill(os.getpid(), number)
            await asyncio.sleep(0 if len(signals) == 1 else 60)
        except asyncio.CancelledError:
            said.append("not back")
            raise
    return "done"


INT, TERM = signal.SIGINT, signal.SIGTERM


@pytest.mark.parametrize(
    ("signals", "ends"),
    [([INT, INT], KeyboardInterrupt), ([TERM, TERM], click.Abort), ([TERM, INT], click.Abort)],
)
def test_what_is_put_back_hears_that_it_is_told_again(signals, ends):
    said: list[str] = []
    with pytest.raises(ends):
        run(puts_back(said, signals))
    assert said == ["putting back", "not back"]


@pytest.mark.parametrize("number", [INT, TERM])
def test_who_takes_the_interruption_gives_a_result(number):
    assert run(puts_back([], [number])) == "done"


STUBBORN = """
import asyncio, time
from specctl.cli.running import run
async def stays():
    print("up", flush=True)
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("told", flush=True)
            while True:
                try:
                    time.sleep(0.01); await asyncio.sleep(0)
                except asyncio.CancelledError:
                    print("again", flush=True)
run(stays())
"""


def test_the_third_ctrl_c_ends_what_does_not_listen():
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    for words in ("up", "told", "again"):
        assert process.stdout.readline() == f"{words}\n"
        process.send_signal(INT)
    assert process.wait(20) != 0
