"""The log of a server under care: which launch it belongs to, and where reading it goes on."""

from __future__ import annotations

import asyncio

import pytest

from specctl.domain.server import Identity, Milestone, Server, ServerState
from specctl.services.server_log import ServerLog, launch_of_log

READY = "[2026-01-01 00:00:00] The server is fired up and ready to roll!\n"


def server(marker, launch_id):
    identity = Identity("boot", 7, 70, 7, 7, marker)
    return Server("19dc", ServerState.UNKNOWN, identity, is_ours=True, launch_id=launch_id)


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("", READY),
        ("aaaaaaaa", f"specctl launch aaaaaaaa\n{READY}"),
        ("19dc951b", f"{READY}specctl launch 19dc951b\n{READY}"),
    ],
    ids=["adopted", "adopted from another state directory", "launched"],
)
async def test_e03_milestones_are_read_from_the_servers_own_part(
    connection, clock, tmp_path, marker, text
):
    path = tmp_path / "server.log"
    path.write_text(text)
    log = ServerLog(str(path), launch_of_log(server(marker, "19dc951b")), clock)
    async for _ in log.follow(connection.agent):
        break
    assert log.tracker.milestone is Milestone.READY


async def test_e03_a_line_of_an_earlier_launch_makes_nothing_ready(connection, clock, tmp_path):
    path = tmp_path / "server.log"
    path.write_text(f"specctl launch 00000000\n{READY}specctl launch 19dc951b\nloading\n")
    log = ServerLog(str(path), launch_of_log(server("19dc951b", "19dc951b")), clock)
    async for _ in log.follow(connection.agent):
        break
    assert log.tracker.milestone is Milestone.LAUNCHED


@pytest.mark.parametrize("text", [READY, "", None], ids=["read", "empty", "not there"])
async def test_a18_a_log_says_when_it_has_been_read(connection, clock, tmp_path, text):
    path = tmp_path / "server.log"
    if text is not None:
        path.write_text(text)
    log = ServerLog(str(path), None, clock)
    assert not log.caught_up.is_set()

    async def follow():
        async for _ in log.follow(connection.agent):
            pass

    following = asyncio.ensure_future(follow())
    try:
        async with asyncio.timeout(20):
            await log.caught_up.wait()
    finally:
        following.cancel()
    assert len(log.lines) == (1 if text else 0)
