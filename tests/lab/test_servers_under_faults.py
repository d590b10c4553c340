"""A server on a practice host that goes wrong: nothing is lost, nothing orphaned."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from specctl.domain.server import ServerState
from specctl.domain.state import Link
from specctl.lab.processes import processes_of
from tests.lab.practice import Practice, wait_for
from tests.lab.watched import watching
from tests.ssh.sshd import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(180)

STOPPED = re.compile(r"Gone: (\d+) of \1 processes")


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def started(practice: Practice, port: int) -> Iterator[dict[str, Any]]:
    """A server on lab-1, as `start --json` tells of it; stopped with the test, if it still runs."""
    ran = start(practice, port)
    assert ran.status == 0, ran.err
    try:
        yield json.loads(ran.out)
    finally:
        stop(practice)


def start(practice: Practice, port: int, *options: str) -> Any:
    return practice.run("start", "lab-1", "lab-baseline", "--yes", "--port", str(port), *options,
                        "--json")  # fmt: skip


def stop(practice: Practice) -> None:
    """Stop what is left, by whatever means; the host is as it was."""
    if servers(practice):
        practice.run("stop", "lab-1", "--yes", "--now")
    wait_for(lambda: not processes_of(practice.host().folder))


def servers(practice: Practice) -> list[dict[str, Any]]:
    found = practice.run("status", "lab-1", "--json")
    assert found.status == 0, found.err
    return list(json.loads(found.out)["hosts"]["lab-1"]["servers"] or ())


def test_a_server_is_simulated_wherever_it_is_told_of(practice, started):
    assert started["simulated"] is True
    (server,) = servers(practice)
    assert (server["is_simulated"], server["state"]) == (True, "ready")
    status = practice.run("status", "lab-1")
    assert "SIMULATED" in status.out
    assert practice.run("status", "lab-2").out.count("no server") == 1


async def test_a_cut_link_costs_no_server_and_it_is_found_again(practice, started):
    async with watching(practice) as (_, monitor, heard):
        await heard.sample()
        wait_for_ready = heard.until(lambda _: bool(ready(heard)))
        await wait_for_ready
        before = ready(heard)
        with practice.fault("cut-link"):
            await heard.link(Link.LOST)
        monitor.read_again("lab-1")
        await heard.link(Link.UP)
        await heard.until(lambda _: heard.state().link is Link.UP and bool(ready(heard)))
        assert ready(heard) == before


def ready(heard: Any) -> list[tuple[str, int]]:
    """Name and pid of every server that is ready."""
    return [
        (server.name, server.identity.pid)
        for server in heard.state().servers or ()
        if server.state is ServerState.READY and server.identity is not None
    ]


def test_c08_a_link_that_is_cut_during_a_start_costs_no_launch(practice, port):
    try:
        practice.run("lab", "fault", "cut-link", "--host", "lab-1", "--after", "5")
        ran = start(practice, port)
        assert ran.status in {1, 3}, ran.out
        assert "lab-1" in ran.err
        practice.host().clear_fault("cut-link")
        found: list[dict[str, Any]] = []

        def is_ready() -> bool:
            found[:] = servers(practice)
            return [server["state"] for server in found] == ["ready"]

        wait_for(is_ready, 60)
        assert found[0]["profile"] == "lab-baseline"
    finally:
        practice.host().clear_fault("cut-link")
        stop(practice)


def test_c11_a_server_that_ends_with_the_session_is_said_to_have_been_killed(practice, port):
    with practice.fault("kill-on-logout", "after_s=0.5"):
        ran = start(practice, port)
        assert ran.status == 0, ran.err
        wait_for(lambda: not processes_of(practice.host().folder), 30)
    (server,) = servers(practice)
    assert server["state"] == "crashed", server
    text = practice.run("status", "lab-1").out
    assert "SIGTERM" in text or "signal 15" in text or "143" in text, text


def test_c12_a_server_starts_with_its_records_where_they_can_be_written(practice, port):
    with practice.fault("read-only-home"):
        ran = start(practice, port)
        assert ran.status == 0, ran.err
        assert "/var/tmp/specctl-" in ran.err
        stopped = practice.run("stop", "lab-1", "--yes")
        assert stopped.status == 0, stopped.err
        assert STOPPED.search(stopped.out), stopped.out
    assert processes_of(practice.host().folder) == []


def test_c12_a_disk_that_fills_up_under_a_server_stops_neither_it_nor_its_stop(practice, started):
    with practice.fault("full-disk"):
        (server,) = servers(practice)
        assert server["state"] in {"ready", "busy"}, server
        stopped = practice.run("stop", "lab-1", "--yes")
        assert stopped.status == 0, stopped.out + stopped.err
        assert STOPPED.search(stopped.out), stopped.out
    wait_for(lambda: not processes_of(practice.host().folder))


def test_a_wrong_clock_makes_no_server_stale(practice, started):
    with practice.fault("clock-skew", "seconds=-7200"):
        (server,) = servers(practice)
        assert server["state"] == "ready"
        assert practice.run("stop", "lab-1", "--yes").status == 0


def test_c04_a_server_starts_and_stops_under_any_shell(practice, port):
    with practice.fault("csh-shell"), practice.fault("noisy-rc"):
        assert start(practice, port).status == 0
        stopped = practice.run("stop", "lab-1", "--yes")
    assert stopped.status == 0, stopped.err
    assert STOPPED.search(stopped.out)


def test_a_slow_link_starts_a_server_all_the_same(practice, port):
    with practice.fault("slow-link", "delay_ms=80"):
        ran = start(practice, port)
    assert ran.status == 0, ran.err
    stop(practice)


def test_down_ends_servers_whose_titles_are_not_their_own(home):
    home.up()
    ran = home.run("start", "lab-1", "lab-baseline", "--yes", "--port", str(free_port()))
    assert ran.status == 0, ran.err
    running = processes_of(home.host().folder)
    assert len(running) >= 10
    assert home.run("lab", "down").status == 0
    assert processes_of(home.lab.root) == []


def test_c12_a_start_on_a_full_disk_is_refused_and_nothing_runs(practice, port):
    with practice.fault("full-disk"):
        ran = start(practice, port)
    assert ran.status == 1, ran.err
    assert "the disk may be full" in ran.err or "No space left" in ran.err
    assert "LaunchError" not in ran.err
    assert "Free some space there" in ran.err
    wait_for(lambda: not processes_of(practice.host().folder))
