"""A comparison from end to end, with launches of a stand-in engine on this machine."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from specctl.domain.comparison import ONE_LAUNCH
from specctl.domain.comparison_rows import comparison_rows, comparison_words
from specctl.domain.errors import RefusedError, UsageError
from specctl.domain.events import PlanProgressed, ProbeProgressed
from specctl.domain.preflight import StartOptions
from specctl.domain.probe import Prompt
from specctl.domain.profile import Speculation
from specctl.domain.workload import Workload
from specctl.services.comparison import compare, plan_comparison
from specctl.services.host_reading import read_host
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.probing import Settings
from specctl.services.stop import stop_server

BUILD = Path(__file__).parent / "probe_build"
PROMPTS = ("River", "Under the old", "Seventeen", "A letter")


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """An interpreter whose packages hold the stand-in engine."""
    home = tmp_path_factory.mktemp("engine")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    shutil.copytree(BUILD / "sglang", packages / "sglang")
    metadata = packages / "sglang-0.5.23.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.23\n")
    return str(home / "bin/python")


def workload() -> Workload:
    texts = [f"{start} one two three four five six" for start in PROMPTS]
    return Workload("w", tuple(Prompt(text=t, max_tokens=24) for t in texts), "0" * 64)


@pytest.fixture
def profiles(profile):
    """A baseline, and a profile for each way an arm can go."""
    base = replace(profile, name="base")
    drafts = {"eagle": "EAGLE", "ngram": "NGRAM", "broken": "STANDALONE"}
    arms = {
        name: replace(profile, name=name, speculation=Speculation(algorithm, {}))
        for name, algorithm in drafts.items()
    }
    return {"base": base, **arms}


@pytest.fixture
def planned(connection, profiles, secrets, clock):
    async def plan_it(*names, known=None, **settings):
        return await plan_comparison(
            connection,
            [profiles[name] for name in names],
            Settings(workload(), **settings),
            find=(profiles if known is None else known).get,
            secrets=secrets,
            clock=clock,
        )

    return plan_it


@pytest.fixture
def carried_out(connection, planned, secrets, store, clock):
    async def compare_them(*names, **settings):
        plan = await planned(*names, **settings)
        return await compare(connection, plan, secrets=secrets, store=store, clock=clock)

    return compare_them


@pytest.fixture
def started(connection, secrets, store, clock):
    async def start(profile):
        plan = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
        return await apply_launch(connection, plan, secrets=secrets, store=store, clock=clock)

    return start


async def running(connection):
    return [s for s in (await read_host(connection)).servers if s.pids and s.is_ours]


async def test_each_arm_is_started_probed_and_stopped(carried_out, connection):
    found = await carried_out("base", "eagle")
    base, eagle = found.arms
    assert (base.failure, eagle.failure) == ("", "")
    assert base.result is not None
    assert eagle.result is not None
    assert base.result.accept_length is None
    assert eagle.algorithm == "EAGLE"
    assert eagle.result.accept_length is not None
    assert eagle.result.accept_length > 1.5
    (standing,) = found.standings
    assert standing.pairing is not None
    assert (standing.pairing.prompts, standing.pairing.identical) == (4, 4)
    assert standing.pairing.speedup > 1
    assert standing.cost is not None
    assert [d.key for d in found.differences] == ["max-running-requests"]
    assert (found.differences[0].base, found.differences[0].arm) == (256, 48)
    assert len(comparison_rows(found)) == 2
    assert comparison_words(found)[-1] == ONE_LAUNCH
    assert await running(connection) == []


async def test_a_start_that_fails_is_the_arms_result(carried_out):
    found = await carried_out("base", "broken", "ngram")
    base, broken, ngram = found.arms
    assert broken.result is None
    assert "memory" in broken.failure.lower()
    assert broken.hint
    assert base.is_usable
    assert ngram.is_usable
    assert found.standings[0].unknown.startswith("broken gave no result")


async def test_a_crash_while_measuring_is_the_arms_result(carried_out, profiles, connection):
    profiles["eagle"] = replace(profiles["eagle"], environment={"FAKE_CRASH_AFTER": "6"})
    found = await carried_out("base", "eagle")
    eagle = found.arms[1]
    assert eagle.failure.startswith("the server died while it was measured")
    assert eagle.result is not None
    assert "requests failed" in eagle.result.void[0]
    assert found.standings[0].pairing is None
    assert found.arms[0].is_usable
    assert await running(connection) == []


async def test_what_ran_before_is_started_again(carried_out, started, profiles, connection):
    await started(profiles["ngram"])
    found = await carried_out("base", "eagle")
    (words,) = found.restored
    assert words.startswith("ngram, which ran before, runs again: Ready in")
    (server,) = await running(connection)
    assert server.profile == "ngram"
    assert all(arm.is_usable for arm in found.arms)


async def test_the_plan_says_all_of_it_beforehand(planned, started, profiles):
    await started(profiles["ngram"])
    plan = await planned("base", "eagle", most_prompts=3)
    assert plan.refusals == ()
    assert [step.partition(",")[0] for step in plan.steps[1:]] == [
        "start base",
        "start eagle",
        "start ngram again",
    ]
    assert plan.steps[0].startswith("stop ")
    assert "3 prompts of w" in plan.steps[1]


async def test_a_server_whose_profile_is_gone_is_not_stopped(
    planned, started, profiles, connection
):
    await started(profiles["ngram"])
    plan = await planned("base", "eagle", known={})
    assert any("no profile says how" in check.words for check in plan.refusals)
    assert len(await running(connection)) == 1


async def test_a_server_whose_profile_has_changed_is_not_stopped(planned, started, profiles):
    await started(profiles["ngram"])
    changed = replace(profiles["ngram"], arguments={"device": "cpu", "tp-size": 2})
    plan = await planned("base", "eagle", known={**profiles, "ngram": changed})
    assert any("ngram has changed since" in check.words for check in plan.refusals)


async def test_a_foreign_server_is_refused_and_left_running(
    connection, profiles, planned, secrets, store, clock, python, port
):
    argv = [python, "-m", "sglang.launch_server", "--model-path", "x", "--port", str(port)]
    foreign = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    try:
        while not _answers(port):
            await asyncio.sleep(0.05)
        plan = await planned("base", "eagle")
        assert plan.refusals
        with pytest.raises(RefusedError):
            await compare(connection, plan, secrets=secrets, store=store, clock=clock)
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


def _answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_interrupting_stops_the_arm_and_restores(
    planned, started, profiles, connection, secrets, store, clock
):
    await started(profiles["ngram"])
    plan = await planned("base", "eagle")
    measuring = asyncio.Event()

    def notice(event, _state):
        if isinstance(event, ProbeProgressed) and event.words == "measuring":
            measuring.set()

    store.subscribe(notice)
    task = asyncio.create_task(compare(connection, plan, secrets=secrets, store=store, clock=clock))
    await measuring.wait()
    task.cancel()
    found = await task
    assert found.interrupted
    assert [arm.failure for arm in found.arms] == ["not measured: interrupted"] * 2
    (server,) = await running(connection)
    assert server.profile == "ngram"


@pytest.mark.parametrize(("times", "left"), [(1, []), (2, ["base"])])
async def test_interrupting_a_stop_stops_the_arm_all_the_same_unless_told_twice(
    planned, connection, secrets, store, clock, events, monkeypatch, times, left
):
    plan, told = await planned("base", "eagle"), 0

    async def stop_while_told(*arguments, **named):
        nonlocal told
        told += 1
        task = asyncio.current_task()
        if told <= times and task is not None:
            task.cancel()
        return await stop_server(*arguments, **named)

    monkeypatch.setattr("specctl.services.arm.stop_server", stop_while_told)
    found = await compare(connection, plan, secrets=secrets, store=store, clock=clock)
    assert found.interrupted
    servers = await running(connection)
    assert [server.profile for server in servers] == left
    words = [
        one.words for one in events if isinstance(one, PlanProgressed) and one.step == "restore"
    ]
    assert [f"specctl stop here/{server.name}" in words[0] for server in servers] == [True] * len(
        left
    )


@pytest.mark.parametrize("names", [("base",), ("base", "base")])
async def test_a_comparison_needs_two_different_profiles(planned, names):
    with pytest.raises(UsageError, match="baseline and at least one other"):
        await planned(*names)


async def test_read_only_hosts_refuse(connection, planned, secrets, store, clock):
    plan = await planned("base", "eagle")
    guarded = replace(connection, host=replace(connection.host, read_only=True))
    with pytest.raises(RefusedError, match="read-only"):
        await compare(guarded, plan, secrets=secrets, store=store, clock=clock)
