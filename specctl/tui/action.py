"""One action: what it is, what it acts on, and why it cannot be done now."""

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


LIFTS = ":readonly off lifts it."
Refuse = Callable[[Target], str]


def nothing(target: Target) -> str:
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

    refuse: Refuse = nothing
    """Why it is not possible on a target; empty when it is."""

    is_here: bool = False
    """Only files of this machine are changed, so that a read-only host does not forbid it."""

    shown: str = ""
    """How the key is written, where it is not Textual's name."""

    hint: str = ""
    """How the footer writes it, where that differs: `{ }` for a pair."""

    @property
    def key(self) -> str:
        """The key as the user sees it."""
        return self.shown or (self.keys[0] if self.keys else f":{self.verb or self.id}")


def is_guarded(action: Action, target: Target) -> bool:
    """The guard of its host, or of the session, forbids it."""
    return action.changes and target.read_only and not action.is_here


def refusal(action: Action, target: Target) -> str:
    """Why `action` cannot be done to `target` now; empty when it can."""
    if is_guarded(action, target):
        return f"{target.host or 'This session'} is read-only. {LIFTS}"
    return action.refuse(target)


def needs_host(target: Target) -> str:
    """It has to be connected."""
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


def needs_server(target: Target) -> str:
    """There has to be a server that is one of its own."""
    missing = needs_host(target)
    if missing:
        return missing
    if target.server is None or target.server.state is ServerState.ABSENT:
        return f"No server on {target.host}."
    if target.server.is_multi_node:
        return f"{target.server.name} is one rank of a server over several hosts: hands off."
    return ""


def needs_running(target: Target) -> str:
    """The server has to answer requests."""
    missing = needs_server(target)
    if missing or target.server is None:
        return missing
    if target.server.state in {ServerState.READY, ServerState.BUSY, ServerState.FOREIGN}:
        return ""
    return f"{target.server.name} is {target.server.state.value}, not ready."


def needs_foreign(target: Target) -> str:
    """The server has to be somebody else's."""
    missing = needs_server(target)
    if missing or target.server is None:
        return missing
    return "" if not target.server.is_ours else f"{target.server.name} is specctl's own already."


def needs_seen_server(target: Target) -> str:
    """There has to be a server, also one that is not reached now."""
    if target.server is None or target.server.state is ServerState.ABSENT:
        return f"No server on {target.host}." if target.host else "No host is selected."
    return ""


def needs_host_name(target: Target) -> str:
    """There has to be a host, reached or not."""
    return "" if target.host is not None else "No host is selected."


def needs_open_trial(target: Target) -> str:
    """The trial has to be one that can go on."""
    match target.trial:
        case "ended":
            return "It has ended. c begins a new one."
        case "running":
            return "It goes on already."
        case "open":
            return needs_host(target)
        case _:
            return "No trial is chosen."


def needs_running_trial(target: Target) -> str:
    """The trial has to be carried out here."""
    return "" if target.trial == "running" else "This session does not carry it out."
