"""Measures one server with one workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import LockedError
from specctl.domain.events import ProbeFinished
from specctl.domain.measured_on import MEASURING, measured_words
from specctl.services.locks import hold_locks, look_at_locks
from specctl.services.measured_server import NO_KEYS, Keys, MeasuredServer, refuse_unmeasurable
from specctl.services.mutating import mutating
from specctl.services.probe_run import ProbeRun
from specctl.services.probe_sending import Settings

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.domain.probe import ProbeResult
    from specctl.domain.server import Server
    from specctl.domain.state import Store
    from specctl.services.connection import Connection

__all__ = ["Settings", "probe_server"]


@mutating("a probe")
async def probe_server(
    connection: Connection,
    server: Server,
    settings: Settings,
    *,
    store: Store,
    clock: Clock,
    keys: Keys = NO_KEYS,
    is_measuring: bool = False,
) -> ProbeResult:
    """Measure a server; the result may be void. One probe of a server at a time, by whomever.

    Refused while a comparison measures there, unless `is_measuring`: it is that comparison that
    asks. Raises SpecctlError when nothing could be measured.
    """
    refuse_unmeasurable(connection, server)
    if not is_measuring:
        await _refuse_while_measured(connection, server)
    async with (
        MeasuredServer(connection, server, keys) as measured,
        hold_locks(connection, (f"probe-{server.port}",), "a probe"),
    ):
        result = await ProbeRun(measured, settings, store, clock).run()
    store.apply(ProbeFinished(connection.host.name, clock.now(), server.name, result))
    return result


async def _refuse_while_measured(connection: Connection, server: Server) -> None:
    """Two that measure one server measure each other."""
    held = await look_at_locks(connection, [f"{MEASURING}port-{server.port}"])
    if held:
        raise LockedError(
            f"host {connection.host.name}: {measured_words(held, None)}",
            hint="Wait until that is done: each would measure the other's requests.",
        )
