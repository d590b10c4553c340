from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from specctl.adapters.agent_channel import AgentChannel
from specctl.adapters.agent_stream import ITEMS_MAX
from specctl.adapters.oneshot import held_oneshot, run_oneshot
from specctl.domain.errors import (
    AgentAnswerError,
    AgentError,
    ConnectionLostError,
    DeadlineError,
    RemoteFailedError,
)
from tests.ssh.fake_agent import fake_bundle

PYTHON = (sys.executable,)


@pytest.fixture
async def agent(session):
    started = await AgentChannel.start(session, PYTHON)
    yield started
    await started.close()


async def _fake(session, answer: str) -> AgentChannel:
    return await AgentChannel.start(session, PYTHON, bundle=fake_bundle(sys.executable, answer))


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def _until_gone(pid: int) -> None:
    async with asyncio.timeout(5):
        while _is_alive(pid):
            await asyncio.sleep(0.02)


# ---------------------------------------------------------------- the real agent


async def test_the_agent_says_who_it_is_and_ends_when_closed(agent):
    assert agent.hello.python == ".".join(map(str, sys.version_info[:3]))
    assert _is_alive(agent.hello.pid)
    await agent.close()
    await _until_gone(agent.hello.pid)
    assert agent.is_closed
    with pytest.raises(AgentError):
        await agent.call("commands", names=[])


async def test_requests_are_matched_by_id_and_overtake_each_other(agent, tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 500_000)
    calls = [agent.call("commands", names=["sh", f"no-{n}"]) for n in range(20)]
    calls.append(agent.call("read", path=str(tmp_path / "a"), offset=0, length=500_000))
    *found, big = await asyncio.gather(*calls)
    assert [sorted(answer) for answer in found] == [[f"no-{n}", "sh"] for n in range(20)]
    assert big["size"] == 500_000


async def test_a_refusal_carries_its_kind(agent):
    with pytest.raises(AgentAnswerError, match=r"host gpu: .*no op 'dance'") as caught:
        await agent.call("dance")
    assert caught.value.kind == "not_supported"
    with pytest.raises(AgentAnswerError) as caught:
        await agent.call("read", path="/no/such/file", offset=0, length=1)
    assert caught.value.kind == "not_found"


async def test_samples_stream_until_left(agent):
    async with agent.stream("sample", interval_s=0.05, slow_every=5, state_dir=None) as items:
        times = [item["t"] async for item, _ in _zip(items, 3)]
    assert times == sorted(times)
    assert await agent.call("commands", names=["sh"])


async def _zip(items, count):
    number = 0
    async for item in items:
        yield item, number
        number += 1
        if number == count:
            return


async def test_the_operators_pynvml_is_lent_to_a_host_without(lab, connected):
    bare = await asyncio.create_subprocess_exec(
        "/usr/bin/python3", "-c", "import pynvml", stderr=asyncio.subprocess.DEVNULL
    )
    if await bare.wait() == 0:
        pytest.fail("this test needs a /usr/bin/python3 without pynvml")
    await lab.server("gpu")
    async with connected("gpu") as session:
        agent = await AgentChannel.start(session, ("/usr/bin/python3",))
        assert not agent.hello.has_pynvml
        async with agent.stream("sample", interval_s=0.05, slow_every=5, state_dir=None) as items:
            item = await anext(items)
        assert "nvidia-ml-py" not in str(item["gpu_missing"])  # what it says without
        await agent.close()


async def test_c08_a_cut_link_reaches_every_waiter_at_once(lab, connected):
    server = await lab.server("gpu")
    async with connected("gpu") as session:
        agent = await AgentChannel.start(session, PYTHON)
        items = agent.stream("sample", interval_s=0.05, slow_every=5, state_dir=None)
        await anext(items)
        log = lab.folder / "log"
        log.write_text("one\n")
        tail = agent.stream("tail", path=str(log), offset=0, follow=True)
        await anext(tail)
        server.signal_connections(signal.SIGKILL)
        async with asyncio.timeout(5):
            for waiter in (_drain(items), _drain(tail), agent.wait_closed()):
                error = await waiter
                assert isinstance(error, ConnectionLostError)
                assert error.message.startswith("host gpu: the connection was lost")
        with pytest.raises(ConnectionLostError):
            await agent.call("commands", names=[])
        await agent.close()
    await _until_gone(agent.hello.pid)


async def _drain(items) -> ConnectionLostError:
    with pytest.raises(ConnectionLostError) as caught:
        async for _ in items:
            pass
    return caught.value


async def test_c08_a_silent_link_counts_as_lost_after_its_keepalives(lab, connected):
    server = await lab.server("gpu")
    settings = replace(lab.settings, keepalive_interval_s=0.3, keepalive_count=3)
    async with connected("gpu", settings) as session:
        agent = await AgentChannel.start(session, PYTHON)
        server.signal_connections(signal.SIGSTOP)
        started = asyncio.get_running_loop().time()
        async with asyncio.timeout(5):
            error = await agent.wait_closed()
        assert isinstance(error, ConnectionLostError)
        assert "keepalive" in error.message
        assert 0.5 < asyncio.get_running_loop().time() - started < 2.5
        await agent.close()


async def test_c08_keepalives_run_on_the_jump_too(lab, connected):
    bastion = await lab.server("bastion")
    await lab.server("gpu", config="  ProxyJump bastion\n")
    settings = replace(lab.settings, keepalive_interval_s=0.3, keepalive_count=3)
    async with connected("gpu", settings) as session:
        bastion.signal_connections(signal.SIGSTOP)
        async with asyncio.timeout(5):
            assert await session.wait_closed()


# ---------------------------------------------------------------- agents that misbehave


