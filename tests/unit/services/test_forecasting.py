from __future__ import annotations

import gc

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.training import TrainedOn
from specctl.facts.exchanges import Exchange
from specctl.services.forecasting import SELDOM, Texts, as_ids, cost_table, seldom_collected
from tests.unit.domain.run_figures import chain, run, tree


def test_ids_are_taken_as_they_are():
    texts = Texts("a.jsonl", [Exchange(3, "code", (5, 6), (1,))], [("docs:1", (7, 8))])
    found = as_ids(texts)
    (one,) = found.transcripts
    assert (one.prompt, one.output, one.category, one.name) == ((1,), (5, 6), "code", "a.jsonl:3")
    assert found.documents[0].tokens == (7, 8)
    assert found.tokenizer_sha256 is None


@pytest.mark.parametrize(
    "texts",
    [
        Texts("a.jsonl", [Exchange(1, "all", output="said")]),
        Texts("a.jsonl", [Exchange(1, "all", (5, 6))], [("docs:1", "a text")]),
    ],
)
def test_texts_need_a_host(texts):
    with pytest.raises(UsageError, match="which tokens they are depends on the model"):
        as_ids(texts)


def test_only_ngram_arms_say_what_verifying_costs():
    costs, base_s, notes = cost_table([run(tree(), chain(3))], 1)
    assert costs is not None
    assert (costs.base_s, dict(costs.step_s), base_s) == (0.016, {8: 0.024}, 0.016)
    assert "drafts with EAGLE3" in notes[0]
    costs, base_s, _ = cost_table([run(chain(3))], 1)
    assert (costs, base_s) == (None, 0.016)
    with pytest.raises(UsageError, match="no plain step was measured at concurrency 8"):
        cost_table([run(tree())], 8)


def test_costs_of_cold_and_warm_runs_are_not_put_together():
    warm = run(tree(), trained_on=TrainedOn("others", "1" * 64, 12))
    assert cost_table([warm], 1)[0] is not None
    with pytest.raises(UsageError, match="different training sets: cold, warm after others"):
        cost_table([warm, run(chain(3))], 1)


def test_garbage_is_looked_for_as_usual_afterwards():
    usual = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold() == SELDOM
    assert gc.get_threshold() == usual
