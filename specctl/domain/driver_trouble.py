"""Troubles of a driver in which what runs goes on and what starts fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.missing import Missing

LOST_DEVICES = "a container that lost its GPU devices (systemctl daemon-reload) looks like this"
MISMATCH = (
    "running servers are not affected, new ones will fail until the module is reloaded or the host"
    " rebooted"
)
CONTAINER = (
    "running servers are not affected, a restart in this container will fail until it is made anew"
)
RELOAD = "Reboot the host, or unload and load the nvidia modules once nothing uses the GPUs."
RECREATE = "When nothing runs in the container any more, make it anew; the host needs nothing."


def remedy_of(missing: Missing | None) -> str | None:
    """What ends the trouble; None when it is not one of these."""
    detail = missing.detail if missing else ""
    if CONTAINER in detail:
        return RECREATE
    return RELOAD if MISMATCH in detail else None
