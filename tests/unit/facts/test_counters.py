from __future__ import annotations

import math

import pytest

from specctl.domain.missing import Missing
from specctl.facts.counters import FIRST, RESTARTED, TOO_FAST, WRAP, Rate, link_bytes_per_s, rate


@pytest.mark.parametrize(
    ("now", "before", "elapsed_s", "is_short", "most", "expected"),
    [
        (3000, 1000, 2.0, False, 0.0, Rate(1000.0)),
        (3000, None, 2.0, False, 0.0, Rate(FIRST)),
        (3000, 1000, 0.0, False, 0.0, Rate(FIRST)),
        (3000, 1000, -1.0, False, 0.0, Rate(FIRST)),
        (5, WRAP * 9, 1.0, False, 1e9, Rate(RESTARTED)),
        (5, 1000, 1.0, False, 1e9, Rate(RESTARTED)),
        (995, WRAP - 5, 1.0, False, 1e9, Rate(1000.0, is_short=True)),
        (995, WRAP - 5, 1.0, False, 63e9, Rate(TOO_FAST, is_short=True)),
        (995, WRAP - 5, 1.0, False, math.inf, Rate(TOO_FAST, is_short=True)),
        (3000, 1000, 1.0, True, 63e9, Rate(TOO_FAST, is_short=True)),
        (3000, 1000, 1.0, True, 1e9, Rate(2000.0, is_short=True)),
        (WRAP + 5, WRAP - 5, 1.0, True, 63e9, Rate(10.0)),
    ],
)
def test_rates(now, before, elapsed_s, is_short, most, expected):
    assert rate(now, before, elapsed_s, is_short=is_short, most=most) == expected


def test_a_rate_is_never_negative():
    found = rate(0, 1 << 40, 1.0, is_short=False, most=1e9)
    assert isinstance(found.value, Missing)


@pytest.mark.parametrize(
    ("generation", "width", "expected"),
    [(5, 16, 63.0e9), (3, 8, 7.88e9), (None, 16, math.inf), (9, 16, math.inf)],
)
def test_what_a_link_can_carry(generation, width, expected):
    assert link_bytes_per_s(generation, width) == pytest.approx(expected, rel=0.01)
