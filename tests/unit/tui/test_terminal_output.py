from __future__ import annotations

import asyncio
import os
import threading
import time
import tty
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from specctl.tui.terminal_output import MOST_BYTES, TerminalOutput

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAME = b"x" * 4000


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """The ends of a terminal: what shows it, and what a program writes to."""
    shown, written = os.openpty()
    tty.setraw(written)
    try:
        yield shown, written
    finally:
        for end in (shown, written):
            os.close(end)


def taken(shown: int, until: bytes) -> bytes:
    out = b""
    while not out.endswith(until):
        out += os.read(shown, 1 << 16)
    return out


async def test_what_the_terminal_takes_is_written_at_once() -> None:
    with terminal() as (shown, written):
        output = TerminalOutput(written, lambda: None)
        output.write(b"one", is_frame=False)

        assert os.read(shown, 100) == b"one"
        assert os.get_blocking(written)
        output.close()


async def test_a_terminal_that_takes_nothing_holds_up_nothing_and_gets_all_in_order() -> None:
    with terminal() as (shown, written):
        output = TerminalOutput(written, lambda: pytest.fail("nothing was left out"))
        pieces = [b"%05d" % n + FRAME for n in range(40)] + [b"END"]
        began_s = time.monotonic()
        for piece in pieces:
            output.write(piece, is_frame=True)
        assert time.monotonic() - began_s < 1

        assert await asyncio.to_thread(taken, shown, b"END") == b"".join(pieces)
        output.close()


async def test_of_frames_that_waited_too_long_only_the_last_state_is_sent() -> None:
    with terminal() as (shown, written):
        painted: list[bool] = []

        def repaint() -> None:
            painted.append(True)
            output.write(b"END", is_frame=True)

        output = TerminalOutput(written, repaint)
        count = 4 * MOST_BYTES // len(FRAME)
        for _ in range(count // 2):
            output.write(FRAME, is_frame=True)
        output.write(b"TITLE", is_frame=False)
        for _ in range(count // 2):
            output.write(FRAME, is_frame=True)

        found = await asyncio.to_thread(taken, shown, b"END")
        assert painted == [True]
        assert b"TITLE" in found
        assert len(found) < 2 * MOST_BYTES
        output.close()


async def test_a_write_of_another_thread_arrives() -> None:
    with terminal() as (shown, written):
        output = TerminalOutput(written, lambda: None)
        other = threading.Thread(target=output.write, args=(b"key",), kwargs={"is_frame": False})
        other.start()
        other.join()

        assert await asyncio.to_thread(taken, shown, b"key") == b"key"
        output.close()


async def test_at_the_end_the_terminal_takes_the_rest() -> None:
    with terminal() as (shown, written):
        output = TerminalOutput(written, lambda: None)
        for piece in [FRAME] * 40 + [b"END"]:
            output.write(piece, is_frame=True)
        reading = asyncio.get_running_loop().run_in_executor(None, taken, shown, b"END")
        output.close()

        assert await reading == FRAME * 40 + b"END"


async def test_a_terminal_that_never_takes_the_rest_does_not_keep_it_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("specctl.tui.terminal_output.CLOSE_WITHIN_S", 0.1)
    with terminal() as (_, written):
        output = TerminalOutput(written, lambda: None)
        for _ in range(40):
            output.write(FRAME, is_frame=True)
        began_s = time.monotonic()
        output.close()

        assert 0.1 <= time.monotonic() - began_s < 1


async def test_a_terminal_that_is_gone_is_written_to_in_vain() -> None:
    shown, written = os.openpty()
    output = TerminalOutput(written, lambda: None)
    os.close(shown)
    output.write(b"one", is_frame=False)
    output.close()
    os.close(written)


async def test_what_is_no_terminal_is_refused() -> None:
    with open(os.devnull, "wb") as file, pytest.raises(OSError, match=r".+"):
        TerminalOutput(file.fileno(), lambda: None)


async def test_what_is_written_after_the_end_reaches_no_other_file() -> None:
    with terminal() as (_, written):
        output = TerminalOutput(written, lambda: None)
        number = output._own
        reading, writing = os.pipe()
        output.close()
        os.dup2(writing, number)
        os.set_blocking(reading, False)
        output.write(b"late", is_frame=False)
        with pytest.raises(BlockingIOError):
            os.read(reading, 10)
        for end in {reading, writing, number}:
            os.close(end)
