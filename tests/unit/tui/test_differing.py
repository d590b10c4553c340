"""What differs between builds, profiles and processes, and line against line."""

from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.source import TreeFile
from specctl.tui.differing import changed_lines, compare_recipes, compare_running, compare_trees
from tests.tui import library, recipes

NAMES = ("a", "b")


def test_two_readings_of_one_tree_are_the_same() -> None:
    compared = compare_trees(library.tree(), library.tree(), NAMES)

    assert compared.rows == ()
    assert compared.same == "The same tree, file by file."


def test_algorithms_flags_defaults_and_files_are_told_apart() -> None:
    compared = compare_trees(library.tree(), library.older_tree(), NAMES)
    found = {(row.kind, row.name): (row.left, row.right) for row in compared.rows}

    assert found["algorithm", "DSPARK"][1] is None
    assert found["flag", "--speculative-attention-mode"][1] is None
    assert found["default", "--speculative-ngram-capacity"] == ("10000000", "1000000")
    assert found["file", "jit_kernel/verify.cu"][1] is None
    assert found["file", library.ENUM] == ("37 lines", "31 lines")
    assert len(compared.rows) == 5


def test_a_file_that_was_not_read_in_either_is_no_difference() -> None:
    unread = TreeFile(2_000_000, None)
    files = {"big.bin": unread}

    assert compare_trees(library.tree(files=files), library.tree(files=files), NAMES).rows == ()
    other = {"big.bin": replace(unread, size=1)}
    assert len(compare_trees(library.tree(files=files), library.tree(files=other), NAMES).rows) == 1


def test_recipes_by_value() -> None:
    one, other = recipes.recipe(), recipes.recipe("x", None, **{"arguments.tp-size": 4})

    assert [row.name for row in compare_recipes(one, other).rows] == ["arguments.tp-size"]
    assert compare_recipes(one, one).same == "The same values."


def test_a_profile_against_a_command_line() -> None:
    recipe = recipes.recipe()
    argv = (*recipe.argv, "--tp", "4", "--disable-overlap-schedule")

    rows = {row.name: (row.left, row.right) for row in compare_running(recipe, argv, "h/s").rows}

    assert rows == {"--tp-size": ("8", "4"), "--disable-overlap-schedule": (None, "on")}
    assert compare_running(recipe, recipe.argv, "h/s").same.startswith("It runs with exactly")


def test_only_what_differs_is_shown_with_its_numbers() -> None:
    left = "\n".join(f"line {i}" for i in range(1, 101))
    right = left.replace("line 50\n", "line fifty\n")

    lines = changed_lines(left, right)

    assert [(c.sign, c.text, c.left, c.right) for c in lines if c.sign in "+-"] == [
        ("-", "line 50", 50, None),
        ("+", "line fifty", None, 50),
    ]
    assert [c.text for c in lines if c.sign == " "] == [
        "line 47", "line 48", "line 49", "line 51", "line 52", "line 53",
    ]  # fmt: skip
    assert [c.right for c in lines if c.sign == " "] == [47, 48, 49, 51, 52, 53]


def test_equal_texts_show_nothing() -> None:
    assert changed_lines("a\nb", "a\nb") == []


TEXTS = st.lists(st.sampled_from("abc"), max_size=30).map("\n".join)


@given(TEXTS, TEXTS)
def test_the_signs_lead_from_one_text_to_the_other(left: str, right: str) -> None:
    lines = changed_lines(left, right)
    a, b = left.splitlines(), right.splitlines()

    assert all(a[c.left - 1] == c.text for c in lines if c.left)
    assert all(b[c.right - 1] == c.text for c in lines if c.right)
    gone, new = (sum(c.sign == sign for c in lines) for sign in "-+")
    assert len(a) - gone == len(b) - new


def test_long_texts_are_bounded() -> None:
    left = "\n".join(f"a{i}" for i in range(30_000))
    right = "\n".join(f"b{i}" for i in range(30_000))
    begun = time.process_time()

    lines = changed_lines(left, right)

    assert time.process_time() - begun < 2
    assert "too long" in lines[0].text
