"""What steps cost."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from specctl.lab.costs import Costs, Noise, Weather
from specctl.lab.outcomes import StepParts
from specctl.lab.seed import STORIES, read_story
from specctl.lab.tables import Curve, Surface

TABLE: dict[str, Any] = {
    "base_ms": {"1": 10, "8": 24},
    "verify_ms": {"1": {"1": 10, "4": 16}, "9": {"1": 20, "4": 50}},
    "draft_step_ms": {"EAGLE3": {"1": 1}},
    "match_ms": 0.5,
    "overhead_ms": {"1": 2},
    "prefill": {"fixed_ms": 20, "token_us": 100},
    "draft_prefill_share": 0.1,
}


def test_a_curve_is_straight_between_its_points():
    curve = Curve.read({"1": 10, "8": 24, "2": 12})
    assert curve.at(0) == curve.at(1) == 10
    assert curve.at(1.5) == 11
    assert curve.at(5) == pytest.approx(18)
    assert curve.at(10) == pytest.approx(28)
    assert Curve.read(3.0).at(100) == 3


def test_a_surface_is_straight_both_ways():
    surface = Surface.read(TABLE["verify_ms"])
    assert surface.at(1, 4) == 16
    assert surface.at(5, 4) == pytest.approx(33)
    assert surface.at(5, 2) == pytest.approx(21)


@pytest.mark.parametrize("table", [{}, {"verify_ms": {}}, {"base_ms": {}}])
def test_a_table_without_points_is_refused(table):
    with pytest.raises((ValueError, KeyError)):
        Costs.read({**TABLE, **table} if table else table)


def test_a_step_is_the_sum_of_its_parts():
    costs = Costs.read(TABLE)
    assert costs.decode(1).total_s == pytest.approx(0.010)
    parts = costs.speculate("EAGLE3", 1, steps=3, width=4)
    assert (parts.target_s, parts.draft_s, parts.overhead_s) == pytest.approx((0.016, 0.003, 0.002))
    assert parts.total_s == pytest.approx(0.021)
    assert costs.speculate("NGRAM", 1, steps=1, width=4).draft_s == pytest.approx(0.0005)
    assert costs.speculate("NEXTN", 1, steps=2, width=3).draft_s == pytest.approx(0.002)
    assert costs.prefill(1000, has_draft_model=False).total_s == pytest.approx(0.12)
    assert costs.prefill(1000, has_draft_model=True).total_s == pytest.approx(0.132)


def blow(noise, *, seed=1, boot=1, steps=2000):
    weather = Weather(noise, seed=seed, boot=boot)
    return [weather.blow(StepParts(1.0), float(step)).total_s for step in range(steps)]


def test_noise_is_what_the_scenario_says():
    calm = blow(Noise())
    assert calm == [1.0] * 2000
    rough = blow(Noise(step=0.02))
    assert statistics.mean(rough) == pytest.approx(1, abs=0.003)
    assert statistics.stdev(rough) == pytest.approx(0.02, rel=0.1)
    drifting = blow(Noise(drift=0.02, drift_period_s=500))
    assert statistics.pstdev(drifting) == pytest.approx(0.02, rel=0.05)
    stalling = blow(Noise(stall_share=0.01, stall_factor=3))
    assert 5 <= stalling.count(3.0) <= 40


def test_a_launch_deviates_as_a_whole_and_always_the_same():
    noise = Noise(boot=0.05)
    boots = [blow(noise, boot=boot, steps=3) for boot in range(200)]
    assert all(len(set(boot)) == 1 for boot in boots)
    assert statistics.stdev(boot[0] for boot in boots) == pytest.approx(0.05, rel=0.2)
    assert blow(noise, boot=7) == blow(noise, boot=7)
    assert blow(noise, seed=2)[0] != blow(noise, seed=1)[0]


@pytest.mark.parametrize("name", STORIES)
def test_costs_of_a_scenario_are_sensible(name):
    costs = Costs.read(read_story(name)["costs"])
    for batch in (1, 4, 16, 48):
        verified = [costs.verify_ms.at(batch, width) for width in (1, 2, 4, 8, 12, 16, 32)]
        assert verified == sorted(verified)
        assert verified[0] >= costs.base_ms.at(batch)
    assert read_story(name)["costs"]["assumptions"]["base_ms"].startswith("SIMULATED")
