"""The one table of actions: it feeds bindings, footer, help, palette and command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from specctl.domain.server import ServerState
from specctl.domain.state import HostState, Link

if TYPE_CHECKING:
    from specctl.domain.server import Server


class Kind(StrEnum):
    """What an action is for; help has one block for each."""

    ACT = "here"
    """Acts on the selection."""

    GO = "go to"
    MOVE = "move"
    TOOL = "tools"
    NAMED = "by name"
    """Typed only: a slip must not run it."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an action would act on."""

    host: str | None = None
    state: HostState = field(default_factory=HostState)
    server: Server | None = None
    read_only: bool = False
    trial: str = ""
    """How the chosen trial stands: `running` here, `open` or `ended`; empty without one."""


Refuse = Callable[[Target], str]


def _nothing(target: Target) -> str:
    """Always possible."""
    del target
    return ""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a user can ask for; ids are stable, keys may change."""

    id: str
    keys: tuple[str, ...]
    """As Textual names them; the first is shown. None: only its name runs it."""

    title: str
    """Imperative, for the footer."""

    help: str
    kind: Kind
    where: frozenset[str]
    """Names of screens."""

    verb: str = ""
    """The CLI command that does the same; empty for navigation and the screen's own tools."""

    changes: bool = False
    """It changes a host or a file, so a read-only session refuses it."""

    refuse: Refuse = _nothing
    """Why it is not possible on a target; empty when it is."""

    shown: str = ""
    """How the key is written, where it is not Textual's name."""

    hint: str = ""
    """How the footer writes it, where that differs: `{ }` for a pair."""

    @property
    def key(self) -> str:
        """The key as the user sees it."""
        return self.shown or (self.keys[0] if self.keys else f":{self.verb or self.id}")


def refusal(action: Action, target: Target) -> str:
    """Why `action` cannot be done to `target` now; empty when it can."""
    if action.changes and target.read_only:
        return f"{target.host or 'This session'} is read-only. :readonly off lifts it."
    return action.refuse(target)


def _needs_host(target: Target) -> str:
    if target.host is None:
        return "No host is selected."
    match target.state.link:
        case Link.UP:
            return ""
        case Link.LOST | Link.REFUSED:
            words = (
                target.state.link_words.removeprefix(f"host {target.host}: ") or "its link is down"
            )
            return f"{target.host} does not answer: {words}"
        case _:
            return f"{target.host} is not connected yet."


def _needs_server(target: Target) -> str:
    missing = _needs_host(target)
    if missing:
        return missing
    if target.server is None or target.server.state is ServerState.ABSENT:
        return f"No server on {target.host}."
    if target.server.is_multi_node:
        return f"{target.server.name} is one rank of a server over several hosts: hands off."
    return ""


def _needs_running(target: Target) -> str:
    missing = _needs_server(target)
    if missing or target.server is None:
        return missing
    if target.server.state in {ServerState.READY, ServerState.BUSY, ServerState.FOREIGN}:
        return ""
    return f"{target.server.name} is {target.server.state.value}, not ready."


def _needs_foreign(target: Target) -> str:
    missing = _needs_server(target)
    if missing or target.server is None:
        return missing
    return "" if not target.server.is_ours else f"{target.server.name} is specctl's own already."


def _needs_seen_server(target: Target) -> str:
    if target.server is None or target.server.state is ServerState.ABSENT:
        return f"No server on {target.host}." if target.host else "No host is selected."
    return ""


def _needs_host_name(target: Target) -> str:
    return "" if target.host is not None else "No host is selected."


def _needs_open_trial(target: Target) -> str:
    match target.trial:
        case "ended":
            return "It has ended. c begins a new one."
        case "running":
            return "It goes on already."
        case "open":
            return _needs_host(target)
        case _:
            return "No trial is chosen."


def _needs_running_trial(target: Target) -> str:
    return "" if target.trial == "running" else "This session does not carry it out."


FLEET, HOST = frozenset({"fleet"}), frozenset({"host"})
FLEET_HOST = FLEET | HOST
LIVE = FLEET_HOST | {"launch"}
SOURCE, PROFILES = frozenset({"source"}), frozenset({"profiles"})
READ = SOURCE | PROFILES | {"difference"}
"""Screens of what was read, not of what goes on."""

TRIALS, TRIAL = frozenset({"trials"}), frozenset({"trial"})
EITHER_TRIAL = TRIALS | TRIAL
PANELS = LIVE | READ | EITHER_TRIAL
EVERYWHERE = PANELS | {"welcome"}
"""Also where there is no workspace yet."""

OTHER = PANELS - HOST
LISTS = FLEET | READ | TRIALS
SIBLINGS = HOST | SOURCE | PROFILES