async def test_an_agent_that_dies_gives_its_last_words_to_every_waiter(session):
    agent = await _fake(
        session, 'request["op"] == "die" and (print("out of luck", file=sys.stderr), os._exit(9))'
    )
    waiting = agent.stream("wait")
    async with asyncio.TaskGroup() as group:
        first = group.create_task(_fails(agent.call("die")))
        second = group.create_task(_fails(anext(waiting)))
    for error in (first.result(), second.result()):
        assert error.message == "host gpu: the agent ended with status 9"
        assert "out of luck" in error.hint
    await agent.close()


async def _fails(awaitable) -> AgentError:
    with pytest.raises(AgentError) as caught:
        await awaitable
    return caught.value


async def test_an_answer_that_does_not_come_meets_its_deadline_and_is_cancelled(session):
    agent = await _fake(
        session,
        """
        global seen
        if request["op"] == "cancel": seen = request["params"]["id"]
        if request["op"] == "seen": say(out, {"id": id, "ok": {"seen": seen}})
        """.replace("\n        ", "\n"),
    )
    with pytest.raises(DeadlineError, match=r"did not answer `wait` within 0.2 s"):
        await agent.call("wait", timeout_s=0.2)
    assert await agent.call("seen") == {"seen": 1}
    await agent.close()


async def test_leaving_a_stream_cancels_it_and_late_items_are_ignored(session):
    agent = await _fake(
        session,
        """
        global seen
        if request["op"] == "items":
            for n in range(50): say(out, {"id": id, "item": {"n": n}})
        elif request["op"] == "cancel":
            seen = request["params"]["id"]
            say(out, {"id": seen, "item": {"late": True}})
            say(out, {"id": seen, "end": {}})
        else: say(out, {"id": id, "ok": {"seen": seen}})
        """.replace("\n        ", "\n"),
    )
    async with agent.stream("items") as items:
        assert await anext(items) == {"n": 0}
    assert await agent.call("seen") == {"seen": 1}
    await agent.close()


async def test_a_stream_ends_with_what_the_agent_said_last(session):
    agent = await _fake(
        session, 'say(out, {"id": id, "item": {}}); say(out, {"id": id, "end": {"n": 1}})'
    )
    items = agent.stream("short")
    assert [item async for item in items] == [{}]
    assert items.end == {"n": 1}
    await agent.close()


async def test_a_stream_that_is_not_read_is_cut_off_and_the_others_go_on(session, monkeypatch):
    monkeypatch.setattr("specctl.adapters.agent_channel._PATIENCE_S", 0.2)
    agent = await _fake(
        session,
        f"""
        if request["op"] == "flood":
            for n in range({ITEMS_MAX} * 3): say(out, {{"id": id, "item": {{"n": n}}}})
        elif request["op"] != "cancel": say(out, {{"id": id, "ok": {{"fine": True}}}})
        """.replace("\n        ", "\n"),
    )
    async with agent.stream("flood") as items:
        assert await anext(items) == {"n": 0}
        assert await agent.call("other", timeout_s=5) == {"fine": True}
        with pytest.raises(AgentError, match="was not read in time"):
            async for _ in items:
                pass
    await agent.close()


async def test_a_slow_reader_gets_every_item(session):
    agent = await _fake(
        session,
        'for n in range(1000): say(out, {"id": id, "item": {"n": n}})\n'
        'say(out, {"id": id, "end": {}})',
    )
    seen = []
    async for item in agent.stream("many"):
        seen.append(item["n"])
        if len(seen) % 100 == 0:
            await asyncio.sleep(0.02)
    assert seen == list(range(1000))
    await agent.close()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('out.write(b"not json\\n"); out.flush()', "broke its protocol: it said not json"),
        ('out.write(b"[" * 100000 + b"\\n"); out.flush()', "broke its protocol: it said"),
        ('out.write(b"\\x1b[2J[1]\\n"); out.flush()', r"broke its protocol: it said \[1\]"),
        ('out.write(b"x" * 1100000); out.flush(); time.sleep(9)', "more than 1048576 bytes"),
    ],
)
async def test_what_is_not_the_protocol_ends_the_channel(session, answer, words):
    agent = await _fake(session, answer)
    with pytest.raises(AgentError, match=words):
        await agent.call("anything", timeout_s=8)
    assert agent.is_closed
    await agent.close()


async def test_another_protocol_is_refused(session):
    bundle = fake_bundle(sys.executable, "pass")
    bundle = replace(
        bundle, argv=("sh", "-c", f"echo; echo '{bundle.marker} {{\"protocol\": 99}}'; cat")
    )
    with pytest.raises(AgentError, match="speaks protocol 99"):
        await AgentChannel.start(session, PYTHON, bundle=bundle)


async def test_a_bundle_that_arrives_damaged_is_refused(session):
    bundle = fake_bundle(sys.executable, "pass")
    bundle = replace(bundle, payload=bundle.payload[:-1] + b"?")
    with pytest.raises(AgentError, match="arrived damaged"):
        await AgentChannel.start(session, PYTHON, bundle=bundle)


# ---------------------------------------------------------------- one-shots


async def test_a_one_shot_answers_and_its_errors_keep_their_words(session):
    with pytest.raises(RemoteFailedError, match="host gpu: records: "):
        await run_oneshot(session, PYTHON, "records", {"action": "dance"}, timeout_s=20)


async def test_a_one_shot_without_python_is_one_sentence(session):
    with pytest.raises(AgentError, match="no such command"):
        await run_oneshot(session, ("python3.99",), "records", {}, timeout_s=20)


async def test_a_held_one_shot_ends_with_its_block(session):
    with pytest.raises(RemoteFailedError, match="host gpu: holder: "):
        async with held_oneshot(session, PYTHON, "holder", {"keys": 3}, timeout_s=20):
            pass
