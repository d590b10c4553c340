"""Whatever stands in a tree's files, reading it comes to an end and raises nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.facts.source.reading import TreeText, read_source
from tests.unit.facts.making import ODD_NUMBERS, damaged, made
from tests.unit.facts.source.small import ARGUMENTS, CALLS, ENUM, SPEC, WHOLE
from tests.unit.facts.source.test_algorithms import REGISTERED
from tests.unit.facts.source.test_flags import ANNOTATED, RETIRED

NAMES = [
    *WHOLE,
    "srt/environ.py",
    "srt/managers/scheduler.py",
    "srt/arg_groups/speculative_hook.py",
]
PIECES = [
    *(line for text in (ENUM, CALLS, REGISTERED, ANNOTATED, RETIRED) for line in text.split("\n")),
    *(f"    x: int = {number}" for number in ODD_NUMBERS),
    *(f"        parser.add_argument('--x', default={number}, type=int)" for number in ODD_NUMBERS),
]
some_texts = st.dictionaries(
    st.sampled_from(NAMES),
    st.text(max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=30).map("\n".join)
    | made(damaged(ENUM, CALLS, REGISTERED, ANNOTATED, RETIRED)),
    max_size=6,
)


@given(some_texts)
def test_any_text_in_any_file(texts):
    read_source(TreeText("/x/sglang", texts, {"srt/models/a.py": "EntryClass = ["}))


def _damaged(dice):
    """A small whole tree with some lines gone and some of another form put in."""
    texts = {}
    for name, text in WHOLE.items():
        lines = text.split("\n")
        for _ in range(dice.randint(0, 4)):
            place = dice.randrange(len(lines) or 1)
            if dice.random() < 0.5 and lines:
                del lines[place % len(lines)]
            else:
                lines.insert(place, dice.choice(PIECES))
        texts[name] = "\n".join(lines)
    return texts


@given(made(_damaged))
def test_a_tree_with_pieces_missing_or_doubled(texts):
    found = read_source(TreeText("/x/sglang", texts))
    assert all(problem.words for problem in found.problems)


DEEP = 3000


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * DEEP + ")" * DEEP,
        "x = " + "[" * DEEP + "]" * DEEP,
        "x = " + "-" * DEEP + "1",
        "x = " + "a." * DEEP + "b",
        "x = " + "+".join("a" * DEEP),
        "\n".join("    " * (n % 90) + "if x:" for n in range(90)) + "\n" + "    " * 90 + "pass",
        "parser.add_argument(" + "(" * 90 + "'--x'" + ")" * 90 + ")",
        "x = '" + "a" * (1 << 20) + "'",
        "\x00" * 100,
        "\ud800",
    ],
    ids=["brackets", "lists", "signs", "dots", "sums", "ifs", "call", "long", "zeros", "surrogate"],
)
def test_source_made_to_break_a_parser_is_a_problem_or_nothing(text):
    for name in (SPEC, ARGUMENTS):
        found = read_source(TreeText("/x/sglang", {**WHOLE, name: text}))
        assert found.flags or found.problems
