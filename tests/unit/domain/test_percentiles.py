from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.percentiles import mean, percentile, weighted_percentile


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([], 50, None),
        ([3.0], 95, 3.0),
        ([1.0, 2.0, 3.0, 4.0], 50, 2.5),
        ([4.0, 1.0, 3.0, 2.0], 0, 1.0),
        ([4.0, 1.0, 3.0, 2.0], 100, 4.0),
        ([10.0, 20.0], 95, 19.5),
    ],
)
def test_percentile(values, percent, expected):
    assert percentile(values, percent) == expected


@given(
    st.lists(st.tuples(st.floats(0, 100), st.integers(0, 9)), max_size=20),
    st.floats(0, 100),
)
def test_weighting_is_repeating(pairs, percent):
    repeated = [value for value, count in pairs for _ in range(count)]
    expected = percentile(repeated, percent)
    found = weighted_percentile(pairs, percent)
    assert found is None if expected is None else found == pytest.approx(expected)


def test_mean_of_nothing_is_unknown():
    assert mean([]) is None
    assert mean([1.0, 2.0]) == 1.5
