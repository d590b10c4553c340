"""`[` and `]` go through what was visited, and find each screen as it was left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.tui.actions import PANELS, actions_on
from specctl.tui.bars import Header
from specctl.tui.render.lines import plain
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.launch import LaunchScreen
from specctl.tui.screens.log import LogScreen
from specctl.tui.screens.profiles import ProfilesScreen
from specctl.tui.screens.source import SourceScreen
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.visits import MOST
from tests.tui import plans, story
from tests.tui.driving import on, press, running, settled, text_of, toasts, until

if TYPE_CHECKING:
    from tests.tui.fakes import DemoApp

BACK, ON = "left_square_bracket", "right_square_bracket"


def way(app: DemoApp) -> str:
    """The crumbs of the screen in front."""
    return plain(app.screen.query_one(Header)._painted or []).split("  ")[1].strip()


async def test_they_go_back_and_on_through_screens_and_their_ways() -> None:
    async with running(story.fleet(), "enter", "L", "F", "j", "enter") as (app, pilot, _):
        assert way(app) == "Fleet › h100-a2"
        await press(pilot, BACK)
        on(app, FleetScreen)
        await press(pilot, BACK)
        assert on(app, LogScreen).host == "h100-a1"
        assert way(app).startswith("Fleet › h100-a1 › ")
        await press(pilot, BACK)
        assert on(app, HostScreen).host == "h100-a1"
        await press(pilot, ON, ON, ON)
        assert on(app, HostScreen).host == "h100-a2"
        await press(pilot, ON)
        assert on(app, HostScreen).host == "h100-a2"
        assert any("Nothing was visited after this" in toast for toast in toasts(app))
        await press(pilot, *[BACK] * 6)
        on(app, FleetScreen)
        assert any("Nothing was visited before this" in toast for toast in toasts(app))


async def test_escape_after_going_back_goes_up_the_way_of_that_screen() -> None:
    async with running(story.fleet(), "enter", "L", "F", "A", BACK, BACK) as (app, pilot, _):
        on(app, LogScreen)
        await press(pilot, "escape")
        assert on(app, HostScreen).host == "h100-a1"
        await press(pilot, ON)
        assert on(app, HostScreen).host == "h100-a1", "what lay after is forgotten"
        await press(pilot, BACK)
        on(app, LogScreen)


async def test_a_crumb_that_is_clicked_is_a_visit() -> None:
    async with running(story.fleet(), "enter", "L") as (app, pilot, _):
        await pilot.click(Header, offset=(12, 0))
        await settled(pilot)
        on(app, FleetScreen)
        await press(pilot, BACK)
        assert on(app, LogScreen).host == "h100-a1"


async def test_nothing_of_a_screens_place_is_lost() -> None:
    async with running(story.pro6k_01(), "enter", "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "j", "j", "3", "j", "slash", *"ngram", "enter")
        await settled(pilot)
        source: object = on(app, SourceScreen)
        before = text_of(app)
        focused = app.focused
        await press(pilot, "F", "P")
        await settled(pilot)
        await press(pilot, "j", "plus", "5")
        profiles = on(app, ProfilesScreen)
        zoomed, shown = profiles.zoomed, text_of(app)
        await press(pilot, "F", BACK)
        assert on(app, ProfilesScreen) is profiles
        assert (profiles.zoomed, text_of(app)) == (zoomed, shown)
        await press(pilot, BACK, BACK)
        assert on(app, SourceScreen) is source
        assert text_of(app) == before
        assert app.focused is focused


async def test_the_cursor_of_a_list_stays() -> None:
    async with running(story.fleet(), "A") as (app, pilot, _):
        await press(pilot, "j", "j")
        alerts = on(app, AlertsScreen)
        shown = plain(alerts.list._painted or [])
        await press(pilot, "T", "escape", "escape", BACK)
        assert app.screen is alerts
        assert plain(alerts.list._painted or []) == shown
        await press(pilot, BACK)
        on(app, TrialsScreen)
        await press(pilot, ON, ON)
        on(app, FleetScreen)


async def test_a_launch_that_was_left_is_found_again() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.apply_gate.clear()
        app.work.carry_out(plans.start_plan(), "pro6k-01")
        await press(pilot)
        launch = on(app, LaunchScreen)
        await press(pilot, "escape", BACK)
        assert app.screen is launch
        await press(pilot, "escape")
        fake.apply_gate.set()
        await settled(pilot)
        await press(pilot, BACK)
        assert "Ready in 5:32 on port 30000." in text_of(app)


async def test_a_log_nobody_looks_at_is_not_followed_and_goes_on_where_it_was() -> None:
    async with running(story.pro6k_01(), "L") as (app, pilot, fake):
        log = on(app, LogScreen)
        await until(pilot, lambda: log.part is not None)
        following = [worker for worker in app.workers if worker.node is log]
        await press(pilot, "escape")
        assert all(worker.is_finished for worker in following)
        asked = len([call for call in fake.calls if call[0] == "log_end"])
        await press(pilot, BACK)
        assert app.screen is log
        assert any(not worker.is_finished for worker in app.workers if worker.node is log)
        assert len([call for call in fake.calls if call[0] == "log_end"]) == asked


async def test_only_so_many_screens_are_kept_alive() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        await press(pilot, "enter")
        first = on(app, HostScreen)
        for _n in range(MOST):
            await press(pilot, "escape", "enter")
        kept = [screen for screen in app._installed_screens.values() if screen is not app.screen]
        assert len(kept) <= MOST
        await until(pilot, lambda: not first.is_running)


@pytest.mark.parametrize("screen", sorted(PANELS))
def test_both_are_in_the_help_of_every_screen(screen: str) -> None:
    keys = {action.key for action in actions_on(screen)}
    assert {"[", "]"} <= keys
