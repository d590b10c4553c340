from __future__ import annotations

import importlib
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from specctl.domain.errors import RefusedError, ServerAnswerError, UsageError
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Corpus
from specctl.domain.server import Server, ServerState
from specctl.services import control
from specctl.services.adoption import adopt, adopt_pid, draft_profile, plan_adopt
from specctl.services.host_reading import read_host
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.measured_server import NO_KEYS, Keys
from specctl.services.mutating import MUTATING
from specctl.services.stop import StopOptions, plan_stop, stop_server

KEYS = Keys(api="k3y-serving", admin="k3y-admin")


@pytest.fixture
async def server(connection, profile, secrets, store, clock):
    """A launched server that asks for both keys."""
    guarded = replace(
        profile, secrets={"argument:api-key": "serving", "argument:admin-api-key": "admin"}
    )
    plan = await plan_launch(connection, guarded, StartOptions(), secrets=secrets, clock=clock)
    outcome = await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)
    assert outcome.succeeded, outcome
    assert outcome.server is not None
    return replace((await read_host(connection)).server(outcome.server), version="0.5.23")


@pytest.fixture
def foreign(python, model, port, tmp_path):
    """A server that somebody started by hand, in a session of its own."""
    log = tmp_path / "by-hand.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [python, "-m", "sglang.launch_server", "--model-path", model, "--device", "cpu",
             "--port", str(port), "--api-key", "hushhush"],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1"}, cwd="/",
        )  # fmt: skip
    while "fired up" not in log.read_text():
        assert process.poll() is None, log.read_text()
    yield process
    os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
    process.wait()


async def test_a12_the_admin_key_opens_what_the_plain_one_does_not(connection, server, clock):
    words = await control.flush(connection, server, KEYS, clock)
    assert "flushed" in words
    with pytest.raises(ServerAnswerError, match="401: the server wants a key"):
        await control.flush(connection, server, Keys(api="k3y-serving"), clock)
    with pytest.raises(ServerAnswerError, match="401"):
        await control.abort(connection, server, NO_KEYS)


async def test_nothing_is_flushed_while_requests_run(connection, server, clock):
    url = f"http://127.0.0.1:{server.port}/generate"
    httpx.post(url, json={}, headers={"Authorization": "Bearer k3y-serving"})
    with pytest.raises(RefusedError, match="running 1 requests"):
        await control.flush(connection, server, KEYS, clock)
    assert "aborted" in await control.abort(connection, server, KEYS)
    assert "flushed" in await control.flush(connection, server, KEYS, clock)


async def test_a14_nothing_asks_the_health_path(connection, server, clock):
    await control.flush(connection, server, KEYS, clock)
    assert server.log_path is not None
    assert "/health" not in Path(server.log_path).read_text()


async def test_corpora_are_added_listed_and_removed(connection, server):
    corpus = Corpus("std", "/srv/std.jsonl")
    assert "1,234 tokens" in await control.add_corpus(connection, server, KEYS, corpus)
    assert await control.list_corpora(connection, server, KEYS) == {"std": 1234}
    with pytest.raises(ServerAnswerError, match="exists already"):
        await control.add_corpus(connection, server, KEYS, corpus)
    await control.remove_corpus(connection, server, KEYS, "std")
    assert await control.list_corpora(connection, server, KEYS) == {}


@pytest.mark.parametrize(
    ("thresholds", "words"),
    [
        (control.Thresholds(), "no threshold is given"),
        (control.Thresholds(single=1.5), "1.5 is no threshold"),
    ],
)
async def test_thresholds_are_looked_at_before_they_are_sent(connection, thresholds, words):
    server = Server("x", ServerState.READY, None, is_ours=True, port=1)
    with pytest.raises(UsageError, match=words):
        await control.set_thresholds(connection, server, KEYS, thresholds)


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        ({"value": [True, True]}, True),
        ({"value": [False]}, False),
        ({"updated": True}, True),
        ({"updated": False}, False),
        ({}, True),
    ],
)
def test_whether_thresholds_were_taken(answer, taken):
    assert control._was_taken(answer) is taken


async def test_a_version_without_it_is_said(connection, server):
    old = replace(server, version="0.5.5")
    with pytest.raises(ServerAnswerError, match=r"SGLang 0\.5\.5 has no corpus list"):
        await control.list_corpora(connection, old, KEYS)


