"""Runs of a ledger, from which a trial is predicted."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from specctl.adapters.ledger import Ledger
from specctl.domain.forecast.kept import report_json
from specctl.domain.probe_json import probe_json
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.trial.predicting import Asked
from specctl.domain.trial.trial_json import block_json, plan_json
from specctl.services.predicting import predict_trial, with_predictions
from tests.unit.domain.forecast.kept import kept_report
from tests.unit.domain.trial.runs import NOW_S, result, trial_blocks, trial_plan

RECIPES = ("aaaaaaaaaaaa", "bbbbbbbbbbbb")
ASKED = Asked("gpu8", ("base", "eagle3"), RECIPES, "mixed", "0" * 64, (1,))


@pytest.fixture
def ledger(tmp_path):
    with closing(Ledger(tmp_path / "ledger.db")) as opened:
        yield opened


def keep(ledger, run_id, kind, profiles, document, *, began_s=NOW_S, blocks=()):
    provenance = Provenance(
        "0.1.0", "op@laptop", "gpu8", recipes=dict(zip(("base", "eagle3"), RECIPES, strict=True)),
        workload="mixed", workload_sha256="0" * 64,
    )  # fmt: skip
    ledger.add(Run(run_id, kind, "gpu8", profiles, began_s, began_s + 9, "", provenance, document))
    for block in blocks:
        ledger.add_block(run_id, block_json(block))


def keep_trial(ledger, run_id, speedup, *, began_s):
    plan = replace(trial_plan(3), id=run_id)
    keep(
        ledger, run_id, RunKind.TRIAL, ("base", "eagle3"), plan_json(plan), began_s=began_s,
        blocks=trial_blocks(3, speedup=speedup, plan=plan),
    )  # fmt: skip


def test_the_newest_trial_predicts(ledger):
    keep_trial(ledger, "00000001", 1.5, began_s=NOW_S)
    keep_trial(ledger, "00000002", 1.3, began_s=NOW_S + 100)
    (found,) = predict_trial(ledger, ASKED)
    assert found.speedup == pytest.approx(1.3, rel=0.01)
    assert found.source == "trial 00000002, 3 launches"


def test_a_newer_trial_in_which_nothing_was_measured_is_passed_over(ledger):
    keep_trial(ledger, "00000001", 1.5, began_s=NOW_S)
    empty = replace(trial_plan(3), id="00000002")
    keep(ledger, empty.id, RunKind.TRIAL, ("base", "eagle3"), plan_json(empty), began_s=NOW_S + 9)
    (found,) = predict_trial(ledger, ASKED)
    assert found.source == "trial 00000001, 3 launches"


def test_probes_of_both_predict_where_no_run_has_both(ledger):
    for run_id, side, name in (("00000001", "A", "base"), ("00000002", "B", "eagle3")):
        document = probe_json(result(side, speedup=1.4))
        keep(ledger, run_id, RunKind.PROBE, (name,), document)
    (found,) = predict_trial(ledger, ASKED)
    assert found.speedup == pytest.approx(1.4)
    assert found.source == "probe 00000001 of base and probe 00000002 of eagle3"


def keep_forecast(ledger, run_id, host, *, began_s=NOW_S, document=None):
    provenance = Provenance("0.1.0", "op@laptop", host, recipes={"eagle3": RECIPES[1]})
    document = document or report_json(kept_report())
    run = Run(
        run_id, RunKind.FORECAST, host, ("eagle3",), began_s, began_s, "", provenance, document
    )
    ledger.add(run)


def test_a_forecast_predicts_where_no_run_measured_it(ledger):
    keep_forecast(ledger, "00000005", "other", began_s=NOW_S + 9)
    keep_forecast(ledger, "00000006", "gpu8", began_s=NOW_S + 8, document={"forecast": {}})
    keep_forecast(ledger, "00000004", "gpu8")
    keep_forecast(ledger, "00000003", None, began_s=NOW_S + 1)
    (found,) = predict_trial(ledger, ASKED)
    assert found.is_forecast
    assert found.source == "forecast 00000003 of 8 answers in answers.jsonl, step costs typed"
    (speculates,) = predict_trial(ledger, replace(ASKED, is_baseline_plain=False))
    assert speculates.speedup is None
    keep_trial(ledger, "00000001", 1.5, began_s=NOW_S - 1000)
    (found,) = predict_trial(ledger, ASKED)
    assert (found.source, found.is_forecast) == ("trial 00000001, 3 launches", False)


def test_a_plan_of_a_baseline_that_speculates_takes_no_forecast(ledger):
    keep_forecast(ledger, "00000003", None)
    recipes = ("aaaaaaaaaaaa", "bbbbbbbbbbbb")
    plan = replace(trial_plan(3), id="00000002", recipes=recipes)
    (found,) = with_predictions(ledger, plan, is_baseline_plain=True).predicted
    assert found.is_forecast
    (none,) = with_predictions(ledger, plan, is_baseline_plain=False).predicted
    assert none.missing is not None
    assert "base speculates" in none.missing.detail


def test_another_host_and_other_recipes_predict_nothing(ledger):
    keep_trial(ledger, "00000001", 1.5, began_s=NOW_S)
    (found,) = predict_trial(ledger, replace(ASKED, host="other"))
    assert found.missing is not None
    assert found.missing.detail == "no earlier run of eagle3 and base on other"
    (found,) = predict_trial(ledger, replace(ASKED, recipes=("c" * 12, "d" * 12)))
    assert found.speedup is None


def test_a_plan_takes_its_predictions_along(ledger):
    keep_trial(ledger, "00000001", 1.5, began_s=NOW_S)
    plan = with_predictions(ledger, replace(trial_plan(3), id="00000002", concurrencies=(1, 8)),
                            is_baseline_plain=True)  # fmt: skip
    assert [one.concurrency for one in plan.predicted] == [1, 8]
    assert plan.predicted[0].source == "trial 00000001, 3 launches"
    assert plan.predicted[1].speedup is None
