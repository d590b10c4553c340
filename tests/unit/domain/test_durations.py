"""Durations as they are typed."""

from __future__ import annotations

import pytest

from specctl.domain.durations import read_duration
from specctl.domain.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("40m", 2400.0), ("1h30m", 5400.0), ("2 h", 7200.0), ("90s", 90.0), ("1.5min", 90.0)],
)
def test_durations(text, seconds):
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["soon", "0m", "-3h", "h", "", "9" * 400 + "h"])
def test_what_is_no_duration(text):
    with pytest.raises(UsageError, match="is no time") as caught:
        read_duration(text)
    assert "40m" in caught.value.hint


@pytest.mark.parametrize("text", ["40", "2.5"])
def test_a_number_without_a_unit_is_refused_with_what_to_write(text):
    with pytest.raises(UsageError, match="has no unit") as caught:
        read_duration(text)
    assert caught.value.hint == f"Write {text}m, {text}h or {text}s."
