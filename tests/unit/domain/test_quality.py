from __future__ import annotations

import pytest

from specctl.domain.quality import (
    compression_ratio,
    distinct_share,
    find_repetition,
    longest_tail_loop,
)

PROSE = (
    "The harbour froze in the second week of January, which it had not done for thirty-one "
    "years. At first the ferrymen laughed and chopped a channel with axes each morning; by the "
    "eighteenth it closed behind the boat as it passed. The council met twice, voted to send for "
    "the icebreaker, and then, when the price was read out, voted to wait a little longer."
)
CODE = "\n".join(
    f"def read_{name}(path):\n    with open(path) as file:\n        return parse_{name}(file)\n"
    for name in ("header", "body", "trailer", "index", "names", "sizes")
)
TABLE = "\n".join(f"| {n} | {n * n} | {n**3 % 97} | user{n * 7} |" for n in range(40))


@pytest.mark.parametrize("text", [PROSE, CODE, TABLE, "ok", "the-" * 20, ""])
def test_ordinary_output_is_not_degenerate(text):
    assert find_repetition(text) is None


def test_d07_a_loop_is_found_and_described():
    assert find_repetition("the-" * 900) == "a loop of 4 characters fills 100% of the output"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PROSE + "la la la " * 200, "a loop of"),
        (PROSE[:100] + "\n    self._file = self._file_name" * 20, "a loop of"),
        ("".join(f"the-the-the-the-the-{n % 3}" for n in range(600)), "a loop of"),
        ("a b c d e f g h " * 115 + PROSE, "% of its runs of 4 words are distinct"),
        ("x" * 4000 + PROSE, "compresses 1"),
    ],
)
def test_kinds_of_repetition(text, words):
    assert words in str(find_repetition(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abcabcabc", (3, 9)),
        ("xyabab", (0, 0)),
        ("zzzz", (1, 4)),
        ("qababab", (2, 6)),
        ("", (0, 0)),
    ],
)
def test_longest_tail_loop(text, expected):
    assert longest_tail_loop(text) == expected


def test_measures_of_ordinary_text():
    assert 1 < compression_ratio(PROSE) < 3
    assert distinct_share(" ".join(str(n) for n in range(200))) == 1
    assert distinct_share("too few words") is None
