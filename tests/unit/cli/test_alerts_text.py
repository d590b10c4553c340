"""Alerts as `specctl alerts` prints them."""

from __future__ import annotations

from dataclasses import replace

from specctl.cli.alerts_text import alert_lines, brief_lines, change_line
from specctl.domain.alerts.published import AlertList, listed, open_alerts
from specctl.domain.state import State, reduce
from tests.tui import story


def state() -> State:
    found = State()
    for event in story.alerts():
        found = reduce(found, event)
    return found


def test_the_worst_is_first_and_each_has_its_next_step():
    found = open_alerts(state(), ("h200-b1", "pro6k-01", "h100-a2"))
    lines = alert_lines(found)
    assert [line.split()[2] for line in lines[1:]] == ["crashed", "throttle", "breakeven"]
    assert lines[1].startswith("✗  h200-b1/7c1e")
    assert all(alert.hint in line for alert, line in zip(found.alerts, lines[1:], strict=True))


def test_cleared_ones_are_listed_last_and_not_open():
    alerts = listed(state(), ("pro6k-01", "h100-a2"))
    assert [alert.rule for alert in alerts] == ["throttle", "breakeven", "queue"]
    assert [alert.is_open for alert in alerts] == [True, True, False]


def test_nothing_wrong_is_said():
    assert alert_lines(AlertList(("a",), ())) == ["No alert on 1 host."]
    assert alert_lines(AlertList(("a", "b"), ())) == ["No alert on 2 hosts."]


def test_status_has_them_in_a_line_each():
    lines = brief_lines(state().host("pro6k-01").alerts)
    assert lines[0].startswith("▲ breakeven: kimi-k2.5-eagle3: accept length 1.50")
    assert lines[1].startswith("▲ throttle: GPU 5 slowed by heat (hw) → what is measured")
    assert brief_lines(state().host("h100-a2").alerts) == []


def test_changes_are_told_with_the_time_and_what_to_do():
    event = story.raised("gpu8", 0, "lost", "does not answer", hint="specctl doctor gpu8")
    first, second = change_line(event).splitlines()
    assert first.endswith("✗ raised   gpu8  lost  does not answer")
    assert second.strip() == "→ specctl doctor gpu8"
    cleared = change_line(replace(event, is_open=False, server="7c1e"))
    assert cleared.endswith("✓ cleared  gpu8/7c1e  lost  does not answer")
