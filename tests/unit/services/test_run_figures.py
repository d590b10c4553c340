"""Figures of kept runs: what is void in a trial counts for nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.adapters.evidence import Evidence
from specctl.domain.advising import advise_on
from specctl.domain.costing import TypedCosts, cost_rows
from specctl.domain.errors import UsageError
from specctl.domain.expecting import Met, expect
from specctl.domain.plain import plain
from specctl.domain.probe import Void, VoidKind
from specctl.domain.probe_json import comparison_json, probe_json
from specctl.domain.profile import Expectation, Profile
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.simulated_acceptance import forced_words
from specctl.domain.trial.first_tokens import OF_MEASURED, FirstTokens
from specctl.domain.trial.trial_json import block_json, plan_json
from specctl.services.run_figures import figures_of
from tests.unit.domain.trial.runs import NOW_S, result, trial_blocks, trial_plan, voided

LOOP = Void(VoidKind.ARM, "a loop of 4 characters fills 98% of the output")


def kept(kind, document, blocks=(), profiles=("base", "eagle3")):
    provenance = Provenance("0.1.0", "op@laptop", "gpu8", arguments={"eagle3": {"tp_size": 1}})
    run = Run("5c0ffee2", kind, "gpu8", profiles, NOW_S, NOW_S + 9, "", provenance, document)
    return Evidence(run, tuple(block_json(block) for block in blocks))


def trial(blocks, **more):
    plan = trial_plan(3, **more)
    return figures_of(kept(RunKind.TRIAL, plan_json(plan), blocks))


def test_a_trial_gives_a_pair_for_each_concurrency():
    plan = trial_plan(3, concurrencies=(1, 4))
    found = trial(trial_blocks(3, speedup=1.3, plan=plan), concurrencies=(1, 4))
    assert [pair.arm.concurrency for pair in found.pairs] == [1, 4]
    first = found.pairs[0]
    assert (first.base.algorithm, first.arm.algorithm, first.arm.launches) == (None, "EAGLE3", 3)
    assert first.arm.accept_length == 2.0
    assert first.low is not None
    assert first.break_even == pytest.approx(2 / 1.3, rel=0.01)


def test_first_tokens_of_a_trial_and_of_a_comparison_are_told_apart():
    (pair,) = trial(trial_blocks(3, speedup=1.3)).pairs
    found = pair.first_tokens
    assert isinstance(found, FirstTokens)
    assert (found.source, found.prompts) == (OF_MEASURED, 12)
    assert found.base_first_s == found.arm_first_s == pytest.approx(12 * 0.02)
    decode_s = sum(2 * (40 + n) for n in range(12)) * 0.010
    assert found.base_decode_s == pytest.approx(decode_s, rel=0.01)
    (row,) = cost_rows(trial(trial_blocks(3, speedup=1.3)), "eagle3", typed=TypedCosts(0.01, 0.02))
    one = row.predictions[0]
    assert one.speedup == pytest.approx(1.0)
    assert one.first_token_residual == pytest.approx(0.0, abs=1e-9)
    assert one.rest_residual == pytest.approx(one.residual)

    from tests.unit.cli.result_examples import COMPARISON

    (pair,) = figures_of(kept(RunKind.COMPARISON, comparison_json(COMPARISON))).pairs
    assert isinstance(pair.first_tokens, FirstTokens)


def test_d07_a_looping_arm_has_no_figures():
    blocks = trial_blocks(3, speedup=1.3)
    broken = [voided(one, LOOP) if one.side == "B" else one for one in blocks]
    found = trial(broken)
    assert found.pairs == found.arms == ()
    assert "a loop of 4 characters" in found.void


def test_launches_that_are_void_are_left_out():
    first, *rest = trial_blocks(3, speedup=1.3)
    assert first.side == "A"
    (pair,) = trial([voided(first, LOOP), *rest]).pairs
    assert (pair.base.launches, pair.arm.launches) == (2, 3)


def test_an_interval_that_the_disturbed_launches_contradict_meets_no_expectation():
    """Without them 1.3x faster; as it ran too unsteady for a word."""
    hot = Void(VoidKind.ARM, "the GPU throttled")
    plan = trial_plan(8)
    blocks = trial_blocks(8, speedup=1.3)
    slow = trial_blocks(8, speedup=0.8)
    mixed = [
        voided(slow[n], hot) if one.side == "B" and one.place % 4 == 1 else one
        for n, one in enumerate(blocks)
    ]
    found = figures_of(kept(RunKind.TRIAL, plan_json(plan), mixed))
    (pair,) = found.pairs
    assert pair.low is not None
    assert pair.low > 1.2
    assert "a word needs both to say it" in pair.unsure
    assert trial(trial_blocks(3, speedup=1.3)).pairs[0].unsure == ""
    profile = Profile("eagle3", "m", baseline="base", expectation=Expectation(speedup=1.2))
    (row,) = expect("gpu8", profile, "bbbbbbbbbbbb", [found])
    assert (row.met, row.words) == (Met.NOT_SHOWN, pair.unsure)
    sure = figures_of(kept(RunKind.TRIAL, plan_json(plan), blocks))
    (row,) = expect("gpu8", profile, "bbbbbbbbbbbb", [sure])
    assert row.met is Met.MET


def test_a_probe_is_one_arm():
    found = figures_of(kept(RunKind.PROBE, probe_json(result("B")), profiles=("eagle3",)))
    assert found.pairs == ()
    assert [arm.profile for arm in found.arms] == ["eagle3"]
    void = figures_of(
        kept(RunKind.PROBE, probe_json(result("B", void=[LOOP])), profiles=("eagle3",))
    )
    assert "loop" in void.void


def test_a_comparison_leaves_out_what_is_void():
    from tests.unit.cli.result_examples import COMPARISON

    found = figures_of(kept(RunKind.COMPARISON, comparison_json(COMPARISON)))
    assert [pair.arm.profile for pair in found.pairs] == ["kimi-k2.5-eagle3"]
    assert found.pairs[0].low is None


@pytest.mark.parametrize("document", [{}, {"concurrency": "x"}, {"id": 3}])
@pytest.mark.parametrize("kind", [RunKind.TRIAL, RunKind.COMPARISON, RunKind.PROBE])
def test_a_damaged_run_is_refused(kind, document):
    with pytest.raises(UsageError):
        figures_of(kept(kind, document))


def test_a_launch_measured_nothing():
    with pytest.raises(UsageError, match="nothing was measured"):
        figures_of(kept(RunKind.LAUNCH, plain({})))


def test_a_probe_with_made_up_accept_lengths_gives_no_figure_to_rely_on():
    words = forced_words("SGLANG_SIMULATE_ACC_LEN") or ""
    void = [Void(VoidKind.NOT_ASKED, words)]
    document = probe_json(replace(result("B", void=void), forced_by="SGLANG_SIMULATE_ACC_LEN"))
    assert document["forced_by"] == "SGLANG_SIMULATE_ACC_LEN"
    found = figures_of(kept(RunKind.PROBE, document, profiles=("eagle3",)))
    assert found.void == words
    with pytest.raises(UsageError, match="accept lengths are made up"):
        cost_rows(found, "eagle3")
    with pytest.raises(UsageError, match="accept lengths are made up"):
        advise_on([found])
