"""Lines on their way to the operator: whole, in order, and those of one instant together."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from specctl.agent.protocol import GATHERED_S, HELD_MAX_BYTES, Writer


class Pipe:
    """Takes everything, and keeps what each write brought."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        if self.error is not None:
            raise self.error
        if len(data):
            self.writes.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held here."""

    def ids(self) -> list[list[int]]:
        return [[json.loads(line)["id"] for line in data.splitlines()] for data in self.writes]

    def wait(self, count: int) -> None:
        until_s = time.monotonic() + 5
        while len(self.writes) < count and time.monotonic() < until_s:
            time.sleep(0.005)


@pytest.fixture
def pipe() -> Pipe:
    return Pipe()


def writer(pipe: Any) -> Writer:
    return Writer(pipe)


def test_what_comes_at_one_instant_is_one_write(pipe):
    lines = writer(pipe)
    threads = [threading.Thread(target=lines.send_soon, args=({"id": i},)) for i in range(3)]
    for thread in threads:
        thread.start()
    pipe.wait(1)
    time.sleep(3 * GATHERED_S)
    [together] = pipe.ids()
    assert sorted(together) == [0, 1, 2]
    lines.send_soon({"id": 4})
    pipe.wait(2)
    assert pipe.ids()[1] == [4]


def test_what_may_not_wait_takes_with_it_what_came_before(pipe):
    lines = writer(pipe)
    lines.send_soon({"id": 1})
    lines.send({"id": 2})
    assert pipe.ids() == [[1, 2]]
    time.sleep(3 * GATHERED_S)
    assert len(pipe.writes) == 1


def test_a_long_line_does_not_wait(pipe):
    lines = writer(pipe)
    lines.send_soon({"id": 1})
    lines.send_soon({"id": 2, "data": "x" * HELD_MAX_BYTES})
    assert pipe.ids() == [[1, 2]]


def test_a_stream_learns_that_the_operator_is_gone(pipe):
    lines = writer(pipe)
    pipe.error = BrokenPipeError()
    lines.send_soon({"id": 1})
    time.sleep(5 * GATHERED_S)
    with pytest.raises(BrokenPipeError):
        lines.send_soon({"id": 2})
