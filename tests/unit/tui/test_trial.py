"""How long a trial still takes, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.tui.render.trial import time_left
from tests.tui import parts, trials

if TYPE_CHECKING:
    from specctl.tui.trials import TrialSheet

NOW_S = parts.NOW_S


def words(sheet: TrialSheet, elapsed_s: float | None, budget_s: float | None) -> str:
    until_s = None if budget_s is None else NOW_S + budget_s
    sheet = replace(sheet, plan=replace(sheet.plan, budget_until_s=until_s))
    return "".join(text for text, _ in time_left(sheet, elapsed_s, NOW_S))


@pytest.mark.parametrize(
    ("budget_s", "expected"),
    [
        (None, "next look in about 2 min  at most 35 min left"),
        (10 * 60.0, "next look in about 2 min  at most 10 min left of its budget"),
        (60.0, "at most 1 min left of its budget"),
        (-5.0, "at most 5 s left of its budget"),
        (5 * 3600.0, "next look in about 2 min  at most 35 min left"),
    ],
)
def test_no_more_time_is_left_than_the_budget_leaves(budget_s, expected):
    assert words(trials.live(), 130.0, budget_s) == expected


def test_the_budget_is_known_before_a_launch_was_measured():
    assert words(trials.live(0, hurt=False), 5.0, None).startswith("time left ")
    assert words(trials.live(0, hurt=False), 5.0, 600.0) == "at most 10 min left of its budget"


def test_the_budget_of_a_session_that_is_over_counts_no_more():
    assert "budget" not in words(trials.live(), None, -60.0)
