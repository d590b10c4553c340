from __future__ import annotations

import itertools

import pytest

from specctl.tui.arrange import (
    Place,
    Places,
    arrange_difference,
    arrange_fleet,
    arrange_host,
    arrange_launch,
    arrange_profiles,
    arrange_source,
    dialog,
    is_too_small,
    zoomed,
)

SIZES = list(
    itertools.product((80, 99, 100, 120, 159, 160, 200, 250), (24, 31, 32, 40, 48, 50, 60))
)


def do_overlap(one: Place, other: Place) -> bool:
    beside = one.x + one.cells <= other.x or other.x + other.cells <= one.x
    over = one.y + one.rows <= other.y or other.y + other.rows <= one.y
    return not beside and not over


def assert_tiled(places: Places, cells: int, rows: int) -> None:
    """Every cell between header and footer belongs to one panel."""
    at = f"at {cells}x{rows}: {places}"
    for place in places.values():
        assert 0 <= place.x < place.x + place.cells <= cells, at
        assert 1 <= place.y < place.y + place.rows <= rows - 1, at
    for one, other in itertools.combinations(places.values(), 2):
        assert not do_overlap(one, other), at
    assert sum(place.cells * place.rows for place in places.values()) == cells * (rows - 2), at


def assert_high_enough(places: Places, cells: int, rows: int) -> None:
    assert all(place.rows >= 3 for place in places.values()), f"at {cells}x{rows}: {places}"


@pytest.mark.parametrize("lines", [1, 5, 16, 70])
def test_the_fleet_is_tiled(lines: int) -> None:
    for cells, rows in SIZES:
        assert_tiled(arrange_fleet(cells, rows, lines), cells, rows)


@pytest.mark.parametrize("lines", [2, 7, 9, 17])
@pytest.mark.parametrize(("slot", "lower"), [("server", "log"), ("processes", "processes")])
def test_a_host_is_tiled(lines: int, slot: str, lower: str) -> None:
    for cells, rows in SIZES:
        places = arrange_host(cells, rows, lines, slot=slot, lower=lower)

        assert_tiled(places, cells, rows)
        assert_high_enough(places, cells, rows)
        assert places["throughput"].rows >= 7, (cells, rows)


@pytest.mark.parametrize("has_failed", [True, False])
def test_a_launch_is_tiled(*, has_failed: bool) -> None:
    for cells, rows in SIZES:
        assert_tiled(arrange_launch(cells, rows, has_failed=has_failed), cells, rows)


def test_a_zoomed_panel_takes_everything() -> None:
    for cells, rows in SIZES:
        assert_tiled(zoomed("log", cells, rows), cells, rows)


def test_a_table_takes_its_rows_and_the_rest_is_the_previews() -> None:
    places = arrange_fleet(120, 40, 4)

    assert places["hosts"].rows == 6
    assert places["preview"].rows == 32


def test_short_screens_have_rules_and_share_a_slot() -> None:
    places = arrange_host(80, 24, 9, slot="log", lower="log")

    assert set(places) == {"gpus", "throughput", "log"}
    assert all(place.rule for place in places.values())


def test_a_dialog_is_the_screen_where_it_is_small() -> None:
    assert dialog(80, 24, 92, 27) == Place(0, 0, 80, 24)
    assert dialog(120, 40, 92, 27) == Place(14, 6, 92, 27)
    assert dialog(120, 40, 92, 60).rows == 36


@pytest.mark.parametrize(
    ("cells", "rows", "small"), [(80, 24, False), (79, 24, True), (80, 23, True)]
)
def test_too_small(cells: int, rows: int, *, small: bool) -> None:
    assert is_too_small(cells, rows) is small


@pytest.mark.parametrize(("algorithms", "said"), [(0, 0), (8, 0), (8, 40), (40, 3)])
@pytest.mark.parametrize("slot", ["rules", "flags", "viewer", "files"])
@pytest.mark.parametrize("has_hits", [True, False])
def test_a_source_is_tiled(algorithms: int, said: int, slot: str, *, has_hits: bool) -> None:
    for cells, rows in SIZES:
        places = arrange_source(
            cells, rows, algorithms=algorithms, said=said, slot=slot, has_hits=has_hits
        )

        assert_tiled(places, cells, rows)
        assert_high_enough(places, cells, rows)


@pytest.mark.parametrize("profiles", [1, 10, 200])
@pytest.mark.parametrize(("slot", "lower"), [("text", "command"), ("recipe", "recipe")])
def test_profiles_are_tiled(profiles: int, slot: str, lower: str) -> None:
    for cells, rows in SIZES:
        places = arrange_profiles(cells, rows, profiles=profiles, slot=slot, lower=lower)

        assert_tiled(places, cells, rows)
        assert_high_enough(places, cells, rows)


@pytest.mark.parametrize("lines", [0, 5, 900])
def test_a_comparison_is_tiled(lines: int) -> None:
    for cells, rows in SIZES:
        assert_tiled(arrange_difference(cells, rows, lines), cells, rows)
