"""Trials and other runs of the ledger looked at again: the list, a verdict, a report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.errors import SpecctlError
from specctl.domain.events import HostDescribed
from specctl.tui.panel import Painted
from specctl.tui.render.lines import plain, width
from specctl.tui.render.why import why_lines
from specctl.tui.render.worth import draw_map
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.run import RunDialog
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.trials import make_sheet
from tests.tui import parts, story, trials
from tests.tui.driving import on, press, running, settled, text_of, toasts, until

SIZES = [(80, 24), (90, 40), (120, 40), (200, 50)]


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
