"""A recording is written once, read in parts, and survives whatever stands in it."""

from __future__ import annotations

import errno
import json
import os

import pytest

from specctl.adapters.recording import LINE_BYTES_MAX, Recording, RecordingFile
from specctl.domain.errors import UsageError
from specctl.domain.events import (
    HostDescribed,
    HostSampled,
    LinkChanged,
    LogRead,
    ServerSampled,
    ServersSeen,
)
from specctl.domain.recording import RecordingHead, event_line, head_line, peek, read_event
from specctl.domain.sample import HostSample, Sample, ServerSample
from tests.tui import parts

BEGAN_S = 1_800_000_000.0
MIB = 1 << 20


def sampled(after_s: float, cpu: float = 10.0) -> HostSampled:
    time_s = BEGAN_S + after_s
    return HostSampled("gpu", time_s, Sample(time_s, HostSample(cpu_percent=cpu), (), None))


def written(path, events, *, most_bytes=64 * MIB, **head):
    file = RecordingFile(path, RecordingHead(BEGAN_S, ("gpu",), **head), most_bytes=most_bytes)
    for event in events:
        file.write(event)
    file.close()
    return file


def test_events_come_back_as_they_were(tmp_path):
    events = [
        HostDescribed("gpu", BEGAN_S, {"rack": "b"}),
        LinkChanged("gpu", BEGAN_S, "up"),
        sampled(1),
        ServersSeen("gpu", BEGAN_S + 2, (parts.server(),)),
        ServerSampled(
            "gpu", BEGAN_S + 2, "7c1e", ServerSample(BEGAN_S + 2, "metrics", tokens_per_s=52.0)
        ),
        LogRead("gpu", BEGAN_S + 3, "7c1e", ("a", "b")),
    ]
    path = tmp_path / "a.jsonl"
    written(path, events)
    with Recording(path) as recording:
        assert list(recording.events()) == events
        assert (recording.began_s, recording.length_s) == (BEGAN_S, 3.0)
        assert recording.head.hosts == ("gpu",)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("in_file", "read"),
    [(10.0, 10.0), (None, 1.0), (-1, 1.0), (9e9, 1.0), ("10", 1.0), (True, 1.0)],
)
def test_a_recording_says_how_often_hosts_were_sampled(tmp_path, in_file, read):
    path = tmp_path / "a.jsonl"
    written(path, [sampled(1)], interval_s=in_file)
    with Recording(path) as recording:
        assert recording.head.interval_s == read


def test_no_file_is_written_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        written(path, [])
    assert path.read_text() == "mine"


def test_a_full_file_ends_with_a_whole_line(tmp_path):
    path = tmp_path / "a.jsonl"
    file = written(path, [sampled(n) for n in range(100)], most_bytes=20_000)
    assert file.is_full
    assert path.stat().st_size == file.bytes_written <= 20_000
    with Recording(path) as recording:
        assert len(list(recording.events())) == file.events > 1
        assert recording.unreadable == 0


