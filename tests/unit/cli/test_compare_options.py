from __future__ import annotations

import pytest

from specctl.cli.compare_options import design_of


@pytest.mark.parametrize(
    ("launches", "options", "looks"),
    [
        (8, {"strict": False}, (2, 3, 4, 5, 6, 7, 8)),
        (8, {"strict": True}, (6, 7, 8)),
        (8, {"strict": False, "is_looked_at_once": True}, (8,)),
        (3, {"strict": True, "is_looked_at_once": True}, (3,)),
        (1, {"strict": False}, ()),
    ],
)
def test_when_a_trial_is_looked_at(launches, options, looks):
    assert design_of(launches, 0.02, **options).looks == looks


def test_one_look_spends_all_of_the_error():
    design = design_of(8, 0.02, strict=False, is_looked_at_once=True)
    assert design.level(8) == pytest.approx(design.error)
