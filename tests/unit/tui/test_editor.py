from __future__ import annotations

import pytest

from specctl.tui.editor import LONGEST, Editor
from specctl.tui.render.lines import plain


def typed(*keys: str, start: Editor = Editor()) -> Editor:  # noqa: B008
    editor = start
    for key in keys:
        character = key if len(key) == 1 else " " if key == "space" else None
        edited = editor.key(key, character)
        assert edited is not None
        editor = edited
    return editor


@pytest.mark.parametrize(
    ("keys", "text", "at"),
    [
        (("a", "b", "c"), "abc", 3),
        (("a", "b", "left", "x"), "axb", 2),
        (("a", "b", "backspace"), "a", 1),
        (("backspace",), "", 0),
        (("a", "b", "home", "delete"), "b", 0),
        (("a", "b", "left", "left", "left", "right"), "ab", 1),
        (("o", "n", "e", "space", "t", "w", "o", "ctrl+w"), "one ", 4),
        (("a", "b", "left", "ctrl+u"), "b", 0),
        (("a", "home", "end", "b"), "ab", 2),
        (("日", "本"), "日本", 2),
    ],
)
def test_editing(keys: tuple[str, ...], text: str, at: int) -> None:
    assert typed(*keys) == Editor(text, at)


@pytest.mark.parametrize("key", ["enter", "tab", "up", "ctrl+p", "f1", "escape"])
def test_other_keys_do_not_edit(key: str) -> None:
    assert Editor("a", 1).key(key, None) is None


def test_a_paste_becomes_one_safe_line() -> None:
    editor = Editor().insert("two\nlines\x1b[2J\u202e")

    assert editor.text.isprintable()
    assert "\n" not in editor.text


def test_a_paste_is_bounded() -> None:
    assert len(Editor().insert("x" * 1_000_000).text) == LONGEST


def test_the_caret_is_where_the_next_character_goes() -> None:
    assert plain([Editor("ab", 2).line()]) == "ab▏"
    assert ("b", "badge") in Editor("abc", 1).line()
