from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.acceptance import (
    add_histograms,
    conditional_acceptance,
    find_contradictions,
    marginal_acceptance,
)

A06 = (11, 14, 11, 4, 0, 3)
"""43 steps, 63 accepted drafts."""

histograms = st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any)


def test_a06_accept_length_is_one_plus_the_marginals():
    assert 1 + sum(marginal_acceptance(A06)) == pytest.approx(1 + 63 / 43)
    assert find_contradictions(A06, verify_steps=43, correct_drafts=63) == ()


@given(histograms)
def test_identities_hold_for_every_histogram(histogram):
    marginals = marginal_acceptance(histogram)
    accepted = sum(k * count for k, count in enumerate(histogram))
    assert 1 + sum(marginals) == pytest.approx(1 + accepted / sum(histogram))
    assert all(later <= earlier for earlier, later in pairwise(marginals))
    product = 1.0
    for marginal, conditional in zip(marginals, conditional_acceptance(histogram), strict=True):
        product *= conditional if conditional is not None else 0.0
        assert product == pytest.approx(marginal)


def test_a_position_nobody_reached_is_unknown():
    assert conditional_acceptance((4, 0, 0)) == (0.0, None)


def test_adding_is_place_by_place_for_any_lengths():
    assert add_histograms([(1, 2), (3, 0, 5)]) == (4, 2, 5)
    assert add_histograms([]) is None


def test_contradictions_are_said_in_numbers():
    found = find_contradictions(A06, verify_steps=44, correct_drafts=60)
    assert found == (
        "the histogram counts 43 verify steps, the counter 44",
        "the histogram counts 63 accepted drafts, the counter 60",
    )


def test_without_a_step_there_are_no_marginals():
    assert marginal_acceptance((0, 0)) == ()
