"""Where the terminal is to have no colours, a dialog is told from what lies behind it."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.renderables.background_screen import BackgroundScreen

from specctl.tui.colourless import Behind, behind
from tests.tui import story
from tests.tui.driving import press, until
from tests.tui.fakes import DemoApp

SIZE = (120, 40)


def rows_of(app: DemoApp) -> list[list[Segment]]:
    """What a terminal would be sent, row by row."""
    console = Console(width=SIZE[0], height=SIZE[1], file=io.StringIO(), color_system="truecolor")
    stack = app._background_screens
    update: Any = app.screen._compositor.render_update(full=True, screen_stack=stack)
    return [list(row) for row in Segment.split_lines(console.render(update))]


@pytest.mark.parametrize("key", ["s", "p", "question_mark"])
async def test_what_lies_behind_a_dialog_is_dim_and_the_dialog_has_a_heavy_frame(key: str) -> None:
    app = DemoApp(story.pro6k_01(), theme="mono")
    app.settings = replace(app.settings, has_colour=False)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.fake is not None)
        app._palette = None
        await press(pilot, key)
        rows = rows_of(app)
    header = [part for part in rows[0] if part.text.strip() and not part.control]
    assert "specctl" in "".join(part.text for part in header)
    for part in header:
        assert part.style is not None
        assert part.style == Style(dim=True)
    text = "\n".join("".join(part.text for part in row) for row in rows)
    assert text.count("┏") == text.count("┛") == 1
    inside = [part for row in rows for part in row if part.style and part.style.bold]
    assert inside, "the dialog keeps its own weights"


async def test_in_colour_the_frame_is_thin_and_the_tint_is_textuals() -> None:
    app = DemoApp(story.pro6k_01(), theme="mono")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.fake is not None)
        await press(pilot, "s")
        text = "".join(part.text for row in rows_of(app) for part in row)
        drawn = app.screen.render()
    assert "┏" not in text
    assert isinstance(drawn, BackgroundScreen)
    assert not isinstance(drawn, Behind)


async def test_behind_the_command_line_nothing_is_dimmed() -> None:
    app = DemoApp(story.pro6k_01(), theme="mono")
    app.settings = replace(app.settings, has_colour=False)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.fake is not None)
        await press(pilot, "colon")
        header = [part for part in rows_of(app)[0] if "specctl" in part.text]
    assert header[0].style is not None
    assert not header[0].style.dim
    assert behind("words") == "words"
