"""The table of actions as a page of the documentation: `python -m specctl.tui.key_table`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specctl.tui.actions import ACTIONS, PANELS, Action, Kind, actions_on
from specctl.tui.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable

SCREENS = (
    "fleet",
    "host",
    "commands",
    "log",
    "source",
    "profiles",
    "difference",
    "launch",
    "trials",
    "trial",
    "replay",
    "alerts",
)
HEAD = """# Keys and commands

Made from the table of actions by `make pictures`; `?` shows the same on each screen, `:` takes the
commands. A capital key goes to a place, a small one acts on what is selected. Nothing that stops or
replaces a server runs before its plan was shown.
"""


def page() -> str:
    """The whole page."""
    everywhere = [a for a in ACTIONS if a.where >= PANELS and a.kind is not Kind.NAMED]
    parts = [HEAD, "## On every screen\n", _keys(everywhere)]
    for screen in SCREENS:
        own = [a for a in actions_on(screen) if a not in everywhere and a.kind is not Kind.NAMED]
        parts += [f"\n## {screen.capitalize()}\n", _keys(own)]
    return "\n".join([*parts, "\n## Commands\n", _commands()])


def _keys(actions: Iterable[Action]) -> str:
    rows = [(_spelled(a), a.help, f"`specctl {a.verb}`" if a.verb else "") for a in actions]
    return _table(("key", "does", "the same from the shell"), rows)


def _spelled(action: Action) -> str:
    """The key as the help shows it; of two keys each, of a range its ends."""
    if "…" in action.key:
        return f"`{action.key}`"
    return " ".join(f"`{_escaped(part)}`" for part in action.key.split())


def _commands() -> str:
    rows = [
        (f"`:{_escaped(c.usage)}`", c.help, " ".join(f"`:{alias}`" for alias in c.aliases))
        for c in COMMANDS
    ]
    return _table(("command", "does", "also"), rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


if __name__ == "__main__":
    sys.stdout.write(page() + "\n")
