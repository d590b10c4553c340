"""Logs in parts: whole lines, exact places, nothing secret, rotation, launches before."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.launch_record import LaunchRecord
from specctl.domain.server import Evidence, Identity, Server, ServerState
from specctl.services import log_paging
from specctl.services.log_paging import (
    follow,
    launches_before,
    log_before,
    log_end,
    save_lines,
    save_log,
)

IDENTITY = Identity("boot", 7, 70, 7, 7, "")


def server(path, *, alive=True):
    evidence = Evidence(process_alive=alive)
    return Server(
        "19dc", ServerState.READY, IDENTITY, is_ours=True, launch_id="19dc951b",
        log_path=str(path), evidence=evidence,
    )  # fmt: skip


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(log_paging, "PART_BYTES", 1000)
    path = tmp_path / "server.log"
    path.write_text("".join(f"line {n:03}\n" for n in range(500)) + "not yet whole")
    return path


async def test_parts_join_into_the_whole_log(connection, path):
    part = await log_end(connection, server(path), None, back=0)
    lines = list(part.lines)
    assert lines[-1] == "line 499"
    assert part.end == path.stat().st_size - len("not yet whole")
    while part.start:
        earlier = await log_before(connection, part)
        assert earlier.end == part.start
        part, lines = earlier, [*earlier.lines, *lines]
    assert lines == [f"line {n:03}" for n in range(500)]


async def test_following_goes_on_where_the_end_was_and_tells_rotation(connection, path):
    part = await log_end(connection, server(path), None, back=0)
    async with aclosing(follow(connection, part)) as parts:
        with path.open("a") as file:
            file.write(" now\n")
        found = [line async for one in _until(parts, "not yet whole now") for line in one.lines]
        assert found == ["not yet whole now"]
        path.rename(path.with_suffix(".1"))
        path.write_text("another\n")
        anew = [one async for one in _until(parts, "another")]
        assert any(one.begins_anew for one in anew)


async def _until(parts, line):
    async for part in parts:
        yield part
        if line in part.lines:
            return


async def test_of_an_ended_launch_the_last_line_counts_too(connection, path):
    part = await log_end(connection, server(path, alive=False), None, back=0)
    assert part.lines[-1] == "not yet whole"
    assert part.is_over


async def test_all_of_it_is_saved_without_secrets_and_over_no_file(connection, path, tmp_path):
    path.write_text("api_key='sk-verysecret'\n\x1b[31mred\n" + "x\n" * 2000)
    part = await log_end(connection, server(path), None, back=0)
    file = tmp_path / "saved.log"
    await save_log(connection, part, file, "# first\n")
    text = file.read_text()
    assert text.startswith("# first\n")
    assert "verysecret" not in text
    assert "\nred\n" in text
    assert text.count("x\n") == 2000
    with pytest.raises(UsageError, match="is there already"):
        await save_log(connection, part, file, "")
    with pytest.raises(UsageError, match="cannot be written"):
        save_lines([], tmp_path / "none" / "x", "")


async def test_a_log_that_is_too_long_to_be_saved_says_where_it_ends(
    connection, path, tmp_path, monkeypatch
):
    monkeypatch.setattr(log_paging, "SAVED_CHARACTERS_MOST", 100)
    monkeypatch.setattr(log_paging, "PART_BYTES", 60)
    path.write_text("a line of ten\n" * 20)
    part = await log_end(connection, server(path), None, back=0)
    file = tmp_path / "saved.log"
    written = await save_log(connection, part, file, "")
    text = file.read_text()
    assert text.splitlines()[-1] == "# the rest, from byte 120 on, was not saved"
    assert len(text) == written


async def test_what_is_not_there_is_said(connection, tmp_path, monkeypatch):
    for name in ("HOME", "XDG_STATE_HOME"):  # they may hold launches
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(UsageError, match="cannot be read"):
        await log_end(connection, server(tmp_path / "none"), None, back=0)
    with pytest.raises(UsageError, match="no launch before this one"):
        await log_end(connection, server(tmp_path / "none"), None, back=1)


def record(launch, started_s, profile="a", **values):
    return LaunchRecord(launch, IDENTITY, profile=profile, started_at_s=started_s, **values)


def test_launches_before_are_those_of_the_same_profile_the_newest_first():
    records = [
        record("19dc951b", 40.0), record("e", 50.0), record("d", 30.0, "b"), record("c", 20.0),
        record("b", 10.0), record("a", 25.0, is_adopted=True),
    ]  # fmt: skip
    assert [r.launch_id for r in launches_before(records, server("x"))] == ["c", "b"]
    other = replace(records[0], profile="z")
    assert [r.launch_id for r in launches_before([other, *records[1:]], server("x"))] == [
        "d", "c", "b"
    ]  # fmt: skip
    assert len(launches_before(records, None)) == 5
