"""What holds of the plan for any readings."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.preflight import (
    SpaceReading,
    StartOptions,
)
from specctl.domain.proof import GIB, PortHolder
from specctl.domain.server import Evidence
from tests.unit.domain.start_plan.readings import IDENTITY, OURS, READING, plan

servers = st.lists(
    st.builds(
        lambda pid, gpus, ours, port, running: replace(
            OURS,
            name=f"s{pid}",
            identity=replace(IDENTITY, pid=pid),
            gpus=tuple(sorted(gpus)),
            is_ours=ours,
            port=port,
            pids=(pid,),
            launch_id=f"s{pid}" if ours else None,
            evidence=Evidence(running_requests=running),
        ),
        st.integers(100, 120),
        st.sets(st.integers(0, 7)),
        st.booleans(),
        st.integers(30000, 30003),
        st.none() | st.integers(0, 3),
    ),
    max_size=4,
    unique_by=lambda server: server.name,
)


readings = st.builds(
    lambda found, taken, free: replace(
        READING,
        servers=tuple(found),
        ports={port: PortHolder(9) if port in taken else None for port in range(30000, 30010)},
        disk=SpaceReading("/state", 100 * GIB, free),
    ),
    servers,
    st.sets(st.integers(30000, 30009)),
    st.integers(0, 100 * GIB),
)


options = st.builds(
    StartOptions,
    st.booleans(),
    st.none() | st.sets(st.integers(0, 9), min_size=1).map(lambda s: tuple(sorted(s))),
    st.none() | st.integers(30000, 30009),
)


@given(readings, options)
def test_the_same_readings_give_the_same_plan(reading, chosen):
    assert plan(reading=reading, options=chosen) == plan(reading=reading, options=chosen)


@given(readings, options)
def test_a_plan_never_stops_what_is_not_under_care(reading, chosen):
    found = plan(reading=reading, options=chosen)
    assert all(server.is_ours for server in found.stops)
    assert chosen.replace or not found.stops
    assert found.default_is_safe == (not found.stops)
    busy = any(server.evidence.running_requests for server in found.stops)
    assert (found.needs_typed == "gpu8") == busy


@given(readings, options)
def test_every_finding_says_what_to_do(reading, chosen):
    found = plan(reading=reading, options=chosen)
    assert all(c.next_step for c in (*found.refusals, *found.warnings))
    assert all(c.words for c in found.checks)


@given(readings, options)
def test_after_its_stops_a_replacing_plan_stops_no_more(reading, chosen):
    first = plan(reading=reading, options=chosen)
    gone = {server.name for server in first.stops}
    left = replace(reading, servers=tuple(s for s in reading.servers if s.name not in gone))
    assert plan(reading=left, options=chosen).stops == ()
