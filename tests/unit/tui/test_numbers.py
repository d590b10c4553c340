from __future__ import annotations

import math

import pytest

from specctl.domain import figures
from specctl.tui.render import numbers
from specctl.tui.render.lines import plain


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (52.04, "52.0"),
        (99.97, "100"),
        (212.4, "212"),
        (1240.0, "1,240"),
        (12_400.0, "12.4k"),
        (0.0, "0.0"),
        (None, "—"),
        (math.nan, "—"),
        (math.inf, "—"),
    ],
)
def test_rate(value: float | None, text: str) -> None:
    assert figures.rate(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0288, "28.8 ms"),
        (0.412, "412 ms"),
        (0.09997, "100 ms"),
        (0.9996, "1.0 s"),
        (1.44, "1.4 s"),
        (None, "—"),
        (math.nan, "—"),
    ],
)
def test_milliseconds(seconds: float | None, text: str) -> None:
    assert plain([numbers.milliseconds(seconds)]) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(298, "4:58"), (3860, "1:04:20"), (0, "0:00"), (None, "—"), (-3, "0:00")],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert figures.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(42, "42 s"), (298, "4 min 58 s"), (300, "5 min"), (7265, "2 h 01 min"), (277_200, "3 d 5 h")],
)
def test_spoken(seconds: float, text: str) -> None:
    assert figures.spoken(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "1s"), (241, "4m"), (7300, "2h"), (260_000, "3d"), (None, "—")]
)
def test_age(seconds: float | None, text: str) -> None:
    assert figures.age(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "5 s"), (42, "40 s"), (356, "6 min"), (7800, "2 h 10 min"), (None, "—")],
)
def test_about(seconds: float | None, text: str) -> None:
    assert figures.about(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(88.9 * 2**30, "88.9"), (1123 * 2**30, "1,123"), (0, "0.0"), (None, "—")]
)
def test_gib(size: float | None, text: str) -> None:
    assert figures.gib(size) == text


@pytest.mark.parametrize(
    ("value", "even", "text"),
    [
        (1.5, 1.69, "1.50 < 1.69"),
        (1.9, 1.69, "1.90 > 1.69"),
        (1.69, 1.69, "1.69 > 1.69"),
        (1.5, None, "1.50"),
        (None, 1.69, "—"),
        (math.nan, 1.69, "—"),
        (1.5, math.nan, "1.50"),
    ],
)
def test_accept_says_its_state_by_the_comparison_sign(
    value: float | None, even: float | None, text: str
) -> None:
    assert plain([numbers.accept(value, even)]) == text


def test_clock_is_local() -> None:
    assert figures.clock(1_800_000_332, 0) == "08:05:32"
    assert figures.clock(1_800_000_332, -9 * 3600) == "23:05:32"
