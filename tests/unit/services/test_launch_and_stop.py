from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from specctl.domain.errors import DeadlineError, RefusedError
from specctl.domain.events import LogRead, PlanProgressed, ServersSeen
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Corpus
from specctl.domain.server import Milestone, Server, ServerState
from specctl.services.ending import StopTimes
from specctl.services.host_reading import read_host
from specctl.services.keys import keys_of
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.locks import hold_locks
from specctl.services.measured_server import NO_KEYS
from specctl.services.stop import StopOptions, plan_stop, stop_server
from specctl.services.watching import HostWatch

QUICK = StopTimes(drain_s=0.5, grace_s=0.5, proof_s=10)


@pytest.fixture
def start(connection, store, clock, secrets):
    async def start_profile(profile, options=None, **named):
        chosen = options or StartOptions()
        plan = await plan_launch(connection, profile, chosen, secrets=secrets, clock=clock)
        return await apply_launch(
            connection, plan, secrets=secrets, store=store, clock=clock, **named
        )

    return start_profile


@pytest.fixture
def stop(connection, store, clock):
    async def stop_named(name, *, now=False, keys=None, times=QUICK, pid=None, typed=""):
        options, found = StopOptions(now=now, pid=pid), keys or NO_KEYS
        plan = await plan_stop(connection, name, options, clock=clock, keys_for=lambda *_: found)
        allowed = typed or str(pid or "")
        return await stop_server(
            connection, plan, store=store, clock=clock, keys=found, times=times, typed=allowed
        )

    return stop_named


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


async def test_a20_exit_0_without_a_stop_is_a_crash_with_its_first_cause(start, profile, events):
    failing = replace(
        profile, environment={"FAKE_FAIL": "torch.OutOfMemoryError: CUDA out of memory. Tried to"}
    )
    outcome = await start(failing)
    assert not outcome.succeeded
    assert outcome.exit_status == 0
    assert outcome.cause is not None
    assert "OutOfMemoryError" in outcome.cause.line or "memory" in outcome.cause.summary.lower()
    assert any("OutOfMemoryError" in line for line in outcome.log_excerpt)
    assert sum("Received sigquit" in line for line in outcome.log_excerpt) == 1
    assert any("times more" in line for line in outcome.log_excerpt)
    last = [e for e in events if isinstance(e, PlanProgressed)][-1]
    assert (last.status, last.is_last) == ("failed", True)


async def test_taken_port_is_refused_before_and_told_when_it_comes_between(
    start, profile, connection, secrets, clock, store, port
):
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        late = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
        assert [check.name for check in late.refusals] == ["ports"]
        assert f"pid {os.getpid()}" in late.refusals[0].words
        assert "--port" in late.refusals[0].next_step
        with pytest.raises(RefusedError, match="since the plan was made"):
            await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)


async def test_requests_are_waited_for_then_aborted_then_it_is_gone(start, stop, profile, port):
    outcome = await start(profile)
    httpx.post(f"http://127.0.0.1:{port}/generate", json={})
    ended = await stop(outcome.server)
    assert ended.succeeded, ended
    log = Path(outcome.log_path).read_text()
    assert log.index("SIGTERM received") < log.index("told /abort_request")
    assert "asked /health" not in log


async def test_stubborn_server_ends_by_sigkill_to_its_group(start, stop, profile, events):
    stubborn = replace(profile, environment={"FAKE_STUBBORN": "1", "FAKE_ORPHANS": "1"})
    outcome = await start(stubborn)
    ended = await stop(outcome.server)
    assert ended.succeeded, ended
    assert any("SIGKILL sent to" in e.words for e in events if isinstance(e, PlanProgressed))


async def test_a15_after_a_sigkill_a_soak_is_offered_and_never_run(
    start, stop, profile, connection, secrets, clock
):
    first = await start(replace(profile, environment={"FAKE_STUBBORN": "1"}))
    assert (await stop(first.server)).succeeded
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    (soak,) = [check for check in plan.warnings if check.name == "soak"]
    assert "may look healthy and stall after about 100 requests" in soak.words
    again = await start(profile)
    assert again.succeeded
    assert again.notes == (soak.next_step,)
    assert "told /generate" not in Path(again.log_path).read_text()


async def test_a16_orphans_of_a_killed_launcher_are_found_and_ended(
    start, stop, profile, connection
):
    outcome = await start(replace(profile, environment={"FAKE_ORPHANS": "1"}))
    record = json.loads((Path(outcome.log_path).parent / "launch.json").read_text())
    os.kill(record["identity"]["pid"], signal.SIGKILL)
    await asyncio.sleep(0.3)
    server = (await read_host(connection)).server(outcome.server)
    assert len(server.pids) == 2
    ended = await stop(outcome.server)
    assert ended.succeeded, ended
    assert ended.words.startswith("Gone: 2 of 2 processes")


