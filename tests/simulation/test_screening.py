"""The shipped screening on profiles whose truth is known, and the trial that follows it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np
import pytest

from specctl.domain.trial.design import Design
from specctl.domain.trial.interval import fit_levels
from specctl.domain.trial.looks import Word
from specctl.domain.trial.order import launch_order
from specctl.domain.trial.screening import ROUNDS, choose, look_at, rotated
from tests.simulation.trials import Noise, judge, middles_of, spread_of_answers

TRIALS = 4000
DESIGN = Design()
ORDER = launch_order(DESIGN.most_launches)
MIDDLES_S = middles_of(len(ORDER))
EQUAL, BETTER = (0.0,) * 5, (0.05,) * 5
NEAR, FAR = (0.0, 0.02, 0.03, 0.05, 0.10), (0.03, 0.05, 0.10, 0.20, 0.30)
WORSE = (-0.14, -0.20, -0.30, -0.30, -0.40)
ROWS = {
    "all equal, 1 %": (0.01, EQUAL, (27, 33), 0.009),
    "all equal, 2 %": (0.02, EQUAL, (26, 31), 0.035),
    "all 5 % faster, 1 %": (0.01, BETTER, (21, 26), 0.0),
    "all 5 % faster, 2 %": (0.02, BETTER, (23, 29), 0.0),
    "near, 1 %": (0.01, NEAR, (15, 20), 0.0),
    "near, 2 %": (0.02, NEAR, (16, 22), 0.0),
    "far, 1 %": (0.01, FAR, (10, 15), 0.0),
    "all slower, 2 %": (0.02, WORSE, (10, 15), 0.0),
}
"""Restart noise, effects of five profiles, launches in all, and false words."""


@dataclass
class Found:
    false: float
    bias: float
    """Of the estimate of the trial."""

    screened_bias: float
    """Of the estimate that the screening itself would give."""

    launches: float
    right: float


@pytest.fixture(scope="module")
def simulated():
    return {row: simulate(restart, effects) for row, (restart, effects, _, _) in ROWS.items()}


def simulate(restart, effects, drift_per_h=0.0, seed=1):
    random = np.random.default_rng(seed)
    noise = sqrt(restart**2 + spread_of_answers(Noise()) ** 2)
    arms = ("base", *(f"p{n}" for n in range(len(effects))))
    truth = dict(zip(arms, (0.0, *map(log1p, effects)), strict=True))
    shape = (TRIALS, ROUNDS * len(arms) + len(ORDER))
    found = [
        _one(arms, truth, row, drift_per_h) for row in (random.normal(size=shape) * noise).tolist()
    ]
    false, bias, screened, launches, right = np.array(found, dtype=float).mean(axis=0)
    return Found(false, bias, screened, launches, right)


def _one(arms, truth, draws, drift_per_h):
    winner, estimate, used = _screen(arms, truth, draws, drift_per_h)
    rest = draws[ROUNDS * len(arms) :]
    y = [
        noise + (truth[winner] if side == "B" else 0.0) - drift_per_h * at_s / 3600
        for noise, side, at_s in zip(rest, ORDER, MIDDLES_S, strict=True)
    ]
    word, k = judge(y, ORDER, MIDDLES_S, DESIGN)
    fit = fit_levels(y[: 2 * k], ORDER[: 2 * k], MIDDLES_S[: 2 * k], floor=DESIGN.floor)
    assert fit is not None
    return (
        _is_false(word, truth[winner]),
        fit.theta - truth[winner],
        estimate - truth[winner],
        used + 2 * k,
        truth[winner] >= max(truth[arm] for arm in arms[1:]) - 1e-9,
    )


def _screen(arms, truth, draws, drift_per_h):
    levels: dict[str, list[float]] = {arm: [] for arm in arms}
    going, used = arms, 0
    step_s = MIDDLES_S[1] - MIDDLES_S[0]
    for number in range(ROUNDS):
        for arm in rotated(going, number):
            levels[arm].append(truth[arm] + draws[used] - drift_per_h * used * step_s / 3600)
            used += 1
        look = look_at(levels, going)
        going = look.kept
        candidates = [arm for arm in going if arm != "base"]
        if len(candidates) < 2:
            break
    winner = choose(look, candidates or [arm for arm in look.behind if arm != "base"], {})
    both = min(len(levels[winner]), len(levels["base"]))
    means = [np.mean(levels[arm][:both]) for arm in (winner, "base")]
    return winner, means[0] - means[1], used


def _is_false(word, truth):
    if word is Word.FASTER:
        return truth <= 0
    if word is Word.SLOWER:
        return truth >= 0
    return word is Word.NO_MATERIAL_DIFFERENCE and abs(truth) > DESIGN.log_margin


@pytest.mark.parametrize("row", ROWS)
def test_a_word_after_a_screening_is_false_as_rarely_as_after_none(row, simulated):
    expected = ROWS[row][3]
    band = 4 * sqrt(max(expected, 0.002) * (1 - expected) / TRIALS)
    assert simulated[row].false == pytest.approx(expected, abs=band)
    assert simulated[row].false <= 0.05


@pytest.mark.parametrize("row", ROWS)
def test_the_estimate_of_the_trial_is_not_too_high(row, simulated):
    assert abs(simulated[row].bias) < 0.004


@pytest.mark.parametrize("row", ROWS)
def test_launches_are_few_where_profiles_differ(row, simulated):
    low, high = ROWS[row][2]
    assert low <= simulated[row].launches <= high


def test_what_the_screening_measured_would_flatter_its_winner(simulated):
    assert simulated["all equal, 1 %"].screened_bias > 0.004
    assert simulated["all equal, 2 %"].screened_bias > 0.010


def test_the_best_is_found_where_profiles_differ_by_more_than_noise(simulated):
    for row in ("near, 1 %", "far, 1 %", "all slower, 2 %"):
        assert simulated[row].right > 0.99


def test_drift_of_5_percent_an_hour_neither_deceives_nor_picks_the_wrong_one():
    found = simulate(0.01, NEAR, drift_per_h=0.05, seed=3)
    assert found.false <= 0.05
    assert abs(found.bias) < 0.004
    assert found.right > 0.95
