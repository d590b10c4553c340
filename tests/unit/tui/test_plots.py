from __future__ import annotations

import pytest

from specctl.tui.render.lines import plain, width
from specctl.tui.render.plots import (
    accept_top,
    area,
    axis,
    bar,
    labels,
    rate_top,
    spark,
    time_axis,
    trace,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "──────────"),
        (0.001, "╸─────────"),
        (0.5, "━━━━━─────"),
        (0.65, "━━━━━━╸───"),
        (1.0, "━━━━━━━━━━"),
        (1.7, "━━━━━━━━━━"),
        (None, "╌╌╌╌╌╌╌╌╌╌"),
    ],
)
def test_bars_are_thin_and_go_in_half_cells(share: float | None, text: str) -> None:
    assert plain([bar(share, 10)]) == text


def test_unknown_idle_and_full_look_different_in_one_cell() -> None:
    assert spark(0, 0, 100) == "▁"
    assert spark(100, 0, 100) == "▇"


def test_a_trace_leaves_out_what_was_not_measured() -> None:
    assert trace([None, None, 3.0, 3.0], 0, 4) == " ⠉"
    assert trace([0.0, 0.0], 0, 4) == "⣀"


def test_a_line_stays_unbroken_under_the_break_even() -> None:
    rows = area([1.5] * 8, 6, low=1.0, high=2.2, line_at=1.69)

    assert "╌" * 8 in plain(rows)
    assert all(token != "ok" for row in rows for _, token in row)


def test_what_passes_the_line_turns_green_and_covers_the_dashes() -> None:
    rows = area([2.1] * 8, 6, low=1.0, high=2.2, line_at=1.69)
    tokens = {token for row in rows for _, token in row}

    assert "ok" in tokens
    assert "ref on data" in tokens


def test_a_gap_stays_empty() -> None:
    rows = area([2.0, None, 2.0], 4, low=1.0, high=2.0)

    assert all(text[1] == " " for text in plain(rows).splitlines())


def test_the_smallest_value_is_seen() -> None:
    assert plain(area([0.0], 3, low=0, high=100)).splitlines()[-1] == "▁"


@pytest.mark.parametrize(
    ("values", "even", "top"),
    [
        ([1.5, None], 1.69, 2.2),
        ([1.0], None, 1.2),
        ([2.77], 1.64, 3.0),
        ([9.5], None, 10.0),
        ([None], 1.2, 1.6),
    ],
)
def test_an_accept_axis_changes_in_steps(
    values: list[float | None], even: float | None, top: float
) -> None:
    assert accept_top(values, even) == top


@pytest.mark.parametrize(
    ("values", "line", "top"),
    [([52.0], 58.6, 80), ([1240.0], 734, 2000), ([None], None, 1), ([9.9], None, 10)],
)
def test_a_rate_axis_changes_in_steps(
    values: list[float | None], line: float | None, top: float
) -> None:
    assert rate_top(values, line) == top


def test_the_line_wins_a_shared_label_row() -> None:
    found = labels(1, (1.0, "1.00"), (2.2, "2.20"), (1.69, "1.69"))

    assert found == {0: ("1.69", "ref")}


def test_axis_labels_stand_in_a_gutter_of_fixed_width() -> None:
    rows = axis(area([1.0] * 4, 3, low=1, high=2), labels(3, (1.0, "1.00"), (2.0, "2.00"), None))

    assert [width(row) for row in rows] == [10, 10, 10]


@pytest.mark.parametrize("cells", [12, 30, 120])
def test_the_time_axis_ends_now(cells: int) -> None:
    line = time_axis(cells, 5)

    assert plain([line]).startswith("      -5 min")
    assert width(line) == cells + 6 if cells > 15 else True
