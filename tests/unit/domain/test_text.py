from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specctl.domain.text import cell_width, clean, clean_lines, shorten


@pytest.mark.parametrize(
    ("raw", "safe"),
    [
        ("plain [not/markup]", "plain [not/markup]"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;ZXZpbA==", ""),
        ("\x1bPq#0\x1b\\ok", "ok"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1bc\x1b(B\x1b7x", "x"),
        ("cut off \x1b[3", "cut off "),
        ("cut off \x1b", "cut off "),
        ("bell\x07 null\x00 del\x7f", "bell null del"),
        ("\u202egnp.exe\u2066", "gnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("10%\r55%\r100%", "100%"),
        ("10%\r55%\r", "55%"),
        ("windows\r\n", "windows"),
        ("two\nlines\u2028three", "two lines three"),
        ("a\tb", "a       b"),
        ("\ud83d half", "\ufffd half"),
        ("日本 🎉 é", "日本 🎉 é"),
        ("", ""),
    ],
)
def test_a_line_is_made_safe(raw, safe):
    assert clean(raw) == safe


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(), max_size=200))
def test_what_is_cleaned_is_one_encodable_line_and_stays_as_it_is(raw):
    safe = clean(raw)
    assert len(safe.splitlines()) <= 1
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in safe)
    safe.encode("utf-8")
    assert clean(safe) == safe


@pytest.mark.parametrize(
    ("raw", "lines"),
    [("", []), ("a\nb\n", ["a", "b"]), ("a\n\nb", ["a", "", "b"]), ("a\r\n\x1b[1mb", ["a", "b"])],
)
def test_lines_are_cleaned_one_by_one(raw, lines):
    assert clean_lines(raw) == lines


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("🎉", 2), ("ｆ", 2), ("", 0), ("–…", 2)],
)
def test_width_is_counted_in_cells(text, width):
    assert cell_width(text) == width


@pytest.mark.parametrize(
    ("text", "cells", "middle", "short"),
    [
        ("abc", 3, False, "abc"),
        ("abcd", 3, False, "ab…"),
        ("abcdefgh", 5, True, "ab…gh"),
        ("日本語", 4, False, "日…"),
        ("日本語日本語", 7, True, "日…本語"),
        ("abc", 1, False, "…"),
        ("abc", 0, False, ""),
    ],
)
def test_text_is_shortened_with_an_ellipsis(text, cells, middle, short):
    assert shorten(text, cells, middle=middle) == short


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=40), st.integers(0, 30), st.booleans())
def test_shortened_text_fits(text, cells, middle):
    assert cell_width(shorten(text, cells, middle=middle)) <= cells
