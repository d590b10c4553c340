"""The guard of a session and of its hosts: set and lifted at run time, unless it is locked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import RefusedError, SpecctlError
from specctl.tui.action import LIFTS
from specctl.tui.actions import BY_ID
from specctl.tui.settings import LOCKED

if TYPE_CHECKING:
    from specctl.tui.application import SpecctlApp
    from specctl.tui.settings import Settings


def toggle(app: SpecctlApp, switch: str) -> None:
    """Set or lift the guard of the host that is acted on."""
    host, action = app.target().host, BY_ID["host.toggle_readonly"]
    if host is None or app.services is None:
        return
    wanted = {"on": True, "off": False}.get(switch, not app.target().read_only)
    if app.settings.is_locked and not wanted:
        app.refuse(action, f"This screen is read-only. {LOCKED}")
        return
    app.read_only = app.read_only and wanted
    try:
        app.services.set_read_only(host, read_only=wanted)
    except SpecctlError as error:
        app.refuse(action, f"{error.message} {error.hint}")
    app.repaint()


def explained(reason: str, settings: Settings) -> str:
    """Why something is off, with what lifts that here."""
    return reason.replace(LIFTS, LOCKED) if settings.is_locked else reason


async def no_lab() -> None:
    """Where a screen may not bring the lab up."""
    raise RefusedError("This screen does not bring the lab up", hint="specctl lab up does.")
