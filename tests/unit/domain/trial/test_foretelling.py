"""What a forecast says about a trial that no run has measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.training import TrainedOn
from specctl.domain.trial.foretelling import Foretold
from specctl.domain.trial.predicting import Asked, predict
from specctl.domain.trial.trial_json import plan_json, plan_of
from tests.unit.domain import run_figures as runs
from tests.unit.domain.forecast.kept import kept_report
from tests.unit.domain.run_figures import SHA, chain
from tests.unit.domain.trial.runs import trial_plan

RECIPES = {"base": "a" * 12, "eagle3-3": "b" * 12}
ASKED = Asked("gpu8", ("base", "eagle3-3"), ("a" * 12, "b" * 12), "mixed", SHA, (1, 4))
ONE = Foretold("f0f0f0f0", None, "b" * 12, kept_report())


def run(*pairs):
    return runs.run(*pairs, recipes=RECIPES, workload="mixed")


def test_a_forecast_says_what_no_run_measured():
    one, four = predict(ASKED, [], [ONE])
    found = ONE.report.forecast
    assert (one.speedup, one.break_even) == (found.predicted_speedup, found.break_even)
    assert one.accept_length == found.cold.accept_length
    assert one.source == "forecast f0f0f0f0 of 8 answers in answers.jsonl, step costs typed"
    assert one.is_forecast
    assert one.beside(1.5).is_forecast
    assert one.words(1.5).startswith(f"predicted: {one.speedup:.2f}x of decoding")
    assert "by forecast f0f0f0f0 of 8 answers" in one.words(1.5)
    assert four.missing is not None
    assert four.missing.detail == (
        "no earlier run of eagle3-3 and base on gpu8; forecast f0f0f0f0 is of concurrency 1"
    )


def test_what_a_run_measured_goes_before_any_forecast():
    one, _ = predict(ASKED, [run(chain(3))], [ONE])
    assert (one.source, one.is_forecast) == ("trial 5c0ffee2, 3 launches", False)


def test_the_newest_forecast_that_may_is_taken():
    other = replace(ONE, run="0ddba11a", recipe="c" * 12)
    one, _ = predict(ASKED, [], [other, ONE, replace(ONE, run="aaaa0000")])
    assert one.source is not None
    assert one.source.startswith("forecast f0f0f0f0 ")


def forecast_with(**changes):
    return replace(ONE.report, forecast=replace(ONE.report.forecast, **changes))


@pytest.mark.parametrize(
    ("asked", "changes", "reason"),
    [
        ({}, {"recipe": "c" * 12}, "was of another recipe"),
        ({}, {"host": "other"}, "was of host other"),
        (
            {"is_baseline_plain": False}, {},
            "is against plain decoding, and base speculates",
        ),
        (
            {"trained_on": TrainedOn("code", "1" * 64, 3)}, {},
            "is of a cold server, not one warm after code",
        ),
        ({"temperature": 0.7}, {}, "holds for temperature 0"),
        ({}, {"report": forecast_with(is_random=True)}, "is of random token ids"),
        ({}, {"report": kept_report(cost_hosts=("gpu4",))}, "has step costs of gpu4"),
        ({}, {"report": kept_report(None)}, "has no step costs"),
    ],
)  # fmt: skip
def test_a_forecast_of_something_else_says_nothing_and_why(asked, changes, reason):
    one, _ = predict(replace(ASKED, **asked), [], [replace(ONE, **changes)])
    assert one.speedup is None
    assert one.missing is not None
    assert one.missing.detail.endswith(f"; forecast f0f0f0f0 {reason}")


def test_costs_of_the_same_host_count():
    one, _ = predict(ASKED, [], [replace(ONE, report=kept_report(cost_hosts=("gpu8",)))])
    assert one.is_forecast


def test_a_trial_keeps_that_it_was_a_forecast():
    plan = trial_plan(3, predicted=predict(replace(ASKED, concurrencies=(1,)), [], [ONE]))
    assert plan_of(plan_json(plan)) == plan
    assert plan_json(plan)["predicted"][0]["is_forecast"] is True
    measured = replace(plan, predicted=predict(replace(ASKED, concurrencies=(1,)), [run(chain(3))]))
    assert "is_forecast" not in plan_json(measured)["predicted"][0]
    assert plan_of(plan_json(measured)) == measured
