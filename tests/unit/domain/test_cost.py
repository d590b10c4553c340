from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.cost import (
    StepCost,
    expected_accept_length,
    find_suspects,
    needed_accuracy,
)
from specctl.domain.errors import UsageError


@pytest.mark.parametrize(
    ("accuracy", "steps", "expected"),
    [(0.0, 3, 1.0), (1.0, 3, 4.0), (0.5, 1, 1.5), (0.38, 3, 1.5793), (0.75, 3, 2.7344)],
)
def test_leviathan(accuracy, steps, expected):
    assert expected_accept_length(accuracy, steps) == pytest.approx(expected, abs=1e-4)


@given(st.floats(0.0, 0.999), st.integers(1, 16))
def test_expected_accept_length_lies_between_one_and_all(accuracy, steps):
    length = expected_accept_length(accuracy, steps)
    assert 1 <= length <= steps + 1


@given(st.floats(0.01, 0.99), st.integers(1, 12))
def test_needed_accuracy_is_the_inverse(accuracy, steps):
    length = expected_accept_length(accuracy, steps)
    found = needed_accuracy(length, steps)
    assert found is not None
    assert expected_accept_length(found, steps) == pytest.approx(length, abs=1e-6)


def test_no_accuracy_reaches_more_than_all():
    assert needed_accuracy(4.01, 3) is None
    assert needed_accuracy(0.9, 3) == 0.0


@pytest.mark.parametrize(("accuracy", "steps"), [(1.1, 3), (-0.1, 3), (0.5, 0)])
def test_nonsense_is_refused(accuracy, steps):
    with pytest.raises(UsageError):
        expected_accept_length(accuracy, steps)


def test_a_measured_cost():
    cost = StepCost(base_s=0.02, step_s=0.03, accept_length=2.4)
    assert cost.break_even == pytest.approx(1.5)
    assert cost.decode_speedup == pytest.approx(1.6)


def suspects(**changes):
    given = {"speedup": 1.5, "accept_length": 2.0, "steps": 3, "marginals": (0.6, 0.4)}
    return find_suspects(**{**given, **changes})


def test_plausible_numbers_have_no_suspect():
    assert suspects() == ()
    assert suspects(speedup=None, accept_length=None, steps=None) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"speedup": 3.08, "accept_length": 2.82}, "suspect the baseline"),
        ({"accept_length": 4.2}, "exceeds 3 steps + 1"),
        ({"marginals": (0.5, 0.6)}, "position 2 is accepted more often"),
    ],
)
def test_implausible_numbers_name_the_suspect(changes, words):
    (found,) = suspects(**changes)
    assert words in found
