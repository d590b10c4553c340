"""Which server a command means when it names only a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from specctl.domain.server import Server
    from specctl.services.host_reading import HostReading


def the_server(reading: HostReading, host: str, name: str | None) -> Server:
    """The server called `name`, or the only one that lives; raises UsageError."""
    if name is not None:
        return reading.server(name)
    alive = [server for server in reading.servers if server.pids]
    if len(alive) == 1:
        return alive[0]
    if alive:
        names = ", ".join(f"{host}/{server.name}" for server in alive)
        raise UsageError(f"host {host} has several servers", hint=f"Name one of {names}.")
    raise UsageError(f"no server runs on {host}", hint="specctl status shows what is there.")
