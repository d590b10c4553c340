"""What is not probed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.errors import RefusedError, UsageError
from specctl.domain.measured_on import MEASURING
from specctl.domain.server import ServerState
from specctl.services.locks import hold_locks
from specctl.services.probing import Settings, probe_server
from tests.unit.services.probing.workloads import workload


async def test_read_only_hosts_are_not_probed(connection, server, store, clock, engine):
    guarded = replace(connection, host=replace(connection.host, read_only=True))
    with pytest.raises(RefusedError, match="read-only"):
        await probe_server(guarded, server, Settings(workload()), store=store, clock=clock)
    assert engine.asked == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"port": None}, UsageError),
        ({"node_rank": 1}, RefusedError),
        ({"state": ServerState.STARTING}, RefusedError),
    ],
)
async def test_servers_that_cannot_be_measured_are_refused(probe, server, change, error):
    with pytest.raises(error):
        await probe(of=replace(server, **change))


async def test_one_probe_of_a_server_at_a_time(probe, connection, server):
    async with hold_locks(connection, (f"probe-{server.port}",), "a probe"):
        with pytest.raises(RefusedError, match="is locked by"):
            await probe()


async def test_no_probe_while_a_comparison_measures_there(probe, connection, server):
    async with hold_locks(connection, (f"{MEASURING}port-{server.port}",), "specctl compare"):
        with pytest.raises(RefusedError, match=f"port-{server.port} measured on by .*compare"):
            await probe()


async def test_a_prompt_that_is_there_twice_is_refused(probe):
    with pytest.raises(UsageError, match="twice"):
        await probe(workload(("Same", "Same")))
