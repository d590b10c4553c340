"""The end of a trial or a screening: what it has left behind stops, what ran before runs again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.services.arm import stop_arm
from specctl.services.cancelling import take_back_cancelling
from specctl.services.host_reading import read_host
from specctl.services.provenance import read_provenance
from specctl.services.restoring import restore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    their place since.
    """
    await _stop_left_over(bench, left_over)
    restored = await restore(
        bench.connection, formers, secrets=bench.secrets, store=bench.store, clock=bench.clock
    )
    return (*bench.left, *restored)


async def provenance_or_put_back(bench: Bench, agreed: Proposal | ScreeningProposal) -> Provenance:
    """What is measured with; cancelled meanwhile, what was stopped earlier is put back."""
    workload = agreed.settings[0].workload
    try:
        return await read_provenance(bench.connection, agreed.profiles, workload)
    except asyncio.CancelledError:
        stopped = [former for former in agreed.formers if former.server is None]
        if stopped or agreed.left_over:
            take_back_cancelling()
            await put_back(bench, stopped, agreed.left_over)
        raise


async def _stop_left_over(bench: Bench, left_over: Sequence[Former]) -> None:
    if not left_over:
        return
    try:
        servers = (await read_host(bench.connection)).servers
    except SpecctlError as error:
        bench.left.append(f"what the end by force left running was not looked for: {error.message}")
        return
    alive = {server.launch_id for server in servers if server.pids}
    for former in left_over:
        launch_id = former.server.launch_id if former.server else None
        if launch_id is not None and launch_id in alive:
            await stop_arm(bench, launch_id, former.profile)