def _act(
    name: str, keys: str, title: str, words: str, where: frozenset[str], *, verb: str = "",
    refuse: Refuse = _nothing, shown: str = "", hint: str = "",
) -> Action:  # fmt: skip
    """Acts on the selection; what has a verb changes something."""
    return Action(
        name, tuple(keys.split()), title, words, Kind.ACT, where,
        verb=verb, changes=bool(verb), refuse=refuse, shown=shown, hint=hint,
    )  # fmt: skip


def _go(
    name: str, keys: str, title: str, words: str, where: frozenset[str], *,
    shown: str = "", refuse: Refuse = _nothing,
) -> Action:  # fmt: skip
    return Action(
        name, tuple(keys.split()), title, words, Kind.GO, where, shown=shown, refuse=refuse
    )


def _move(
    name: str, keys: str, words: str, where: frozenset[str] = PANELS, *, shown: str = ""
) -> Action:
    return Action(name, tuple(keys.split()), words, words, Kind.MOVE, where, shown=shown)


def _tool(
    name: str, keys: str, title: str, words: str, where: frozenset[str] = PANELS, *, shown: str = ""
) -> Action:
    return Action(name, tuple(keys.split()), title, words, Kind.TOOL, where, shown=shown)


def _named(
    name: str, words: str, shown: str, refuse: Refuse = _nothing, *, verb: str = ""
) -> Action:
    """Typed only; what has a verb changes something."""
    title = shown.strip(":").split()[0]
    return Action(
        name, (), title, words, Kind.NAMED, PANELS,
        refuse=refuse, shown=shown, verb=verb, changes=bool(verb),
    )  # fmt: skip


ACTIONS: tuple[Action, ...] = (
    _go("row.open", "enter", "open", "open what is selected", LISTS),
    _act(
        "server.start",
        "s",
        "start",
        "start a profile here",
        LIVE | PROFILES,
        verb="start",
        refuse=_needs_host,
    ),
    _act(
        "server.stop", "x", "stop", "stop the server", FLEET_HOST, verb="stop", refuse=_needs_server
    ),
    _act("probe.start", "p", "probe", "probe it", FLEET_HOST, verb="probe", refuse=_needs_running),
    _act(
        "trial.start",
        "c",
        "compare",
        "compare with a baseline",
        FLEET_HOST | PROFILES | EITHER_TRIAL,
        verb="compare",
        refuse=_needs_host,
    ),
    _act(
        "trial.resume",
        "s",
        "go on",
        "go on with it",
        EITHER_TRIAL,
        verb="compare",
        refuse=_needs_open_trial,
    ),
    _act("trial.stop", "x", "interrupt", "interrupt it", EITHER_TRIAL, refuse=_needs_running_trial),
    _act(
        "server.adopt",
        "a",
        "adopt",
        "adopt a foreign server",
        FLEET_HOST,
        verb="adopt",
        refuse=_needs_foreign,
    ),
    _act(
        "facts.read",
        "r ctrl+r",
        "read again",
        "read again, reconnect",
        LIVE,
        refuse=_needs_host_name,
    ),
    _act("files.read", "r ctrl+r", "read again", "read the files again", SOURCE | PROFILES),
    _act("profile.fix", "full_stop", "fix this line", "apply the fix shown", PROFILES, shown="."),
    _act("trials.read", "r ctrl+r", "read again", "read the ledger again", EITHER_TRIAL),
    _act("profile.add", "a", "new from this", "new one that extends it", PROFILES),
    _act("profile.edit", "e", "edit", "edit it, check it again", PROFILES),
    _act("diff.show", "d", "diff with", "hold it against another", SOURCE | PROFILES),
    _act("drift.show", "d", "drift", "explain drift", FLEET_HOST, refuse=_needs_seen_server),
    _act("source.grep", "ctrl+g", "grep", "search every file", SOURCE),
    _act("live.span", "t", "span", "span 1, 5, 30 min", FLEET_HOST),
    _act("live.pause", "f", "pause", "pause, follow", LIVE),
    _act("copy.selection", "y", "copy", "copy what is selected", PANELS),
    _act("sibling.previous", "left_curly_bracket", "host", "previous host", SIBLINGS, shown="{"),
    _act(
        "sibling.next",
        "right_curly_bracket",
        "host",
        "next host",
        SIBLINGS,
        shown="}",
        hint="{ }",
    ),
    _go("fleet.open", "F", "fleet", "Fleet", PANELS),
    _go("host.open", "H", "host", "Host", OTHER),
    _go("profiles.open", "P", "profiles", "Profiles", PANELS - PROFILES),
    _go("source.open", "S", "source", "Source", PANELS - SOURCE, refuse=_needs_host),
    _go("trials.open", "T", "trials", "Trials", PANELS - TRIALS),
    _go("log.open", "L", "log", "Log", PANELS - EITHER_TRIAL),
    _go("go.last", "minus", "last", "the last screen", PANELS, shown="-"),
    _go("go.back", "escape", "back", "back, close", PANELS, shown="esc"),
    _go("go.back_or_quit", "q", "quit", "back, at Fleet quit", EVERYWHERE),
    _go("app.quit", "ctrl+q", "quit", "quit now", EVERYWHERE),
    _move("cursor.down", "j down", "down", shown="j ↓"),
    _move("cursor.up", "k up", "up", shown="k ↑"),
    _move("cursor.left", "h left", "previous server", HOST, shown="h ←"),
    _move("cursor.right", "l right", "next server", HOST, shown="l →"),
    _move("view.left", "h left", "further left, fold", SOURCE, shown="h ←"),
    _move("view.right", "l right", "further right, unfold", SOURCE, shown="l →"),
    _move("cursor.first", "g home", "first"),
    _move("cursor.last", "G end", "last, follow"),
    _move("cursor.half_down", "ctrl+d", "half a page down"),
    _move("cursor.half_up", "ctrl+u", "half a page up"),
    _move("cursor.page_down", "pagedown ctrl+f", "a page down", shown="pgdn"),
    _move("cursor.page_up", "pageup ctrl+b", "a page up", shown="pgup"),
    _move("panel.next", "tab", "next panel"),
    _move("panel.previous", "shift+tab", "previous panel"),
    _move("panel.number", "1 2 3 4 5", "panel by number", shown="1 … 5"),
    _tool("panel.zoom", "plus", "zoom", "zoom the panel", shown="+"),
    _tool("panel.unzoom", "underscore", "unzoom", "all panels again", shown="_"),
    _tool("filter.open", "slash", "filter", "filter, search", LISTS, shown="/"),
    _tool("match.next", "n", "next", "next match", READ),
    _tool("match.previous", "N", "previous", "previous match", READ),
    _tool("order.choose", "o", "order", "by name, worst first", FLEET),
    _tool("command.open", "colon", "command", "command line", shown=":"),
    _tool("palette.open", "ctrl+p", "palette", "palette"),
    _tool("help.open", "question_mark f1", "help", "this help", EVERYWHERE, shown="?"),
    _tool("guide.hide", "f2", "hide guide", "hide the guide"),
    _tool("app.suspend", "ctrl+z", "suspend", "back to the shell", EVERYWHERE),
    _named("host.toggle_readonly", "guard on, off", ":readonly on|off", _needs_host_name),
    _named("host.trust", "trust its key", ":trust", _needs_host_name, verb="trust"),
    _named("host.forward", "open its port", ":forward", _needs_running, verb="forward"),
    _named("server.flush", "empty caches", ":flush", _needs_running, verb="server"),
    _named("server.abort", "end requests", ":abort", _needs_running, verb="server"),
    _named("theme.choose", "change colours", ":theme NAME"),
)

