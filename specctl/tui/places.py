"""Where actions hold, and how a line of their table is made."""

from __future__ import annotations

from specctl.tui.action import Action, Kind, Refuse, nothing

FLEET, HOST = frozenset({"fleet"}), frozenset({"host"})
FLEET_HOST = FLEET | HOST
LIVE = FLEET_HOST | {"launch"}
SOURCE, PROFILES = frozenset({"source"}), frozenset({"profiles"})
READ = SOURCE | PROFILES | {"difference"}
"""Screens of what was read, not of what goes on."""

TRIALS, TRIAL = frozenset({"trials"}), frozenset({"trial"})
EITHER_TRIAL = TRIALS | TRIAL
LOG, COMMANDS = frozenset({"log"}), frozenset({"commands"})
ALERTS = frozenset({"alerts"})
PANELS = LIVE | READ | EITHER_TRIAL | LOG | COMMANDS | ALERTS
EVERYWHERE = PANELS | {"welcome"}
"""Also where there is no workspace yet."""

REPLAY = frozenset({"replay"})
"""Every screen, while a recording is shown."""

OTHER = PANELS - HOST
LISTS = FLEET | READ | TRIALS | ALERTS
SIBLINGS = HOST | SOURCE | PROFILES


def act(
    name: str, keys: str, title: str, words: str, where: frozenset[str], *, verb: str = "",
    refuse: Refuse = nothing, shown: str = "", hint: str = "", is_here: bool = False,
) -> Action:  # fmt: skip
    """Acts on the selection; what has a verb changes something."""
    return Action(
        name, tuple(keys.split()), title, words, Kind.ACT, where,
        verb=verb, changes=bool(verb), refuse=refuse, shown=shown, hint=hint, is_here=is_here,
    )  # fmt: skip


def go(
    name: str, keys: str, title: str, words: str, where: frozenset[str], *,
    shown: str = "", refuse: Refuse = nothing,
) -> Action:  # fmt: skip
    """Goes to a place."""
    return Action(
        name, tuple(keys.split()), title, words, Kind.GO, where, shown=shown, refuse=refuse
    )


def move(
    name: str, keys: str, words: str, where: frozenset[str] = PANELS, *, shown: str = ""
) -> Action:
    """Moves the cursor, or what is seen."""
    return Action(name, tuple(keys.split()), words, words, Kind.MOVE, where, shown=shown)


def tool(
    name: str, keys: str, title: str, words: str, where: frozenset[str] = PANELS, *, shown: str = ""
) -> Action:
    """A tool of the screens themselves."""
    return Action(name, tuple(keys.split()), title, words, Kind.TOOL, where, shown=shown)


def named(name: str, words: str, shown: str, refuse: Refuse = nothing, *, verb: str = "") -> Action:
    """Typed only; what has a verb changes something."""
    title = shown.strip(":").split()[0]
    return Action(
        name, (), title, words, Kind.NAMED, PANELS,
        refuse=refuse, shown=shown, verb=verb, changes=bool(verb),
    )  # fmt: skip