async def test_a16_orphans_of_another_launcher_need_their_pid_and_no_patience(
    connection, stop, python, model, port, tmp_path
):
    argv = [python, "-m", "sglang.launch_server", "--model-path", model, "--port", str(port)]
    with (tmp_path / "by-hand.log").open("w") as log:
        process = subprocess.Popen(argv, stderr=log, env={"FAKE_ORPHANS": "1"}, process_group=0)
    while "fired up" not in (tmp_path / "by-hand.log").read_text():
        await asyncio.sleep(0.05)
    process.kill()
    process.wait()
    reading = await read_host(connection)
    (server,) = [s for s in reading.servers if s.identity and s.identity.pgid == process.pid]
    assert "2 of its processes live on" in server.why
    with pytest.raises(RefusedError, match="was not adopted"):
        await stop(server.name, times=StopTimes())
    assert server.identity is not None
    ended = await stop(server.name, times=StopTimes(), pid=server.identity.pid)
    assert ended.succeeded, ended
    assert ended.words.startswith("Gone: 2 of 2 processes")
    assert ended.elapsed_s is not None
    assert ended.elapsed_s < StopTimes().grace_s


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


async def test_survivors_of_a_failed_start_are_named(start, profile):
    failing = {"FAKE_FAIL": "torch.OutOfMemoryError: CUDA out of memory.", "FAKE_ORPHANS": "1"}
    outcome = await start(replace(profile, environment=failing))
    assert not outcome.succeeded
    assert "2 of its processes live on" in outcome.notes[0]
    assert f"specctl stop here/{outcome.server}" in outcome.notes[0]


async def test_held_lock_names_its_holder(connection, profile, secrets, clock, store, port):
    plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    async with hold_locks(connection, plan.lock_keys, "specctl start other"):
        with pytest.raises(RefusedError, match=rf"port-{port} is locked by .*specctl start other"):
            await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)
        late = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
        assert "lock" in [check.name for check in late.refusals]
    outcome = await apply_launch(
        connection, plan, secrets=secrets, store=store, clock=clock, wait=False
    )
    assert outcome.succeeded


async def test_e02_a_server_is_looked_for_on_the_last_port_of_its_command_line(
    connection, store, clock, python, model, port, tmp_path
):
    words = ["--port", "1", "--model-path", model, "--device", "cpu", "--port", str(port)]
    argv = [python, "-m", "sglang.launch_server", *words]
    with (tmp_path / "by-hand.log").open("w") as log:
        process = subprocess.Popen(argv, stderr=log, env={"FAKE_CHILDREN": "0"})
    ready = asyncio.Event()

    def hear(event, state):
        found = [s for s in state.host("here").servers or () if s.port == port]
        if found and found[0].evidence.http == "200" and found[0].state is ServerState.READY:
            ready.set()

    store.subscribe(hear)
    watch = HostWatch(
        connection, store, clock, interval_s=0.2, keys=lambda *_: NO_KEYS,
        ready_timeout_s=lambda _: None,
    )  # fmt: skip
    watching = asyncio.ensure_future(watch.run())
    try:
        async with asyncio.timeout(20):
            await ready.wait()
    finally:
        watching.cancel()
        process.kill()
        process.wait()


async def test_a18_the_first_word_on_a_crashed_server_is_its_first_cause(
    start, profile, connection, store, clock
):
    fails = {"FAKE_FAIL": "torch.OutOfMemoryError: CUDA out of memory."}
    outcome = await start(replace(profile, environment=fails))
    assert not outcome.succeeded
    seen: list[Server] = []
    looked = asyncio.Event()

    def hear(event, state):
        if isinstance(event, ServersSeen):
            seen.extend(server for server in event.servers if server.name == outcome.server)
            looked.set()

    store.subscribe(hear)
    watch = HostWatch(
        connection, store, clock, interval_s=0.2, keys=lambda *_: NO_KEYS,
        ready_timeout_s=lambda _: None,
    )  # fmt: skip
    watching = asyncio.ensure_future(watch.run())
    try:
        async with asyncio.timeout(20):
            await looked.wait()
    finally:
        watching.cancel()
    assert (seen[0].state, seen[0].why) == (ServerState.CRASHED, outcome.words)


async def test_e02_start_that_is_never_ready_has_a_deadline(start, profile):
    slow = replace(profile, environment={"FAKE_LOAD_S": "30"}, ready_timeout_s=1.5)
    with pytest.raises(DeadlineError, match="it goes on loading"):
        await start(slow)


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


async def test_port_taken_while_it_loads_is_told_although_it_hangs(start, profile, store, port):
    taken: list[socket.socket] = []

    def take(event, state):
        if isinstance(event, LogRead) and not taken and "Load weight" in str(event.lines):
            taken.append(socket.socket())
            taken[0].bind(("127.0.0.1", port))
            taken[0].listen()

    store.subscribe(take)
    outcome = await start(replace(profile, environment={"FAKE_LOAD_S": "2"}))
    taken[0].close()
    assert not outcome.succeeded
    assert outcome.exit_status is None
    assert outcome.hint.startswith("It hangs. specctl stop here/")
    assert "3 of its processes live on" in outcome.notes[0]
