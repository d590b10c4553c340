"""How long a trial still takes, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.domain.runs import RunBrief, RunKind
from specctl.domain.training import TrainedOn
from specctl.domain.trial.predicting import Predicted
from specctl.tui.render.arms import arm_lines
from specctl.tui.render.trial import draw_answer, time_left
from specctl.tui.render.trials import trial_row
from specctl.tui.render.why import why_lines
from specctl.tui.render.worth import draw_map
from specctl.tui.trials import make_sheet
from tests.tui import parts, trials
from tests.unit.tui.scenes import scene_of

if TYPE_CHECKING:
    from specctl.tui.render.lines import Line
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


PREDICTED = Predicted(1, 0.91, 1.55, 1.70, "trial 91aa0000, 3 launches")


def foreseen(sheet: TrialSheet, predicted: Predicted = PREDICTED) -> TrialSheet:
    return make_sheet(replace(sheet.plan, predicted=(predicted,)), sheet.blocks)


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def test_what_was_predicted_is_a_column_that_goes_first_where_room_is_short():
    sheet = foreseen(trials.decided())
    head, base, arm = arm_lines(sheet, 116)
    assert "EVEN  PREDICTED   RATIO" in text_of([head])
    assert "◇ 0.91×" in text_of([arm])
    assert "◇" not in text_of([base])
    narrow = text_of(arm_lines(sheet, 76))
    for name in ("STEP ms", "EVEN", "PREDICTED"):
        assert name not in narrow
    for name in ("RATIO", "INTERVAL", "ACCEPT"):
        assert name in narrow


def test_a_column_without_a_prediction_is_left_out_and_why_says_the_reason():
    sheet = trials.decided()
    assert "PREDICTED" not in text_of(arm_lines(sheet, 116))
    text = " ".join(text_of(why_lines(sheet, (), 60)).split())
    assert "◇ predicted: not known (no prediction was made before this trial began)" in text


def test_a_prediction_from_transcripts_is_called_a_forecast():
    source = "forecast f0f0f0f0 of 8 answers in answers.jsonl, step costs typed"
    sheet = foreseen(trials.decided(), replace(PREDICTED, source=source, is_forecast=True))
    head, _, arm = arm_lines(sheet, 116)
    assert "EVEN   FORECAST   RATIO" in text_of([head])
    assert "◇ 0.91×" in text_of([arm])


def test_the_residual_stands_beside_the_prediction():
    sheet = foreseen(trials.decided())
    ratio = sheet.primary.ratio
    assert ratio is not None
    text = " ".join(text_of(why_lines(sheet, (), 60)).split())
    assert "by trial 91aa0000, 3 launches; measured" in text
    assert f"residual {ratio / 0.91 - 1:+.1%}" in text


def test_the_map_has_the_prediction_apart_from_the_break_even():
    sheet = foreseen(trials.decided(), replace(PREDICTED, speedup=1.21, accept_length=2.1))
    text = text_of(draw_map(sheet, 70, 20).body)
    assert "◇ predicted" in text.splitlines()[-1]
    assert "predicted 1.21×" in text
    bare = text_of(draw_map(trials.decided(), 70, 20).body)
    assert "predicted" not in bare


def test_a_warm_trial_is_called_warm_in_the_list_and_on_its_screen():
    others = TrainedOn("others", "1" * 64, 12)
    cold = trials.decided()
    plan = replace(cold.plan, trained_on=others)
    warm = make_sheet(plan, cold.blocks, outcome=cold.outcome, ended_s=cold.ended_s)
    for sheet, is_warm in ((cold, False), (warm, True)):
        entry = replace(trials.entry(sheet), trained_on=sheet.plan.trained_on)
        row = text_of([trial_row(entry, parts.NOW_S, 140, is_running=False)])
        assert ("warm after others" in row) is is_warm
        drawing = draw_answer(scene_of([]), sheet, None, 100, is_short=False)
        assert ("mixed, warm after others" in text_of([drawing.summary])) is is_warm
        assert ("warm after others" in " ".join(text_of(drawing.body).split())) is is_warm


def test_a_forecast_of_no_host_is_a_row_that_says_so():
    entry = RunBrief(
        "f0f0f0f0", RunKind.FORECAST, None, ("ngram",), 100.0, 101.0,
        "accept length 1.98 cold; no step cost", simulated=False,
    )  # fmt: skip
    text = text_of([trial_row(entry, 160.0, 160, is_running=False)])
    assert "no host" in text
    assert "accept length 1.98 cold" in text
