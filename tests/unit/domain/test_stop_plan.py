from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.driver_trouble import CONTAINER
from specctl.domain.host import Host
from specctl.domain.missing import Missing, Why
from specctl.domain.plan import Level
from specctl.domain.preflight import Preflight, SpaceReading
from specctl.domain.sample import HostSample, Sample
from specctl.domain.server import Evidence, Identity, Server, ServerState
from specctl.domain.stop_plan import plan_adopt, plan_stop

IDENTITY = Identity("boot", 48213, 77, 48213, 48213, "ab120000")
OURS = Server(
    "ab12",
    ServerState.READY,
    IDENTITY,
    is_ours=True,
    owner="op",
    port=30000,
    gpus=(0, 1),
    launch_id="ab120000",
    pids=(48213, 48214),
    evidence=Evidence(running_requests=0),
)
FOREIGN = replace(OURS, name="pid-48213", is_ours=False, launch_id=None)
READING = Preflight(
    host=Host("gpu8"),
    user="op",
    sample=Sample(0.0, HostSample(), (), None),
    state_dir="/state",
    disk=SpaceReading("/state", 2**40, 2**39),
)


def stop(server=OURS, reading=READING, **named):
    return plan_stop(server, reading, plan_id="11112222", **named)


def test_ours_without_requests():
    plan = stop()
    assert not plan.is_refused
    assert (plan.needs_typed, plan.default_is_safe) == (None, False)
    assert [step.is_destructive for step in plan.steps] == [True, False]
    assert plan.lock_keys == ("gpu-0", "gpu-1", "port-30000")
    assert plan.identity == IDENTITY


def test_b05_a_stop_in_a_container_without_gpus_warns_of_the_restart():
    lost = Missing(Why.ERROR, f"Unknown Error in the container only: {CONTAINER}")
    plan = stop(reading=replace(READING, sample=replace(READING.sample, gpu_missing=lost)))
    assert not plan.is_refused
    (warning,) = [check for check in plan.checks if check.level is Level.WARN]
    assert "cannot be started again" in warning.words
    assert "make it anew" in warning.next_step


def test_foreign_needs_its_pid():
    assert stop(FOREIGN).needs_typed == "48213"
    assert stop(FOREIGN, typed_pid=48213).refusals == ()
    assert [check.name for check in stop(FOREIGN, typed_pid=1).refusals] == ["pid"]


@pytest.mark.parametrize(
    ("running", "now", "typed", "level", "words"),
    [
        (2, False, None, Level.WARN, "2 requests are running: they are waited for"),
        (1, True, "gpu8", Level.WARN, "1 request is running: it is ended at once"),
        (1, False, None, Level.WARN, "1 request is running: it is waited for, up to the deadline"),
        (0, True, None, Level.PASS, "none is running"),
        (None, False, None, Level.PASS, "is not known"),
    ],
)
def test_requests(running, now, typed, level, words):
    busy = replace(OURS, evidence=Evidence(running_requests=running))
    plan = stop(busy, now=now)
    assert plan.needs_typed == typed
    found = next(check for check in plan.checks if check.name == "requests")
    assert found.level is level
    assert words in found.words
    assert not running or ":abort on the screen" in found.next_step


def test_what_is_gone_needs_no_step():
    plan = stop(replace(OURS, pids=(), state=ServerState.ABSENT))
    assert plan.steps == ()
    assert not plan.is_refused


def test_crashed_server_with_survivors_can_be_stopped():
    assert stop(replace(OURS, pids=(48214,), state=ServerState.CRASHED)).steps


def test_rank_of_several_hosts_is_refused():
    plan = stop(replace(OURS, is_multi_node=True, node_rank=1))
    assert [check.name for check in plan.refusals] == ["nodes"]
    assert "rank 1" in plan.refusals[0].words


def test_e05_another_users_server_is_refused_with_its_owner():
    plan = stop(replace(FOREIGN, owner="kb"))
    assert [check.name for check in plan.refusals] == ["owner"]
    assert "kb" in plan.refusals[0].words
    root = replace(READING, user="root")
    assert stop(replace(FOREIGN, owner="kb"), root).refusals == ()


def test_read_only_refuses_both():
    guarded = replace(READING, host=Host("gpu8", read_only=True))
    assert stop(reading=guarded).is_refused
    assert plan_adopt(FOREIGN, guarded, plan_id="x").is_refused


def test_same_readings_same_plan():
    assert stop() == stop()


def test_adopting_touches_nothing():
    plan = plan_adopt(FOREIGN, READING, plan_id="11112222")
    assert plan.default_is_safe
    assert [step.is_destructive for step in plan.steps] == [False]
    assert plan.stops == ()
    assert plan_adopt(OURS, READING, plan_id="11112222").steps == ()


def test_adopting_a_rank_is_refused():
    rank = replace(FOREIGN, is_multi_node=True, node_rank=0)
    assert [check.name for check in plan_adopt(rank, READING, plan_id="x").refusals] == ["nodes"]
