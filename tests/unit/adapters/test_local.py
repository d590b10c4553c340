from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import httpx
import pytest

from specctl.adapters.agent_channel import AgentChannel
from specctl.adapters.connect import connect
from specctl.adapters.local import LocalSession
from specctl.domain.errors import (
    AgentError,
    ConnectionLostError,
    DeadlineError,
    RemoteFailedError,
    UnreachableError,
)
from specctl.domain.host import Host


@pytest.fixture
async def session():
    opened = LocalSession("here")
    yield opened
    await opened.close()


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def _until_gone(pid: int) -> None:
    async with asyncio.timeout(5):
        while _is_alive(pid):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("argv", "status", "stdout", "stderr"),
    [
        (("sh", "-c", "echo out; echo err >&2; exit 3"), 3, b"out\n", b"err\n"),
        (("sh", "-c", "kill -KILL $$"), 137, b"", b""),
        (("cat",), 0, b"given", b""),
        (("no-such-program",), 127, b"", b"no-such-program: No such file or directory\n"),
        (("/etc/passwd",), 126, b"", b"/etc/passwd: Permission denied\n"),
        (("true",), 0, b"", b""),
    ],
)
async def test_a_command_runs_to_its_end(session, argv, status, stdout, stderr):
    finished = await session.run(argv, timeout_s=10, stdin=b"given")
    assert (finished.exit_status, finished.stdout, finished.stderr) == (status, stdout, stderr)


async def test_arguments_meet_no_shell(session):
    argv = (sys.executable, "-I", "-c", "import sys; print(ascii(sys.argv[1]))", "a!'\n$x")
    assert (await session.run(argv, timeout_s=10)).text == ascii("a!'\n$x")


@pytest.mark.parametrize("how", ["deadline", "cancelled"])
async def test_what_is_given_up_is_killed_with_its_children(session, tmp_path, how):
    pids = tmp_path / "pids"
    os.mkfifo(pids)
    script = f"sleep 60 & echo $! $$ > {pids}; wait"
    async with asyncio.TaskGroup() as group:
        run = group.create_task(_given_up(session, script, 1.0 if how == "deadline" else 60))
        child, shell = map(int, (await asyncio.to_thread(pids.read_text)).split())
        assert _is_alive(child)
        if how == "cancelled":
            run.cancel()
    await _until_gone(child)
    await _until_gone(shell)


@pytest.mark.parametrize("turns", range(6))
async def test_a_start_may_be_cancelled_at_any_moment(session, turns):
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        run = group.create_task(_given_up(session, "sleep 60", 60))
        for _ in range(turns):
            await asyncio.sleep(0)
        run.cancel()


async def _given_up(session, script: str, timeout_s: float) -> None:
    with pytest.raises((DeadlineError, asyncio.CancelledError)):
        await session.run(("sh", "-c", script), timeout_s=timeout_s)


async def test_c10_a_child_left_in_the_background_does_not_hold_the_call(session):
    started = time.monotonic()
    finished = await session.run(("sh", "-c", "sleep 60 & echo $!"), timeout_s=15)
    assert _is_alive(int(finished.text))
    os.kill(int(finished.text), 9)
    assert time.monotonic() - started < 10


async def test_a_command_does_not_share_the_operators_terminal_session(session):
    finished = await session.run(("sh", "-c", "ps -o sid= -p $$"), timeout_s=10)
    assert int(finished.text) != os.getsid(0)


async def test_a_process_is_talked_to_and_ends_with_the_session(session):
    process = await session.open(("cat",))
    lines = process.lines()
    await process.write(b"one\ntw")
    assert await anext(lines) == b"one"
    await process.write(b"o\n")
    assert await anext(lines) == b"two"
    await process.close_stdin()
    assert [line async for line in lines] == []
    assert await process.wait() == 0
    with pytest.raises(ConnectionLostError):
        await process.write(b"more")
    other = await session.open(("sh", "-c", "echo $$; exec sleep 60"))
    pid = int(await anext(other.lines()))
    await session.close()
    await _until_gone(pid)
    with pytest.raises(ConnectionLostError):
        await session.run(("true",), timeout_s=5)
    assert await session.wait_closed()


async def test_output_that_is_not_read_stops_the_writer_and_none_is_lost(session):
    process = await session.open(("seq", "1", "1000000"))
    lines = process.lines()
    assert await anext(lines) == b"1"
    await asyncio.sleep(0.2)
    assert process.output.exit_status is None, "seq should be waiting for its reader"
    rest = [line async for line in lines]
    assert (1 + len(rest), rest[-1]) == (1000000, b"1000000")
    await process.close()


async def test_too_much_output_is_an_error_not_memory(session, monkeypatch):
    monkeypatch.setattr("specctl.adapters.running.OUTPUT_BYTES_MAX", 1000)
    with pytest.raises(RemoteFailedError, match="more than 1000 bytes"):
        await session.run(("head", "-c", "9999", "/dev/zero"), timeout_s=10)


async def test_the_agent_runs_here_and_dies_with_its_session(session):
    agent = await AgentChannel.start(session, (sys.executable,))
    assert agent.hello.uid == os.getuid()
    assert await agent.call("commands", names=["sh"])
    await session.close()
    async with asyncio.timeout(5):
        assert isinstance(await agent.wait_closed(), AgentError)
    await agent.close()
    await _until_gone(agent.hello.pid)


async def test_http_and_tcp_go_straight_to_this_machine(session):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with httpx.AsyncClient(transport=session.transport()) as client:
        assert (await client.get(f"http://127.0.0.1:{port}/")).text == "ok"
    stream = await session.connect_tcp("127.0.0.1", port)
    await stream.write(b"GET / HTTP/1.1\r\n\r\n")
    assert (await stream.read(100)).startswith(b"HTTP/1.1 200")
    await stream.close()
    server.close()
    with pytest.raises(UnreachableError, match=f"host here: .*{port}"):
        await session.connect_tcp("127.0.0.1", port)


async def test_a_local_host_that_is_entered_puts_enter_first():
    session = await connect(Host(name="here", transport="local", enter=("env", "ENTERED=yes")))
    finished = await session.run(("sh", "-c", "echo $ENTERED"), timeout_s=10)
    assert (session.host, finished.text) == ("here", "yes")
    await session.close()
    assert session.is_closed


async def test_what_is_closed_while_it_ends_is_not_reported_as_unknown(session, caplog):
    """A child that ends just before it is closed belongs to asyncio's watcher alone."""
    for _ in range(30):
        process = await session.open(("sh", "-c", "exit 7"))
        pid = process._transport.get_pid()
        while Path(f"/proc/{pid}").exists() and _is_alive(pid):
            pass  # no await: the loop must not hear of the end before close() does
        await process.close()
        assert await process.wait() == 7
    assert "Unknown child process" not in caplog.text
