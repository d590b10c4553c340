"""Where clicks on lines of spans land."""

from __future__ import annotations

import pytest

from specctl.tui.pressing import named
from specctl.tui.render.chrome import header, hints
from specctl.tui.render.hits import ACTION, crumb, hit, is_count, text_at
from specctl.tui.render.lines import Line, spread
from specctl.tui.render.trials import trial_head
from tests.tui import story
from tests.unit.tui.scenes import scene_of

FOOTER: Line = [(" ", ""), *hints([("enter", "open"), ("{ }", "host")]), ("   ", ""), ("●", "ok")]
BUTTONS: Line = [
    *spread(hints([("enter", "do it")]), [], 20),
    ("  Cancel  esc  ", "button on panel"),
    ("   ", ""),
    ("  Stop  ", "chosen"),
    ("│", "border"),
]


def hits(line: Line) -> list[str]:
    """What each cell of a line presses."""
    return [hit(line, cell) for cell in range(sum(len(text) for text, _ in line))]


def test_an_item_is_its_key_and_its_words_and_no_more() -> None:
    assert hits(FOOTER) == ["", *["enter"] * 10, *[""] * 2, *["{"] * 2, *["}"] * 6, *[""] * 4]


def test_buttons_end_where_they_end() -> None:
    found = hits(BUTTONS)
    assert found[:11] == ["enter"] * 11
    assert found[11:20] == [""] * 9
    assert found[20:35] == ["esc"] * 15
    assert found[35:38] == [""] * 3
    assert found[38:46] == [ACTION] * 8
    assert found[46:] == [""]


def test_a_button_that_is_off_is_none() -> None:
    line: Line = [("  Cancel  esc  ", "chosen"), ("   ", ""), ("  Stop  ", "dim on panel")]
    assert hits(line)[15:] == [""] * 11


def test_a_key_before_a_column_of_words_has_the_words() -> None:
    line: Line = [(" i ", "keybox"), ("  ", ""), ("Make one", "bright"), ("    ", "")]
    assert hits(line) == [*["i"] * 13, *[""] * 4]


def test_a_struck_key_is_the_first_word_of_its_span() -> None:
    assert hits([("s start", "strike"), ("  ", ""), ("x", "key")]) == [*["s"] * 7, "", "", "x"]


def test_words_of_a_filter_are_no_key() -> None:
    assert hits([("/tok/s", "prompt"), (" 3 of 4", "text")]) == [""] * 13


@pytest.mark.parametrize(
    ("written", "key"),
    [("esc", "escape"), ("↓", "down"), ("?", "question_mark"), ("}", "right_curly_bracket"),
     ("G", "G"), ("ctrl+s", "ctrl+s"), (":readonly", ""), ("…", ""), ("fix", "")],
)  # fmt: skip
def test_keys_have_the_names_that_a_terminal_sends(written: str, key: str) -> None:
    assert named(written) == key


def test_crumbs_count_from_the_last() -> None:
    line = header(scene_of(story.fleet()), ["Fleet", "pro6k-01", "Log"], 120, host="pro6k-01")
    text = "".join(text for text, _ in line)
    assert crumb(line, text.index("Fleet")) == 3
    assert crumb(line, text.index("pro6k-01")) == 2
    assert crumb(line, text.index("Log")) == 1
    assert crumb(line, text.index("›")) is None
    counts = [at for at in range(120) if is_count(line, at)]
    warned, lost = text.index("▲2"), text.index("✗3")
    assert counts == [warned, warned + 1, lost, lost + 1]


def test_a_head_has_the_width_of_its_column() -> None:
    line = trial_head(116, has_kinds=False)
    text = "".join(text for text, _ in line)
    assert text_at(line, 0) == text_at(line, 20) == "VERDICT"
    assert text_at(line, text.index("HOST") + 12) == "HOST"
    assert text_at(line, text.index("AGE")) == "AGE"