BY_ID = {action.id: action for action in ACTIONS}


def actions_on(screen: str) -> tuple[Action, ...]:
    """The actions that mean something on a screen, in the table's order."""
    return tuple(a for a in ACTIONS if screen in a.where)


FOOTERS: dict[str, tuple[str, ...]] = {
    "fleet": (
        "row.open", "server.start", "server.stop", "server.adopt", "probe.start", "filter.open",
        "command.open", "profiles.open", "source.open", "log.open", "order.choose", "live.pause",
    ),
    "host": (
        "server.start", "server.stop", "server.adopt", "probe.start", "drift.show", "log.open",
        "profiles.open", "source.open", "live.pause", "panel.zoom", "sibling.next",
        "command.open", "live.span",
    ),
    "launch": (
        "server.start", "host.open", "log.open", "copy.selection", "command.open", "go.back",
    ),
    "source": (
        "row.open", "filter.open", "source.grep", "diff.show", "match.next", "copy.selection",
        "panel.next", "sibling.next", "go.back",
    ),
    "profiles": (
        "profile.edit", "profile.fix", "server.start", "profile.add", "diff.show", "match.next",
        "copy.selection", "filter.open", "sibling.next", "go.back",
    ),
    "trials": (
        "row.open", "trial.start", "trial.resume", "filter.open", "copy.selection", "trials.read",
        "trial.stop", "command.open", "go.back",
    ),
    "trial": (
        "trial.stop", "trial.start", "trial.resume", "copy.selection", "panel.zoom",
        "trials.open", "trials.read", "command.open", "go.back",
    ),
    "difference": ("row.open", "match.next", "filter.open", "copy.selection", "go.back"),
}  # fmt: skip
"""By importance: cut from the right by whole items."""
