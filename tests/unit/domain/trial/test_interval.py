from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.trial.interval import fit_levels
from specctl.domain.trial.order import launch_order

LEVELS = st.lists(st.floats(-3, 3), min_size=16, max_size=16)


def least_squares(y, sides, middles):
    t = np.array(middles)
    b = np.array([s == "B" for s in sides], dtype=float)
    x = np.column_stack([np.ones(len(y)), b, t - t.mean()])
    beta, *_ = np.linalg.lstsq(x, np.array(y), rcond=None)
    rest = np.array(y) - x @ beta
    df = len(y) - 3
    variance = float(rest @ rest) / df
    return beta, variance, np.linalg.inv(x.T @ x)[1, 1]


@given(LEVELS)
def test_from_four_launches_on_it_is_least_squares_with_drift(y):
    sides = launch_order(8)
    middles = [100.0 * n + 7 * (n % 3) for n in range(16)]
    fit = fit_levels(y, sides, middles, floor=0.0)
    assert fit is not None
    beta, variance, unit = least_squares(y, sides, middles)
    assert fit.theta == pytest.approx(beta[1], abs=1e-9)
    assert fit.drift_per_s == pytest.approx(beta[2], abs=1e-9)
    assert fit.spread**2 == pytest.approx(variance, abs=1e-9)
    assert fit.scale**2 == pytest.approx(unit, rel=1e-9)
    assert fit.df == 13


def test_under_four_launches_it_is_the_pooled_t():
    fit = fit_levels([0.0, 0.3, 0.5, 0.1], ["A", "B", "B", "A"], [0, 1, 2, 3], floor=0.01)
    assert fit is not None
    assert fit.theta == pytest.approx(0.35)
    assert (fit.df, fit.drift_per_s) == (2, None)
    assert fit.spread == pytest.approx(((0.005 + 0.02) / 2) ** 0.5)
    low, high = fit.interval(0.05)
    assert (low + high) / 2 == pytest.approx(0.35)
    assert high - 0.35 == pytest.approx(4.302653 * fit.spread * 1.0, rel=1e-6)


def test_linear_drift_is_taken_out():
    sides = launch_order(5)
    middles = [500.0 * n for n in range(10)]
    y = [0.2 * (s == "B") - 1e-5 * t for s, t in zip(sides, middles, strict=True)]
    fit = fit_levels(y, sides, middles, floor=0.01)
    assert fit is not None
    assert fit.theta == pytest.approx(0.2)
    assert fit.drift_per_s == pytest.approx(-1e-5)


def test_the_spread_is_never_below_the_floor_and_one_launch_is_no_fit():
    fit = fit_levels([0, 0, 0, 0], ["A", "B", "B", "A"], [0, 1, 2, 3], floor=0.01)
    assert fit is not None
    assert fit.spread == 0.01
    assert fit_levels([0, 0, 0], ["A", "B", "B"], [0, 1, 2], floor=0.01) is None
    assert fit_levels([], [], [], floor=0.01) is None
