from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.cost import SAME_WINDOWS
from specctl.domain.costing import (
    RECORDED,
    TypedCosts,
    cost_rows,
    find_unpredicted,
    reduce_words,
)
from specctl.domain.errors import UsageError
from specctl.domain.interconnect import AllReduce, ReducedSize, links_of, step_tokens
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuSample
from specctl.domain.trial.first_tokens import NOT_TIMED
from tests.unit.domain.run_figures import FIRST, chain, run, tree


def only(rows):
    (row,) = rows
    return row


def test_what_a_step_costs_and_brings():
    row = only(cost_rows(run(chain(3)), "eagle3-3"))
    assert row.break_even == pytest.approx(0.024 / 0.016)
    assert (row.accept_length, row.draft_tokens) == (2.5, 4)
    assert row.speedup == pytest.approx(2.5 / 1.5 * 0.98)
    assert row.suspects == ()


def test_the_same_windows_predict_nothing_and_have_no_residual():
    found = only(cost_rows(run(chain(3)), "eagle3-3")).predictions
    assert [one.source for one in found] == [SAME_WINDOWS]
    assert found[0].speedup == pytest.approx(2.5 / 1.5)
    assert found[0].residual is None


def test_predictions_say_where_they_come_from():
    earlier = run(chain(3, step_s=0.020), run_id="91aa")
    typed = TypedCosts(0.016, 0.030)
    row = only(cost_rows(run(chain(3)), "eagle3-3", earlier=[earlier], typed=typed))
    assert [one.source for one in row.predictions] == [
        "run 91aa on gpu8", "typed, with the measured accept length", SAME_WINDOWS,
    ]  # fmt: skip
    from_run, from_typed, _ = row.predictions
    assert from_run.speedup == pytest.approx(2.5 * 0.016 / 0.020)
    assert from_run.residual == pytest.approx((row.speedup or 0) / from_run.speedup - 1)
    assert from_typed.break_even == pytest.approx(0.030 / 0.016)
    typed = TypedCosts(0.016, 0.030, 2.0)
    row = only(cost_rows(run(chain(3)), "eagle3-3", typed=typed))
    assert (row.predictions[0].source, row.predictions[0].accept_length) == ("typed", 2.0)


def test_a_residual_is_split_into_what_first_tokens_explain_and_the_rest():
    typed = TypedCosts(0.016, 0.024, 2.5)
    measured = chain(3, speedup=1.4, first_tokens=FIRST)
    row = only(cost_rows(run(measured), "eagle3-3", typed=typed))
    found, same = row.predictions
    whole = 5.0 / (0.6 + 4.5 / found.speedup)
    assert found.first_token_residual == pytest.approx(whole / found.speedup - 1)
    assert found.rest_residual == pytest.approx(1.4 / whole - 1)
    parts = (1 + found.first_token_residual) * (1 + found.rest_residual)
    assert parts == pytest.approx(1 + found.residual)
    assert found.missing == {}
    assert (row.first_token_share, row.missing) == (pytest.approx(0.1), {})
    assert set(same.missing) == {"residual", "first_token_residual", "rest_residual"}
    assert "agrees" in same.missing["residual"].detail


def test_a_residual_without_first_token_times_is_not_split_and_why():
    row = only(cost_rows(run(chain(3)), "eagle3-3", typed=TypedCosts(0.016, 0.024, 2.5)))
    found = row.predictions[0]
    assert found.residual is not None
    assert (found.first_token_residual, found.rest_residual) == (None, None)
    assert found.missing["rest_residual"] == NOT_TIMED
    assert row.missing["first_token_share"] == NOT_TIMED


def test_what_the_servers_recorded_is_a_source_of_its_own():
    found = chain(3)
    found = replace(
        found,
        base=replace(found.base, recorded_step_s=0.015),
        arm=replace(found.arm, recorded_step_s=0.021),
    )
    row = only(cost_rows(run(found), "eagle3-3"))
    assert row.predictions[0].source == RECORDED
    assert row.predictions[0].speedup == pytest.approx(2.5 * 0.015 / 0.021)
    assert row.between_steps_s == pytest.approx(0.003)


def test_a_run_that_predicts_nothing_is_named():
    other = run(chain(3, concurrency=8), run_id="91aa")
    rows = cost_rows(run(chain(3)), "eagle3-3", earlier=[other])
    assert "run 91aa predicts nothing" in find_unpredicted(rows, [other])[0]
    assert find_unpredicted(cost_rows(run(chain(3)), "eagle3-3", earlier=[run(chain(3))]),
                            [run(chain(3))]) == ()  # fmt: skip


def test_what_cannot_be_is_named():
    row = only(cost_rows(run(chain(3, speedup=2.9)), "eagle3-3"))
    assert "suspect the baseline" in row.suspects[0]
    assert only(cost_rows(run(tree()), "ngram")).suspects == ()


def test_a_run_without_the_profile_says_no_costs():
    with pytest.raises(UsageError, match="was not measured beside a baseline"):
        cost_rows(run(chain(3)), "other")


def test_all_reduces_are_put_beside_the_step_they_are_part_of():
    sizes = (
        ReducedSize(1, 8192, 1e-5, 1e-5, 0.0012), ReducedSize(4, 32768, 1e-4, 1e-4, 0.012),
    )  # fmt: skip
    found = AllReduce("gloo", 2, 60, "2.9", sizes)
    (words,) = reduce_words(found, cost_rows(run(chain(3)), "eagle3-3"))
    assert words.endswith("take 12.00 of its 24.00 ms (50%)")
    assert reduce_words(found, cost_rows(run(chain(3, concurrency=8)), "eagle3-3")) == ()


def test_message_sizes_are_those_of_plain_and_verify_steps():
    assert step_tokens((1, 8), 4) == (1, 4, 8, 32)
    assert step_tokens((2,), None) == (2,)


def test_links_are_as_the_driver_says():
    gpus = [
        GpuSample(0, "GPU-a", "g", pcie_generation=4, pcie_width=16, nvlink_tx_bytes_per_s=0.0),
        GpuSample(1, "GPU-b", "g", missing={"nvlink_tx_bytes_per_s": Missing(Why.NOT_SUPPORTED)}),
        GpuSample(2, "GPU-c", "g", missing={"nvlink_tx_bytes_per_s": Missing(Why.ERROR)}),
    ]
    assert [link.has_nvlink for link in links_of(gpus, None)] == [True, False, None]
    assert [link.gpu for link in links_of(gpus, (1, 2))] == [1, 2]
    assert links_of(gpus, (0,))[0].pcie_generation == 4
