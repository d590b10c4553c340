"""Starting and stopping on this machine."""

from __future__ import annotations

import pytest

from specctl.domain.preflight import StartOptions
from specctl.services.ending import StopTimes
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.measured_server import NO_KEYS
from specctl.services.stop import StopOptions, plan_stop, stop_server

QUICK = StopTimes(drain_s=0.5, grace_s=0.5, proof_s=10)


@pytest.fixture
def start(connection, store, clock, secrets):
    async def start_profile(profile, options=None, **named):
        chosen = options or StartOptions()
        plan = await plan_launch(connection, profile, chosen, secrets=secrets, clock=clock)
        return await apply_launch(
            connection, plan, secrets=secrets, store=store, clock=clock, **named
        )

    return start_profile


@pytest.fixture
def stop(connection, store, clock):
    async def stop_named(name, *, now=False, keys=None, times=QUICK, pid=None, typed=""):
        options, found = StopOptions(now=now, pid=pid), keys or NO_KEYS
        plan = await plan_stop(connection, name, options, clock=clock, keys_for=lambda *_: found)
        allowed = typed or str(pid or "")
        return await stop_server(
            connection, plan, store=store, clock=clock, keys=found, times=times, typed=allowed
        )

    return stop_named
