"""What a person types for a trial."""

from __future__ import annotations

import pytest

from specctl.cli.compare_options import design_of as by_options
from specctl.domain.errors import UsageError
from specctl.domain.trial.asking import (
    design_of,
    read_budget,
    read_count,
    read_levels,
    read_margin,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("40m", 2400.0),
        ("1h30m", 5400.0),
        ("2 h", 7200.0),
        ("90s", 90.0),
        ("none", None),
        ("", None),
    ],
)
def test_budgets(text, seconds):
    assert read_budget(text) == seconds


@pytest.mark.parametrize("text", ["40", "soon", "0m", "-3h", "h"])
def test_no_budgets(text):
    with pytest.raises(UsageError, match="is no time"):
        read_budget(text)


def test_margins():
    assert (read_margin("2%"), read_margin("0.05"), read_margin("±3%")) == (0.02, 0.05, 0.03)
    for text in ("2", "0", "much", "-1%"):
        with pytest.raises(UsageError):
            read_margin(text)


def test_concurrencies():
    assert read_levels("1, 4 16") == (1, 4, 16)
    for text, words in (("", "no concurrency"), ("1,1", "twice"), ("0", "no conc"), ("x", "whole")):
        with pytest.raises(UsageError, match=words):
            read_levels(text)


def test_counts():
    assert read_count(" 8 ", 24, "number of launches") == 8
    with pytest.raises(UsageError) as caught:
        read_count("25", 24, "number of launches")
    assert caught.value.hint == "It lies between 1 and 24."


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("launches", [1, 2, 3, 8, 12])
def test_the_design_is_that_of_the_command(launches, strict):
    assert design_of(launches, 0.02, strict=strict) == by_options(launches, 0.02, strict=strict)
