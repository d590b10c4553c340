from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.trial.levels import find_levels
from tests.unit.domain.trial.blocks import FIRST_S, TOKENS, block


def test_equal_outputs_give_the_ratio_of_total_times():
    levels = find_levels([block("A", 0.010), block("B", 0.008)])
    assert levels is not None
    seconds = [FIRST_S * 6 + pace * sum(TOKENS.values()) for pace in (0.010, 0.008)]
    assert exp(levels.y[1] - levels.y[0]) == pytest.approx(seconds[0] / seconds[1])
    assert levels.is_by_parts


@pytest.mark.parametrize("shorter", [0.8, 0.9])
def test_an_arm_does_not_win_by_stopping_early(shorter):
    short = {prompt: round(count * shorter) for prompt, count in TOKENS.items()}
    levels = find_levels([block("A", 0.01), block("B", 0.01, tokens=short)])
    assert levels is not None
    assert levels.y[0] == pytest.approx(levels.y[1], abs=1e-12)


def test_a_prompt_that_failed_once_leaves_every_launch():
    levels = find_levels([block("A"), block("B", tokens={"p0": 100, "p1": 200})])
    assert levels is not None
    assert levels.prompts == ("p0", "p1")
    assert levels.dropped == ("p2", "p3", "p4", "p5")
    assert find_levels([block("A", tokens={"p0": 1}), block("B", tokens={"p1": 1})]) is None


def test_without_first_token_times_the_whole_request_counts():
    levels = find_levels([block("A", first=False), block("B", 0.005)])
    assert levels is not None
    assert not levels.is_by_parts


def launches(stalled=None, sides="ABBAAB"):
    """Six launches; `stalled` maps (launch, prompt) to a factor."""
    return [
        block(
            side,
            0.01 * (1 + 0.01 * n),
            off={p: f for (m, p), f in (stalled or {}).items() if m == n},
        )
        for n, side in enumerate(sides)
    ]


def test_one_stall_is_replaced_by_its_siblings():
    clean, stalled = find_levels(launches()), find_levels(launches({(2, "p1"): 3.0}))
    assert clean is not None
    assert stalled is not None
    assert stalled.stalls == {"A": 0, "B": 1}
    assert stalled.are_stalls_smoothed
    assert stalled.y == pytest.approx(clean.y, abs=2e-3)


def test_stalls_of_one_arm_are_its_own():
    stalled = dict.fromkeys(((1, "p0"), (2, "p1"), (5, "p2")), 3.0)
    levels = find_levels(launches(stalled))
    assert levels is not None
    assert levels.stalls == {"A": 0, "B": 3}
    assert not levels.are_stalls_smoothed
    assert levels.y[1] < -log(sum(TOKENS.values()) * 0.0101 + 6 * FIRST_S) - 0.1


@given(st.floats(0.2, 5.0), st.floats(0.001, 1.0))
def test_a_pace_for_all_changes_no_difference(factor, pace_s):
    one = find_levels([block("A", pace_s, first=False), block("B", pace_s / 1.3, first=False)])
    other = find_levels(
        [block("A", factor * pace_s, first=False), block("B", factor * pace_s / 1.3, first=False)]
    )
    assert one is not None
    assert other is not None
    # The time to the first token stays as it is, so only the decode share scales.
    assert (one.y[1] - one.y[0] > 0) == (other.y[1] - other.y[0] > 0)
