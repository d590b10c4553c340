from __future__ import annotations

import asyncio

import pytest

from specctl.adapters.agent_stream import ITEMS_MAX, StreamQueue
from specctl.adapters.output import Output
from specctl.domain.errors import AgentError, ConnectionLostError, RemoteFailedError


async def _lines(*chunks: bytes, max_bytes: int = 100) -> list[bytes]:
    output = Output("x")
    for chunk in chunks:
        output.feed(chunk)
    output.set_exit_status(0)
    output.end()
    return [line async for line in output.lines(max_bytes)]


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((), []),
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a", b"b\nc"), [b"ab", b"c"]),
        ((b"\n\n",), [b"", b""]),
        ((b"a\r\n",), [b"a\r"]),
    ],
)
async def test_chunks_become_lines(chunks, lines):
    assert await _lines(*chunks) == lines


async def test_a_line_may_arrive_in_pieces_while_it_is_waited_for():
    output = Output("x")

    async def first_line() -> bytes:
        return await anext(output.lines(100))

    async with asyncio.TaskGroup() as group:
        first = group.create_task(first_line())
        for piece in (b"a", b"b", b"c\nd"):
            await asyncio.sleep(0)
            output.feed(piece)
    assert first.result() == b"abc"


async def test_a_line_beyond_the_bound_is_an_error_even_before_its_end():
    with pytest.raises(RemoteFailedError, match="`x` wrote a line of more than 3 bytes"):
        await _lines(b"abcd", max_bytes=3)


async def test_output_without_an_exit_status_is_never_a_clean_end():
    output = Output("x")
    output.feed(b"half")
    output.end(lost="cable")
    lines = output.lines(100)
    assert await anext(lines) == b"half"
    with pytest.raises(ConnectionLostError, match="cable"):
        await anext(lines)
    with pytest.raises(ConnectionLostError):
        await output.wait_exit()


async def test_the_wire_is_paused_when_much_is_held_and_resumed_when_read():
    calls = []
    output = Output("x")
    output.pause_wire = lambda: calls.append("pause")
    output.resume_wire = lambda: calls.append("resume")
    for _ in range(3):
        output.feed(b"x" * (1 << 20))
    assert calls == ["pause"]
    assert len(await output.read()) == 3 << 20
    assert calls == ["pause", "resume"]


async def test_of_stderr_the_end_is_kept():
    output = Output("x")
    for _ in range(10):
        output.feed_stderr(b"y" * 100_000)
    output.feed_stderr(b"last words")
    assert len(output.stderr) == 256 << 10
    assert output.stderr.endswith(b"last words")


async def test_a_full_queue_waits_for_its_reader_and_gives_up_in_time():
    queue = StreamQueue()
    for number in range(ITEMS_MAX):
        assert await queue.put({"n": number}, patience_s=1)
    assert not await queue.put({}, patience_s=0.01)
    async with asyncio.TaskGroup() as group:
        late = group.create_task(queue.put({"n": "late"}, patience_s=5))
        await asyncio.sleep(0)
        assert await queue.get() == {"n": 0}
    assert late.result()


async def test_what_arrived_before_a_failure_is_still_read():
    queue = StreamQueue()
    await queue.put({"n": 1}, patience_s=1)
    queue.fail(AgentError("gone"))
    queue.fail(AgentError("gone again"))
    assert await queue.get() == {"n": 1}
    with pytest.raises(AgentError, match=r"^gone$"):
        await queue.get()
