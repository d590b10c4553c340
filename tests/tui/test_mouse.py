"""The mouse: whatever key, button, tab, crumb or row is on the screen can be clicked."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from textual.events import MouseDown, MouseScrollDown, MouseUp

from specctl.tui.panel import Panel
from specctl.tui.render.lines import plain
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.commands import CommandsScreen
from specctl.tui.screens.confirm import ConfirmDialog
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
from specctl.tui.screens.reading import ReadingDialog
from specctl.tui.screens.run import RunDialog
from specctl.tui.screens.source import SourceScreen
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.screens.welcome import WelcomeScreen
from specctl.tui.services import ProfileChoice
from tests.tui import plans, story
from tests.tui.all_scenes import SCENES, TO_RUN
from tests.tui.driving import on, press, running, settled, shown, toasts, until
from tests.tui.fakes import DemoApp

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

SMALL = (80, 24)


def screen_text(app: App[int]) -> list[str]:
    """What the terminal shows, row by row."""
    width, height = app.size
    console = Console(width=width, height=height, file=io.StringIO(), legacy_windows=False)
    console.print(
        app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    )
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().splitlines()


def place(app: App[int], words: str, *, row: int | None = None) -> tuple[int, int]:
    """Where the last of these words on the screen begin."""
    lines = screen_text(app)
    for y in range(len(lines) - 1, -1, -1):
        if words in lines[y] and row in {None, y}:
            return lines[y].index(words), y
    raise AssertionError(f"{words!r} is not shown:\n" + "\n".join(lines))


async def click(pilot: Pilot[int], words: str, *, by: int = 0, times: int = 1) -> None:
    """Click on what is shown, some cells after its begin."""
    x, y = place(pilot.app, words)
    await pilot.click(offset=(x + by, y), times=times)
    await shown(pilot)


async def wait_for_a_click_of_its_own(app: App[int]) -> None:
    """Until a click at the same place is no second one of a double click."""
    await asyncio.sleep(app.CLICK_CHAIN_TIME_THRESHOLD)


async def wheel(pilot: Pilot[int], panel: str) -> None:
    await pilot._post_mouse_events([MouseScrollDown], panel)
    await shown(pilot)


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


# ---------------------------------------------------------------- dialogs


async def test_the_buttons_of_a_plan_can_be_clicked() -> None:
    async with running(story.pro6k_01(), "enter", "x") as (app, pilot, fake):
        await settled(pilot)
        on(app, PlanDialog)
        await click(pilot, "Stop and start")  # off: the host's name was not typed
        on(app, PlanDialog)
        await press(pilot, *"pro6k", "minus", *"01", "left")
        await click(pilot, "Stop and start", by=3)
        await until(pilot, lambda: ("apply", fake.plan.id, "pro6k-01") in fake.calls)


async def test_cancel_of_a_plan_does_nothing() -> None:
    async with running(story.pro6k_01(), "enter", "x") as (app, pilot, fake):
        await settled(pilot)
        await click(pilot, "Cancel", by=8)
        on(app, HostScreen)
        assert not [call for call in fake.calls if call[0] == "apply"]


async def test_the_second_click_on_a_key_is_none_on_what_the_first_opened() -> None:
    async with running(story.pro6k_01(), size=SMALL) as (app, pilot, _):
        x, y = place(app, "? help")
        events = [mouse(kind, x, y) for kind in (MouseDown, MouseUp) * 2]  # at one time
        for event in events:
            app.post_message(event)
            await shown(pilot)
        on(app, HelpDialog)
        assert place(app, "esc closes")[0] <= x < place(app, "esc closes")[0] + len("esc closes")
        await wait_for_a_click_of_its_own(app)
        await pilot.click(offset=(x, y))
        await shown(pilot)
        on(app, FleetScreen)


async def test_checks_of_a_plan_unfold_and_its_text_scrolls_to_its_end() -> None:
    async with running(story.pro6k_01(), "enter", "x", size=SMALL) as (app, pilot, _):
        await settled(pilot)
        panel = on(app, PlanDialog).panel
        for _ in range(20):
            await wheel(pilot, "#plan")
        _, of = plain([panel.draw(app.scene, 76, panel.inner_rows).note]).split(" of ")
        last = int(of.split()[0])
        place(app, f"-{last} of {last}")
        await press(pilot, "up")
        place(app, f"-{last - 1} of {last}")
        for _ in range(4):
            await press(pilot, "pageup")
        await click(pilot, "tab list", by=5)
        assert panel.choice.lists_passed


async def test_the_probe_is_sent_by_its_button() -> None:
    async with running(story.pro6k_01(), "enter", "p") as (app, pilot, fake):
        fake.result = plans.probe_result()
        dialog = on(app, ProbeDialog)
        most = dialog.panel.plan.requests
        await click(pilot, "← →", by=0)
        assert dialog.panel.plan.requests < most
        await click(pilot, "  Probe  ", by=4)
        await until(pilot, lambda: any(call[0] == "probe" for call in fake.calls))
        await click(pilot, "esc closes")
        on(app, HostScreen)


async def test_a_question_is_answered_by_its_buttons() -> None:
    async with running(story.pro6k_01(), "enter", "colon", *"abort", "enter") as (app, pilot, fake):
        await settled(pilot)
        on(app, ConfirmDialog)
        await click(pilot, "Cancel")
        on(app, HostScreen)
        await press(pilot, "colon", *"abort", "enter")
        await settled(pilot)
        button = on(app, ConfirmDialog).panel.question
        assert button is not None
        assert button.needs_typed == "pro6k-01"
        await press(pilot, *"pro6k", "minus", *"01")
        await click(pilot, f"  {button.action}  ", by=4)
        await until(pilot, lambda: any(call[0] == "abort" for call in fake.calls))


async def test_settings_of_a_trial_are_chosen_and_turned() -> None:
    async with running(story.pro6k_01(), "enter", "c", *"eagle", "enter") as (app, pilot, _):
        await settled(pilot)
        panel = on(app, TrialPlanDialog).panel
        assert panel.ask is not None
        before = panel.ask.words("margin")
        await click(pilot, "margin        ")
        await click(pilot, "← → turn it", by=2)
        assert panel.ask.words("margin") != before
        await settled(pilot)
        await click(pilot, "Cancel")
        on(app, HostScreen)


async def test_a_double_click_chooses_in_a_list_of_choices() -> None:
    async with running(story.pro6k_01(), "P", "d") as (app, pilot, _):
        await settled(pilot)
        dialog = on(app, ChoiceDialog)
        name = dialog.panel.found[1].name
        x, y = place(app, name)
        await pilot.click(offset=(x, y), times=2)
        await settled(pilot)
        on(app, DifferenceScreen)


async def test_a_double_click_starts_the_profile_that_was_clicked_in_a_long_list() -> None:
    async with running(story.pro6k_01(), "enter", size=SMALL) as (app, pilot, fake):
        many = [ProfileChoice(f"profile-{n:02}", "NGRAM", "m") for n in range(60)]
        fake.profiles = lambda host: many  # type: ignore[method-assign]
        await press(pilot, "s", "pagedown", "pagedown", "pagedown")
        dialog = on(app, ProfilesDialog)
        top = dialog.panel.top
        assert top > 0
        name = many[top + 1].name
        x, y = place(app, name)
        await pilot.click(offset=(x, y), times=2)
        await until(pilot, lambda: any(call[0] == "plan_start" for call in fake.calls))
        assert next(call for call in fake.calls if call[0] == "plan_start")[2] == name


async def test_completions_are_chosen_by_the_wheel_and_run_by_a_double_click() -> None:
    async with running(story.pro6k_01(), "colon", *"al") as (app, pilot, _):
        on(app, CommandLine)
        await wheel(pilot, "#completions")
        await click(pilot, ":alerts", by=2, times=2)
        await settled(pilot)
        on(app, AlertsScreen)


async def test_the_command_line_is_left_by_its_hint() -> None:
    async with running(story.pro6k_01(), "colon") as (app, pilot, _):
        await click(pilot, "esc cancel")
        on(app, FleetScreen)


async def test_a_key_in_the_help_is_pressed_on_the_screen_below() -> None:
    async with running(story.pro6k_01(), "enter", "question_mark") as (app, pilot, _):
        on(app, HelpDialog)
        await click(pilot, "explain drift", by=4)
        await settled(pilot)
        on(app, DriftDialog)


async def test_the_help_scrolls_to_its_end_and_back_at_once() -> None:
    async with running(story.pro6k_01(), "question_mark", size=SMALL) as (app, pilot, _):
        panel = on(app, HelpDialog).panel
        for _ in range(40):
            await wheel(pilot, "#help")
        last = panel.top
        panel.move(-1)
        await shown(pilot)
        panel.draw(app.scene, 76, panel.inner_rows)
        assert panel.top == last - 1
        await click(pilot, "esc closes", by=5)
        on(app, FleetScreen)


async def test_what_is_read_scrolls_and_closes() -> None:
    async with running(story.pro6k_01(), "T", "t", "j", "j", "j", size=SMALL) as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "enter")
        await settled(pilot)
        dialog = app.screen
        assert isinstance(dialog, ReadingDialog)
        await wheel(pilot, f"#{dialog.panel.id}")
        assert dialog.panel.top == 3
        await click(pilot, "esc closes")
        on(app, TrialsScreen)


# ---------------------------------------------------------------- first run, replay, off


async def test_the_choices_of_the_first_run_can_be_clicked() -> None:
    app = SCENES["first-run-120x40"].app()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shown(pilot)
        screen = app.screen
        assert isinstance(screen, WelcomeScreen)
        await click(pilot, "Open another folder", by=3)
        assert screen.path is not None
        await click(pilot, "esc cancel")
        assert screen.path is None


async def test_the_keys_of_a_replay_can_be_clicked() -> None:
    scene = SCENES["replay-120x40"]
    app = scene.app()
    async with app.run_test(size=scene.size, notifications=True) as pilot:
        await scene.prepare(pilot)
        before = app.scene.replay
        assert before is not None
        await click(pilot, "< > a minute", by=0)
        await until(pilot, lambda: app.scene.replay is not None
                    and app.scene.replay.at_s < before.at_s)  # fmt: skip


async def test_ascii_marks_are_the_keys_they_stand_for() -> None:
    app = DemoApp(story.pro6k_01(), is_ascii=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.fake is not None)
        await press(pilot, "enter", "p")
        dialog = on(app, ProbeDialog)
        most = dialog.panel.plan.requests
        await click(pilot, "< -> fewer", by=0)
        assert dialog.panel.plan.requests < most


def mouse(kind: type[MouseDown | MouseUp], x: int, y: int) -> MouseDown | MouseUp:
    return kind(None, x, y, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)


@pytest.mark.parametrize("keys", ["", "question_mark", "enter x", "colon", "ctrl+p"])
async def test_while_the_mouse_is_off_nothing_hears_it(keys: str) -> None:
    async with running(story.pro6k_01(), "m", *keys.split()) as (app, pilot, _):
        await settled(pilot)
        stack, before = list(app.screen_stack), screen_text(app)
        for y in range(app.size.height):
            for x in (3, 30, 60, 90, 110):
                app.post_message(mouse(MouseDown, x, y))
                app.post_message(mouse(MouseUp, x, y))
        await settled(pilot)
        assert app.screen_stack == stack
        assert screen_text(app) == before


async def test_with_the_mouse_on_the_terminals_own_events_click() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        x, y = place(app, "A alerts")
        app.post_message(mouse(MouseDown, x, y))
        app.post_message(mouse(MouseUp, x, y))
        await settled(pilot)
        on(app, AlertsScreen)


async def test_an_empty_fleet_says_all_of_what_to_do_and_its_key_can_be_clicked() -> None:
    async with running(()) as (app, pilot, _):
        place(app, "specctl add SSH_ALIAS does the same from the shell.")
        await click(pilot, "n adds one.")
        await settled(pilot)
        on(app, ChoiceDialog)
