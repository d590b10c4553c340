"""Training sets: disjoint from what is measured, and a label of their own wherever figures are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.advising import advise_on
from specctl.domain.costing import cost_rows, find_unpredicted
from specctl.domain.errors import UsageError
from specctl.domain.expecting import Met, expect
from specctl.domain.probe import Prompt
from specctl.domain.profile import Expectation, Profile
from specctl.domain.training import (
    TrainedOn,
    exact_label,
    label,
    refuse_shared,
    refuse_shared_rendered,
)
from specctl.domain.trial.rows import trial_words
from specctl.domain.trial.screening_json import KeptScreening, screening_json, screening_of
from specctl.domain.trial.summary import summarise
from specctl.domain.trial.trial_json import plan_json, plan_of
from specctl.domain.workload import Rendered
from tests.unit.domain.run_figures import chain, run
from tests.unit.domain.trial.runs import trial_blocks, trial_plan
from tests.unit.domain.trial.screenings import screening_plan

OTHERS = TrainedOn("others", "1" * 64, 12)
NEWER = replace(OTHERS, sha256="2" * 64)


def talk(text: str, role: str = "user") -> Prompt:
    return Prompt(messages=((role, text),))


@pytest.mark.parametrize("shared", [Prompt(text="two"), talk("two")])
def test_a_prompt_in_both_is_refused_and_named(shared):
    measured = [Prompt(text="one"), Prompt(text="two")]
    with pytest.raises(UsageError, match="a training prompt is also measured: 'two'"):
        refuse_shared(measured, [Prompt(text="three"), shared])
    refuse_shared(measured, [Prompt(text="tw"), talk("two "), Prompt(text="one two")])


def test_what_is_sent_is_compared_as_it_is_sent():
    one = Rendered(talk("one"), input_ids=(1, 2, 3))
    same = Rendered(talk("1"), input_ids=(1, 2, 3))
    with pytest.raises(UsageError, match="a training prompt is also measured: '1'"):
        refuse_shared_rendered([one], [same])
    refuse_shared_rendered([one], [Rendered(talk("1"), input_ids=(1, 2))])


def test_labels_tell_cold_from_warm_and_one_version_from_another():
    assert (label(None), label(OTHERS)) == ("cold", "warm after others")
    assert len({exact_label(one) for one in (None, OTHERS, NEWER)}) == 3


def test_a_plan_comes_back_with_its_training_and_a_cold_one_has_none():
    plan = trial_plan(trained_on=OTHERS, training_source="sets/others.jsonl")
    assert plan_of(plan_json(plan)) == plan
    cold = plan_json(trial_plan())
    assert not {"trained_on", "training_source"} & cold.keys()
    assert plan_of(cold).trained_on is None
    screening = KeptScreening(screening_plan(trained_on=OTHERS, training_source="others"))
    assert screening_of(screening_json(screening)) == screening


def test_the_sentence_of_a_warm_trial_says_that_it_was():
    plan = trial_plan(3, trained_on=OTHERS)
    summary = summarise(plan, trial_blocks(3, plan=plan, speedup=1.3))
    assert summary.concurrencies[0].sentence.endswith("launches each, warm after others")
    assert trial_words(summary)[-1].endswith(", warm after others, greedy only")
    cold = trial_plan(3)
    words = trial_words(summarise(cold, trial_blocks(3, plan=cold, speedup=1.3)))
    assert "warm after" not in " ".join(words)


@pytest.mark.parametrize("other", [None, NEWER])
def test_advice_does_not_put_cold_and_warm_or_two_sets_together(other):
    warm = run(chain(3), trained_on=OTHERS)
    assert advise_on([warm, run(chain(5), run_id="b", trained_on=OTHERS)]).drafts
    with pytest.raises(UsageError, match="different training sets"):
        advise_on([warm, run(chain(5), run_id="b", trained_on=other)])


def test_an_expectation_is_held_against_cold_runs_only():
    profile = Profile(
        "eagle3-3", "m", baseline="base", expectation=Expectation(accept_length=2.0, speedup=1.2)
    )
    warm = run(chain(3), run_id="91aa", trained_on=OTHERS)
    for row in expect("gpu8", profile, "r", [warm]):
        assert (row.met, row.run) == (Met.NOT_MEASURED, None)
        assert row.words.endswith(" cold; trial 91aa was warm after others")
    for row in expect("gpu8", profile, "r", [warm, run(chain(3))]):
        assert row.run == "5c0ffee2"


def test_a_cold_run_predicts_no_costs_of_a_warm_one():
    warm = run(chain(3), trained_on=OTHERS)
    cold = run(chain(3), run_id="91aa")
    rows = cost_rows(warm, "eagle3-3", earlier=[cold])
    assert [one.source for one in rows[0].predictions if "run 91aa" in one.source] == []
    (words,) = find_unpredicted(rows, [cold], OTHERS)
    assert words == (
        "run 91aa predicts nothing: it was cold, not warm after others (111111111111, 12 prompts)"
    )
    alike = replace(cold, trained_on=OTHERS)
    rows = cost_rows(warm, "eagle3-3", earlier=[alike])
    assert rows[0].predictions[0].source == "run 91aa on gpu8"
