"""What is known to fail is refused, what may fail is a warning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.driver_trouble import CONTAINER, MISMATCH
from specctl.domain.host import Host
from specctl.domain.missing import Missing, Why
from specctl.domain.plan import Level
from specctl.domain.preflight import (
    BuildReading,
    LockHolder,
    ModelReading,
    SpaceReading,
    SurvivalReading,
)
from specctl.domain.profile import Placement
from specctl.domain.proof import GIB, PortHolder
from specctl.domain.sample import GpuProcess
from specctl.domain.server import ServerState
from tests.unit.domain.start_plan.readings import (
    FOREIGN,
    MODEL,
    OURS,
    PROFILE,
    READING,
    check,
    gpu,
    plan,
    sample,
)


def test_a_server_that_has_crashed_holds_no_gpu():
    crashed = replace(OURS, state=ServerState.CRASHED, pids=())
    found = plan(reading=replace(READING, servers=(crashed,)))
    assert check(found, "gpus").level is Level.PASS
    assert not found.is_refused


def test_clean_host_has_nothing_to_say():
    found = plan()
    assert not found.is_refused
    assert not found.warnings
    assert found.default_is_safe
    assert found.needs_typed is None
    assert (found.kind, found.gpus, found.ports) == ("start", tuple(range(8)), (30000,))
    assert [step.key for step in found.steps] == ["launch", "ready"]
    assert found.argv[:3] == ("/opt/sglang/bin/python", "-m", "sglang.launch_server")
    assert found.lock_keys == (*(f"gpu-{n}" for n in range(8)), "port-30000")


def refusal(name, words, **changes):
    return pytest.param(name, words, changes, id=f"{name}: {words}")


@pytest.mark.parametrize(
    ("name", "words", "changes"),
    [
        refusal("read-only", "gpu8 is read-only", host=Host("gpu8", read_only=True)),
        refusal("sglang", "has no SGLang", build=BuildReading("/usr/bin/python3")),
        refusal("sglang", "the host's Python has no SGLang", build=None),
        refusal("ports", "30000 is held by pid 5150 llama-server (op)",
                ports={30000: PortHolder(5150, 1000, "op", "llama-server"), 30001: None}),
        refusal("model", "does not exist",
                models={MODEL: ModelReading(MODEL, is_path=True, exists=False)}),
        refusal("disk", "0.0 GiB free", disk=SpaceReading("/state", 100 * GIB, 1024)),
        refusal("state", "mkdir: EACCES", state_dir=None,
                state_dir_failures=("/home/op/x: mkdir: EACCES Permission denied",)),
        refusal("/dev/shm", "0.0 GiB free", shm=SpaceReading("/dev/shm", GIB, 0)),
        refusal("gpus", "GPU 7 does not exist; the host has 0-6",
                sample=sample(*(gpu(n) for n in range(7)))),
        refusal("gpus", "GPU 3 fell off the bus",
                sample=sample(*(gpu(n, lost=n == 3) for n in range(8)))),
        refusal("gpus", "GPU 2 is split into MIG",
                sample=sample(*(gpu(n, mig=n == 2) for n in range(8)))),
        refusal("gpus", "it needs 8 GPUs and may use 0-3",
                host=Host("gpu8", gpus=(0, 1, 2, 3))),
        refusal("gpus", "GPU 1: pid 2509999 python train.py (other) holds 39.3 GiB",
                sample=sample(*(gpu(n, *([GpuProcess(2509999, int(39.3 * GIB), "compute", "other",
                              "python train.py")] if n == 1 else [])) for n in range(8)))),
        refusal("gpus", "kimi-eagle3 (ab12, pid 48213, op) uses GPU 0-7", servers=(OURS,)),
        refusal("gpus", "(pid-48213, pid 48213, kb) uses GPU 0-7", servers=(FOREIGN,)),
        refusal("driver", "the kernel module is 520.56.06", driver_kernel="520.56.06",
                sample=sample(source=None,
                              missing=Missing(Why.ERROR, f"versions differ: {MISMATCH}"))),
        refusal("lock", "gpu-0 is locked by kb@desk (specctl start)",
                locks=(LockHolder("gpu-0", "kb@desk", "specctl start"),)),
    ],
)  # fmt: skip
def test_what_is_known_to_fail_is_refused(name, words, changes):
    profile = PROFILE
    if "does not exist; the host" in words:
        profile = replace(PROFILE, placement=Placement(tuple(range(8)), 30000))
    found = plan(profile, replace(READING, **changes))
    refused = [c for c in found.refusals if c.name == name]
    assert refused, found.checks
    assert words in refused[0].words
    assert refused[0].next_step


@pytest.mark.parametrize(
    ("name", "words", "changes"),
    [
        refusal("model", "cannot be looked at",
                models={MODEL: ModelReading(MODEL, is_path=True, detail="Permission denied")}),
        refusal("model", "has no config.json",
                models={MODEL: ModelReading(MODEL, is_path=True, exists=True, kind="directory",
                                            has_config=False)}),
        refusal("disk", "1.0 GiB free", disk=SpaceReading("/state", 100 * GIB, GIB)),
        refusal("disk", "is not known", disk=None),
        refusal("/dev/shm", "6.0 GiB free", shm=SpaceReading("/dev/shm", 60 * GIB, 6 * GIB)),
        refusal("logout", "ends with your last session",
                survival=SurvivalReading(kills_processes=True, lingers=False)),
        refusal("logout", "RemoveIPC=yes",
                survival=SurvivalReading(removes_ipc=True, lingers=False)),
        refusal("gpus", "cannot be known in this pid namespace", are_pids_comparable=False,
                sample=sample(*(gpu(n, GpuProcess(1, 90 * GIB, "compute"),
                                    memory_used_bytes=90 * GIB) for n in range(8)))),
        refusal("driver", "GPUs cannot be read: libnvidia-ml is not there",
                sample=sample(source=None,
                              missing=Missing(Why.NOT_INSTALLED, "libnvidia-ml is not there"))),
    ],
)  # fmt: skip
def test_what_may_fail_is_a_warning(name, words, changes):
    found = plan(reading=replace(READING, **changes))
    assert not found.is_refused, found.refusals
    warned = next(c for c in found.warnings if c.name == name)
    assert words in warned.words
    assert warned.next_step


def test_b04_mismatch_does_not_suggest_to_touch_running_servers():
    broken = sample(source=None, missing=Missing(Why.ERROR, f"versions differ: {MISMATCH}"))
    found = check(plan(reading=replace(READING, sample=broken)), "driver")
    assert found.level is Level.REFUSE
    assert "running servers are not affected" in found.words
    assert "kill" not in found.next_step.lower()


def test_b05_a_container_that_lost_its_gpus_starts_nothing():
    broken = sample(source=None, missing=Missing(Why.ERROR, f"Unknown Error: {CONTAINER}"))
    found = check(plan(reading=replace(READING, sample=broken)), "driver")
    assert found.level is Level.REFUSE
    assert "running servers are not affected" in found.words
    assert "make it anew" in found.next_step
    assert "reboot" not in found.next_step.lower()


def test_c11_scope_needs_a_manager_that_lingers():
    risky = SurvivalReading(kills_processes=True, lingers=True, has_user_manager=True)
    assert plan(reading=replace(READING, survival=risky)).uses_user_scope
    for changes in ({"lingers": False}, {"has_user_manager": False}, {"kills_processes": False}):
        reading = replace(READING, survival=replace(risky, **changes))
        assert not plan(reading=reading).uses_user_scope
    entered = replace(READING, survival=risky, host=Host("gpu8", enter=("docker", "exec", "c")))
    assert not plan(reading=entered).uses_user_scope


@pytest.mark.parametrize("nnodes", [2, "two"])
def test_several_hosts_are_refused(nnodes):
    profile = replace(PROFILE, arguments={"tp-size": 8, "nnodes": nnodes})
    assert check(plan(profile), "nodes").level is Level.REFUSE
