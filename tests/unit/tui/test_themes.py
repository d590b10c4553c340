from __future__ import annotations

import re
from pathlib import Path

import pytest

import specctl.tui
from specctl.domain.errors import UsageError
from specctl.tui.palette import Palette
from specctl.tui.settings import Settings, read_settings
from specctl.tui.themes import BARE, NAMES, SHARED, STYLES, TOKENS, column, own_defaults, theme

STATES = ("success", "warning", "error")
SERIES = ("data", "data-2")
FLOORS = (
    [(token, 12.5) for token in ("foreground", "bright")]
    + [("dim", 6.5)]
    + [(token, 4.4) for token in ("faint", "stale")]
    + [(token, 4.7) for token in STATES]
    + [(token, 3.0) for token in SERIES]
    + [("ref", 4.7), ("primary", 4.7)]
    + [("syn-word", 4.7), ("syn-text", 4.7), ("syn-num", 4.7)]
)


def luminance(colour: str) -> float:
    """WCAG 2.1, relative luminance."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """WCAG 2.1, contrast ratio."""
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("token", "floor"), FLOORS)
@pytest.mark.parametrize("ground", ["background", "surface"])
def test_contrast_floors(name: str, token: str, floor: float, ground: str) -> None:
    colours = column(name)

    assert contrast(colours[token], colours[ground]) >= floor


TEXTS = ("text", "title", "bright", "strong", "dim", "faint", "stale", "accent", "key", "ok",
         "warn", "bad", "ref", "word", "string", "num", "comment", "strike")  # fmt: skip


@pytest.mark.parametrize("ground", ["select", "warn-fill", "bad-fill"])
@pytest.mark.parametrize("name", NAMES)
def test_text_on_a_chosen_or_marked_row_can_be_read(name: str, ground: str) -> None:
    palette = Palette(name, column(name))

    for token in TEXTS:
        style = palette(f"{token} on {ground}")
        assert style.color is not None
        assert contrast(style.color.name, column(name)[ground]) >= 4.4, token
    for token in SERIES:
        assert contrast(column(name)[token], column(name)[ground]) >= 3.0, token


def test_in_mono_attention_is_brighter_than_text() -> None:
    mono = column("mono")

    for token in STATES:
        assert luminance(mono[token]) >= luminance(mono["foreground"])


def test_every_style_names_a_token() -> None:
    assert {style.split()[0] for style in STYLES.values()} <= set(TOKENS)
    assert set(BARE) <= set(STYLES)


@pytest.mark.parametrize("ground", ["", " on select", " on panel", " on data"])
@pytest.mark.parametrize("token", STYLES)
def test_without_colours_a_style_is_attributes_alone(token: str, ground: str) -> None:
    style = Palette("mono", {}, has_colour=False)(token + ground)
    assert style.color is None
    assert style.bgcolor is None
    is_block = "badge" in token or token in {"keybox", "chosen"}
    assert bool(style.reverse) == (is_block or ground in {" on select", " on data"})


def test_without_colours_text_that_matters_differs_from_text_that_does_not() -> None:
    palette = Palette("mono", {}, has_colour=False)
    styles = [palette(token) for token in ("text", "warn", "bad", "faint", "badge", "strike")]
    assert len(set(styles)) == len(styles)


def test_all_own_tokens_have_defaults_for_foreign_themes() -> None:
    assert set(own_defaults()) == set(TOKENS) - SHARED
    for name in NAMES:
        assert set(theme(name).variables) == set(own_defaults())


def test_hex_appears_in_the_themes_alone() -> None:
    root = Path(specctl.tui.__file__).parent
    files = [path for pattern in ("*.py", "*.tcss") for path in root.rglob(pattern)]
    found = [path.name for path in files if re.search(r"#[0-9a-fA-F]{6}\b", path.read_text())]

    assert found == ["themes.py"]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, Settings("dark")),
        ({"SPECCTL_THEME": "light"}, Settings("light")),
        ({"SPECCTL_THEME": "light", "NO_COLOR": "1"}, Settings("mono", has_colour=False)),
        ({"NO_COLOR": ""}, Settings("dark")),
        ({"TERM": "linux"}, Settings("dark", is_ascii=True)),
        ({"SPECCTL_GLYPHS": "ascii"}, Settings("dark", is_ascii=True)),
    ],
)
def test_settings(environ: dict[str, str], expected: Settings) -> None:
    assert read_settings(environ) == expected


def test_an_unknown_theme_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        read_settings({"SPECCTL_THEME": "drak"})

    assert caught.value.hint == "nearest: dark"
