"""No workspace: what there is to choose from, and the lab brought up from there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from specctl.domain.errors import SpecctlError
from specctl.tui.render.lines import plain, width
from specctl.tui.render.welcome import draw_welcome
from tests.tui.driving import press, shown, text_of, until
from tests.tui.scenes import first_run

SIZES = [(80, 24), (120, 40)]
PROBLEM = (
    "the lab did not come up: no compiler was found on this machine. specctl lab up says more."
)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_lab_is_brought_up_once_and_said_to_be(size: tuple[int, int]) -> None:
    app: Any = first_run()
    gate, begun = asyncio.Event(), []

    async def bring_up() -> None:
        begun.append(1)
        await gate.wait()

    app.try_lab = bring_up
    async with app.run_test(size=size, notifications=True) as pilot:
        await shown(pilot)
        assert "SIMULATED" in text_of(app)
        await press(pilot, "l", "l")
        assert "The lab is being brought up, 0 s" in text_of(app)
        gate.set()
        await until(pilot, lambda: "being brought up" not in text_of(app))
        assert begun == [1]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_why_it_did_not_come_up_is_said_in_place(size: tuple[int, int]) -> None:
    app: Any = first_run()

    async def bring_up() -> None:
        words, _, hint = PROBLEM.partition(". ")
        raise SpecctlError(words, hint=hint)

    async with app.run_test(size=size, notifications=True) as pilot:
        await shown(pilot)
        await press(pilot, "l")
        await until(pilot, lambda: "This screen does not bring the lab up" in text_of(app))
        app.try_lab = bring_up
        await press(pilot, "l")
        await until(pilot, lambda: "no compiler was found" in text_of(app))
        assert "being brought up" not in text_of(app)


@pytest.mark.parametrize("problem", ["", PROBLEM])
def test_every_choice_fits_the_smallest_screen(problem: str) -> None:
    body = draw_welcome("0.1.0", "~/" + "work/" * 30, 76, 22, problem=problem).body
    assert len(body) <= 22
    assert all(width(line) <= 76 for line in body)
    text = plain(body)
    for words in ("Make one here", "Try the lab", "Open another folder", "Leave", "you quit"):
        assert words in text.replace("\n", " ")
