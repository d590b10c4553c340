"""How the screen is to look and what it may do, from flags and the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.nearest import nearest
from specctl.tui.lab_guide import GUIDES
from specctl.tui.themes import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCKED = "specctl web --allow-changes opens screens that may."
"""What to do where the guard cannot be lifted from the screen."""

THEME, GLYPHS, GUIDE = "SPECCTL_THEME", "SPECCTL_GLYPHS", "SPECCTL_GUIDE"
BELL, MOUSE = "SPECCTL_BELL", "SPECCTL_MOUSE"


@dataclass(frozen=True, slots=True)
class Settings:
    """What does not change while the app runs, or only by a command."""

    theme: str = "dark"
    is_ascii: bool = False
    read_only: bool = False
    is_locked: bool = False
    """What is read-only stays so: it was decided where the screen was opened, not on it."""

    guide: str = ""
    """The story whose next key a line names, e.g. `lab`; empty for none."""

    rings: bool = False
    """The terminal's bell rings when an alert is raised."""

    has_mouse: bool = True
    """The screen hears the mouse; otherwise the terminal selects with it."""

    has_colour: bool = True
    """Colours are sent to the terminal; otherwise bold, dim, underlined and reversed text alone."""


def read_settings(
    environ: Mapping[str, str], *, read_only: bool = False, is_locked: bool = False
) -> Settings:
    """Settings of an environment; `NO_COLOR` that is not empty wins over any theme."""
    name = environ.get(THEME, "") or "dark"
    if name not in NAMES:
        close = nearest(name, NAMES)
        hint = f"nearest: {close}" if close else f"one of {' '.join(NAMES)}"
        raise UsageError(f"{THEME}={name} names no theme", hint=hint)
    has_colour = not environ.get("NO_COLOR")
    if not has_colour:
        name = "mono"
    is_ascii = environ.get(GLYPHS) == "ascii" or environ.get("TERM") in {"linux", "vt100", "dumb"}
    return Settings(
        name,
        is_ascii,
        read_only,
        is_locked,
        _guide(environ),
        rings=_switch(environ, BELL, default=False),
        has_mouse=_switch(environ, MOUSE, default=True),
        has_colour=has_colour,
    )


def _switch(environ: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = environ.get(name, "")
    if text not in {"", "on", "off"}:
        raise UsageError(f"{name}={text} is neither on nor off", hint=f"{name}=on  or  {name}=off")
    return text == "on" if text else default


def _guide(environ: Mapping[str, str]) -> str:
    name = environ.get(GUIDE, "")
    if name not in GUIDES:
        raise UsageError(f"{GUIDE}={name} names no guide", hint=f"known: {' '.join(GUIDES)}")
    return name
