from __future__ import annotations

import asyncio
import os
import sys
import time

import pytest

from specctl.adapters.ssh import EXECS_MAX
from specctl.domain.errors import (
    ConnectionLostError,
    DeadlineError,
    RemoteFailedError,
)

PYTHON = (sys.executable, "-I", "-c")


async def test_output_exit_status_and_stderr_arrive_apart(session):
    finished = await session.run(("sh", "-c", "echo out; echo err >&2; exit 3"), timeout_s=10)
    assert (finished.exit_status, finished.stdout, finished.stderr) == (3, b"out\n", b"err\n")
    assert (finished.text, finished.error_text) == ("out", "err")


async def test_bytes_that_are_not_text_do_not_cost_the_connection(session):
    finished = await session.run(("printf", r"\377\033]0;t\007x\n"), timeout_s=10)
    assert finished.stdout == b"\xff\x1b]0;t\x07x\n"
    assert finished.text == "\ufffdx"
    assert (await session.run(("true",), timeout_s=10)).exit_status == 0


async def test_stdin_is_given_whole_and_then_ends(session):
    data = os.urandom(1 << 20)
    finished = await session.run(("cat",), timeout_s=20, stdin=data)
    assert finished.stdout == data


async def test_without_stdin_a_command_reads_its_end(session):
    assert (await session.run(("cat",), timeout_s=10)).stdout == b""


async def test_a_command_may_end_without_reading_its_stdin(session):
    finished = await session.run(("true",), timeout_s=20, stdin=b"x" * (4 << 20))
    assert finished.exit_status == 0


async def test_death_by_signal_counts_as_in_a_shell(session):
    finished = await session.run(("sh", "-c", "kill -TERM $$"), timeout_s=10)
    assert finished.exit_status == 143


async def test_what_is_missing_ends_with_127_in_the_words_of_the_host(session):
    finished = await session.run(("no-such-program",), timeout_s=10)
    assert finished.exit_status == 127
    assert "no-such-program" in finished.error_text


async def test_c07_fifteen_commands_at_once_all_run(session):
    runs = (session.run(("sh", "-c", f"sleep 0.1; echo {n}"), timeout_s=30) for n in range(15))
    assert [f.text for f in await asyncio.gather(*runs)] == [str(n) for n in range(15)]


async def test_c07_the_bound_leaves_room_below_max_sessions(session):
    script = "import os,time; print(os.getpid(), flush=True); time.sleep(0.4)"
    started = asyncio.get_running_loop().time()
    await asyncio.gather(
        *(session.run((*PYTHON, script), timeout_s=30) for _ in range(EXECS_MAX + 1))
    )
    assert asyncio.get_running_loop().time() - started > 0.8


async def test_c07_a_refused_session_says_that_nothing_ran_and_may_be_repeated(lab, connected):
    await lab.server("gpu", "MaxSessions 1")
    async with connected("gpu") as session:
        agent = await session.open(("cat",))
        with pytest.raises(
            RemoteFailedError, match=r"refused another session.*`true` did not run"
        ) as e:
            await session.run(("true",), timeout_s=30)
        assert "MaxSessions" in e.value.hint
        await agent.close()
        assert (await session.run(("true",), timeout_s=10)).exit_status == 0


async def test_c07_a_session_that_becomes_free_in_time_is_used(lab, connected):
    await lab.server("gpu", "MaxSessions 2")
    async with connected("gpu") as session:
        runs = (session.run(("sleep", "0.2"), timeout_s=30) for _ in range(4))
        assert [f.exit_status for f in await asyncio.gather(*runs)] == [0] * 4


async def test_c10_a_child_left_in_the_background_does_not_hold_the_call(session):
    started = time.monotonic()
    finished = await session.run(("sh", "-c", "sleep 20 & echo $!"), timeout_s=15)
    os.kill(int(finished.text), 9)
    assert finished.exit_status == 0
    assert time.monotonic() - started < 10


async def test_a_deadline_names_host_command_and_last_words(session):
    with pytest.raises(DeadlineError, match=r"host gpu: .*did not end within 0.5 s.*waiting for x"):
        await session.run(("sh", "-c", "echo waiting for x >&2; exec sleep 20"), timeout_s=0.5)


async def test_c14_the_operators_locale_is_not_sent(lab, connected, monkeypatch):
    monkeypatch.setenv("LC_ALL", "xx_XX.UTF-8")
    await lab.server("gpu", "AcceptEnv LC_* LANG SPECCTL_*", config="  SendEnv LC_* LANG\n")
    async with connected("gpu") as session:
        assert "xx_XX" not in (await session.run(("env",), timeout_s=10)).text


async def test_c14_carriage_returns_reach_the_host_as_they_are(session):
    argv = (*PYTHON, "import sys; print(ascii(sys.argv[1:]))", "a\r\nb", "\ufeffx")
    assert (await session.run(argv, timeout_s=10)).text == repr(["a\r\nb", "\ufeffx"]).replace(
        "\ufeff", "\\ufeff"
    )


async def test_a_terminal_asked_for_in_the_config_is_not_given(lab, connected):
    await lab.server("gpu", config="  RequestTTY force\n  ForwardAgent yes\n  RemoteCommand id\n")
    async with connected("gpu") as session:
        finished = await session.run(("sh", "-c", "tty; echo ${SSH_AUTH_SOCK-none}"), timeout_s=10)
        assert finished.text == "not a tty\nnone"


async def test_c08_a_cut_in_the_middle_of_a_command_is_never_a_result(lab, connected):
    server = await lab.server("gpu")
    async with connected("gpu") as session:
        process = await session.open(("sh", "-c", "echo begun; exec sleep 30"))
        lines = process.lines()
        assert await anext(lines) == b"begun"
        server.signal_connections(9)
        with pytest.raises(ConnectionLostError):
            await anext(lines)
        with pytest.raises(ConnectionLostError, match=r"may or may not|dropped"):
            await process.wait()
        async with asyncio.timeout(5):
            assert await session.wait_closed()
        assert session.is_closed
        with pytest.raises(ConnectionLostError, match="host gpu"):
            await session.run(("true",), timeout_s=10)


async def test_c08_a_cut_during_run_raises_within_its_deadline(lab, connected):
    server = await lab.server("gpu")
    async with connected("gpu") as session, asyncio.timeout(10):
        async with asyncio.TaskGroup() as group:
            run = group.create_task(_lost(session))
            process = await session.open(("echo", "x"))
            assert await anext(process.lines()) == b"x"
            server.signal_connections(9)
        assert "dropped" in run.result().message


async def _lost(session) -> ConnectionLostError:
    with pytest.raises(ConnectionLostError) as caught:
        await session.run(("sleep", "30"), timeout_s=9)
    return caught.value


async def test_a_line_beyond_the_bound_is_an_error_not_memory(session):
    process = await session.open(("sh", "-c", "head -c 3000000 /dev/zero; sleep 30"))
    with pytest.raises(RemoteFailedError, match="more than 1048576 bytes"):
        await anext(process.lines())
    await process.close()


async def test_a_reader_that_pauses_slows_the_writer_and_loses_nothing(session):
    process = await session.open(("sh", "-c", "seq 1 2000000"))
    lines = process.lines()
    assert await anext(lines) == b"1"
    await asyncio.sleep(0.5)  # long enough for the writer to fill every buffer on the way
    rest = [line async for line in lines]
    assert (1 + len(rest), rest[-1]) == (2000000, b"2000000")
    assert await process.wait() == 0
    await process.close()
