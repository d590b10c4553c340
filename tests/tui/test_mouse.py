"""The mouse on screens: whatever key, tab, crumb or row is shown can be clicked."""

from __future__ import annotations

import pytest

from specctl.tui.panel import Panel
from specctl.tui.render.lines import plain
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.commands import CommandsScreen
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.drift import DriftDialog
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.help import HelpDialog
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.log import LogScreen
from specctl.tui.screens.plan import PlanDialog
from specctl.tui.screens.probe import ProbeDialog
from specctl.tui.screens.profiles import ProfilesScreen
from specctl.tui.screens.prompts import CommandLine, ProfilesDialog
from specctl.tui.screens.run import RunDialog
from specctl.tui.screens.source import SourceScreen
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.screens.trials import TrialsScreen
from tests.tui import story
from tests.tui.all_scenes import TO_RUN
from tests.tui.clicking import SMALL, click, place, wait_for_a_click_of_its_own
from tests.tui.driving import on, press, running, settled, shown, toasts

# ---------------------------------------------------------------- footers

FOOTERS = [
    ("", "enter open", HostScreen),
    ("", "s start", ProfilesDialog),
    ("", "A alerts", AlertsScreen),
    ("", "P profiles", ProfilesScreen),
    ("", ": command", CommandLine),
    ("", "? help", HelpDialog),
    ("enter", "d drift", DriftDialog),
    ("enter", "p probe", ProbeDialog),
    ("enter", "L log", LogScreen),
    ("enter", "S source", SourceScreen),
    ("enter at", "esc back", HostScreen),
    ("at", "esc back", FleetScreen),
    ("S", "d diff with", ChoiceDialog),
    ("P", "d diff with", ChoiceDialog),
    ("P", "s start", PlanDialog),
    ("T", "enter open", TrialScreen),
    ("T", "c compare", TrialPlanDialog),
    ("T enter", "T trials", TrialsScreen),
    ("A", "esc back", FleetScreen),
]


@pytest.mark.parametrize("number", range(len(FOOTERS)))
async def test_a_click_on_an_item_of_the_footer_does_it(number: int) -> None:
    keys, words, kind = FOOTERS[number]
    at = 0 if number % 2 else len(words) - 1  # the key, or the last letter of what it does
    async with running(story.pro6k_01(), *keys.split()) as (app, pilot, _):
        await settled(pilot)
        assert not isinstance(app.screen, kind)
        await click(pilot, words, by=at)
        await settled(pilot)
        assert isinstance(app.screen, kind)


async def test_what_stands_between_two_items_of_a_footer_does_nothing() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        x, y = place(app, "enter open  s start")
        await pilot.click(offset=(x + len("enter open"), y))
        await shown(pilot)
        on(app, FleetScreen)


async def test_of_a_pair_of_keys_the_nearer_is_pressed() -> None:
    async with running(story.fleet(), "j", "enter") as (app, pilot, _):
        order = app.host_order()
        at = order.index(on(app, HostScreen).host)
        await click(pilot, "{ } host", by=0)
        assert on(app, HostScreen).host == order[at - 1]
        await click(pilot, "{ } host", by=5)
        assert on(app, HostScreen).host == order[at]


async def test_a_struck_key_says_why_it_is_off() -> None:
    async with running(story.pro6k_01(), "enter", read_only=True) as (app, pilot, _):
        await click(pilot, "s start")
        on(app, HostScreen)
        assert any("Start is off" in toast for toast in toasts(app))


async def test_while_a_line_is_typed_only_its_own_keys_can_be_clicked() -> None:
    async with running(story.pro6k_01(), "T", "slash", *"eagle") as (app, pilot, _):
        screen = on(app, TrialsScreen)
        await click(pilot, "t all runs")
        assert screen.list.terms == "eagle"
        await click(pilot, "esc clears")
        assert screen.list.terms == ""
        assert screen.prompt is None


async def test_columns_of_the_order_prompt_can_be_clicked() -> None:
    async with running(story.fleet(), "o") as (app, pilot, _):
        fleet = on(app, FleetScreen)
        await click(pilot, "t tok/s", by=3)
        assert fleet.hosts.order.by == "tok/s"
        assert fleet.prompt is None


# ---------------------------------------------------------------- header, tabs, panels


async def test_crumbs_lead_up() -> None:
    async with running(story.pro6k_01(), "L") as (app, pilot, _):
        on(app, LogScreen)
        await click(pilot, "pro6k-01 › Log")
        assert on(app, HostScreen).host == "pro6k-01"
        await click(pilot, "Fleet › pro6k-01", by=4)
        on(app, FleetScreen)
        assert len(app.screen_stack) == 1


async def test_a_crumb_of_the_screen_in_front_stays_there() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        x, y = place(app, "Fleet › pro6k-01")
        await pilot.click(offset=(x + len("Fleet › "), y))
        await shown(pilot)
        on(app, HostScreen)


async def test_a_crumb_goes_back_to_a_screen_that_is_no_host() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        for key in (*TO_RUN, "d", *"77aa0002", "enter"):
            await press(pilot, key)
            await settled(pilot)
        on(app, DifferenceScreen)
        await click(pilot, "Trials ›", by=2)
        on(app, TrialsScreen)


