"""What is done on a host is noted: exactly, without secrets, and without growing for ever."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specctl.adapters import command_log
from specctl.adapters.clock import SystemClock
from specctl.adapters.command_log import CommandLog, naming, read_file, shown
from specctl.adapters.local import LocalSession
from specctl.adapters.noted import NotedSession
from specctl.domain.errors import DeadlineError
from specctl.domain.host import Host
from specctl.domain.remote_command import (
    MOST_CHANGES,
    CommandHistory,
    RemoteCommand,
    Way,
    program_changes,
    request_changes,
)
from specctl.services.fleet import close_host, open_host

HOST = Host("here", transport="local", is_simulated=True)
READ = RemoteCommand(1.0, "here", Way.AGENT, "stat", outcome="ok", elapsed_s=0.1)
CHANGE = replace(READ, way=Way.COMMAND, what="launcher", argv=("python3", "-c", "x"), changes=True)


def noted(file=None):
    log = CommandLog(SystemClock(), file)
    return log, NotedSession(LocalSession("here"), log.of(HOST))


async def test_a_command_is_noted_with_its_argv_and_how_it_ended():
    log, session = noted()
    await session.run(("sh", "-c", "exit 3", "--api-key", "s3cret"), timeout_s=10)
    (one,) = log.commands()
    assert one.argv == ("sh", "-c", "exit 3", "--api-key", "***")
    assert (one.host, one.what, one.outcome, one.is_failure) == ("here", "sh", "exit 3", True)
    assert one.simulated
    assert one.elapsed_s is not None
    assert one.elapsed_s > 0


async def test_what_does_not_end_in_time_is_noted_too():
    log, session = noted()
    with pytest.raises(DeadlineError):
        await session.run(("sleep", "10"), timeout_s=0.05)
    (one,) = log.commands()
    assert (one.outcome, one.is_failure) == ("no answer in time", True)


async def test_a_program_is_noted_by_its_name_and_what_it_was_asked_without_secrets():
    log, session = noted()
    request = {
        "argv": ["python", "-m", "sglang.launch_server", "--api-key", "k"],
        "launch_id": "7c1e2d90",
        "environment": {"HF_TOKEN": "hf_secret"},
        "keys": {"api": "k3y"},
    }
    with naming("launcher", request):
        await session.run(("true",), timeout_s=10)
    (one,) = log.commands()
    assert (one.what, one.changes) == ("launcher", True)
    assert one.asked == {
        "launch_id": "7c1e2d90",
        "argv": ("python", "-m", "sglang.launch_server", "--api-key", "***"),
    }
    assert one.brief == "python -m sglang.launch_server --api-key '***'"
    assert one.line.startswith("true  # {")


async def test_what_an_agent_is_asked_is_noted_and_reads_are_grouped(tmp_path):
    log = CommandLog(SystemClock(), tmp_path / "commands.jsonl")
    connection = await open_host(HOST, log)
    try:
        for _ in range(5):
            await connection.agent.call("stat", paths=[str(tmp_path)])
    finally:
        await close_host(connection)
    stat = next(one for one in log.commands() if one.what == "stat")
    assert (stat.way, stat.times, stat.changes) == (Way.AGENT, 5, False)
    assert stat.asked == {"paths": [str(tmp_path)]}
    kept = [one.what for one in read_file(tmp_path / "commands.jsonl")]
    assert kept.count("stat") == 1
    assert "agent" in kept


def test_reads_are_one_entry_and_changes_each_their_own():
    history = CommandHistory()
    assert history.add(READ)
    assert not history.add(replace(READ, time_s=2.0))
    assert history.add(replace(READ, time_s=3.0, outcome="connection lost"))
    assert history.add(CHANGE)
    assert history.add(CHANGE)
    assert [one.times for one in history.all()] == [1, 1, 3]


def test_memory_is_bounded():
    history = CommandHistory()
    for n in range(MOST_CHANGES + 50):
        history.add(replace(CHANGE, time_s=float(n)))
        history.add(replace(READ, what=f"read {n}"))
    assert len(history.all()) == 2 * MOST_CHANGES


def test_a_long_file_becomes_the_one_before(tmp_path, monkeypatch):
    monkeypatch.setattr(command_log, "FILE_BYTES_MAX", 2000)
    file = tmp_path / "state" / "commands.jsonl"
    log = CommandLog(SystemClock(), file)
    for n in range(40):
        log.add(replace(CHANGE, time_s=float(n)))
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "commands.jsonl", "commands.jsonl.1"
    ]  # fmt: skip
    assert all(path.stat().st_size <= 2000 for path in file.parent.iterdir())
    assert file.stat().st_mode & 0o777 == 0o600
    times = [one.time_s for one in read_file(file)]
    assert times == sorted(times)
    assert times[-1] == 39.0


def test_lines_that_are_none_are_left_out(tmp_path):
    file = tmp_path / "commands.jsonl"
    CommandLog(SystemClock(), file).add(CHANGE)
    whole = file.read_bytes()
    file.write_bytes(b"no json\n[[[\n{}\n\xff\n" + whole + json.dumps({"time_s": "x"}).encode())
    assert read_file(file) == (CHANGE,)
    assert read_file(tmp_path / "none") == ()


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path):
    (tmp_path / "blocked").write_text("")
    log = CommandLog(SystemClock(), tmp_path / "blocked" / "commands.jsonl")
    log.add(CHANGE)
    assert log.commands() == (CHANGE,)
    assert "blocked" in log.trouble


@pytest.mark.parametrize(
    ("method", "path", "changes"),
    [("GET", "/metrics", False), ("POST", "/abort_request", True), ("GET", "/flush_cache", True)],
)
def test_which_requests_change_something(method, path, changes):
    assert request_changes(method, path) is changes


@pytest.mark.parametrize(
    ("name", "asked", "changes"),
    [
        ("launcher", {}, True),
        ("signaller", {"action": "look"}, False),
        ("signaller", {"action": "term"}, True),
        ("records", {"action": "read"}, False),
        ("records", {"action": "adopt"}, True),
        ("render_chat", {}, False),
        ("something new", {}, True),
    ],
)
def test_which_programs_change_something(name, asked, changes):
    assert program_changes(name, asked) is changes


def test_hostile_words_are_made_safe_and_short():
    found = shown({"path": "\x1b[2J/a\n" + "x" * 5000, "paths": ["p"] * 1000, "unknown": "y"})
    assert set(found) == {"path", "paths"}
    assert found["path"].isprintable()
    assert len(found["path"]) <= 300
    assert len(found["paths"]) == 64
