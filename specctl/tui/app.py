"""The composition root of the screens: what `specctl` without a command opens."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.adapters import paths
from specctl.adapters.clock import SystemClock
from specctl.adapters.ledger_notice import listen
from specctl.adapters.typed_lines import TypedLines
from specctl.domain.errors import RefusedError, SpecctlError, UsageError
from specctl.tui.application import SpecctlApp, Start
from specctl.tui.glance import glance
from specctl.tui.lab_guide import GUIDES
from specctl.tui.running import run_until_told
from specctl.tui.settings import LOCKED, Settings, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.state import Store
    from specctl.tui.services import Services

COLLECTED_AT = (20_000, 10, 10)
"""New objects to a collection of the youngest, and of those to one of the next; Python's: 700."""

USAGE = 2
"""Exit status for what was asked wrongly."""


def run_tui(*, workspace: str | None, read_only: bool, is_locked: bool = False) -> int:
    """Open the screen on the workspace asked for, else the nearest; returns the exit status."""
    try:
        settings = read_settings(os.environ, read_only=read_only, is_locked=is_locked)
        found = glance(Path.cwd(), workspace)
    except SpecctlError as error:
        sys.stderr.write(f"specctl: {error.message}\n{error.hint}\n")
        return USAGE
    clock = SystemClock()
    app = SpecctlApp(
        _start(found.root, found.hosts, read_only=read_only) if found else None,
        clock=clock.now,
        settings=settings,
        folder=paths.from_home(Path.cwd()),
        open_folder=lambda folder, create: _open(folder, create=create, settings=settings),
        look=lambda: _look(read_only=read_only),
    )
    if not is_locked:
        app.commanding.kept = TypedLines(paths.typed_file())
        app.try_lab = lambda: _try_lab(app)
    said = hear_of_the_ledger(app)
    status = run_until_told(app, has_mouse=settings.has_mouse, is_held_up=app.work.interrupt_trials)
    with suppress(OSError):  # nobody is there any more to be told
        sys.stderr.writelines(f"specctl: {words}\n" for words in said)
    return status


def hear_of_the_ledger(app: SpecctlApp) -> list[str]:
    """Have it told on the screen when its file is migrated; what was said, to say it again."""
    said: list[str] = []

    def hear(words: str) -> None:
        said.append(words)
        app.call_later(app.tell, "The ledger was migrated", words)

    listen(hear)
    return said


async def _try_lab(app: SpecctlApp) -> None:
    """Bring it up, and have its story told."""
    await import_module("specctl.services.practice").bring_up_lab()
    app.work.guide = GUIDES["lab"]()


def settle() -> None:
    """Leave what is there for good out of garbage collection: looking through it holds up keys.

    A frame is made of thousands of pieces that die soon, in no cycle: those are rarely looked for.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED_AT)


def _start(root: Path, hosts: Sequence[str], *, read_only: bool) -> Start:
    async def load(store: Store) -> Services:
        import_services = import_module("specctl.tui.wiring").open_services
        services: Services = await import_services(root, store, read_only=read_only)
        settle()
        return services

    return Start(hosts, load)


def _look(*, read_only: bool) -> Start | None:
    """What there is by now, after the first run found nothing: a lab, or a file that was added."""
    found = glance(Path.cwd(), None)
    return _start(found.root, found.hosts, read_only=read_only) if found else None


def _open(folder: str, *, create: bool, settings: Settings) -> Start:
    """A workspace made or opened from the first run."""
    if create and settings.is_locked:
        raise RefusedError("nothing is written from this screen", hint=LOCKED)
    root = Path(folder).expanduser().absolute()
    if create:
        import_module("specctl.adapters.examples").write_workspace(root)
    found = glance(root, folder if not create else str(root))
    if found is None:
        raise UsageError(f"{folder} holds no remotes/", hint="i makes a workspace.")
    return _start(found.root, found.hosts, read_only=settings.read_only)
