"""Which servers of a host are measured at this moment, told by the locks of whoever does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.measured_on import measuring_keys_of
from specctl.services.locks import look_at_locks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.clock import Clock
    from specctl.domain.server import Server
    from specctl.services.connection import Connection

LOOK_EVERY_S = 5.0


class MeasuringWatch:
    """Asks for the locks of servers about which something would be said, and of no others."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection, self._clock = connection, clock
        self._at_s = float("-inf")
        self.servers: frozenset[str] = frozenset()
        """Names of those that are measured; as it was where the locks cannot be asked."""

    def is_due(self, servers: Sequence[Server]) -> bool:
        """There is something to ask; without it nothing is said to be measured."""
        if not servers:
            self.servers = frozenset()
            return False
        return self._clock.monotonic() - self._at_s >= LOOK_EVERY_S

    async def look(self, servers: Sequence[Server]) -> None:
        """Ask who measures any of `servers`."""
        self._at_s = self._clock.monotonic()
        try:
            self.servers = await find_measured(self._connection, servers)
        except SpecctlError:  # a lost link is told by the agent; then the alert says what it knows
            return


async def find_measured(connection: Connection, servers: Sequence[Server]) -> frozenset[str]:
    """Names of those of `servers` that a comparison or a trial measures now."""
    keys = {server.name: measuring_keys_of(server) for server in servers}
    wanted = sorted({key for own in keys.values() for key in own})
    if not wanted:
        return frozenset()
    held = {holder.key for holder in await look_at_locks(connection, wanted)}
    return frozenset(name for name, own in keys.items() if not held.isdisjoint(own))
