"""Keys and commands that ask something of the services."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import replace

import pytest
from textual.widgets._toast import Toast

from specctl.adapters.ledger_notice import notify
from specctl.domain.errors import RefusedError, SpecctlError
from specctl.domain.events import ProbeProgressed, ServersSeen
from specctl.domain.server import ServerState
from specctl.tui.app import hear_of_the_ledger
from specctl.tui.render.lines import plain, width
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.help import HelpDialog
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.launch import LaunchScreen
from specctl.tui.screens.plan import PlanDialog
from specctl.tui.screens.probe import ProbeDialog
from specctl.tui.screens.prompts import CommandLine, ProfilesDialog
from tests.tui import parts, plans, story, trials
from tests.tui.all_scenes import SCENES
from tests.tui.driving import on, press, running, settled, shown, text_of, toasts, until


async def test_start_shows_profiles_then_the_plan_and_does_nothing_before_it_is_allowed() -> None:
    async with running(story.pro6k_01(), "s") as (app, pilot, fake):
        on(app, ProfilesDialog)
        await press(pilot, *"ngram", "enter")
        on(app, PlanDialog)
        assert fake.calls == [("plan_start", "pro6k-01", "kimi-k2.5-ngram", True)]
        await press(pilot, "enter")
        on(app, FleetScreen)
        assert len(fake.calls) == 1


async def test_the_command_is_copied_as_it_can_be_pasted_and_the_buttons_stay_in_sight() -> None:
    async with running(story.pro6k_01(), size=(80, 24)) as (app, pilot, fake):
        variables = {"CUDA_VISIBLE_DEVICES": "0,1", "NCCL_DEBUG": "two words"}
        argv = ("python", "-m", "sglang.launch_server", "--json-model-override-args", '{"a": 1}')
        fake.plan = replace(plans.start_plan(kind="start"), argv=argv, environment=variables)
        await press(pilot, "s", "enter", "y")
        words = shlex.split(app.clipboard.replace("\\\n", ""))
        assert words == ["CUDA_VISIBLE_DEVICES=0,1", "NCCL_DEBUG=two words", *argv]
        await settled(pilot)
        toast = app.screen.query_one(Toast).region
        assert toast.bottom <= app.size.height - 2, (
            "Cancel and Start are in the row above the frame"
        )


async def test_a_name_has_to_be_typed_in_full() -> None:
    async with running(story.pro6k_01(), "s", "enter") as (app, pilot, fake):
        await press(pilot, "p", "r", "o", "6", "k", "minus", "0", "enter")
        on(app, PlanDialog)
        await press(pilot, "right", "enter")
        on(app, PlanDialog)
        await press(pilot, "1", "enter")
        on(app, LaunchScreen)
        assert fake.calls[-1] == ("apply", "9b02aa17", "pro6k-01")
        assert "Ready in 5:32 on port 30000." in text_of(app)


async def test_where_nothing_is_stopped_the_action_is_the_default() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        await press(pilot, "s", "enter", "enter")
        assert fake.calls[-1] == ("apply", "9b02aa17", "")
        on(app, LaunchScreen)


async def test_after_a_start_the_host_turns_to_what_was_started() -> None:
    """And not to the worst of its servers, which is looked at otherwise."""
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        older = app.scene.state.host("pro6k-01").servers or ()
        started = replace(older[0], name="9b02", launch_id="9b02aa17", port=30001)
        app.store.apply(ServersSeen("pro6k-01", parts.NOW_S, (*older, started)))
        await shown(pilot)
        await press(pilot, "s", "enter", "enter")
        on(app, LaunchScreen)
        await press(pilot, "H")
        assert on(app, HostScreen).server == started
        await press(pilot, "escape")
        on(app, FleetScreen)


async def test_where_something_is_stopped_the_default_is_cancel() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.plan = plans.stop_plan()
        await press(pilot, "x", "enter")
        on(app, FleetScreen)
        assert fake.calls == [("plan_stop", "pro6k-01", "7c1e", False)]
        await press(pilot, "x", "right", "enter")
        assert fake.calls[-1] == ("apply", fake.plan.id, "")


async def test_escape_cancels_a_plan() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        await press(pilot, "s", "enter", "escape")
        on(app, FleetScreen)
        assert not any(call[0] == "apply" for call in fake.calls)


async def test_a_refused_plan_cannot_be_carried_out() -> None:
    async with running(story.pro6k_01()) as (_, pilot, fake):
        fake.plan = plans.refused_plan()
        await press(pilot, "s", "enter", "right", "enter")
        assert not any(call[0] == "apply" for call in fake.calls)


async def test_a_plan_that_cannot_be_made_says_why() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.refuse = SpecctlError("the link was lost [/x]", hint="r reconnects.")
        await press(pilot, "s", "enter")
        assert "the link was lost [/x]" in text_of(app)
        assert "r reconnects." in text_of(app)
        await press(pilot, "escape")
        on(app, FleetScreen)


async def test_tab_lists_the_checks_that_passed() -> None:
    async with running(story.pro6k_01(), "s", "enter") as (app, pilot, _):
        assert "ports is as it should be" not in text_of(app)
        await press(pilot, "tab")
        assert "ports is as it should be" in text_of(app)


async def test_leaving_a_launch_stops_nothing_and_its_end_is_told_elsewhere() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        fake.apply_gate.clear()
        await press(pilot, "s", "enter", "enter", "escape")
        on(app, FleetScreen)
        fake.apply_gate.set()
        await until(pilot, lambda: any("Ready in 5:32" in toast for toast in toasts(app)))


async def test_quitting_asks_while_a_plan_is_carried_out() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        fake.apply_gate.clear()
        await press(pilot, "s", "enter", "enter", "ctrl+q")
        assert app.is_running
        assert any("Quit again to leave" in toast for toast in toasts(app))
        await pilot.press("ctrl+q")
        assert app._exit


async def test_a_refusal_while_it_is_carried_out_is_shown_as_the_answer() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        await press(pilot, "s", "enter")
        fake.refuse = RefusedError("kim holds the lock of GPU 0-7 since 12 min", hint="Ask kim.")
        await press(pilot, "enter")
        on(app, LaunchScreen)
        assert "✗ kim holds the lock of GPU 0-7 since 12 min" in text_of(app)
        assert "Ask kim." in text_of(app)


async def test_adopt_asks_for_a_foreign_server_only() -> None:
    async with running(story.pro6k_01(), "a") as (app, _, fake):
        assert fake.calls == []
        assert any("specctl's own already" in toast for toast in toasts(app))
    foreign = parts.server("pid-77", is_ours=False)
    events = [*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, (foreign,))]
    async with running(events, "a") as (_, _, fake):
        assert fake.calls == [("plan_adopt", "pro6k-01", "pid-77")]


async def test_a_probe_is_shown_before_it_is_sent_and_its_result_after() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.result = plans.probe_result()
        await press(pilot, "p")
        on(app, ProbeDialog)
        assert "32, 1 at a time" in text_of(app)
        assert fake.calls == [("plan_probe", "pro6k-01", "7c1e")]
        await press(pilot, "enter")
        assert fake.calls[-1] == ("probe", "pro6k-01", "7c1e")
        assert "51.9 tok/s  0.89× of baseline 58.6" in text_of(app)
        await press(pilot, "escape")
        on(app, FleetScreen)


async def test_fewer_requests_can_be_chosen() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.result = plans.probe_result()
        await press(pilot, "p", "left", "left", "left", "left", "left", "right")
        assert "4, 1 at a time" in text_of(app)
        await press(pilot, "enter")
        assert fake.requests == 4


async def test_a_probe_goes_on_when_its_dialog_is_left() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.result = plans.probe_result()
        fake.probe_gate.clear()
        await press(pilot, "p", "enter", "escape")
        fake.probe_gate.set()
        ended = "Probe of pro6k-01/7c1e ended"
        await until(pilot, lambda: any(ended in toast for toast in toasts(app)))


async def test_a_stop_names_ones_own_probe_while_it_is_under_way() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.result = plans.probe_result()
        fake.probe_gate.clear()
        await press(pilot, "p", "enter", "escape", "x")
        assert "your probe of it is under way: it would be spoiled; 1 request is" in text_of(app)
        app.store.apply(ProbeProgressed("pro6k-01", parts.NOW_S, "7c1e", "measuring", 3, 32))
        await press(pilot)
        assert "your probe of it is under way, measuring 3 of 32: it would be" in text_of(app)
        await press(pilot, "escape", *"s", *"ngram", "enter")
        assert "your probe of it is under way" in text_of(app)
        fake.probe_gate.set()
        await settled(pilot)
        text = text_of(app)
        assert "your probe" not in text
        assert "1 request is running on it" in text


async def test_a_stop_names_ones_own_trial_by_what_it_holds_and_no_other_server() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.proposal = replace(trials.proposal(), lock_keys=("measuring-port-30000",))
        await press(pilot, "enter", "c", *"eagle", "enter")
        await settled(pilot)
        await press(pilot, "right", "enter")
        await press(pilot, *"H", "x")
        trial = app.work.trials.under_way[0].proposal.plan.id
        assert f"your trial {trial} is measuring it: it would be spoiled" in text_of(app)
        other = parts.server("pid-77", port=30999, gpus=())
        assert app.work.measuring("pro6k-01", other) == ""
        assert app.work.measuring("pro6k-02", parts.server()) == ""


@pytest.mark.parametrize("key", ["s", "x", "p"])
async def test_read_only_refuses_with_the_way_out(key: str) -> None:
    async with running(story.pro6k_01(read_only=True), key) as (app, _, fake):
        assert fake.calls == []
        assert any(
            "pro6k-01 is read-only. :readonly off lifts it." in toast for toast in toasts(app)
        )


async def test_readonly_is_lifted_by_its_name() -> None:
    async with running(
        story.pro6k_01(read_only=True), "colon", *"readonly", "space", *"off", "enter"
    ) as (
        app,
        pilot,
        fake,
    ):
        assert fake.calls == [("set_read_only", "pro6k-01", False)]
        await press(pilot, "s")
        on(app, ProfilesDialog)


async def test_the_session_guard_holds_on_every_host() -> None:
    async with running(story.pro6k_01(), "s", read_only=True) as (app, _, fake):
        assert fake.calls == []
        assert any("read-only" in toast for toast in toasts(app))


@pytest.mark.parametrize(("key", "kind"), [("question_mark", HelpDialog), ("colon", CommandLine)])
async def test_a_dialog_closes_once_however_often_it_is_told(
    key: str, kind: type[HelpDialog | CommandLine]
) -> None:
    async with running(story.pro6k_01(), "enter", key) as (app, pilot, _):
        below = app.screen_stack[-2]
        over = app.screen
        assert isinstance(over, kind)
        for _ in range(5):
            over.dismiss(None)
        await press(pilot)
        assert app.screen is below


async def test_help_opens_searches_and_closes() -> None:
    async with running(story.pro6k_01(), "question_mark") as (app, pilot, _):
        on(app, HelpDialog)
        await press(pilot, *"adopt")
        assert "adopt a foreign server  pro6k-01" not in text_of(app)
        assert "7c1e is specctl's own already." in text_of(app)
        assert ":adopt [SERVER]" in text_of(app)
        await press(pilot, "escape")
        on(app, FleetScreen)
        await press(pilot, "question_mark", "question_mark")
        on(app, FleetScreen)


async def test_the_command_line_completes_and_runs() -> None:
    async with running(
        story.fleet(), "colon", *"sta", "tab", *"pro6k-03", "space", *"kimi", "down", "enter"
    ) as (
        app,
        _,
        fake,
    ):
        on(app, PlanDialog)
        assert fake.calls == [("plan_start", "pro6k-03", "kimi-k2.5-eagle3", True)]


async def test_the_command_line_says_what_is_wrong_and_stays() -> None:
    async with running(story.fleet(), "colon", *"strat", "enter") as (app, pilot, _):
        on(app, CommandLine)
        assert "No command 'strat'. Nearest: start" in text_of(app)
        await press(pilot, "escape")
        on(app, FleetScreen)


async def test_the_command_line_remembers() -> None:
    async with running(story.fleet(), "colon", *"theme", "space", *"mono", "enter") as (
        app,
        pilot,
        _,
    ):
        assert app.theme == "specctl-mono"
        await press(pilot, "colon", "up")
        on(app, CommandLine)
        assert on(app, CommandLine)._bar.editor.text == "theme mono"


async def test_a_command_acts_on_the_host_it_names() -> None:
    async with running(story.fleet(), "colon", *"stop", "space", *"pro6k-01", "enter") as (
        app,
        _,
        fake,
    ):
        assert fake.calls == [("plan_stop", "pro6k-01", "7c1e", False)]
        on(app, PlanDialog)


async def test_a_command_that_is_not_possible_says_why() -> None:
    async with running(story.fleet(), "colon", *"stop", "space", *"h200-b2", "enter") as (
        app,
        _,
        fake,
    ):
        on(app, CommandLine)
        assert fake.calls == []


async def test_what_is_looked_at_stays_when_another_server_comes() -> None:
    """Also one that needs eyes more: `x` must stop what was seen."""
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        seen = on(app, HostScreen).server
        assert seen is not None
        servers = app.scene.state.host("pro6k-01").servers or ()
        stranger = replace(servers[0], name="0bad", state=ServerState.CRASHED)
        app.store.apply(ServersSeen("pro6k-01", parts.NOW_S, (stranger, *servers)))
        await shown(pilot)
        await press(pilot, "j")
        assert on(app, HostScreen).server == seen


async def test_a_reason_in_the_help_is_not_cut() -> None:
    scene = replace(SCENES["locked-help-120x40"], size=(80, 24))
    app = scene.app()
    async with app.run_test(size=scene.size) as pilot:
        await scene.prepare(pilot)
        dialog = app.screen
        assert isinstance(dialog, HelpDialog)
        body = dialog.panel.draw(app.scene, 76, 22).body
        assert max(width(line) for line in body) <= 76
        assert "screens that may." in plain(body)


async def test_a_ledger_that_was_migrated_is_told() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        said = hear_of_the_ledger(app)
        await asyncio.to_thread(notify, "the ledger went from version 3 to 4")
        await until(pilot, lambda: bool(toasts(app)))
        assert any("went from version 3 to 4" in toast for toast in toasts(app))
        assert said == ["the ledger went from version 3 to 4"]
