from __future__ import annotations

import pytest

from specctl.facts.throttle import read_throttle


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (0x0, ()),
        (0x1, ()),
        (0x2 | 0x10 | 0x100, ()),
        (0x4, ("power cap",)),
        (0x28, ("hw slow", "heat (sw)")),
        (0x48, ("heat (hw)",)),
        (0x88, ("brake (hw)",)),
        (0xEC, ("heat (hw)", "brake (hw)", "heat (sw)", "power cap")),
        (1 << 40, ()),
    ],
)
def test_slow_downs_worst_first(mask, expected):
    assert read_throttle(mask) == expected
