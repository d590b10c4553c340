"""What a trial was expected to find, before its first launch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.missing import Why
from specctl.domain.training import TrainedOn
from specctl.domain.trial.predicting import NOT_KEPT, Asked, Predicted, predict
from specctl.domain.trial.rows import trial_words
from specctl.domain.trial.summary import summarise
from specctl.domain.trial.trial_json import plan_json, plan_of
from tests.unit.domain import run_figures as runs
from tests.unit.domain.run_figures import SHA, chain, plain_arm
from tests.unit.domain.trial.runs import trial_blocks, trial_plan

RECIPES = {"base": "a" * 12, "eagle3-3": "b" * 12}
ASKED = Asked("gpu8", ("base", "eagle3-3"), ("a" * 12, "b" * 12), "mixed", SHA, (1, 4))


def run(*pairs, **changes):
    return runs.run(*pairs, **{"recipes": RECIPES, "workload": "mixed", **changes})


def test_accept_length_over_break_even_of_the_newest_run_of_both_arms():
    newest, older = run(chain(3, step_s=0.028), run_id="91aa"), run(chain(3), run_id="22bb")
    one, four = predict(ASKED, [newest, older])
    pair = newest.pairs[0]
    assert one.break_even == pytest.approx(0.028 / 0.016)
    assert one.accept_length == pair.arm.accept_length
    assert one.speedup == pytest.approx(pair.arm.accept_length * 0.016 / 0.028)
    assert one.source == "trial 91aa, 3 launches"
    assert (four.speedup, four.source) == (None, None)
    assert four.missing is not None
    assert four.missing.detail == (
        "no earlier run has the step times of eagle3-3 and base at concurrency 4"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"recipes": {**RECIPES, "eagle3-3": "c" * 12}}, "trial 5c0ffee2 was of other recipes"),
        ({"workload": "chat"}, "trial 5c0ffee2 was of workload chat"),
        (
            {"trained_on": TrainedOn("others", "1" * 64, 12)},
            "trial 5c0ffee2 was warm after others (111111111111, 12 prompts), not cold",
        ),
        ({"void": "the GPU throttled"}, "trial 5c0ffee2 is void: the GPU throttled"),
    ],
)
def test_runs_of_something_else_predict_nothing(changes, reason):
    one, _ = predict(ASKED, [run(chain(3), **changes)])
    assert one.missing is not None
    assert (one.speedup, one.missing.why, one.missing.detail) == (None, Why.NO_BASELINE, reason)


def test_figures_that_cannot_be_true_predict_nothing():
    pair = chain(3, step_s=0.010)
    assert pair.speedup > pair.arm.accept_length
    one, _ = predict(ASKED, [run(pair)])
    assert one.missing is not None
    assert one.missing.detail == "figures of trial 5c0ffee2 cannot all be true"
    older, _ = predict(ASKED, [run(pair), run(chain(3), run_id="22bb")])
    assert older.source == "trial 22bb, 3 launches"


def test_a_changed_workload_is_named():
    one, _ = predict(ASKED, [run(chain(3), workload_sha256="6" * 64)])
    assert one.source == "trial 5c0ffee2, 3 launches, another version of mixed"


def test_two_probes_stand_in_for_a_run_of_both_arms():
    def probe(run_id, arm):
        return replace(run(run_id=run_id), kind="probe", arms=(arm,))

    base, arm = plain_arm(), replace(chain(3).arm, launches=1)
    one, _ = predict(ASKED, [probe("22bb", arm), probe("91aa", base)])
    assert one.speedup == pytest.approx(arm.accept_length * 0.016 / arm.step_s)
    assert one.source == "probe 91aa of base and probe 22bb of eagle3-3"
    lonely, _ = predict(ASKED, [probe("22bb", arm)])
    assert lonely.speedup is None


def test_no_run_at_all():
    one, _ = predict(ASKED, [])
    assert one.words(1.1) == "predicted: not known (no earlier run of eagle3-3 and base on gpu8)"


def test_a_trial_keeps_its_prediction_and_says_the_residual():
    predicted = Predicted(1, 1.25, 2.0, 1.6, "trial 91aa, 3 launches")
    plan = trial_plan(3, predicted=(predicted,))
    assert plan_of(plan_json(plan)) == plan
    unknown = Predicted(1, missing=NOT_KEPT)
    assert plan_of(plan_json(replace(plan, predicted=(unknown,)))).predicted == (unknown,)
    assert "predicted" not in plan_json(trial_plan(3))
    summary = summarise(plan, trial_blocks(3, speedup=1.3, plan=plan))
    (one,) = summary.concurrencies
    assert one.ratio is not None
    found = one.prediction
    assert (found.speedup, found.source) == (1.25, "trial 91aa, 3 launches")
    assert found.residual == pytest.approx(one.ratio / 1.25 - 1)
    assert found.missing == {}
    assert (
        f"eagle3: predicted: 1.25x of decoding (accept length 2.00 over 1.60 plain steps) by "
        f"trial 91aa, 3 launches; measured {one.ratio:.2f}x, first tokens and all: residual "
        f"{found.residual:+.1%}"
    ) in trial_words(summary)


def test_a_trial_without_a_prediction_says_why():
    (one,) = summarise(trial_plan(3), trial_blocks(3)).concurrencies
    assert (one.prediction.speedup, one.prediction.residual) == (None, None)
    assert one.prediction.missing["speedup"] == NOT_KEPT
    plan = trial_plan(3, predicted=(Predicted(1, 1.25, 2.0, 1.6, "trial 91aa"),))
    (none,) = summarise(plan, ()).concurrencies
    assert (none.prediction.speedup, none.prediction.residual) == (1.25, None)
    assert set(none.prediction.missing) == {"residual"}


def test_a_known_spread_is_kept_and_has_to_be_one():
    plan = trial_plan(3)
    known = replace(plan, design=replace(plan.design, known_spread=0.02))
    assert plan_of(plan_json(known)) == known
    broken = replace(plan, design=replace(plan.design, known_spread=-1.0))
    with pytest.raises(ValueError, match=r"design\.known_spread"):
        plan_of(plan_json(broken))
