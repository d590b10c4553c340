from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.trial.distributions import (
    binomial_at_most,
    clopper_pearson,
    hypergeometric_two_sided,
    incomplete_beta,
    poisson_upper,
    t_quantile,
    t_tail,
)


def scipys() -> Any:
    """Imported by the worker that runs the tests, not by all that collect them."""
    from scipy import stats

    return stats


@given(st.floats(0, 1), st.floats(0.1, 300), st.floats(0.1, 300))
def test_incomplete_beta_is_scipys(x, a, b):
    assert incomplete_beta(x, a, b) == pytest.approx(scipys().beta.cdf(x, a, b), abs=1e-11)


@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 100))
def test_t_is_scipys(p, df):
    assert t_quantile(p, df) == pytest.approx(scipys().t.ppf(p, df), rel=1e-7, abs=1e-9)
    assert t_tail(t_quantile(p, df), df) == pytest.approx(1 - p, abs=1e-10)


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(40, 40, 0.912, 1.0), (39, 40, 0.868, 0.999), (200, 200, 0.982, 1.0), (0, 5, 0.0, 0.522)],
)
def test_clopper_pearson_as_published(hits, trials, low, high):
    found = clopper_pearson(hits, trials)
    assert found == pytest.approx((low, high), abs=6e-4)
    expected = scipys().binomtest(hits, trials).proportion_ci()
    assert found == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(1, 60), st.integers(-1, 60), st.floats(0.01, 0.99))
def test_binomial_is_scipys(trials, hits, p):
    assert binomial_at_most(hits, trials, p) == pytest.approx(
        scipys().binom.cdf(hits, trials, p), abs=1e-10
    )


@pytest.mark.parametrize("events", [0, 1, 5, 40])
def test_poisson_upper_is_the_chi_square_bound(events):
    expected = scipys().chi2.ppf(0.95, 2 * events + 2) / 2
    assert poisson_upper(events) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(20, 60), st.integers(20, 60))
def test_fisher_is_scipys(a, b, n, m):
    found = hypergeometric_two_sided((a, b), (n, m))
    assert found == pytest.approx(scipys().fisher_exact([[a, n - a], [b, m - b]]).pvalue, abs=1e-9)
