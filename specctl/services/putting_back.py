"""The end of a trial or a screening: what it has left behind stops, what ran before runs again."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from specctl.domain.errors import HostError, SpecctlError
from specctl.services.arm import stop_arm
from specctl.services.cancelling import take_back_cancelling
from specctl.services.host_reading import read_host
from specctl.services.provenance import read_provenance
from specctl.services.restoring import restore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Sequence

    from specctl.domain.runs import Provenance
    from specctl.services.arm import Bench
    from specctl.services.restoring import Former
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial_plan import Proposal


async def put_back(
    bench: Bench, formers: Iterable[Former], left_over: Sequence[Former] = ()
) -> tuple[str, ...]:
    """What became of each, in words; servers that stay are told first.

    `left_over` are servers of arms that an end by force left running: no launch may have taken
    their place since. A former that was not stopped yet is left alone.
    """
    formers = tuple(formers)
    alive = await _alive(bench) if left_over or formers else frozenset()
    for former in _there(left_over, alive):
        if former.server is not None and former.server.launch_id is not None:
            await stop_arm(bench, former.server.launch_id, former.profile)
    there = _there(formers, alive)
    restored = await restore(
        bench.connection,
        [former for former in formers if former not in there],
        secrets=bench.secrets,
        store=bench.store,
        clock=bench.clock,
    )
    return (*bench.left, *restored)


@asynccontextmanager
async def putting_back(
    bench: Bench, agreed: Proposal | ScreeningProposal, resume: str
) -> AsyncIterator[None]:
    """Where the block fails on this side, as on a full disk, what ran before runs again first.

    An error of the host keeps from that: it says what ran. Both say how to `resume`.
    """
    try:
        yield
    except HostError as error:
        names = ", ".join(former.profile.name for former in agreed.formers)
        before = f"Before, this ran: {names}. " if names else ""
        error.hint = f"{error.hint} {before}{resume}".strip()
        raise
    except SpecctlError as error:
        restored = await put_back(bench, agreed.formers, agreed.left_over)
        error.hint = " ".join([*restored, resume])
        raise


async def provenance_or_put_back(bench: Bench, agreed: Proposal | ScreeningProposal) -> Provenance:
    """What is measured with; cancelled meanwhile, what was stopped earlier is put back."""
    settings = agreed.settings[0]
    try:
        return await read_provenance(
            bench.connection, agreed.profiles, settings.workload, settings.trained_on
        )
    except asyncio.CancelledError:
        stopped = [former for former in agreed.formers if former.server is None]
        if stopped or agreed.left_over:
            take_back_cancelling()
            await put_back(bench, stopped, agreed.left_over)
        raise


async def _alive(bench: Bench) -> frozenset[str | None]:
    """Launch ids of the servers that run; none where the host cannot be looked at."""
    try:
        servers = (await read_host(bench.connection)).servers
    except SpecctlError as error:
        bench.left.append(f"what still runs there was not looked for: {error.message}")
        return frozenset()
    return frozenset(server.launch_id for server in servers if server.pids) - {None}


def _there(servers: Iterable[Former], alive: Collection[str | None]) -> tuple[Former, ...]:
    return tuple(one for one in servers if one.server and one.server.launch_id in alive)
