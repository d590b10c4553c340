"""Which host keys act on, on screens that are about no host while nothing is chosen."""

from __future__ import annotations

import pytest

from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.log import LogScreen
from tests.tui import story
from tests.tui.driving import on, press, running, settled, text_of


@pytest.mark.parametrize("key", ["T", "A", "at"])
async def test_where_nothing_is_chosen_keys_act_on_the_host_one_came_from(key: str) -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.sheets_of_trials, fake.other_runs, fake.done = [], (), []
        await press(pilot, key)
        await settled(pilot)

        assert app.target().host == "pro6k-01"
        await press(pilot, "L")
        assert on(app, LogScreen).host == "pro6k-01"


async def test_without_trials_compare_is_asked_for_the_host_one_came_from() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.sheets_of_trials, fake.other_runs = [], ()
        await press(pilot, "T")
        await settled(pilot)
        assert "c compares profiles." in text_of(app)
        await press(pilot, "c")
        assert on(app, ChoiceDialog).about == "pro6k-01"
