"""What somebody new gets to know from the screens alone: what to do next, and the ways out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.server import ServerState
from specctl.tui.bars import Footer
from specctl.tui.render.lines import plain
from specctl.tui.render.plan import plan_body
from specctl.tui.render.run import run_lines
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.trial_desk import TRIED
from tests.tui import parts, plans, story, trials
from tests.tui.driving import on, press, running, settled, text_of, toasts
from tests.unit.tui.scenes import scene_of

NOTE = "SIMULATED: leaves no GPU memory for graphs, so that it ends while they are captured, always"


@pytest.mark.parametrize(
    ("keys", "offered"),
    [((), ("c compare", "q quit", "s start")), (("enter",), ("c compare", "esc back", "p probe"))],
)
async def test_the_last_row_offers_the_comparison_and_the_way_out(
    keys: tuple[str, ...], offered: tuple[str, ...]
) -> None:
    async with running(story.pro6k_01(), *keys) as (app, _, _):
        row = plain(app.screen.query_one(Footer)._painted or [])
        for item in offered:
            assert item in row


async def test_quitting_asks_while_ones_own_probe_is_under_way() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.result = plans.probe_result()
        fake.probe_gate.clear()
        await press(pilot, "p", "enter", "escape", "q")
        assert app.is_running
        on(app, FleetScreen)
        words = "A probe of pro6k-01/7c1e is under way. Quit again to give it up."
        assert any(words in toast for toast in toasts(app))
        await pilot.press("q")
        assert app._exit


async def test_compare_begins_at_the_profile_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    others_first = sorted(plans.PROFILES, key=lambda one: one.name == "kimi-k2.5-eagle3")
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        monkeypatch.setattr(fake, "profiles", lambda _host: others_first)
        await press(pilot, "c")
        on(app, ChoiceDialog)
        await press(pilot, "enter")
        await settled(pilot)
        assert fake.asked_trials[-1].profile == "kimi-k2.5-eagle3"


async def test_without_trials_the_list_says_that_other_runs_are_kept() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.sheets_of_trials.clear()
        fake.other_runs = tuple(one for one in fake.other_runs if one.kind not in TRIED)
        await press(pilot, "T")
        await settled(pilot)
        count = len(fake.other_runs)
        assert f"c compares profiles.  t lists {count} other runs, such as probes." in text_of(app)
        await press(pilot, "t")
        assert "No trials here yet" not in text_of(app)


async def test_a_long_note_of_the_chosen_profile_is_told_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = [replace(one, note=NOTE) for one in plans.PROFILES]
    async with running(story.pro6k_01()) as (app, pilot, fake):
        monkeypatch.setattr(fake, "profiles", lambda _host: long)
        await press(pilot, "s")
        assert NOTE in " ".join(text_of(app).split())


def test_what_stops_is_marked_as_it_is_seen_and_not_as_unknown() -> None:
    scene = scene_of(story.pro6k_01())
    planned = replace(parts.server(), state=ServerState.UNKNOWN)
    plan = replace(plans.stop_plan(), stops=(planned,))
    first = plain(plan_body(scene, plan, 92, lists_passed=False)).splitlines()[1]
    assert first.startswith("●  kimi-k2.5-eagle3")


def test_a_probe_is_shown_in_words_before_the_figures_as_they_were_kept() -> None:
    sheet = trials.run_sheet(trials.OTHERS[0].id)
    told = replace(sheet, measured=(("throughput", "51.9 tok/s  over the window"),))
    names = [line for line in plain(run_lines(told, 90)).splitlines() if line.isupper()]
    assert names[:2] == ["MEASURED", "FIGURES, AS KEPT"]
    assert "FIGURES" in plain(run_lines(sheet, 90)).splitlines()
