"""The log as lines: bounded, searched, wrapped by cells, with its times; pure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from specctl.domain.errors import UsageError
from specctl.tui.reel import CUT, LINE_CHARACTERS, Reel, chopped, compiled
from specctl.tui.render.lines import plain, width
from specctl.tui.render.log_text import (
    LogStanding,
    LogView,
    Times,
    bottom_for,
    draw_log_text,
    lines_in_sight,
    log_rows,
)

STAMPED = "[2026-04-08 14:05:21 DP1 TP3] Decode batch. #running-req: 1"


def reel_of(*lines: str, most: int = 100) -> Reel:
    reel = Reel(most)
    reel.append(lines)
    return reel


def texts(reel: Reel) -> list[str]:
    return list(reel.texts())


def shown(reel, view=None, standing=None, rows=5):
    drawing, first = draw_log_text(reel, standing or LogStanding(), view or LogView(), 60, rows)
    return plain(drawing.body).split("\n"), first, drawing


# ---------------------------------------------------------------- the reel


def test_the_oldest_lines_make_room_and_numbers_stay():
    reel = reel_of(*(f"{n}" for n in range(150)))
    assert (reel.first, reel.last, len(reel)) == (50, 149, 100)
    assert reel.entry(149).text == "149"


def test_earlier_lines_come_before_the_first_as_far_as_there_is_room():
    reel = reel_of("c", "d", most=4)
    assert reel.prepend(["-", "a", "b"]) == 2
    assert texts(reel) == ["a", "b", "c", "d"]
    assert (reel.first, reel.last) == (-2, 1)
    assert reel.is_full
    assert reel.prepend(["more"]) == 0


def test_a_line_of_a_megabyte_is_cut():
    reel = reel_of("x" * (1 << 20))
    assert len(reel.entry(0).text) == LINE_CHARACTERS + len(CUT)


def test_a_search_counts_what_comes_and_forgets_what_goes():
    reel = reel_of("error one", "fine", most=3)
    reel.search("error")
    assert list(reel.hits) == [0]
    reel.append(["Error two", "fine"])
    assert list(reel.hits) == [2]
    assert reel.prepend(["error zero"]) == 0
    reel = reel_of("error one", "fine")
    reel.search("error")
    reel.prepend(["an error", "fine"])
    assert list(reel.hits) == [-2, 0]
    assert (reel.rank(0), reel.rank(-1)) == (2, 0)
    assert (reel.next_hit(-2, 1), reel.next_hit(0, 1), reel.next_hit(0, -1)) == (0, -2, -2)
    reel.search("")
    assert (list(reel.hits), reel.next_hit(0, 1)) == ([], None)


@pytest.mark.parametrize(
    ("terms", "text", "is_found"),
    [
        ("oom", "OOM", True),
        ("OOM", "oom", False),
        ("#run.*: 1", STAMPED, True),
        ("a(b", "a(b", True),
        ("[", "x[0]", True),
    ],
)
def test_words_and_expressions(terms, text, is_found):
    assert bool(compiled(terms).pattern.search(text)) is is_found


@given(st.text(max_size=60), st.integers(1, 30), st.integers(1, 30))
def test_pieces_fit_and_are_all_there(text, first, cells):
    places = chopped(text, first, cells)
    starts = [0, *places[:-1]]
    pieces = [text[a:b] for a, b in zip(starts, places, strict=True)]
    assert "".join(pieces) == text
    assert all(cell_len(piece) <= max(2, cells if n else first) for n, piece in enumerate(pieces))


# ---------------------------------------------------------------- rows


@pytest.mark.parametrize(
    ("times", "begins"),
    [(Times.LOG, "14:05:21 "), (Times.ARRIVAL, "12:00:07 "), (Times.NONE, "  DP1")],
)
def test_the_time_before_a_line(times, begins):
    reel = Reel()
    reel.append([STAMPED], 43_207.0)
    (row,) = log_rows(reel.entry(0), 80, LogView(times=times), None, is_chosen=False)
    assert plain([row]).startswith(begins)
    assert "DP1 TP3 Decode batch" in plain([row])


def test_what_was_there_before_has_no_time_of_arrival():
    (row,) = log_rows(
        reel_of("a").entry(0), 80, LogView(times=Times.ARRIVAL), None, is_chosen=False
    )
    assert plain([row]).startswith("—        ")


WIDE = ("日本語" * 20, "e\u0301" * 50, "שלום " * 20, "🙂" * 30, "word " * 40, "")


@pytest.mark.parametrize("text", WIDE, ids=range(len(WIDE)))
@pytest.mark.parametrize("cells", [20, 37, 80])
def test_wrapped_rows_are_within_the_edge_and_complete(text, cells):
    entry = reel_of("[2026-04-08 14:05:21 TP0] " + text).entry(0)
    rows = log_rows(entry, cells, LogView(wraps=True), None, is_chosen=False)
    assert all(width(row) <= cells for row in rows)
    joined = "".join("".join(t for t, _ in row)[11:] for row in rows)
    assert joined.replace("TP0 ", "", 1).replace(" ", "") == text.replace(" ", "")


def test_every_match_is_marked():
    reel = reel_of("spec: spec_verify of spec")
    reel.search("spec")
    (row,) = log_rows(reel.entry(0), 80, LogView(), reel.found, is_chosen=False)
    assert [text for text, token in row if " on " in token] == ["spec"] * 3


def test_looking_to_the_right_leaves_times_where_they_are():
    entry = reel_of(STAMPED).entry(0)
    (row,) = log_rows(entry, 80, LogView(left=7), None, is_chosen=False)
    assert plain([row]) == "14:05:21   DP1 TP3 batch. #running-req: 1"


# ---------------------------------------------------------------- in sight


def test_the_end_is_in_sight_while_it_follows():
    rows, first, drawing = shown(reel_of(*(f"line {n}" for n in range(20))))
    assert [row.strip() for row in rows] == [f"line {n}" for n in range(15, 20)]
    assert first == 15
    assert ("● following", "ok") in drawing.summary


def test_scrolled_back_it_says_how_far():
    rows, _, drawing = shown(reel_of(*(f"line {n}" for n in range(20))), LogView(bottom=10))
    assert rows[-1].strip() == "line 10"
    assert "9 lines back" in plain([drawing.summary])


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (LogStanding(), "the beginning of the log"),
        (LogStanding(has_earlier=True), "k reads what was before"),
        (LogStanding(has_earlier=True, is_reading=True), "reading what was before"),
    ],
)
def test_before_the_first_line_stands_what_more_there_is(standing, words):
    rows, _, _ = shown(reel_of("one", "two"), standing=standing)
    assert words in rows[0]
    assert rows[2].strip() == "two"


def test_a_full_reel_says_what_has_all_of_it():
    rows, _, _ = shown(reel_of("a", "b", most=2), standing=LogStanding(has_earlier=True))
    assert "ctrl+s saves all of it" in rows[0]


def test_the_first_line_can_be_brought_to_the_top_when_lines_are_wrapped():
    reel = reel_of(*(f"line {n} " + "x" * (n % 5) * 30 for n in range(50)))
    view = LogView(wraps=True)
    for top in (0, 7, 23, 49):
        bottom = bottom_for(reel, top, view, 40, 12)
        _, first, _ = lines_in_sight(reel, LogView(wraps=True, bottom=bottom), 40, 12)
        assert first <= top <= bottom


def test_matches_are_counted_and_the_chosen_one_has_its_number():
    reel = reel_of(*(f"line {n}" for n in range(20)))
    reel.search("line 1")
    _, _, drawing = shown(reel, LogView(chosen=12, bottom=14))
    assert "/line 1 4 of 11" in plain([drawing.summary])
    assert drawing.cursor == 2
    reel.search("nothing")
    assert "not found" in plain([shown(reel)[2].summary])


def test_a_cause_stands_under_the_lines():
    standing = LogStanding(cause=("GPU memory ran out", "Lower --mem-fraction-static."))
    rows, _, _ = shown(reel_of("one"), standing=standing, rows=8)
    assert rows[-2:] == ["✗ GPU memory ran out", "  Lower --mem-fraction-static."]


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (LogStanding(is_reading=True, path="/a/b.log"), "◐ Reading /a/b.log"),
        (LogStanding(path="/a/b.log"), "Nothing is written yet to /a/b.log."),
        (LogStanding(error=UsageError("it writes to a terminal", hint="tmux")), "✗ it writes to a"),
    ],
)
def test_without_a_line_it_says_why(standing, words):
    assert shown(Reel(), standing=standing)[0][0].startswith(words)


@pytest.mark.parametrize("text", ["[/x] [bold]", "\x1b[2J\x07", "a\rb", "\u202e", "\ud800"])
@pytest.mark.parametrize("wraps", [True, False])
def test_nothing_in_a_line_is_acted_on(text, wraps):
    rows = log_rows(reel_of(text).entry(0), 40, LogView(wraps=wraps), None, is_chosen=True)
    assert all(part.isprintable() for row in rows for part, _ in row)
