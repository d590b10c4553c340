from __future__ import annotations

from typing import Any

import pytest

from specctl.facts.diagnosis import first_cause
from specctl.facts.log import LogReader, read_decode
from specctl.facts.log_lines import LineKind, LogLine
from specctl.facts.log_meter import DecodeReport, LogMeter
from specctl.facts.milestones import MilestoneTracker
from tests.unit.facts.captures import Capture, captures

LOGS = captures("logs")


def lines_of(log: Capture) -> list[LogLine]:
    reader = LogReader()
    return reader.feed(log.data) + reader.finish()


def tracked(log: Capture) -> tuple[MilestoneTracker, list[Any]]:
    tracker, bars = MilestoneTracker(), []
    for line in lines_of(log):
        tracker.feed(line)
        if tracker.progress is not None:
            bars.append([tracker.progress.milestone, tracker.progress.done, tracker.progress.total])
    return tracker, bars


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_milestones(log: Capture) -> None:
    tracker, bars = tracked(log)
    assert [one.milestone for one in tracker.reached] == log.expected["milestones"]
    if "progress" in log.expected:
        assert bars[-1] == log.expected["progress"]
    if "ready_time" in log.expected:
        assert tracker.reached[-1].time == log.expected["ready_time"]
    if "graph" in log.expected:
        assert tracker.graph == log.expected["graph"]


@pytest.mark.parametrize("log", [x for x in LOGS if "words" in x.expected], ids=str)
def test_milestone_words(log: Capture) -> None:
    tracker, _ = tracked(log)
    words = {one.milestone: one.words for one in tracker.reached}
    for milestone, part in log.expected["words"].items():
        assert part in words[milestone]


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_first_cause(log: Capture) -> None:
    cause = first_cause(
        log.text.split("\n"),
        exit_status=log.expected.get("exit_status"),
        version=log.expected.get("version"),
    )
    expected = log.expected["cause"]
    if expected is None:
        assert cause is None
        return
    assert cause is not None
    assert (cause.kind, cause.rank, cause.phase) == (
        expected["kind"],
        expected["rank"],
        expected["phase"],
    )
    assert expected["line"] in cause.line
    assert expected["line"] in log.text.split("\n")[cause.line_number - 1]
    assert expected.get("summary", "") in cause.summary
    assert expected.get("next_step", "") in cause.next_step
    assert cause.next_step.endswith(".")


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_lines_already_read_give_the_same_cause(log: Capture) -> None:
    how = {"exit_status": log.expected.get("exit_status"), "version": None}
    read = first_cause(lines_of(log), **how)
    raw = first_cause(log.text.split("\n"), **how)
    assert (read and (read.kind, read.line)) == (raw and (raw.kind, raw.line))


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_cause_does_not_depend_on_how_the_log_is_cut(log: Capture) -> None:
    reader, lines = LogReader(), []
    for start in range(0, len(log.data), 777):
        lines += reader.feed(log.data[start : start + 777])
    lines += reader.finish()
    assert lines == lines_of(log)


READINGS = [log for log in LOGS if "decode" in log.expected]


def metered(log: Capture) -> list[DecodeReport]:
    meter = LogMeter()
    reports = [meter.feed(line, now_s=float(n)) for n, line in enumerate(lines_of(log))]
    return [report for report in reports if report is not None]


@pytest.mark.parametrize("log", READINGS, ids=str)
def test_decode_lines(log: Capture) -> None:
    expected = log.expected["decode"]
    lines = [line for line in lines_of(log) if line.kind is LineKind.DECODE]
    decoded = [read_decode(line.text) for line in lines]
    for field in ("accept_length", "accept_rate", "tokens_per_s", "uses_graph", "queued"):
        if field in expected:
            assert [getattr(one, field) for one in decoded] == expected[field], field
    if "ranks" in expected:
        assert [line.rank for line in lines] == expected["ranks"]


@pytest.mark.parametrize(
    "log", [x for x in READINGS if "after_idle" in x.expected["decode"]], ids=str
)
def test_reports_after_a_pause_are_marked(log: Capture) -> None:
    assert [one.is_after_idle for one in metered(log)] == log.expected["decode"]["after_idle"]


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_every_decode_line_is_understood(log: Capture) -> None:
    reader = LogReader()
    reader.feed(log.data)
    reader.finish()
    assert reader.not_understood == 0
    assert reader.decode_lines == log.text.count("Decode batch")


@pytest.mark.parametrize("log", [x for x in LOGS if x.expected.get("ranks")], ids=str)
def test_ranks_seen(log: Capture) -> None:
    seen = {line.rank for line in lines_of(log) if line.rank}
    assert sorted(seen) == log.expected["ranks"]


@pytest.mark.parametrize("log", [x for x in LOGS if "times" in x.expected], ids=str)
def test_the_servers_own_clock_is_read_not_the_collectors(log: Capture) -> None:
    times = [line.time for line in lines_of(log) if line.time]
    assert times == log.expected["times"]
