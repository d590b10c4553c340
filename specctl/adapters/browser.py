"""A page shown in the browser of this machine, where there is one with a window of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import webbrowser
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WINDOWED = ("darwin", "win32")
OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
"""A process of its own: what a browser prints would be written over the screen."""


def show_page(path: Path, *, environment: Mapping[str, str] | None = None) -> None:
    """Open a local page; raises UsageError where only a terminal is there.

    A browser of the terminal would take the screen of whoever called, so none is started.
    """
    known = os.environ if environment is None else environment
    hint = f"Open it yourself: {path}"
    if not (sys.platform in WINDOWED or known.get("DISPLAY") or known.get("WAYLAND_DISPLAY")):
        raise UsageError("there is no browser here: this terminal has no display", hint=hint)
    try:
        browser = webbrowser.get()
    except webbrowser.Error as error:
        raise UsageError("no browser was found on this machine", hint=hint) from error
    is_in_terminal = isinstance(browser, webbrowser.GenericBrowser) and not isinstance(
        browser, webbrowser.BackgroundBrowser
    )
    if is_in_terminal:
        name = getattr(browser, "name", "the browser")
        hint += f"; with a window of its own it is BROWSER='{name} %s &'"
        raise UsageError(f"{name} may take this terminal, so it is not started", hint=hint)
    if not _open(path.resolve().as_uri(), known):
        raise UsageError("no browser could be started on this machine", hint=hint)


def _open(address: str, environment: Mapping[str, str]) -> bool:
    argv = [sys.executable, "-I", "-c", OPEN, address]
    quiet = subprocess.DEVNULL
    done = subprocess.run(
        argv, stdin=quiet, stdout=quiet, stderr=quiet, env=environment, check=False
    )
    return done.returncode == 0
