"""The guide's line: what it names on each screen, and how it goes away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.tui import lab_guide
from specctl.tui.bars import GuideBar
from specctl.tui.guide import ANYWHERE, Guide, Step
from specctl.tui.panel import Panel
from specctl.tui.render.lines import plain
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.plan import PlanDialog
from specctl.tui.screens.probe import ProbeDialog
from specctl.tui.screens.prompts import ProfilesDialog
from specctl.tui.screens.trial_plan import TrialPlanDialog
from tests.tui import plans, story
from tests.tui.driving import on, press, running, settled, until

if TYPE_CHECKING:
    from tests.tui.fakes import DemoApp

OPEN = Step(lambda moment: moment.where == "host", {ANYWHERE: (("enter", "opens it"),)})
START = Step(
    lambda moment: any(outcome.succeeded for outcome in moment.outcomes.values()),
    {
        "profiles": (("ngram", "finds it"), ("enter", "shows its plan")),
        "plan": (("enter", "carries it out"),),
        ANYWHERE: (("s", "starts a profile"),),
    },
)


def bar(app: DemoApp) -> str:
    """What the guide says on the screen in front; empty where it is not shown."""
    found = [bar for bar in app.screen.query(GuideBar) if bar.display]
    return plain([found[0].draw(app.size.width)]).strip() if found else ""


def painted(app: DemoApp) -> str:
    """The guide as it was painted last."""
    return plain(app.screen.query_one(GuideBar)._painted or [])


def lowest_row(app: DemoApp) -> int:
    """The last row that a panel of the screen in front takes."""
    return max(panel.region.bottom for panel in app.screen.query(Panel) if panel.display)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_it_names_the_next_key_on_every_screen_and_ends(size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(), size=size) as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        app.work.guide = Guide((OPEN, START))
        app.screen.place()  # type: ignore[attr-defined]
        app.repaint()
        await until(pilot, lambda: bar(app).startswith("1 of 2   enter  opens it"))
        assert bar(app).endswith("f2 hides this")
        await until(pilot, lambda: lowest_row(app) == size[1] - 2)

        await press(pilot, "enter")
        await until(pilot, lambda: bar(app).startswith("2 of 2   s  starts a profile"))
        on(app, HostScreen)

        await press(pilot, "s")
        await until(pilot, lambda: "ngram  finds it,  enter  shows its plan" in bar(app))
        on(app, ProfilesDialog)
        await until(pilot, lambda: app.screen.query_one(GuideBar).region.y >= lowest_row(app))

        await press(pilot, "enter")
        await until(pilot, lambda: "enter  carries it out" in bar(app))
        on(app, PlanDialog)
        await settled(pilot)

        await press(pilot, "enter")
        await settled(pilot)
        app.repaint()
        await until(pilot, lambda: bar(app) == "")
        await until(pilot, lambda: lowest_row(app) == size[1] - 1)


async def test_what_was_left_under_way_is_not_asked_for_again() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.probe_gate.clear()
        app.work.guide = Guide((lab_guide._measure("ngram"),))
        on(app, HostScreen).place()
        await press(pilot, "p", "enter")
        assert "the prompts are on their way" in painted(app)
        await press(pilot, "escape")
        assert "p  shows how far it is: ngram is being measured" in painted(app)
        fake.result = plans.probe_result()
        fake.probe_gate.set()
        await settled(pilot)
        assert "p  measures ngram" in painted(app)


async def test_a_load_and_a_trial_that_were_left_are_waited_for() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.apply_gate.clear()
        app.work.guide = Guide((lab_guide._start("ngram"), lab_guide._try()))
        app.work.carry_out(plans.start_plan(), "pro6k-01")
        await press(pilot, "escape")
        assert "ngram is loading" in painted(app)
        app.work.guide = Guide((lab_guide._try(),))
        await press(pilot, "c", *"eagle", "enter")
        dialog = on(app, TrialPlanDialog)
        await until(pilot, lambda: dialog.panel.proposal is not None)
        await press(pilot, "right", "enter", *"H")
        assert "T  lists the trial, which goes on meanwhile" in painted(app)


async def test_a_key_hides_it_and_gives_its_row_back() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        app.work.guide = Guide((OPEN,))
        on(app, FleetScreen).place()
        assert bar(app) != ""
        await press(pilot, "f2")
        assert bar(app) == ""
        await until(pilot, lambda: lowest_row(app) == app.size.height - 1)


async def test_without_a_guide_no_row_is_taken() -> None:
    async with running(story.pro6k_01(), "p") as (app, _, _):
        on(app, ProbeDialog)
        assert bar(app) == ""