async def test_foreign_server_is_stopped_only_with_its_pid(connection, foreign, store, clock):
    reading = await read_host(connection)
    server = reading.server(f"pid-{foreign.pid}")
    assert not server.is_ours
    plan = await plan_stop(connection, server.name, StopOptions(), clock=clock)
    assert plan.needs_typed == str(foreign.pid)
    assert not plan.default_is_safe
    with pytest.raises(RefusedError, match="not adopted"):
        await stop_server(connection, plan, store=store, clock=clock)
    wrong = await plan_stop(connection, server.name, StopOptions(pid=foreign.pid + 1), clock=clock)
    assert [check.name for check in wrong.refusals] == ["pid"]
    assert foreign.poll() is None
    with pytest.raises(RefusedError, match="neither started nor adopted"):
        await control.flush(connection, server, NO_KEYS, clock)
    outcome = await stop_server(connection, plan, store=store, clock=clock, typed=str(foreign.pid))
    foreign.wait(timeout=10)
    assert outcome.succeeded, outcome


async def test_adopted_server_is_ours_and_stopped_like_one(connection, foreign, store, clock, port):
    record = await adopt_pid(connection, foreign.pid)
    assert record.is_adopted
    assert (record.identity.pid, record.port) == (foreign.pid, port)
    assert "hushhush" not in str(record)
    assert len(record.members) == 3
    server = (await read_host(connection)).server(record.name)
    assert server.is_ours
    assert server.log_path is not None
    assert server.log_path.endswith("by-hand.log")
    again = await plan_adopt(connection, foreign.pid)
    assert again.steps == ()
    plan = await plan_stop(connection, record.name, StopOptions(), clock=clock)
    assert plan.needs_typed is None
    outcome = await stop_server(connection, plan, store=store, clock=clock)
    foreign.wait(timeout=10)
    assert outcome.succeeded, outcome
    assert outcome.words.startswith("Gone: 3 of 3 processes")


async def test_profile_of_a_foreign_server_names_its_secrets(connection, foreign, model, port):
    server = (await read_host(connection)).server(f"pid-{foreign.pid}")
    draft, _ = await draft_profile(connection, server)
    assert draft.values["model"] == model
    assert draft.values["placement"]["port"] == port
    assert draft.values["env"]["HF_HUB_OFFLINE"] == "1"
    assert "hushhush" not in repr(draft)
    assert "secret:" in repr(draft.values)


async def test_what_is_no_server_is_not_adopted(connection):
    with pytest.raises(UsageError, match=f"pid {os.getpid()} is no process of an SGLang server"):
        await plan_adopt(connection, os.getpid())


async def test_plan_of_another_process_adopts_nothing(connection, foreign, store, clock):
    plan = await plan_adopt(connection, foreign.pid)
    assert plan.target is not None
    assert plan.target.identity is not None
    stale = replace(plan.target.identity, start_ticks=plan.target.identity.start_ticks - 1)
    plan = replace(plan, target=replace(plan.target, identity=stale))
    with pytest.raises(RefusedError, match="has ended since the plan was made"):
        await adopt(connection, plan, store=store, clock=clock)


async def test_every_mutating_service_refuses_under_read_only(connection, host):
    class ReadOnly:
        session = agent = hello = None

    guarded = ReadOnly()
    guarded.host = replace(host, read_only=True)  # type: ignore[attr-defined]
    assert {"start", "stop", "adopt", "flush", "abort", "thresholds"} <= set(MUTATING)
    assert {"corpus add", "corpus remove"} <= set(MUTATING)
    for module in ("probing", "forwarding", "comparison"):
        importlib.import_module(f"specctl.services.{module}")
    assert {"a probe", "forward", "a comparison"} <= set(MUTATING)
    for action, service in MUTATING.items():
        with pytest.raises(RefusedError, match=f"read-only: {action} is refused"):
            service(guarded)


async def test_plans_under_read_only_say_so(host, connection, profile, secrets, clock):
    class Guarded:
        session, agent, hello = connection.session, connection.agent, connection.hello

    guarded = Guarded()
    guarded.host = replace(host, read_only=True)  # type: ignore[attr-defined]
    plan = await plan_launch(guarded, profile, StartOptions(), secrets=secrets, clock=clock)  # type: ignore[arg-type]
    assert [check.name for check in plan.refusals] == ["read-only"]
