"""A screen's process whose server is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from specctl.tui.hangup import END_S, end_with

JOIN_S = 30.0
FLOODED = """
import sys, time
from specctl.tui.hangup import end_with, kill_group
end_with(0, lambda: print("asked", flush=True), kill_group, sleep=lambda s: None)
print("up", flush=True)
time.sleep(60)
"""


@pytest.fixture
def pipe():
    """Both ends; what is left open is closed."""
    ends = list(os.pipe())
    yield ends
    for fd in ends:
        os.close(fd)


def test_it_is_asked_first_and_killed_when_it_stays(pipe):
    told: list[object] = []
    os.write(pipe[1], b"unread" * 1000)
    thread = end_with(
        pipe[0], lambda: told.append("ask"), lambda: told.append("kill"), sleep=told.append
    )
    assert told == [], "unread input is no end"
    os.close(pipe.pop())
    thread.join(JOIN_S)
    assert told == ["ask", END_S, "kill"]


def test_a_process_that_never_reads_ends_with_its_pipe():
    with subprocess.Popen(
        [sys.executable, "-c", FLOODED],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.stdin.write(b"x" * 4096)
        process.stdin.close()
        assert process.wait(JOIN_S) == -signal.SIGKILL
        assert process.stdout.read() == b"asked\n"
