"""Links that are slow, cut or silent, agents that freeze, colleagues: what specctl does then."""

from __future__ import annotations

import os
import time
from pathlib import Path

from specctl.domain.state import Link
from specctl.lab.processes import processes_of
from specctl.lab.warden import agents_of
from tests.lab.practice import Practice, wait_for
from tests.lab.watched import watching

SOON_S = 1
"""Instead of fifteen: a silent link is noticed after a few of these."""


def watch_keenly(practice: Practice) -> None:
    """Let the operator's ssh configuration ask more often whether the host is still there."""
    text = practice.lab.ssh_config.read_text()
    extra = f"  ServerAliveInterval {SOON_S}\n  ServerAliveCountMax 2\n"
    practice.lab.ssh_config.write_text(text + extra)


async def test_a_slow_link_is_slow_and_nothing_is_lost(practice):
    with practice.fault("slow-link", "delay_ms=120"):
        begun = time.monotonic()
        state = await practice.look()
        took_s = time.monotonic() - begun
    assert state.link is Link.UP
    assert state.sample is not None
    assert len(state.sample.gpus) == 8
    assert took_s > 1.0


async def test_c08_a_cut_link_is_said_values_stay_and_it_comes_back(practice):
    sleeper = practice.on_host("exec sleep 300")
    async with watching(practice) as (_, monitor, heard):
        await heard.sample()
        with practice.fault("cut-link"):
            lost = await heard.link(Link.LOST)
            assert "host lab-1" in lost.words
            assert heard.state().sample is not None
            wait_for(lambda: not agents_of(practice.host().folder))
        monitor.read_again("lab-1")
        await heard.link(Link.UP)
        await heard.sample()
        assert len(agents_of(practice.host().folder)) == 1
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.communicate()


async def test_c08_a_silent_link_is_noticed_and_the_host_found_again(home):
    home.up()
    watch_keenly(home)
    async with watching(home) as (_, monitor, heard):
        await heard.sample()
        home.host().set_fault("cut-link", {"silent": True})
        begun = time.monotonic()
        lost = await heard.link(Link.LOST)
        assert time.monotonic() - begun < 10
        assert "host lab-1" in lost.words
        home.host().clear_fault("cut-link")
        monitor.read_again("lab-1")
        await heard.link(Link.UP)
        await heard.sample()
        wait_for(lambda: len(agents_of(home.host().folder)) == 1)


def test_a_host_that_is_cut_off_is_not_reached_and_the_others_are(practice):
    with practice.fault("cut-link"):
        ran = practice.run("status", "lab-1", "lab-2")
    assert ran.status == 3
    assert "lab-2  reached" in ran.out
    assert "lab-1  reached" not in ran.out


async def test_a_frozen_agent_is_no_live_host(practice):
    async with watching(practice) as (_, monitor, heard):
        await heard.sample()
        with practice.fault("frozen-agent"):
            (frozen,) = agents_of(practice.host().folder)
            assert " T " in Path(f"/proc/{frozen}/stat").read_text()
            lost = await heard.link(Link.LOST)
            assert "agent" in lost.words
        monitor.read_again("lab-1")
        await heard.sample()
        wait_for(lambda: not os.path.exists(f"/proc/{frozen}"))
        assert len(agents_of(practice.host().folder)) == 1


def test_somebody_elses_lock_refuses_a_start_by_name(practice):
    (practice.lab.models / "kimi-k2.5").mkdir(exist_ok=True)
    with practice.fault("two-operators", "operator=kim@laptop", "gpus=2+5"):
        ran = practice.run("start", "lab-1", "lab-baseline", "--yes")
        other = practice.run("start", "lab-2", "lab-baseline", "--dry-run")
    assert ran.status == 1
    assert "gpu-2 is locked by kim@laptop (specctl start, pid " in ran.out + ran.err
    assert "locked" not in other.out + other.err
    assert not list((practice.host().home / ".local/state/specctl").glob("launches/*"))
    wait_for(lambda: not processes_of(practice.host().folder))


async def test_c11_what_a_session_started_ends_after_it_and_others_stay(practice):
    stranger = practice.on_host("exec sleep 300")
    with practice.fault("kill-on-logout", "after_s=0.5"):
        async with practice.fleet() as fleet:
            connection = await fleet.connect("lab-1")
            argv = ("setsid", "--fork", "sh", "-c", "exec sleep 301 >/dev/null 2>&1 </dev/null")
            await connection.session.run(argv, timeout_s=10)
            assert len(processes_of(practice.host().folder)) == 3
        wait_for(lambda: processes_of(practice.host().folder) == [stranger.pid])
    stranger.kill()
    stranger.communicate()
