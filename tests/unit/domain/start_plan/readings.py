"""A profile, a host that is ready for it, and the plan of both."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.host import Host
from specctl.domain.preflight import (
    BuildReading,
    ModelReading,
    Preflight,
    SpaceReading,
    StartOptions,
    SurvivalReading,
)
from specctl.domain.profile import Placement, Profile, Speculation
from specctl.domain.proof import GIB
from specctl.domain.sample import GpuSample, HostSample, Sample
from specctl.domain.server import Identity, Server, ServerState
from specctl.domain.start_plan import plan_start

MODEL = "/srv/models/kimi"


BUILD = BuildReading("/opt/sglang/bin/python", "0.5.23", "/opt/sglang/lib/sglang", has_config=True)


IDENTITY = Identity("boot", 48213, 77, 48213, 48213, "ab120000")


def gpu(index, *processes, **fields):
    return GpuSample(index, f"GPU-{index}", "card", processes=processes, **fields)


def sample(*gpus, source="nvml", missing=None):
    return Sample(0.0, HostSample(), gpus, source, gpu_missing=missing)


EIGHT = sample(*(gpu(index) for index in range(8)))


OURS = Server(
    "ab12",
    ServerState.READY,
    IDENTITY,
    is_ours=True,
    owner="op",
    port=30000,
    gpus=(0, 1, 2, 3, 4, 5, 6, 7),
    profile="kimi-eagle3",
    launch_id="ab120000",
    pids=(48213, 48214),
)


FOREIGN = replace(OURS, name="pid-48213", is_ours=False, launch_id=None, owner="kb", profile=None)


READING = Preflight(
    host=Host("gpu8", file="remotes/gpu8.toml"),
    user="op",
    sample=EIGHT,
    ports=dict.fromkeys(range(30000, 30010)),
    models={MODEL: ModelReading(MODEL, is_path=True, exists=True, kind="directory")},
    disk=SpaceReading("/state", 100 * GIB, 50 * GIB),
    shm=SpaceReading("/dev/shm", 64 * GIB, 60 * GIB),
    state_dir="/state",
    survival=SurvivalReading(kills_processes=False),
    build=BUILD,
)


PROFILE = Profile(
    "kimi-ngram", MODEL, arguments={"tp-size": 8}, speculation=Speculation("NGRAM"),
    placement=Placement(port=30000),
)  # fmt: skip


def plan(profile=PROFILE, reading=READING, options=None, **named):
    chosen = options or StartOptions()
    return plan_start(profile, reading, chosen, launch_id="0badc0de", **named)


def check(found, name):
    return next(c for c in found.checks if c.name == name)
