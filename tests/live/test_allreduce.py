"""All-reduces by real torch on the CPU, planned from a real model's configuration."""

from __future__ import annotations

import dataclasses

import pytest

from specctl.domain.host import Host
from specctl.domain.profile import Profile
from specctl.services.fleet import open_host
from specctl.services.interconnect import measure_allreduce, plan_allreduce
from tests.live.conftest import MODELS, PYTHON

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


async def test_gloo_between_two_ranks_on_this_machine():
    profile = Profile("tiny", str(MODELS / "target"), arguments={"device": "cpu", "tp-size": 2})
    connection = await open_host(Host("here", transport="local", python=str(PYTHON)))
    try:
        plan = await plan_allreduce(connection, profile, (1, 8))
        assert (plan.backend, plan.ranks, plan.gpus, plan.tokens) == ("gloo", 2, None, (1, 8))
        found = await measure_allreduce(connection, dataclasses.replace(plan, refusals=()))
    finally:
        await connection.agent.close()
        await connection.session.close()
    assert found.torch
    assert found.notes == ()
    for size in found.sizes:
        assert 0 < size.fastest_s <= size.median_s < 1
        assert size.per_step_s == pytest.approx(2 * found.layers * size.median_s)
    assert found.sizes[1].message_bytes == 8 * found.sizes[0].message_bytes
