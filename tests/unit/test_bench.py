from __future__ import annotations

import pytest

from tests.bench import lab
from tests.bench.measure import Measured, Side


def test_a_missing_opponent_is_an_error_that_names_it():
    with pytest.raises(lab.MissingOpponentError, match="no-such-program"):
        lab.require(("sh", "no-such-program"))
    lab.require(("sh",))


@pytest.mark.parametrize(("goal", "is_met"), [(0.5, True), (0.49, False)])
def test_a_row_compares_medians_and_keeps_every_repeat(goal, is_met):
    row = Measured("x", "s", Side("ours", (1.0, 2.0, 9.0)), Side("theirs", (4.0, 4.0)), goal)
    assert (row.figure, row.is_met) == (0.5, is_met)
    assert row.as_json()["ours"]["values"] == (1.0, 2.0, 9.0)


def test_without_an_opponent_the_value_itself_is_judged():
    assert Measured("x", "s", Side("ours", (0.25, 0.75)), None, 0.5).is_met
    assert Side("flat", (2.0, 2.0, 2.0)).spread == 0.0
