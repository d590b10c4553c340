"""How long a sample is of now."""

from __future__ import annotations

import pytest

from specctl.domain.freshness import is_stale


@pytest.mark.parametrize(
    ("age_s", "interval_s", "stale"),
    [
        (None, 1.0, False),
        (3.5, 1.0, False),
        (3.6, 1.0, True),
        (29.0, 10.0, False),
        (31, 10.0, True),
    ],
)
def test_three_intervals_and_a_late_frame(age_s, interval_s, stale):
    assert is_stale(age_s, interval_s) is stale
