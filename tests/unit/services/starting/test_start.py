"""A start, from its plan to ready."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from specctl.domain.errors import RefusedError
from specctl.domain.events import LogRead, PlanProgressed
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Corpus
from specctl.domain.server import Milestone
from specctl.services.host_reading import read_host
from specctl.services.keys import keys_of
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.locks import hold_locks
from specctl.services.stop import StopOptions, plan_stop


async def has_to_be_typed_while_measured(connection, name, port, clock):
    asked = StopOptions()
    async with hold_locks(connection, [f"measuring-port-{port}"], "specctl compare, trial 5c0f"):
        held = await plan_stop(connection, name, asked, clock=clock)
        own = await plan_stop(connection, name, asked, clock=clock, is_measuring=True)
    assert "trial 5c0f" in held.why_typed
    assert (held.needs_typed, own.needs_typed) == ("here", None)


async def test_start_ready_stop_proof(start, stop, profile, connection, events, port, clock):
    outcome = await start(profile)
    assert outcome.succeeded, outcome
    assert outcome.words.startswith("Ready in 0:0")
    milestones = [milestone for milestone, _ in outcome.reached]
    assert milestones[0] is Milestone.LAUNCHED
    assert milestones[-1] is Milestone.READY
    assert Milestone.WEIGHTS in milestones
    steps = [(e.step, e.status) for e in events if isinstance(e, PlanProgressed)]
    assert ("launch", "done") in steps
    assert steps[-1] == ("plan", "done")
    lines = [line for e in events if isinstance(e, LogRead) for line in e.lines]
    assert any("Load weight end" in line for line in lines)
    reading = await read_host(connection)
    server = reading.server(outcome.server)
    assert (server.is_ours, server.port, server.profile) == (True, port, "tiny")
    assert len(server.pids) == 3
    record = reading.record(server)
    assert record is not None
    assert record.ready_after_s is not None
    await has_to_be_typed_while_measured(connection, outcome.server, port, clock)
    ended = await stop(outcome.server)
    assert ended.succeeded, ended
    assert ended.words.startswith("Gone: 3 of 3 processes, 1 of 1 ports")
    again = (await read_host(connection)).server(outcome.server)
    assert again.pids == ()
    assert "after a stop was asked for" in again.why


async def test_the_record_says_which_commit_its_profile_came_from(
    start, profile, connection, tmp_path
):
    file = tmp_path / "ws" / "profiles" / "tiny.toml"
    file.parent.mkdir(parents=True)
    file.write_text("")
    git = [
        "git",
        "-c",
        "user.name=op",
        "-c",
        "user.email=op@example.org",
        "-C",
        str(file.parent.parent),
    ]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    outcome = await start(replace(profile, file=str(file)), wait=False)
    reading = await read_host(connection)
    record = reading.record(reading.server(outcome.server))
    assert record is not None
    assert record.workspace_commit == done.stdout.strip()


async def test_starting_again_what_runs_is_nothing_to_do(
    start, profile, connection, secrets, clock
):
    await start(profile)
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    assert plan.steps == ()
    assert not plan.is_refused
    assert plan.target is not None
    outcome = await start(profile)
    assert outcome.succeeded
    assert "runs this profile already" in outcome.words


async def test_replace_stops_only_what_the_plan_named(
    start, profile, connection, secrets, clock, model
):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        other_port = free.getsockname()[1]
    other = replace(profile, name="other", placement=replace(profile.placement, port=other_port))
    first, bystander = await start(profile), await start(other)
    changed = replace(profile, arguments={**profile.arguments, "max-running-requests": 4})
    plan = await plan_launch(connection, changed, StartOptions(), secrets=secrets, clock=clock)
    assert [check.name for check in plan.refusals] == ["ports"]
    outcome = await start(changed, StartOptions(replace=True))
    assert outcome.succeeded, outcome
    assert outcome.proofs[0].gone
    reading = await read_host(connection)
    alive = {server.name for server in reading.servers if server.pids and server.is_ours}
    assert alive == {outcome.server, bystander.server}
    assert first.server not in alive


async def test_earlier_loads_give_the_expected_time(
    start, stop, profile, connection, secrets, clock
):
    outcome = await start(profile)
    await stop(outcome.server)
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    assert plan.expected_from == "1 earlier load here"
    assert plan.times is not None
    assert plan.times.ready_s == pytest.approx(dict(outcome.reached)[Milestone.READY])


async def test_a12_keys_reach_the_server_and_nothing_else(
    start, stop, profile, secrets, host, connection
):
    guarded = replace(
        profile,
        secrets={
            "argument:api-key": "serving",
            "argument:admin-api-key": "admin",
            "env:HF_TOKEN": "hub",
        },
    )
    outcome = await start(guarded)
    assert outcome.succeeded, outcome
    directory = Path(outcome.log_path).parent
    assert not (directory / "keys.yaml").exists() or await _removed(directory / "keys.yaml")
    record = json.loads((directory / "launch.json").read_text())
    assert record["argv"][-2] == "--config"
    pid = record["identity"]["pid"]
    for text in (
        (directory / "launch.json").read_bytes(),
        Path(f"/proc/{pid}/cmdline").read_bytes(),
    ):
        assert b"k3y" not in text
        assert b"hf_onthehost" not in text
    assert b"HF_TOKEN=hf_onthehost" in Path(f"/proc/{pid}/environ").read_bytes()
    url = f"http://127.0.0.1:{record['port']}"
    httpx.post(f"{url}/generate", json={}, headers={"Authorization": "Bearer k3y-serving"})
    keys = keys_of(guarded, host, secrets)
    with pytest.raises(RefusedError, match="Requests that are running would be ended"):
        await stop(outcome.server, now=True, keys=keys)
    ended = await stop(outcome.server, now=True, keys=keys, typed="here")
    assert ended.succeeded, ended
    assert "told /abort_request" in Path(outcome.log_path).read_text()


async def _removed(path):
    for _ in range(100):
        if not path.exists():
            return True
        await asyncio.sleep(0.05)
    return False


async def test_cancelling_stops_the_following_never_the_load(
    connection, profile, secrets, clock, store
):
    slow = replace(profile, environment={"FAKE_LOAD_S": "30"})
    plan = await plan_launch(connection, slow, StartOptions(), secrets=secrets, clock=clock)
    launched = asyncio.Event()
    store.subscribe(
        lambda event, state: (
            launched.set()
            if isinstance(event, LogRead) and "Load weight" in str(event.lines)
            else None
        )
    )
    task = asyncio.ensure_future(
        apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)
    )
    await asyncio.wait_for(launched.wait(), 15)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server = (await read_host(connection)).server(plan.id[:4])
    assert len(server.pids) == 3


async def test_starting_again_what_still_loads_follows_it(start, profile):
    slow = replace(profile, environment={"FAKE_LOAD_S": "4"})
    launched = await start(slow, wait=False)
    assert launched.succeeded
    followed = await start(slow)
    assert followed.server == launched.server
    assert followed.words.startswith("Ready in 0:0")
    assert (followed.elapsed_s or 0) >= 3.9


async def test_corpora_are_loaded_once_ready(start, profile, port):
    corpora = (Corpus("std", "/srv/std.jsonl"), Corpus("std", "/srv/again.jsonl"))
    # corpora beside a profile that does not speculate are an error of the profile
    outcome = await start(replace(profile, corpora=corpora), StartOptions(unchecked=True))
    assert outcome.succeeded, outcome
    first, second = outcome.notes
    assert first == "corpus std loaded, 1,234 tokens"
    assert "was not loaded: /add_external_corpus: Corpus id exists already." in second
    answer = httpx.get(f"http://127.0.0.1:{port}/list_external_corpora")
    assert answer.json()["corpus_token_counts"] == {"std": 1234}
