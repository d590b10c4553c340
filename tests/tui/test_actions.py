"""The one table of actions, against the screens, the command line and the commands of the shell."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.binding import Binding

from specctl.cli.main import COMMANDS as CLI
from specctl.domain.server import ServerState
from specctl.domain.state import HostState, Link
from specctl.tui.actions import ACTIONS, BY_ID, FOOTERS, Action, Kind, Target, actions_on, refusal
from specctl.tui.application import SpecctlApp
from specctl.tui.commands import COMMANDS
from specctl.tui.enrolling import Enrolling
from specctl.tui.footers import CALLED
from specctl.tui.key_table import page
from specctl.tui.render.help import blocks
from specctl.tui.render.lines import plain
from specctl.tui.screen import BY_TEXTUAL, PanelScreen, bindings
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.commands import CommandsScreen
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.launch import LaunchScreen
from specctl.tui.screens.log import LogScreen
from specctl.tui.screens.profiles import ProfilesScreen
from specctl.tui.screens.source import SourceScreen
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trials import TrialsScreen
from specctl.tui.screens.welcome import WelcomeScreen
from specctl.tui.switches import Switches
from specctl.tui.tending import Tending
from specctl.tui.work import Work
from tests.tui import parts

SCREENS = {
    "alerts": AlertsScreen,
    "difference": DifferenceScreen,
    "fleet": FleetScreen,
    "host": HostScreen,
    "launch": LaunchScreen,
    "log": LogScreen,
    "commands": CommandsScreen,
    "profiles": ProfilesScreen,
    "source": SourceScreen,
    "trial": TrialScreen,
    "trials": TrialsScreen,
    "welcome": WelcomeScreen,
}
OWNERS = (SpecctlApp, Work, Tending, Switches, Enrolling)
VERBS = {name for section in CLI.values() for name in section}

CHANGING = {
    "start",
    "stop",
    "adopt",
    "probe",
    "compare",
    "server",
    "forward",
    "trust",
    "add",
    "init",
    "import",
}
"""Verbs that change a host, a file or what somebody else sees."""

WITHOUT_ACTION: set[str] = set()
"""Not on a key yet; this list only ever gets shorter."""

FIRST_RUN = {"init"}
"""A choice of the first run, before there is a table to act on."""

UP = HostState(link=Link.UP)


def target(**values: object) -> Target:
    full: dict[str, object] = {"host": "pro6k-01", "state": UP, "server": parts.server()}
    return Target(**(full | values))  # type: ignore[arg-type]


@pytest.mark.parametrize("action", [a for a in ACTIONS if a.verb], ids=lambda a: a.id)
def test_every_action_that_changes_something_is_a_verb(action: Action) -> None:
    assert action.verb in VERBS


def test_every_verb_that_changes_something_has_an_action() -> None:
    on_keys = {action.verb for action in ACTIONS if action.verb}

    assert (CHANGING & VERBS) - on_keys == (WITHOUT_ACTION | FIRST_RUN) & VERBS
    assert on_keys.isdisjoint(WITHOUT_ACTION)


def test_only_what_has_a_verb_changes_something() -> None:
    assert {a.id for a in ACTIONS if a.changes} == {a.id for a in ACTIONS if a.verb}


@pytest.mark.parametrize("where", sorted(set(SCREENS) - {"welcome"}))
def test_every_action_of_a_screen_is_bound_and_done_by_somebody(where: str) -> None:
    screen = SCREENS[where]
    bound = {binding.id for binding in bindings(where) if isinstance(binding, Binding)}
    for action in actions_on(where):
        if action.id in BY_TEXTUAL:
            continue
        assert not action.keys or action.id in bound, action.id
        method = "do_" + action.id.replace(".", "_")
        assert any(hasattr(owner, method) for owner in (screen, *OWNERS)), action.id


def test_no_key_means_two_things_on_one_screen() -> None:
    for where in SCREENS:
        keys = [key for action in actions_on(where) for key in action.keys]
        assert len(keys) == len(set(keys)), where


def test_ids_are_nouns_and_verbs_and_unique() -> None:
    assert len(BY_ID) == len(ACTIONS)
    assert all(id_.count(".") == 1 for id_ in BY_ID)


def test_capitals_go_and_small_letters_act() -> None:
    for action in ACTIONS:
        for key in action.keys:
            if len(key) == 1 and key.isupper() and key not in {"G", "N"}:
                assert action.kind is Kind.GO, action.id


def test_keys_that_terminals_cannot_tell_apart_are_not_bound() -> None:
    keys = {key for action in ACTIONS for key in action.keys}

    assert not keys & {"ctrl+c", "ctrl+k", "ctrl+i", "ctrl+m", "ctrl+h", "ctrl+left_square_bracket"}


@pytest.mark.parametrize(
    "name",
    ["host.toggle_readonly", "host.trust", "host.forward", "server.flush", "server.abort"],
)
def test_what_lifts_a_guard_or_ends_what_others_do_has_no_key(name: str) -> None:
    assert BY_ID[name].keys == ()


@pytest.mark.parametrize("where", sorted(set(SCREENS) - {"welcome"}))
def test_the_help_shows_every_action_of_its_screen(where: str) -> None:
    text = plain(blocks(where, target(), 100))

    for action in actions_on(where):
        assert action.key in text
        assert CALLED.get((where, action.id), action.help) in text


def test_footers_name_actions_of_their_screen() -> None:
    for where, names in FOOTERS.items():
        assert set(names) <= {action.id for action in actions_on(where)}


def test_every_command_has_an_action_that_somebody_does() -> None:
    for command in COMMANDS:
        method = "do_" + command.action.replace(".", "_")
        owners = (PanelScreen, *SCREENS.values(), *OWNERS)
        assert any(hasattr(owner, method) for owner in owners), command.name


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("server.start", {}, ""),
        ("server.start", {"read_only": True}, "pro6k-01 is read-only. :readonly off lifts it."),
        ("server.start", {"host": None}, "No host is selected."),
        (
            "server.start",
            {"state": HostState(link=Link.LOST, link_words="host pro6k-01: refused")},
            "pro6k-01 does not answer: refused",
        ),
        (
            "server.start",
            {"state": HostState(link=Link.CONNECTING)},
            "pro6k-01 is not connected yet.",
        ),
        ("server.stop", {"server": None}, "No server on pro6k-01."),
        (
            "server.stop",
            {"server": parts.server(is_multi_node=True)},
            "7c1e is one rank of a server over several hosts: hands off.",
        ),
        (
            "probe.start",
            {"server": parts.server(state=ServerState.STARTING)},
            "7c1e is starting, not ready.",
        ),
        ("probe.start", {"server": parts.server(state=ServerState.BUSY)}, ""),
        ("server.adopt", {}, "7c1e is specctl's own already."),
        ("server.adopt", {"server": parts.server(is_ours=False)}, ""),
        ("facts.read", {"read_only": True}, ""),
    ],
)
def test_refusals(name: str, values: dict[str, object], reason: str) -> None:
    assert refusal(BY_ID[name], target(**values)) == reason


def test_the_page_of_keys_is_that_of_the_table() -> None:
    shown = Path(__file__).parents[2] / "docs" / "keys.md"

    assert shown.read_text() == page() + "\n", "make pictures writes it again"


def test_the_page_of_keys_has_every_action_and_command() -> None:
    text = page()

    for action in ACTIONS:
        assert action.kind is Kind.NAMED or action.help in text, action.id
    for command in COMMANDS:
        assert f"`:{command.usage}`" in text