async def test_the_counts_of_the_header_lead_to_the_alerts() -> None:
    async with running(story.fleet()) as (app, pilot, _):
        await pilot.click(offset=place(app, "✗3", row=0))
        await shown(pilot)
        on(app, AlertsScreen)


TABS = [
    ("enter", SMALL, "4 Log", "log"),
    ("enter", SMALL, "5 Processes", "processes"),
    ("S", SMALL, "5 Files", "files"),
    ("P", SMALL, "4 Command", "command"),
    ("T enter", SMALL, "4 Why", "why"),
    ("T enter", (120, 40), "2 Ratio", "ratio"),
]


@pytest.mark.parametrize(("keys", "size", "words", "panel"), TABS, ids=lambda value: str(value))
async def test_a_click_on_a_tab_brings_its_panel(
    keys: str, size: tuple[int, int], words: str, panel: str
) -> None:
    async with running(story.pro6k_01(), *keys.split(), size=size) as (app, pilot, _):
        await settled(pilot)
        for key in keys.split()[1:]:
            del key
            await settled(pilot)
        assert not app.screen.query_one(f"#{panel}").display
        await click(pilot, words, by=3)
        assert app.screen.query_one(f"#{panel}").has_focus


@pytest.mark.parametrize("keys", ["enter", "S", "P", "T", "T enter", "at", "L"])
async def test_a_click_focuses_the_panel_under_it_on_every_screen(keys: str) -> None:
    async with running(story.pro6k_01(), *keys.split()) as (app, pilot, _):
        await settled(pilot)
        for panel in [p for p in app.screen.query(Panel) if p.display]:
            await pilot.click(f"#{panel.id}", offset=(3, 0))
            await shown(pilot)
            assert panel.has_focus


async def test_a_hint_in_the_edge_of_a_panel_is_pressed() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        before = app.span
        await click(pilot, "t span")
        assert app.span != before


# ---------------------------------------------------------------- rows


async def test_rows_of_the_other_lists_are_chosen_and_opened() -> None:
    async with running(story.pro6k_01(), "T", "t") as (app, pilot, _):
        await settled(pilot)
        screen = on(app, TrialsScreen)
        await click(pilot, "void: GPU 5")
        assert screen.list.chosen is not None
        assert "void" in screen.list.chosen.outcome
        await click(pilot, "void: GPU 5", times=2)
        await settled(pilot)
        on(app, RunDialog)


async def test_heads_of_the_list_of_trials_order_it() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, _):
        await settled(pilot)
        screen = on(app, TrialsScreen)
        chosen = screen.list.chosen
        await click(pilot, "PROFILE", by=9)
        assert screen.desk.order == "by profile"
        assert screen.list.chosen == chosen
        await click(pilot, "AGE")
        assert screen.desk.order == "newest first"


async def test_a_double_click_where_no_row_is_opens_nothing() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, _):
        await settled(pilot)
        await pilot.click("#trials", offset=(60, 0), times=2)
        await settled(pilot)
        on(app, TrialsScreen)


async def test_a_line_of_a_wrapped_log_is_chosen_by_any_of_its_rows() -> None:
    async with running(story.pro6k_01(), "L", "w", size=SMALL) as (app, pilot, _):
        await settled(pilot)
        panel = on(app, LogScreen).log_panel
        x, y = place(app, "Decode batch 41210")
        await pilot.click(offset=(x, y))
        await shown(pilot)
        assert panel.view.chosen is not None
        assert "41210" in panel.reel.entry(panel.view.chosen).text
        await pilot.click(offset=(x, y + 1))
        await shown(pilot)
        assert "41210" in panel.reel.entry(panel.view.chosen).text


async def test_an_entry_of_the_commands_unfolds_at_a_click() -> None:
    async with running(story.pro6k_01(), "at", "w") as (app, pilot, _):
        screen = on(app, CommandsScreen)
        await click(pilot, "launcher")
        assert screen.list.chosen is not None
        assert "ran" in plain(screen.list.more(80))


async def test_a_key_that_a_click_unfolds_is_not_pressed_by_it() -> None:
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, _):
        await settled(pilot)
        text = on(app, ProfilesScreen).text
        await press(pilot, "3", "n", "n", "n")
        x, y = place(app, "enter opens it")
        at = text.at
        await press(pilot, "1")
        await pilot.click(offset=(x, y))
        await settled(pilot)
        on(app, ProfilesScreen)
        assert text.has_focus
        assert text.at > at
        await press(pilot, "N")
        await wait_for_a_click_of_its_own(app)
        await click(pilot, "enter opens it", by=8)
        await settled(pilot)
        on(app, SourceScreen)


async def test_rows_of_a_difference_are_chosen_and_opened() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        for key in (*TO_RUN, "d", *"77aa0002", "enter"):
            await press(pilot, key)
            await settled(pilot)
        screen = on(app, DifferenceScreen)
        await click(pilot, "accept-length-reported", times=2)
        await settled(pilot)
        assert screen.differing.chosen is not None
        assert screen.differing.chosen.name == "accept-length-reported"
        assert screen.lines.has_focus


async def test_a_gpu_of_the_host_is_chosen_by_its_row() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        await click(pilot, "▲ heat (hw)")
        gpus = on(app, HostScreen).gpus
        assert gpus.has_focus
        assert gpus.at == 5
