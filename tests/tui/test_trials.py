"""The trial screens: asked for from a key, followed, left, interrupted, and looked at again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.errors import SpecctlError
from specctl.domain.events import HostDescribed, TrialProgressed
from specctl.domain.plan import Check, Level
from specctl.tui.panel import Painted
from specctl.tui.render.lines import plain, width
from specctl.tui.render.why import why_lines
from specctl.tui.render.worth import draw_map
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.run import RunDialog
from specctl.tui.screens.screening import ScreeningDialog
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.trials import make_sheet
from tests.tui import parts, story, trials
from tests.tui.driving import on, press, running, settled, text_of, toasts, until

SIZES = [(80, 24), (90, 40), (120, 40), (200, 50)]
TO_PLAN = ("enter", "c", *"eagle", "enter")


async def test_a_trial_is_asked_against_the_profiles_own_baseline_with_cancel_chosen() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        dialog = on(app, TrialPlanDialog)
        assert fake.asked_trials[-1].baseline == trials.BASE
        assert not dialog.panel.form.answer.on_action
        text = text_of(app)
        assert "launches in the order AB BA BA AB" in text
        assert "8 of each arm at most" in text
        await press(pilot, "enter")
        assert isinstance(app.screen, HostScreen)
        assert not [call for call in fake.calls if call[0] == "run_trial"]


async def test_a_turned_setting_makes_the_plan_again_and_the_safe_button_stays() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "right", *["up"] * 4, "right")
        dialog = on(app, TrialPlanDialog)
        assert dialog.panel.proposal is None
        assert not dialog.panel.form.answer.on_action
        await until(pilot, lambda: dialog.panel.proposal is not None)
        assert fake.asked_trials[-1].launches == 12
        await press(pilot, "up", "up", "left")
        assert "the first 64" in text_of(app)
        await press(pilot, *["up"] * 4, "right")
        await until(pilot, lambda: fake.asked_trials[-1].baseline == trials.NGRAM)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_a_typed_setting_is_checked_and_completed(size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(), *TO_PLAN, size=size) as (app, pilot, fake):
        await settled(pilot)
        dialog = on(app, TrialPlanDialog)
        await press(pilot, "up", "up", *"soon", "enter")
        assert "'soon' is no time" in text_of(app)
        assert "1h30m" in text_of(app)
        await press(pilot, "ctrl+u", *"1h30m", "enter")
        assert dialog.panel.ask is not None
        assert dialog.panel.ask.budget_s == 5400.0
        await press(pilot, *["up"] * 3, *"1,4", "enter", "up", "up", *"work/rep", "tab", "enter")
        await until(pilot, lambda: dialog.panel.proposal is not None)
        asked = fake.asked_trials[-1]
        assert (asked.concurrencies, asked.workload) == ((1, 4), "work/replay.jsonl")
        await press(pilot, "enter", "right", "enter")
        on(app, TrialScreen)
        assert fake.budgets == [5400.0]


async def test_several_profiles_are_screened_and_their_trial_opened() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        dialog = on(app, TrialPlanDialog)
        await press(pilot, *["up"] * 9, *"kimi-k2.5-n", "tab", "enter")
        await until(pilot, lambda: dialog.panel.proposal is not None)
        text = text_of(app)
        assert "screen kimi-k2.5-eagle3, kimi-k2.5-ngram" in text
        assert "leave out kimi-k2.5-dflash: the build has no DFLASH" in text
        await press(pilot, "enter", "right", "enter")
        await until(pilot, lambda: "kimi-k2.5-ngram" in text_of(app))
        on(app, ScreeningDialog)
        await press(pilot, "x")
        on(app, ConfirmDialog)
        await press(pilot, "escape")
        assert app.work.trials.is_under_way("5c4ee001")
        fake.trial_gate.set()
        await until(pilot, lambda: not app.work.trials.under_way)
        assert "Screening on pro6k-01" in toasts(app)[-1]
        screen = on(app, ScreeningDialog)
        screen.read()
        await settled(pilot)
        await press(pilot, "enter")
        assert on(app, TrialScreen).trial == "37aabb01"


async def test_a_refusal_is_shown_and_nothing_can_be_begun() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        check = Check("free", Level.REFUSE, "a foreign server holds GPU 3", "Ask mkl.")
        fake.proposal = trials.proposal(refusals=(check,))
        await press(pilot, "c", *"eagle", "enter")
        await settled(pilot)
        text = text_of(app)
        assert "a foreign server holds GPU 3" in text
        assert "Ask mkl." in text
        await press(pilot, "right", "enter")
        assert isinstance(app.screen, HostScreen)
        assert not [call for call in fake.calls if call[0] == "run_trial"]


async def test_a_plan_that_cannot_be_made_says_why() -> None:
    async with running(story.pro6k_01(), *TO_PLAN[:-1]) as (app, pilot, fake):
        await press(pilot)
        ask = fake.ask_trial
        fake.ask_trial = lambda host, profile: ask(host, profile)  # type: ignore[method-assign]

        async def fails(asked: object) -> object:
            del asked
            raise SpecctlError("pro6k-01 lost the connection.", hint="r reconnects.")

        fake.plan_trial = fails  # type: ignore[method-assign, assignment]
        await press(pilot, "enter")
        await settled(pilot)
        assert "pro6k-01 lost the connection." in text_of(app)
        await press(pilot, "right", "enter")
        assert not [call for call in fake.calls if call[0] == "run_trial"]


async def test_read_only_refuses_a_trial_with_the_reason() -> None:
    async with running(story.pro6k_01(), "enter", "c", read_only=True) as (app, _, fake):
        assert isinstance(app.screen, HostScreen)
        assert "read-only" in toasts(app)[-1]
        assert not [call for call in fake.calls if call[0] == "ask_trial"]


async def test_a_trial_begins_only_from_the_button_that_acts_and_is_followed() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "right", "enter")
        screen = on(app, TrialScreen)
        assert ("run_trial", fake.proposal.plan.id) in fake.calls
        assert "No interval yet: the first look is after 2 launches of each arm." in text_of(app)
        sheet = trials.live()
        fake.sheets_of_trials.insert(0, sheet)
        app.store.apply(_progressed(sheet.plan.id))
        await until(pilot, lambda: len(screen.desk.sheets[sheet.plan.id].blocks) == 8)
        await press(pilot)
        text = text_of(app)
        assert "launch 8 of at most 16" in text
        assert "at most" in text
        assert "GPU 5 slowed by heat for 41 s" in text
        assert "0.94 to 1.00" in text


async def test_leaving_a_trial_under_way_asks_and_lets_it_go_on() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "right", "enter", "escape")
        on(app, ChoiceDialog)
        await press(pilot, "enter")
        on(app, HostScreen)
        assert app.work.trials.is_under_way(fake.proposal.plan.id)
        fake.trial_outcome = trials.outcome(trials.decided())
        fake.trial_gate.set()
        await until(pilot, lambda: not app.work.trials.under_way)
        await press(pilot)
        assert any("slower" in text for text in toasts(app))


@pytest.mark.parametrize("keys", [("escape", "down", "enter"), ("x", "right", "enter")], ids=str)
async def test_an_interrupted_trial_keeps_what_is_measured_and_can_go_on(
    keys: tuple[str, ...],
) -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        fake.restores.clear()
        fake.sheets_of_trials.insert(0, trials.live())
        await press(pilot, "right", "enter", *keys)
        screen = on(app, TrialScreen)
        run = screen.desk.runs[screen.trial]
        assert run.is_stopping
        assert not run.is_over
        assert "Stopping; what ran before is started again" in text_of(app)
        fake.restores.set()
        await until(pilot, lambda: run.is_over)
        await settled(pilot)
        assert run.outcome is not None
        assert run.outcome.is_interrupted
        text = text_of(app)
        assert "goes on with it" in text
        assert "started kimi-k2.5-baseline again" in text
        await press(pilot, "s")
        await settled(pilot)
        assert ("plan_resumption", screen.trial) in fake.calls
        assert isinstance(app.screen, TrialPlanDialog)


async def test_x_first_chooses_not_to_interrupt() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "right", "enter", "x")
        dialog = on(app, ConfirmDialog)
        await until(pilot, lambda: dialog.panel.question is not None)
        await press(pilot, "enter")
        assert app.work.trials.under_way[0].is_stopping is False


async def test_a_second_trial_on_the_same_host_is_not_even_planned() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "right", "enter", "c")
        assert isinstance(app.screen, TrialScreen)
        assert "A trial is under way on pro6k-01" in toasts(app)[-1]
        assert len([call for call in fake.calls if call[0] == "ask_trial"]) == 1


async def test_quitting_restores_first() -> None:
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        fake.restores.clear()
        await press(pilot, "right", "enter", "ctrl+q")
        run = app.work.trials.under_way[0]
        assert "A trial is under way on pro6k-01" in toasts(app)[-1]
        stopping = [run.is_stopping]
        await press(pilot, "ctrl+q")
        assert [*stopping, run.is_stopping] == [False, True]
        assert app.is_running
        fake.restores.set()
        await until(pilot, lambda: app.return_code == 0)


async def test_the_list_is_filtered_by_host_and_profile_and_opens_one() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, _):
        await settled(pilot)
        screen = on(app, TrialsScreen)
        assert screen.list.count() == 4
        await press(pilot, "slash", *"ngram 29", "enter")
        assert [entry.id for entry in screen.list.found] == ["29ee0c10"]
        await settled(pilot)
        assert "Interrupted." in text_of(app)
        await press(pilot, "escape")
        assert screen.list.count() == 4
        await press(pilot, "escape")
        on(app, FleetScreen)


async def test_every_run_is_listed_opened_and_held_against_another() -> None:
    async with running(story.pro6k_01(), "T", size=(80, 24)) as (app, pilot, fake):
        await settled(pilot)
        screen = on(app, TrialsScreen)
        await press(pilot, "t", "slash", *"probe measured", "enter")
        assert [entry.id for entry in screen.list.found] == ["77aa0001"]
        assert "enter shows all that was kept" in text_of(app)
        await press(pilot, "enter")
        await settled(pilot)
        dialog = on(app, RunDialog)
        assert "probe of kimi-k2.5-eagle3 on pro6k-01" in text_of(app)
        said = plain(dialog.panel.lines(76))
        assert "accept-length" in said
        assert "max-running-requests" in said
        assert "REQUESTS, RAW" in said
        await press(pilot, "G", "escape", "d")
        on(app, ChoiceDialog)
        await press(pilot, *"77aa0002", "enter")
        await settled(pilot)
        on(app, DifferenceScreen)
        text = text_of(app)
        assert "condition" in text
        assert "accept-length" in text
        assert ("read_run", "77aa0002") in fake.calls


async def test_the_list_is_ordered_and_the_cursor_stays_on_its_run() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, _):
        await settled(pilot)
        screen = on(app, TrialsScreen)
        await press(pilot, "j")
        chosen = screen.list.chosen
        await press(pilot, "o")
        outcomes = [entry.outcome.partition(":")[0] for entry in screen.list.found]
        assert outcomes == ["candidates", "interrupted", "slower", "faster"]
        assert "by verdict" in text_of(app)
        assert screen.list.chosen == chosen
        for _ in range(3):
            await press(pilot, "o")
        assert screen.desk.order == "newest first"


async def test_a_report_is_written_once_and_opened() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "enter")
        await settled(pilot)
        await press(pilot, "ctrl+s")
        await settled(pilot)
        assert "/srv/work/trial-37aabb01.html" in toasts(app)[-1]
        await press(pilot, "o")
        await settled(pilot)
        assert [str(path) for path in fake.shown_reports] == ["/srv/work/trial-37aabb01.html"]
        assert fake.calls.count(("save_report", "37aabb01")) == 1


async def test_a_report_that_cannot_be_shown_says_how_to_open_it() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "enter")
        await settled(pilot)

        async def fails(path: object) -> None:
            raise SpecctlError("there is no browser here", hint=f"Open it yourself: {path}")

        fake.show_report = fails  # type: ignore[method-assign]
        await press(pilot, "o")
        await settled(pilot)
        assert "Open it yourself: /srv/work/trial-37aabb01.html" in toasts(app)[-1]


async def test_a_verdict_is_shown_with_its_reasons_and_copied() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "G", "g", "enter")
        await settled(pilot)
        text = text_of(app)
        assert "1.12x slower on these 24 prompts" in text
        assert "pays from 1.69" in text
        assert "it does not pay" in text
        sheet = on(app, TrialScreen).looked.sheet
        assert sheet is not None
        assert "specctl runs report 37aabb01 -o 37aabb01.html" in plain(why_lines(sheet, (), 80))
        await press(pilot, "y")
        assert app.clipboard.startswith(
            "pro6k-01: kimi-k2.5-eagle3 against kimi-k2.5-baseline: 1.12x slower"
        )
        await press(pilot, "s")
        assert "It has ended" in toasts(app)[-1]


async def test_a_trial_of_a_practice_host_says_so_though_the_host_is_gone() -> None:
    async with running(story.pro6k_01(), "T", "G") as (app, pilot, _):
        await settled(pilot)
        assert "lab-gone SIMULATED" in text_of(app)
        await press(pilot, "enter")
        await settled(pilot)
        assert "SIMULATED" in text_of(app)
        await press(pilot, "y")
        assert app.clipboard.startswith("# SIMULATED: lab-gone")


async def test_a_list_without_trials_says_how_to_get_one() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.sheets_of_trials.clear()
        fake.other_runs = ()
        await press(pilot, "T")
        await settled(pilot)
        assert "No trials here yet. c compares profiles." in text_of(app)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_every_panel_can_be_reached_at_every_size(size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(), "T", size=size) as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "enter")
        await settled(pilot)
        screen = on(app, TrialScreen)
        for number in "12345":
            await press(pilot, number)
            assert screen.panel is not None
            assert screen.panel.number == number
            assert screen.panel.size.height > 2
            assert screen.panel.size.width > 30


@pytest.mark.parametrize("cells", [60, 76, 116, 196])
def test_no_label_of_the_map_lies_over_another(cells: int) -> None:
    drawing = draw_map(trials.decided(), cells, 22)

    text = plain(drawing.body)
    assert text.count("pays from 1.69") == 1
    assert text.count("B 0.89×") == 1
    assert "cost 1.69×" in text
    assert max(width(line) for line in drawing.body) <= cells


def test_what_was_not_measured_says_why() -> None:
    sheet = make_sheet(trials.plan(), ())

    assert "No launch was measured yet." in plain(draw_map(sheet, 70, 20).body)


async def test_a_guarded_host_keeps_an_old_trial_from_going_on() -> None:
    async with running(story.pro6k_01(), "T") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "j", "j")
        await until(pilot, lambda: on(app, TrialsScreen).target().trial == "open")
        app.store.apply(HostDescribed("pro6k-01", parts.NOW_S, read_only=True))
        await until(pilot, lambda: app.scene.is_read_only("pro6k-01"))
        await press(pilot, "s")
        assert "read-only" in toasts(app)[-1]
        assert not [call for call in fake.calls if call[0] == "plan_resumption"]


def _progressed(trial: str) -> TrialProgressed:
    return TrialProgressed(
        host="pro6k-01", time_s=parts.NOW_S, trial=trial, baseline=trials.BASE,
        profile=trials.EAGLE, done=7, most=16, ratio=0.97, low=0.94, high=1.0, word=None,
        words="launch 7 measured",
    )  # fmt: skip


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_hostile_names_reach_no_terminal(size: tuple[int, int]) -> None:
    hostile = "[/x]\x1b[31m[bold]\r‮" + "漢" * 40
    of = replace(trials.plan("37aabb01"), profile=hostile, workload=hostile)
    sheet = replace(trials.decided(), plan=of, conditions=((hostile, hostile),))
    async with running(story.pro6k_01(), size=size) as (app, pilot, fake):
        fake.sheets_of_trials[:] = [sheet]
        await press(pilot, "T")
        await settled(pilot)
        await press(pilot, "enter")
        await settled(pilot)
        screen = on(app, TrialScreen)
        for panel in screen.query(Painted):
            if panel.display:
                for line in panel._built(*panel.size):
                    assert width(line) == panel.size.width
                    assert "".join(text for text, _ in line).isprintable()


async def test_the_command_line_opens_the_list_and_asks_for_a_trial() -> None:
    async with running(story.pro6k_01(), "colon", *"trials", "enter") as (app, pilot, fake):
        await settled(pilot)
        on(app, TrialsScreen)
        await press(pilot, "colon", *"compare", "space", *"kimi", "minus", *"k2")
        await press(pilot, "full_stop", "5", "minus", *"ngram", "enter")
        await settled(pilot)
        on(app, TrialPlanDialog)
        assert fake.asked_trials[-1].profile == trials.NGRAM


async def test_c_on_the_profiles_screen_takes_the_profile_under_the_cursor() -> None:
    async with running(story.pro6k_01(), "P") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "j", "c")
        await settled(pilot)
        on(app, TrialPlanDialog)
        assert fake.asked_trials[-1].profile == trials.EAGLE
