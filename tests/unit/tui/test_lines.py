from __future__ import annotations

import pytest
from rich.cells import cell_len

from specctl.tui.render.frames import Kept, framed
from specctl.tui.render.lines import (
    Drawing,
    Line,
    clip,
    few,
    fit,
    guard,
    middle,
    plain,
    safe,
    spread,
    width,
    wrap,
)

HOSTILE = (
    "plain",
    "[/foo] [bold]x[/bold] [unknown]",
    "\x1b[2J\x1b]0;title\x07red",
    "a\rb\nc\td\x00e\x9b31m",
    "\u202eright to left\u202c \u200bzero\u2066",
    "日本語モデル名 кириллица",
    "e\u0301" * 40,
    "👩\u200d👩\u200d👧 family",
    "x" * 1_000_000,
    "",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_safe_text_has_nothing_a_terminal_acts_on(text: str) -> None:
    cleaned = safe(text)

    assert cleaned.isprintable()
    assert "\x1b" not in cleaned
    assert "\u202e" not in cleaned


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("cells", [0, 1, 2, 5, 40])
def test_fit_is_exactly_as_wide_as_asked(text: str, cells: int) -> None:
    line = guard([(text, "text"), ("tail", "dim")])

    assert width(fit(line, cells)) == cells


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("cells", [5, 6, 17, 40])
def test_middle_never_exceeds_its_room(text: str, cells: int) -> None:
    assert cell_len(middle(safe(text), cells)) <= cells


def test_middle_keeps_both_ends() -> None:
    short = middle("kimi-k2.5-eagle3-speculators-v2", 18)

    assert short == "kimi-k2.5…ators-v2"
    assert cell_len(short) == 18


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("rule", [True, False])
def test_a_frame_holds_whatever_is_in_it(text: str, *, rule: bool) -> None:
    line: Line = [(text, "text")]
    drawing = Drawing(text[:3000], [line, line], line, line, 0)

    lines = framed(drawing, 60, 6, number="1", has_focus=True, rule=rule)

    assert len(lines) == 6
    assert [width(drawn) for drawn in lines] == [60] * 6
    assert all(part.isprintable() for drawn in lines for part, _ in drawn)


@pytest.mark.parametrize("cells", range(4, 60))
def test_a_frame_of_any_width_is_closed(cells: int) -> None:
    drawing = Drawing("Throughput", [], [("52.0", "strong"), ("  ", ""), ("42 s old", "warn")])
    top = framed(drawing, cells, 3, number="2", has_focus=False, rule=False)[0]

    assert width(top) == cells
    assert top[0][0] == "╭"
    assert top[-1][0] == "╮"


def test_a_summary_loses_whole_items_before_the_title_is_cut() -> None:
    summary: Line = [("8 × RTX PRO 6000", "dim"), ("  ", ""), ("1.88", "strong"), (" kW", "dim")]
    top = framed(Drawing("GPUs", [], summary), 36, 3, number="1", has_focus=False, rule=False)[0]

    assert "GPUs" in plain([top])
    assert "8 × RTX PRO 6000" in plain([top])
    assert "kW" not in plain([top])


def test_few_never_shows_half_an_item() -> None:
    items: list[Line] = [[("running 1", "")], [("queued 0", "")], [("KV 1.2%", "")]]

    assert plain([few(items, 22)]) == "running 1   queued 0"
    assert few(items, 5) == []


def test_clip_marks_the_cut() -> None:
    assert plain([clip([("decode batch", "text")], 7)]) == "decode…"


def test_spread_lets_the_left_part_yield() -> None:
    line = spread([("a very long left part", "")], [("right", "")], 14)

    assert plain([line]) == "a very l…right"


def test_wrap_cuts_only_words_longer_than_the_line() -> None:
    assert wrap("set mem-fraction-static to 0.92", 20) == ["set", "mem-fraction-static", "to 0.92"]
    assert wrap("x" * 50, 10) == ["xxxxxxxxx…"]
    assert wrap("", 10) == []


def test_focus_shows_in_two_ways_that_survive_without_colour() -> None:
    calm = framed(Drawing("GPUs", []), 20, 3, number="1", has_focus=False, rule=False)
    focused = framed(Drawing("GPUs", []), 20, 3, number="1", has_focus=True, rule=False)

    assert plain(calm) != plain(focused)
    assert (" 1 ", "keybox") in focused[0]


def test_what_is_stale_keeps_its_words_and_loses_its_colours() -> None:
    drawing = Drawing("GPUs", [[("88", "warnb"), (" °C", "dim")]], is_stale=True)
    row = framed(drawing, 20, 3, number="1", has_focus=False, rule=False)[1]

    assert ("88", "stale") in row
    assert (" °C", "dim") in row


@pytest.mark.parametrize("rule", [True, False])
def test_only_rows_that_differ_are_framed_again(*, rule: bool) -> None:
    kept = Kept()

    def frame(*texts: str, cursor: int | None = None, has_focus: bool = False) -> list[Line]:
        drawing = Drawing("GPUs", [[(text, "text")] for text in texts], cursor=cursor)
        drawn = framed(drawing, 20, 5, number="1", has_focus=has_focus, rule=rule, kept=kept)
        assert drawn == framed(drawing, 20, 5, number="1", has_focus=has_focus, rule=rule)
        return drawn

    def again(before: list[Line], now: list[Line]) -> list[int]:
        return [y for y, row in enumerate(now) if row is not before[y]]

    first = frame("one", "two")
    second = frame("one", "three")
    chosen = frame("one", "three", cursor=0)

    assert again(first, second) == [2]
    assert again(second, chosen) == [1]
    assert again(chosen, frame("one", "three", cursor=0, has_focus=True)) == [0, 1, 2, 3, 4]
