from __future__ import annotations

import pytest

from specctl.tui.editor import Editor
from specctl.tui.render.lines import plain
from specctl.tui.render.prompt import draw_profiles
from specctl.tui.services import ProfileChoice

NOTE = "SIMULATED: leaves no GPU memory for graphs, so that it ends while they are captured"
CHOICES = [
    ProfileChoice("lab-baseline", None, "kimi", note="short"),
    ProfileChoice("lab-crowded", None, "kimi", note=NOTE),
]  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "rows", "is_whole"), [(1, 20, True), (0, 20, False), (1, 6, False)]
)
def test_a_note_that_is_cut_is_whole_below_where_rows_are_left(chosen, rows, is_whole):
    body = draw_profiles("lab-1", CHOICES, Editor(), 76, rows, chosen=chosen).body
    assert len(body) <= rows
    assert (NOTE in " ".join(plain(body).split())) == is_whole


def test_one_is_one_profile():
    drawing = draw_profiles("lab-1", CHOICES[:1], Editor(), 76, 20, chosen=0)
    assert plain([drawing.summary]) == "1 profile"
