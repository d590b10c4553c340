"""Trials asked for from a key, followed, left and interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.domain.errors import SpecctlError
from specctl.domain.events import TrialProgressed
from specctl.domain.plan import Check, Level
from specctl.tui.screens import screening as screening_screen
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.screening import ScreeningDialog
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.screens.trials import TrialsScreen
from tests.tui import parts, story, trials
from tests.tui.driving import on, press, running, settled, text_of, toasts, until

if TYPE_CHECKING:
    from specctl.tui.screenings import ScreeningSheet

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
        await press(pilot, *["up"] * 5, "right")
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
        await press(pilot, *["up"] * 3, *"1,4", "enter", *["up"] * 2, *"chat", "enter")
        assert dialog.panel.ask.trained_on == "chat"
        await press(pilot, "up", *"work/rep", "tab", "enter")
        await until(pilot, lambda: dialog.panel.proposal is not None)
        asked = fake.asked_trials[-1]
        assert (asked.concurrencies, asked.workload) == ((1, 4), "work/replay.jsonl")
        await press(pilot, "enter", "right", "enter")
        on(app, TrialScreen)
        assert fake.budgets == [5400.0]


async def test_several_profiles_are_screened_and_their_trial_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(screening_screen, "LOOK_AGAIN_S", 0.2)
    async with running(story.pro6k_01(), *TO_PLAN) as (app, pilot, fake):
        await settled(pilot)
        dialog = on(app, TrialPlanDialog)
        await press(pilot, *["up"] * 10, *"kimi-k2.5-n", "tab", "enter")
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
        read = fake.read_screening

        async def fails(screening: str) -> ScreeningSheet:
            raise SpecctlError(f"the ledger is busy with {screening}", hint="Wait.")

        fake.read_screening = fails  # type: ignore[method-assign]
        await until(pilot, lambda: "the ledger is busy" in text_of(app))
        fake.read_screening = read  # type: ignore[method-assign]
        await until(pilot, lambda: "kimi-k2.5-ngram" in text_of(app))
        fake.trial_gate.set()
        await until(pilot, lambda: not app.work.trials.under_way)
        assert "Screening on pro6k-01" in toasts(app)[-1]
        panel = on(app, ScreeningDialog).panel
        await until(pilot, lambda: panel.found is not None and panel.found.trial == "37aabb01")
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
        assert "0.94 to 1.01" in text


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


def _progressed(trial: str) -> TrialProgressed:
    return TrialProgressed(
        host="pro6k-01", time_s=parts.NOW_S, trial=trial, baseline=trials.BASE,
        profile=trials.EAGLE, done=7, most=16, ratio=0.97, low=0.94, high=1.0, word=None,
        words="launch 7 measured",
    )  # fmt: skip


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
