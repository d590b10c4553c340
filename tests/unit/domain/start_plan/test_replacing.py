"""What has to make way, and what runs already."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.launch_record import LaunchRecord
from specctl.domain.preflight import (
    StartOptions,
)
from specctl.domain.proof import PortHolder
from specctl.domain.server import Evidence
from tests.unit.domain.start_plan.readings import (
    FOREIGN,
    IDENTITY,
    OURS,
    PROFILE,
    READING,
    check,
    plan,
)


def test_replace_stops_ours_and_nothing_else():
    reading = replace(READING, servers=(OURS,), ports={30000: PortHolder(48213)})
    found = plan(reading=reading, options=StartOptions(replace=True))
    assert not found.is_refused
    assert (found.kind, found.stops) == ("replace", (OURS,))
    assert not found.default_is_safe
    assert [s.key for s in found.steps] == ["stop ab12", "prove ab12", "launch", "ready"]
    assert [s.is_destructive for s in found.steps] == [True, False, False, False]
    theirs = replace(READING, servers=(FOREIGN,), ports={30000: PortHolder(48213)})
    refused = plan(reading=theirs, options=StartOptions(replace=True))
    assert refused.stops == ()
    assert {c.name for c in refused.refusals} == {"gpus", "ports"}
    assert "specctl adopt gpu8 48213" in check(refused, "gpus").next_step


def test_replace_leaves_servers_on_other_gpus_alone():
    other = replace(OURS, name="cd34", port=30001, gpus=(4, 5, 6, 7), launch_id="cd340000")
    reading = replace(READING, servers=(replace(OURS, gpus=(0, 1)), other))
    profile = replace(PROFILE, arguments={"tp-size": 2})
    found = plan(profile, reading, StartOptions(replace=True, gpus=(0, 1)))
    assert [server.name for server in found.stops] == ["ab12"]
    assert not found.is_refused


def test_requests_of_others_need_the_hosts_name_typed():
    busy = replace(OURS, evidence=Evidence(running_requests=1))
    found = plan(reading=replace(READING, servers=(busy,)), options=StartOptions(replace=True))
    assert found.needs_typed == "gpu8"
    assert "others" in found.why_typed


def test_what_runs_already_needs_no_step():
    record = LaunchRecord("ab120000", IDENTITY, profile="kimi-ngram", profile_hash="h1")
    running = replace(OURS, profile="kimi-ngram")
    reading = replace(READING, servers=(running,), records=(record,))
    found = plan(reading=reading, profile_hash="h1")
    assert (found.steps, found.target, found.is_refused) == ((), running, False)
    changed = plan(reading=reading, profile_hash="h2")
    assert changed.is_refused
    again = plan(reading=reading, profile_hash="h1", options=StartOptions(replace=True))
    assert again.stops == (running,)
