from __future__ import annotations

import numpy as np
import pytest

from specctl.domain.trial.distributions import NORMAL
from specctl.domain.trial.order import launch_order
from specctl.domain.trial.spending import nominal_levels


@pytest.mark.parametrize(
    ("last", "levels"),
    [
        (4, (0.0300, 0.0226)),
        (6, (0.0200, 0.0146, 0.0157, 0.0176)),
        (8, (0.0150, 0.0106, 0.0114, 0.0128, 0.0141, 0.0157)),
        (12, (0.0100, 0.0069, 0.0073, 0.0081, 0.0090, 0.0099, 0.0109, 0.0119, 0.0129, 0.0140)),
    ],
)
def test_the_levels_of_looks_from_the_third_on(last, levels):
    assert nominal_levels(3, last, 0.04) == pytest.approx(levels, abs=2.5e-4)


@pytest.mark.parametrize("last", [4, 8, 12])
def test_together_the_looks_spend_the_error_and_no_more(last):
    random = np.random.default_rng(1)
    looks = range(3, last + 1)
    levels = nominal_levels(3, last, 0.04)
    steps = random.normal(size=(400_000, last))
    walk = np.cumsum(steps, axis=1)
    left = np.zeros(len(walk), dtype=bool)
    for k, level in zip(looks, levels, strict=True):
        left |= np.abs(walk[:, k - 1]) > NORMAL.inv_cdf(1 - level / 2) * np.sqrt(k)
    assert left.mean() == pytest.approx(0.04, abs=0.0012)


def test_one_look_has_the_whole_error():
    assert nominal_levels(5, 5, 0.05) == pytest.approx((0.05,), abs=1e-9)


def test_the_order_is_thue_morse():
    assert "".join(launch_order(8)) == "ABBABAABBAABABBA"
    assert launch_order(0) == ()
    drift = range(16)
    order = launch_order(8)
    for power in (1, 2, 3):
        sums = {s: sum(n**power for n, o in zip(drift, order, strict=True) if o == s) for s in "AB"}
        assert sums["A"] == sums["B"]
