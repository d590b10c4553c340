"""How a plan goes on, said once: what the outcome says again is not said before it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.cli import plan_text
from specctl.cli.plan_text import Announcer, plan_lines
from specctl.domain.events import PlanProgressed
from specctl.domain.state import State
from tests.tui.plans import start_plan


def told(step, status, words, *, is_last=False):
    return PlanProgressed("gpu8", 0.0, "5c0f", step, status, words, is_last=is_last)


START = (told("launch", "done", "launched"), told("ready", "done", "ready after 0:12"))
STOP = (told("stop a", "done", "ended"), told("prove a", "done", "gone"))


def said(events, capsys, monkeypatch, *, one_place=True):
    monkeypatch.setattr(plan_text, "is_one_place", lambda: one_place)
    announcer = Announcer()
    for event in events:
        announcer.take(event, State())
    return [line.removeprefix("specctl: ") for line in capsys.readouterr().err.splitlines()]


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ((*START, told("plan", "done", "Ready in 0:12.", is_last=True)), ["launched"]),
        ((*STOP, told("plan", "done", "gone", is_last=True)), ["ended"]),
        (
            (*STOP, *START, told("plan", "done", "Ready", is_last=True)),
            ["ended", "gone", "launched"],
        ),
        (
            (*START, told("corpora", "begun", "loading"), told("plan", "done", "R", is_last=True)),
            ["launched", "ready after 0:12", "loading"],
        ),
        ((told("launch", "progress", "a"), told("launch", "progress", "a")), ["a"]),
    ],
)
def test_the_last_line_is_left_to_the_outcome(events, lines, capsys, monkeypatch):
    assert said(events, capsys, monkeypatch) == lines


def test_a_success_that_is_written_elsewhere_is_said_here_too(capsys, monkeypatch):
    events = (*STOP, told("plan", "done", "gone", is_last=True))
    assert said(events, capsys, monkeypatch, one_place=False) == ["ended", "gone"]


def test_a_failure_is_an_error_of_this_stream(capsys, monkeypatch):
    events = (
        told("ready", "failed", "no memory"),
        told("plan", "failed", "no memory", is_last=True),
    )
    assert said(events, capsys, monkeypatch, one_place=False) == []


def test_a_start_that_was_never_timed_says_so():
    plan = replace(start_plan(), expected_s=None, expected_from="", expected_missing="no record")
    assert "  expects  unknown how long: no record" in list(plan_lines(plan))
    assert not any("unknown how long" in line for line in plan_lines(start_plan()))
