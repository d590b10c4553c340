"""A few hosts, sampled at once, cost little: the small version of `make lab-scale`."""

from __future__ import annotations

import pytest

from tests.lab.scale import HOSTS, PSS_MAX_BYTES, measure

FEW, ONE = 8, 1


@pytest.mark.timeout(180)
@pytest.mark.soak
def test_hosts_with_agents_and_a_server_cost_little(home):
    found = measure(home, FEW, ONE, window_s=5.0)
    assert found.broken() == []
    assert found.pss_bytes <= PSS_MAX_BYTES / HOSTS * FEW, found.lines()
    assert found.sampled_cores <= 0.25, found.lines()
