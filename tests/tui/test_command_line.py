"""The command line: lines of earlier sessions, runs of the ledger, and what cannot be kept."""

from __future__ import annotations

from specctl.adapters.typed_lines import TypedLines
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.prompts import CommandLine
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trials import TrialsScreen
from tests.tui import story
from tests.tui.driving import on, press, running, settled, text_of, toasts


def line_of(app) -> str:
    return on(app, CommandLine)._bar.editor.text


async def test_a_later_session_goes_through_what_was_typed(tmp_path) -> None:
    kept = TypedLines(tmp_path / "typed")
    async with running(story.fleet()) as (app, pilot, _):
        app.commanding.kept = kept
        await press(pilot, "colon", *"theme light", "enter", "colon", *"span 30", "enter")
    async with running(story.fleet()) as (app, pilot, _):
        app.commanding.kept = kept
        await press(pilot, "colon", "up")
        assert line_of(app) == "span 30"
        await press(pilot, "up", "up")
        assert line_of(app) == "theme light", "the oldest stays"
        await press(pilot, "down")
        assert line_of(app) == "span 30"
        await press(pilot, "down")
        assert not line_of(app)
        await press(pilot, *"light", "ctrl+r")
        assert line_of(app) == "theme light"
        await press(pilot, "enter")
        on(app, FleetScreen)
        assert app.theme == "specctl-light"
    assert kept.read() == ["theme light", "span 30", "theme light"]


async def test_where_nothing_can_be_kept_that_is_said_once(tmp_path) -> None:
    async with running(story.fleet()) as (app, pilot, _):
        app.commanding.kept = TypedLines(tmp_path)
        await press(pilot, "colon", *"span 30", "enter", "colon", "up")
        assert line_of(app) == "span 30"
        assert [words for words in toasts(app) if "for this session only" in words]


async def test_a_run_is_completed_and_opened() -> None:
    async with running(story.fleet()) as (app, pilot, fake):
        trial = fake.sheets_of_trials[0].plan.id
        await press(pilot, "colon", *"trials")
        await settled(pilot)
        await press(pilot, "space")
        assert trial in text_of(app)
        await press(pilot, *trial, "enter")
        assert on(app, TrialScreen).looked.trial == trial
        await press(pilot, "escape")
        on(app, TrialsScreen)