def test_a_full_disk_ends_it_with_a_whole_line(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    file = RecordingFile(path, RecordingHead(BEGAN_S, ("gpu",)), most_bytes=MIB)
    file.write(sampled(0))
    real = file._file

    class Full:
        def write(self, line):
            if len(line) < 50:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real.write(line[: len(line) - 20])

        def truncate(self, size):
            real.truncate(size)

    monkeypatch.setattr(file, "_file", Full())
    file.write(sampled(1))
    file.write(sampled(2))
    assert (file.failure, file.events) == ("No space left on device", 1)
    assert path.stat().st_size == file.bytes_written
    real.close()
    with Recording(path) as recording:
        assert list(recording.events()) == [sampled(0)]


@pytest.mark.timeout(60)
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is no file"):
        Recording(tmp_path / "pipe")


def test_practice_hosts_stay_simulated(tmp_path):
    path = tmp_path / "a.jsonl"
    written(path, [HostDescribed("gpu", BEGAN_S, simulated=True), sampled(1)])
    assert [json.loads(line)["simulated"] for line in path.read_text().splitlines()[1:]] == [
        True
    ] * 2
    with Recording(path) as recording:
        assert recording.head.simulated_hosts == ("gpu",)
        first = next(recording.events())
        assert isinstance(first, HostDescribed)
        assert first.simulated


def test_reading_begins_anywhere_and_rare_events_count_for_what_came_after(tmp_path):
    path = tmp_path / "a.jsonl"
    events = [LinkChanged("gpu", BEGAN_S, "up"), *(sampled(n) for n in range(600))]
    written(path, events)
    with Recording(path) as recording:
        since_s = BEGAN_S + 500
        assert next(recording.events(since_s=since_s)) == sampled(500)
        assert list(recording.rare_events(before_s=since_s)) == events[:1]
        assert len(recording._mark_times) == 60


@pytest.mark.parametrize(
    "junk",
    [
        b"no json\n",
        b"[" * 100_000 + b"\n",
        b'{"schema": "specctl/event/1", "event": "HostSampled"}\n',
        b'{"event": "LinkChanged", "host": "x", "time_s": NaN, "link": "up"}\n',
        b'{"event": "LinkChanged", "host": "x", "time_s": 1e300, "link": "up"}\n',
        b'{"event": "Exploded", "host": "x", "time_s": 1800000000.0}\n',
        b"\xff\xfe\x00\n",
        b"x" * (LINE_BYTES_MAX + 10) + b"\n",
        b'{"event": "LogRead", "host": 7, "time_s": 1800000001.0, "server": "s", "lines": []}\n',
    ],
    ids=range(9),
)
def test_a_line_that_is_no_event_is_left_out(junk, tmp_path):
    path = tmp_path / "a.jsonl"
    lines = [event_line(sampled(n), is_simulated=False) for n in range(3)]
    path.write_bytes(
        head_line(RecordingHead(BEGAN_S, ("gpu",))) + lines[0] + junk + b"".join(lines[1:])
    )
    with Recording(path) as recording:
        assert list(recording.events()) == [sampled(n) for n in range(3)]
        assert recording.ended_s < BEGAN_S + 1000
        assert recording.unreadable <= 1


def test_texts_are_made_safe_on_the_way_in():
    line = event_line(
        LogRead("gpu", BEGAN_S, "s", ("\x1b]0;owned\x07\x1b[2Jred\u202e",)), is_simulated=False
    )
    event = read_event(line.replace(b"red", b"red [/x]"))
    assert isinstance(event, LogRead)
    assert event.lines == ("red [/x]",)


@pytest.mark.parametrize(
    "text", ["", "\n", "{}\n", '{"schema": "specctl/recording/1"}\n', "PK\x03\x04\n"]
)
def test_another_file_is_refused_with_what_makes_one(text, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match="is no recording") as raised:
        Recording(path)
    assert "specctl record" in raised.value.hint


def test_a_head_alone_is_no_recording(tmp_path):
    written(tmp_path / "a.jsonl", [])
    with pytest.raises(UsageError, match="holds no event"):
        Recording(tmp_path / "a.jsonl")


def test_what_watch_printed_needs_no_head(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(event_line(sampled(5), is_simulated=False))
    with Recording(path) as recording:
        assert recording.began_s == BEGAN_S + 5


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        Recording(tmp_path / "none")


def test_peeking_agrees_with_reading():
    for event in (sampled(1.25), LinkChanged("gpu", BEGAN_S, "up")):
        found = peek(event_line(event, is_simulated=False))
        assert found is not None
        assert (found.kind, found.time_s) == (type(event).__name__, event.time_s)
    assert peek(
        json.dumps({"host": "x", "event": "LinkChanged", "link": "up", "time_s": 5}).encode()
    )
    assert peek(b"nothing") is None
