"""A recording printed: states, lines, what is SIMULATED, what is no event."""

from __future__ import annotations

import json

import pytest

from specctl.adapters.recording import RecordingFile
from specctl.cli import main
from specctl.cli.simulated import SHOWN
from specctl.domain.events import HostDescribed, LinkChanged, LogRead
from specctl.domain.recording import RecordingHead
from tests.unit.adapters.test_recording import BEGAN_S, sampled


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.jsonl"
    head = RecordingHead(BEGAN_S, ("gpu",), ("gpu",))
    recording = RecordingFile(path, head, most_bytes=1 << 20)
    for event in (
        HostDescribed("gpu", BEGAN_S, simulated=True),
        sampled(1),
        LogRead("gpu", BEGAN_S + 2, "7c1e", ("one", "two")),
        LinkChanged("gpu", BEGAN_S + 3, "lost", "no answer"),
        sampled(90),
    ):
        recording.write(event)
    recording.close()
    yield str(path)
    SHOWN.forget()


@pytest.mark.parametrize(("at", "link"), [([], "lost"), (["--at", "2"], "idle")])
def test_the_state_at_a_time_is_that_of_status(file, at, link, capsys):
    assert main.run(["replay", file, "--json", *at]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["simulated"]) == ("specctl/status/1", True)
    assert document["hosts"]["gpu"]["link"] == link


def test_lines_are_printed_from_a_time_on(file, capsys):
    assert main.run(["replay", file, "--headless", "--at", "0:02"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("SIMULATED: gpu is a practice host")
    assert [line[10:] for line in lines[:3]] == [
        "gpu/7c1e| one", "gpu/7c1e| two", "gpu  lost: no answer"
    ]  # fmt: skip
    assert len(lines) == 4


def test_a_clock_that_was_put_back_hides_nothing(tmp_path, capsys):
    path = tmp_path / "back.jsonl"
    recording = RecordingFile(path, RecordingHead(BEGAN_S, ("gpu",)), most_bytes=1 << 20)
    recording.write(LogRead("gpu", BEGAN_S, "7c1e", ("before",)))
    recording.write(LogRead("gpu", BEGAN_S - 3600, "7c1e", ("after",)))
    recording.close()
    assert main.run(["replay", str(path), "--headless"]) == 0
    assert [line[10:] for line in capsys.readouterr().out.splitlines()] == [
        "gpu/7c1e| before", "gpu/7c1e| after"
    ]  # fmt: skip


def test_what_is_no_event_is_counted(file, capsys):
    with open(file, "a") as more:
        more.write("junk\n")
    assert main.run(["replay", file, "--headless"]) == 0
    assert "1 of its lines are no events" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the screen needs a terminal"),
        (["--at", "soon", "--json"], "soon is no time"),
    ],
)
def test_what_cannot_be_shown_is_said(file, arguments, words, capsys):
    assert main.run(["replay", file, *arguments]) == 2
    assert words in capsys.readouterr().err


def test_another_file_is_refused(tmp_path, capsys):
    (tmp_path / "x").write_text("hello")
    assert main.run(["replay", str(tmp_path / "x"), "--json"]) == 2
    assert "specctl record FILE makes one" in capsys.readouterr().err
