from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.backoff import LONGEST_S, backoff_s


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_waits_stay_bounded_and_never_shrink_to_nothing(attempt, jitter):
    assert 0.5 <= backoff_s(attempt, jitter) <= LONGEST_S


def test_doubles():
    assert [backoff_s(n, 1.0) for n in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_hosts_lost_together_do_not_return_together():
    assert backoff_s(3, 0.0) != backoff_s(3, 1.0)
