from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.advising import FORECAST, NO_HISTOGRAM, TREE, UNTOLD, advise_on
from specctl.domain.errors import UsageError
from tests.unit.domain.run_figures import chain, run, tree


def test_one_launch_each_and_figures_that_cannot_be_are_named():
    single = replace(chain(3), low=None, high=None)
    notes = advise_on([run(single)]).notes
    assert notes == (
        "run 5c0ffee2: one launch each is a number; launches of the same profile differ",
    )
    (odd,) = advise_on([run(chain(3, speedup=3.5))]).notes
    assert odd.startswith("run 5c0ffee2, eagle3-3 at 1: speedup 3.50 exceeds accept length")
    assert advise_on([run(chain(3))]).notes == ()


def test_two_trials_of_one_draft_are_put_together():
    report = advise_on([run(chain(1), run_id="a"), run(chain(5), run_id="b")])
    (draft,) = report.drafts
    (row,) = draft.concurrencies
    assert draft.profiles == ("eagle3-1", "eagle3-5")
    assert row.positions[0].cost_s_low == row.positions[0].cost_s_high == pytest.approx(0.002)
    assert row.is_certain
    assert "not known well enough" not in row.words
    assert [one.is_measured for one in row.positions] == [True] * 5 + [False] * 4
    assert row.candidates[0].steps == 0
    assert row.candidates[0].speedup == 1.0


def test_one_trial_says_that_a_second_length_is_needed():
    (draft,) = advise_on([run(chain(3))]).drafts
    (row,) = draft.concurrencies
    assert (row.positions[0].cost_s_low, row.positions[0].marginal) == (0.0, 0.7)
    assert row.is_certain or "measure another draft length" in row.words


def test_where_over_the_concurrencies_it_stops_paying():
    dear = {"step_s": 0.080}
    report = advise_on(
        [
            run(chain(3), chain(3, concurrency=16), chain(3, concurrency=64, **dear)),
            run(chain(1, concurrency=64, **dear), run_id="b"),
        ]
    )
    (draft,) = report.drafts
    assert draft.stops_paying_at == 64
    assert draft.concurrencies[-1].best.steps == 0
    assert draft.concurrencies[-1].words.startswith("off")
    assert draft.adaptive_config is not None
    assert draft.adaptive_config["64"] == {"candidate_steps": [0]}


def test_drafts_of_different_models_are_kept_apart():
    report = advise_on([run(chain(3), chain(5, draft="org/other"))])
    assert [draft.draft_model for draft in report.drafts] == ["org/draft", "org/other"]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (tree(), f"{TREE}. {FORECAST.format(profile='ngram', host='gpu8', run='5c0ffee2')}"),
        (tree(algorithm="EAGLE3", steps=3), TREE),
        (tree(algorithm="EAGLE3", steps=None), UNTOLD),
    ],
)
def test_what_is_no_chain_is_told_as_measured_only(found, words):
    report = advise_on([run(found)])
    assert report.drafts == ()
    (row,) = report.trees
    assert row.words == words
    assert row.break_even == pytest.approx(1.5)


def test_a_build_without_histograms_is_told_so():
    found = chain(3)
    report = advise_on([run(replace(found, arm=replace(found.arm, histogram=None)))])
    assert report.trees[0].words == NO_HISTOGRAM


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (run(chain(3), host="gpu9"), "different hosts: gpu8, gpu9"),
        (run(chain(3), workload_sha256="9" * 64), "different workloads"),
        (run(kind="probe"), "a probe has no baseline"),
        (run(void="no launch of each arm could be used"), "no launch of each arm"),
    ],
)
def test_what_cannot_be_put_together_is_refused(other, words):
    with pytest.raises(UsageError, match=words):
        advise_on([run(chain(3)), other])


def test_a_recipe_that_changed_between_runs_is_named():
    changed = run(chain(5), run_id="b", recipes={"base": "bbbbbbbbbbbb"})
    assert advise_on([run(chain(3)), changed]).notes == (
        "base changed between these runs: its figures are put together all the same",
    )
