from __future__ import annotations

import pytest

from specctl.facts.diagnosis import Cause
from specctl.services.failed_start import excerpt, exit_words

LINES = [f"line {number}" for number in range(1, 101)]


def cause(line_number):
    return Cause("out of memory", "line", line_number, None, None, "do this", "oom")


@pytest.mark.parametrize(
    ("found", "first", "last"),
    [
        (None, "line 97", "line 100"),
        (cause(0), "line 97", "line 100"),
        (cause(50), "line 49", "line 52"),
        (cause(1), "line 1", "line 4"),
        (cause(100), "line 99", "line 100"),
    ],
)
def test_excerpt_surrounds_the_first_cause(found, first, last):
    shown = excerpt(LINES, found, 4)
    assert (shown[0], shown[-1]) == (first, last)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "nothing recorded how"),
        (0, "ends its parent with 0 after a crash"),
        (137, "ended with status 137"),
    ],
)
def test_a20_an_exit_nobody_asked_for_is_a_failure(status, words):
    assert words in exit_words(status)
