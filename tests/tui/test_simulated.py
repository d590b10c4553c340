"""A practice host of the lab is SIMULATED on every screen and in every dialog about it."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import pytest

from specctl.tui import screens
from specctl.tui.asking import AskingScreen
from specctl.tui.listscreen import ListScreen
from specctl.tui.panel import Painted
from specctl.tui.render.lines import plain
from specctl.tui.screen import Dialog, PanelScreen
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.choice import ChoiceDialog, NameDialog, PickDialog
from specctl.tui.screens.commands import CommandsScreen
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.drift import DriftDialog
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.help import HelpDialog
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.launch import LaunchScreen
from specctl.tui.screens.log import LogScreen
from specctl.tui.screens.plan import PlanDialog
from specctl.tui.screens.probe import ProbeDialog
from specctl.tui.screens.profiles import ProfilesScreen
from specctl.tui.screens.prompts import ProfilesDialog
from specctl.tui.screens.reading import ReadingDialog
from specctl.tui.screens.run import RunDialog
from specctl.tui.screens.screening import ScreeningDialog
from specctl.tui.screens.source import SourceScreen
from specctl.tui.screens.topology import TopologyDialog
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trial_plan import TrialPlanDialog
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.screens.welcome import WelcomeScreen
from tests.tui import plans, story
from tests.tui.driving import press, running, settled

if TYPE_CHECKING:
    from tests.tui.fakes import DemoApp

TO_TRIAL = ("enter", "c", *"eagle", "enter")
SETTLED = "SETTLED"
"""No key: what was asked for is waited for."""

WAYS: dict[type, tuple[str, ...]] = {
    FleetScreen: (),
    HostScreen: ("enter",),
    LogScreen: ("L",),
    CommandsScreen: ("at",),
    ProfilesDialog: ("s",),
    PlanDialog: ("s", "enter"),
    ProbeDialog: ("p",),
    LaunchScreen: ("s", "enter", "enter"),
    SourceScreen: ("S",),
    ProfilesScreen: ("P",),
    DriftDialog: ("enter", "d"),
    TopologyDialog: ("enter", "i", SETTLED),
    ChoiceDialog: ("P", "enter"),
    DifferenceScreen: ("P", "d", "enter"),
    ConfirmDialog: ("colon", *"flush", "enter"),
    TrialPlanDialog: (*TO_TRIAL, SETTLED),
    TrialScreen: (*TO_TRIAL, SETTLED, "right", "enter"),
    TrialsScreen: ("T", SETTLED),
    ScreeningDialog: ("T", SETTLED, "slash", *"candidates", "enter", "enter", SETTLED),
    RunDialog: ("T", SETTLED, "t", "slash", *"probe", "enter", "enter", SETTLED),
}
ABOUT_NO_HOST = {AlertsScreen, NameDialog, HelpDialog, WelcomeScreen}
"""The list of alerts is of all hosts: it says so in each row, which test_alerts looks at."""


def shown(app: DemoApp) -> str:
    """Every cell of the screen in front that a widget of its own painted."""
    painted = [w for w in app.screen.query(Painted) if w.display and w.size.height]
    return "\n".join(plain(widget.build(*widget.size)) for widget in painted)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
@pytest.mark.parametrize("kind", WAYS, ids=lambda kind: kind.__name__)
async def test_it_says_so_wherever_it_is_shown(kind: type, size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(simulated=True), size=size) as (app, pilot, fake):
        fake.plan = plans.start_plan(kind="start")
        for key in WAYS[kind]:
            await (settled(pilot) if key == SETTLED else press(pilot, key))
        assert isinstance(app.screen, kind)
        assert "SIMULATED" in shown(app)


async def test_a_build_held_against_another_says_which_is_simulated() -> None:
    async with running(story.fleet(), "S", "d", *"lab-1", "enter") as (app, pilot, _):
        await settled(pilot)
        assert isinstance(app.screen, DifferenceScreen)
        assert "lab-1 0.5.23 SIMULATED" in shown(app)


async def test_another_host_is_not() -> None:
    async with running(story.pro6k_01(), "s", "enter") as (app, _, _):
        assert isinstance(app.screen, PlanDialog)
        assert "SIMULATED" not in shown(app)


async def test_what_is_copied_from_it_says_so_first() -> None:
    async with running(story.pro6k_01("lab-1", simulated=True), "enter", "y") as (app, _, _):
        assert app.clipboard.startswith("# SIMULATED: lab-1 is a practice host of the lab\n")
    async with running(story.pro6k_01(), "enter", "y") as (app, _, _):
        assert "SIMULATED" not in app.clipboard


def test_no_screen_is_forgotten_here() -> None:
    modules = [
        import_module(f"{screens.__name__}.{m.name}") for m in iter_modules(screens.__path__)
    ]
    kinds = {
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, PanelScreen | Dialog)
        and kind not in {PanelScreen, AskingScreen, ListScreen, Dialog, ReadingDialog, PickDialog}
    }
    assert kinds == {*WAYS, *ABOUT_NO_HOST}
