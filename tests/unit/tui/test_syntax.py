"""Code as spans: what is coloured, and that no character is lost or moved."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.tui.render.syntax import Code, from_column, language_of, marked, read_code

if TYPE_CHECKING:
    from specctl.tui.render.lines import Line

PYTHON = '''"""One.

Two.
"""
@decorated(1)
def f(x: int = 0x1F) -> str:  # why
    """Doc."""
    text = "a # no comment" + 'b' + """long
    still {x}
    """ + "after"
    return None if x else f"{x!r}"
'''

CUDA = """#include <cuda.h>
/* one
   two */ int x = 1;  // three
__global__ void k(const float* p) { return; }
"""


def tokens_of(code: Code, index: int, token: str) -> list[str]:
    return [text for text, kind in code.line(index) if kind == token]


def test_python_words_numbers_strings_and_comments() -> None:
    code = read_code("a.py", PYTHON)

    assert tokens_of(code, 4, "word") == ["@decorated"]
    assert tokens_of(code, 5, "word") == ["def"]
    assert tokens_of(code, 5, "num") == ["0x1F"]
    assert tokens_of(code, 5, "comment") == ["# why"]
    assert tokens_of(code, 10, "word") == ["return", "if", "else"]
    assert tokens_of(code, 10, "num") == ["None"]
    assert tokens_of(code, 10, "string") == ['"{x!r}"']


def test_a_docstring_is_a_comment_also_over_several_lines() -> None:
    code = read_code("a.py", PYTHON)

    for index in range(4):
        assert all(kind == "comment" for _, kind in code.line(index)), index
    assert tokens_of(code, 6, "comment") == ['"""Doc."""']


def test_a_long_string_is_one_where_it_is_a_value() -> None:
    code = read_code("a.py", PYTHON)

    assert tokens_of(code, 7, "string") == ['"a # no comment"', "'b'", '"""long']
    assert code.line(8) == [("    still {x}", "string")]
    assert tokens_of(code, 9, "string") == ['    """', '"after"']


def test_cuda_and_its_comments() -> None:
    code = read_code("a.cu", CUDA)

    assert tokens_of(code, 0, "word") == ["#include"]
    assert code.line(1) == [("/* one", "comment")]
    assert tokens_of(code, 2, "comment") == ["   two */", "// three"]
    assert tokens_of(code, 2, "word") == ["int"]
    assert tokens_of(code, 3, "word") == ["__global__", "void", "const", "float", "return"]


def test_toml_tables_strings_and_comments() -> None:
    code = read_code("p.toml", '[on.x]  # why\na = "b" # c\nd = 8\ne = true\n')

    assert tokens_of(code, 0, "word") == ["[on.x]"]
    assert tokens_of(code, 1, "string") == ['"b"']
    assert tokens_of(code, 1, "comment") == ["# c"]
    assert tokens_of(code, 2, "num") == ["8"]
    assert tokens_of(code, 3, "num") == ["true"]


@pytest.mark.parametrize(
    ("name", "is_known"),
    [("a.py", True), ("b.CU", True), ("c.hpp", True), ("d.toml", True), ("noend", False)],
)
def test_languages_are_told_by_the_name(name: str, *, is_known: bool) -> None:
    assert (language_of(name) is not None) == is_known


def test_tabs_controls_and_carriage_returns_are_made_safe() -> None:
    code = read_code("a.py", "\tx = 1\r\n\x1b[31mred\r")

    assert code.lines == ["    x = 1", " [31mred"]


@given(
    st.text(alphabet="ab'\"#\\/*\n {}[]@=1\t", max_size=200),
    st.sampled_from(["a.py", "a.cu", "a.toml", "a"]),
)
def test_no_character_is_lost(text: str, name: str) -> None:
    code = read_code(name, text)

    for index, line in enumerate(code.lines):
        assert "".join(part for part, _ in code.line(index)) == line


def test_an_unclosed_string_ends_with_the_file() -> None:
    code = read_code("a.py", 'x = 1\n"""never\nclosed')

    assert code.line(2) == [("closed", "comment")]


def test_a_long_file_is_ready_at_once() -> None:
    text = 'def f():\n    """Doc\n    more."""\n    return "x"  # why\n' * 5000
    begun = time.process_time()
    code = read_code("a.py", text)
    took_s = time.process_time() - begun

    assert len(code.lines) == 20_000
    assert not code.spans
    assert took_s < 0.5, "generous: some 15 ms on a quiet machine"
    assert code.line(19_999)[-1] == ("# why", "comment")


LINE: Line = [("ab", "text"), ("cd", "word"), ("ef", "text")]


def test_ranges_are_marked_over_span_borders() -> None:
    assert marked(LINE, [(1, 3)], "warn-fill") == [
        ("a", "text"), ("b", "text on warn-fill"), ("c", "word on warn-fill"), ("d", "word"),
        ("ef", "text"),
    ]  # fmt: skip
    assert marked(LINE, [], "warn-fill") == LINE


def test_a_line_begins_where_it_is_looked_at() -> None:
    assert from_column(LINE, 3) == [("d", "word"), ("ef", "text")]
    assert from_column(LINE, 0) == LINE
    assert from_column(LINE, 99) == []
