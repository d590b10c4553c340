"""The mouse on dialogs and prompts; and off, when nothing hears it."""

from __future__ import annotations

import pytest
from textual.events import MouseDown, MouseUp

from specctl.tui.render.lines import plain
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.drift import DriftDialog
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.help import HelpDialog
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.plan import PlanDialog
from specctl.tui.screens.probe import ProbeDialog
from specctl.tui.screens.prompts import CommandLine, ProfilesDialog
from specctl.tui.screens.reading import ReadingDialog
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.screens.welcome import WelcomeScreen
from specctl.tui.services import ProfileChoice
from tests.tui import plans, story
from tests.tui.all_scenes import SCENES
from tests.tui.clicking import (
    SMALL,
    click,
    mouse,
    place,
    screen_text,
    wait_for_a_click_of_its_own,
    wheel,
)
from tests.tui.driving import on, press, running, settled, shown, until
from tests.tui.fakes import DemoApp


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


async def test_an_entry_of_the_palette_can_be_clicked() -> None:
    async with running(story.pro6k_01(), "ctrl+p", *"host pro6k") as (app, pilot, _):
        await until(pilot, lambda: any("host pro6k-01" in line for line in screen_text(app)))
        await click(pilot, "host pro6k-01", by=2)
        await settled(pilot)
        on(app, HostScreen)


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
