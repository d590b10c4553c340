"""The probe's dialog: before, during and after."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.events import ProbeProgressed
from specctl.tui.render.lines import plain
from specctl.tui.render.probe import draw_probe_plan, draw_probing, draw_result
from specctl.tui.services import ProbePlan, Reference
from tests.tui import parts, plans
from tests.unit.tui.scenes import scene_of

PLAN = ProbePlan("gpu8", "7c1e", "mixed", 28, 1, most=28)


def text(drawing) -> str:
    return plain(drawing.body)


def test_a_plan_says_how_long_it_takes_and_where_that_comes_from():
    known = replace(PLAN, expected_s=240.0, expected_words="at most, from a probe of 2h ago")
    assert "about 4 min, at most, from a probe of 2h ago" in text(draw_probe_plan(known, 88, 8))
    assert known.resized(-1).expected_s == pytest.approx(240.0 * 16 / 28)
    unknown = replace(PLAN, expected_words="unknown until the first requests are answered: why")
    assert "takes             unknown until the first" in text(draw_probe_plan(unknown, 88, 8))
    assert unknown.resized(-1).expected_s is None


@pytest.mark.parametrize(("left_s", "words"), [(90.0, "about 2 min left"), (None, ""), (0.0, "")])
def test_time_left_is_shown_once_it_is_known(left_s, words):
    told = ProbeProgressed("gpu8", parts.NOW_S, "7c1e", "measuring", 3, 28, left_s)
    shown = text(draw_probing(scene_of([]), PLAN, told, 88, 0.0))
    assert "measuring" in shown
    assert words in shown
    assert ("left" in shown.replace("leaves", "")) is bool(words)


def test_a_rate_that_is_too_high_is_said_plainly():
    shown = text(draw_result(PLAN, plans.rate_result(), Reference(), 88, 40))
    assert "It cannot keep up: 0.41 answers of 0.52 requests a second" in shown
    assert "the queue grows" in shown
    assert "latency p50 p95   11.2 s  19.8 s" in shown
    assert "45.4 J/token" in shown


@pytest.mark.parametrize(
    ("keeps_up", "words"), [(True, "It keeps up"), (None, "Whether it keeps up is not known")]
)
def test_whether_it_keeps_up(keeps_up, words):
    result = plans.rate_result()
    assert result.open_loop is not None
    found = replace(result, open_loop=replace(result.open_loop, keeps_up=keeps_up, pace=""))
    assert words in text(draw_result(PLAN, found, Reference(), 88, 40))


def test_a_closed_loop_says_nothing_of_rates():
    shown = text(draw_result(PLAN, plans.probe_result(), Reference(), 88, 40))
    assert "keep up" not in shown
