"""What a person types for a trial."""

from __future__ import annotations

import pytest

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


def test_a_budget_of_a_bare_number_is_refused():
    with pytest.raises(UsageError, match="'40' has no unit"):
        read_budget("40")


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


@pytest.mark.parametrize(
    ("launches", "options", "looks"),
    [
        (8, {"strict": False}, (2, 3, 4, 5, 6, 7, 8)),
        (8, {"strict": True}, (6, 7, 8)),
        (8, {"strict": False, "is_looked_at_once": True}, (8,)),
        (3, {"strict": True, "is_looked_at_once": True}, (3,)),
        (1, {"strict": False}, ()),
    ],
)
def test_when_a_trial_is_looked_at(launches, options, looks):
    assert design_of(launches, 0.02, **options).looks == looks


def test_one_look_spends_all_of_the_error():
    design = design_of(8, 0.02, strict=False, is_looked_at_once=True)
    assert design.level(8) == pytest.approx(design.error)
