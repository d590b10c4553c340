"""Views are gone back to and on from, as a browser does with pages."""

from __future__ import annotations

from specctl.tui.visits import Visits


def visited(*views: str, most: int = 8) -> Visits[str]:
    visits: Visits[str] = Visits(most)
    for view in views:
        visits.note(tuple(view))
    return visits


def test_steps_go_through_the_views_and_end_at_both_ends() -> None:
    visits = visited("f", "fh", "fhl")
    assert visits.step(1) is None
    assert [visits.step(-1), visits.step(-1), visits.step(-1)] == [("f", "h"), ("f",), None]
    assert [visits.step(1), visits.step(1), visits.step(1)] == [("f", "h"), ("f", "h", "l"), None]


def test_the_view_in_front_is_noted_once() -> None:
    visits = visited("f", "fh", "fh")
    assert [visits.step(-1), visits.step(-1)] == [("f",), None]
    visits.note(("f",))
    assert visits.step(1) == ("f", "h"), "noting what one came back to forgets nothing"


def test_going_on_from_an_earlier_view_forgets_the_later_ones() -> None:
    visits = visited("f", "fh", "fhl")
    visits.step(-1)
    visits.note(("f", "a"))
    assert visits.step(1) is None
    assert visits.step(-1) == ("f", "h")
    assert visits.screens == ["f", "h", "a"]


def test_the_oldest_views_are_forgotten_first() -> None:
    visits = visited("f", "fa", "fb", "fc", most=2)
    assert visits.screens == ["f", "b", "c"]
    assert [visits.step(-1), visits.step(-1)] == [("f", "b"), None]


def test_before_anything_was_visited_there_is_nowhere_to_go() -> None:
    assert visited().step(-1) is None
    assert visited().step(1) is None
