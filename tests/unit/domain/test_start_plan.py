from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.command import parse_argv, server_argv
from specctl.domain.driver_trouble import CONTAINER, MISMATCH
from specctl.domain.host import Host
from specctl.domain.launch_record import ExitRecord, LaunchRecord, LoadTimes, load_times
from specctl.domain.missing import Missing, Why
from specctl.domain.plan import Level
from specctl.domain.preflight import (
    BuildReading,
    HubState,
    LockHolder,
    ModelReading,
    Preflight,
    SpaceReading,
    StartOptions,
    SurvivalReading,
)
from specctl.domain.profile import Corpus, Placement, Profile, Speculation
from specctl.domain.proof import GIB, PortHolder
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, MigDevice, Sample
from specctl.domain.server import Evidence, Identity, Milestone, Server, ServerState
from specctl.domain.start_plan import derived_ports, plan_start

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


HUB = "moonshotai/Kimi-K2.5"


@pytest.mark.parametrize(
    ("hub", "offline", "level", "words"),
    [
        (HubState.COMPLETE, False, Level.PASS, "is in /hub, 595 GiB"),
        (HubState.COMPLETE, True, Level.PASS, "is in /hub"),
        (HubState.PARTIAL, False, Level.WARN, "595 GiB of 600 GiB is in /hub, 1 files unfinished"),
        (HubState.PARTIAL, True, Level.REFUSE, "HF_HUB_OFFLINE"),
        (HubState.ABSENT, False, Level.WARN, "600 GiB to download"),
        (HubState.ABSENT, True, Level.REFUSE, "HF_HUB_OFFLINE"),
    ],
)
def test_repository_in_the_cache(hub, offline, level, words):
    model = ModelReading(
        HUB, is_path=False, hub=hub, place="/hub", have_bytes=595 * GIB, total_bytes=600 * GIB,
        unfinished=("x.incomplete",) if hub is HubState.PARTIAL else (),
    )  # fmt: skip
    reading = replace(READING, models={HUB: model}, is_offline=offline)
    found = check(plan(replace(PROFILE, model=HUB), reading), "model")
    assert found.level is level
    assert words in found.words


def test_draft_model_is_looked_for_too():
    draft = "/srv/models/draft"
    speculation = Speculation("EAGLE3", {"draft-model-path": draft})
    missing = ModelReading(draft, is_path=True, exists=False)
    reading = replace(READING, models={**READING.models, draft: missing})
    found = plan(replace(PROFILE, speculation=speculation), reading)
    assert [c.name for c in found.refusals] == ["draft model"]


def test_keys_need_a_build_that_reads_them_from_a_file():
    profile = replace(PROFILE, secrets={"argument:api-key": "serving", "env:HF_TOKEN": "hf"})
    found = plan(profile)
    assert not found.is_refused
    assert found.argv[-2:] == ("--config", "/state/launches/0badc0de/keys.yaml")
    assert found.launch_argv == found.argv[:-2]
    assert found.environment["HF_TOKEN"] == "••••"
    assert [(use.name, use.target) for use in found.secrets] == [
        ("serving", "api-key"),
        ("hf", "HF_TOKEN"),
    ]
    for has_config in (False, None):
        old = replace(READING, build=replace(BUILD, has_config=has_config))
        assert "--config" in check(plan(profile, old), "sglang").words
        assert plan(profile, old).is_refused
    unknown = plan(profile, secret_places={"serving": "not in secrets.toml"})
    assert check(unknown, "secrets").level is Level.REFUSE


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


def instance(name, used_bytes=2**20):
    return MigDevice(f"MIG-{name}", "MIG 3g.40gb", 40 * GIB, used_bytes)


SPLIT = sample(gpu(0, mig=True, mig_devices=(instance("1"), instance("2", 30 * GIB))), gpu(1))


@pytest.mark.parametrize(
    ("visible", "arguments", "level", "words"),
    [
        ("MIG-1", {}, Level.PASS, "MIG 3g.40gb MIG-1 of GPU 0, 40.0 GiB"),
        ("MIG-2", {}, Level.WARN, "has 30.0 GiB in use"),
        ("MIG-9", {}, Level.REFUSE, "MIG-9 does not exist; the host has MIG-1, MIG-2"),
        ("MIG-1,MIG-2", {"tp-size": 2}, Level.REFUSE, "CUDA shows a server one MIG instance"),
        ("0", {}, Level.REFUSE, "and none of them is named"),
    ],
)
def test_b07_a_server_is_put_on_an_instance_by_its_uuid(visible, arguments, level, words):
    named = {"CUDA_VISIBLE_DEVICES": visible}
    profile = replace(
        PROFILE, arguments=arguments, environment=named, placement=Placement(None, 30000)
    )
    found = plan(profile, replace(READING, sample=SPLIT))
    gpus = check(found, "gpus")
    assert (gpus.level, words in gpus.words) == (level, True), gpus
    assert found.environment["CUDA_VISIBLE_DEVICES"] == visible


def test_b07_replacing_spares_the_other_instances_of_the_gpu():
    neighbour = replace(OURS, gpus=(0,), port=39999)
    named = {"CUDA_VISIBLE_DEVICES": "MIG-1"}
    profile = replace(PROFILE, arguments={}, environment=named, placement=Placement(None, 30000))
    reading = replace(READING, sample=SPLIT, servers=(neighbour,))
    assert plan(profile, reading, StartOptions(replace=True)).stops == ()


def test_gpus_and_port_of_the_command_win():
    options = StartOptions(gpus=(6, 4), port=31000)
    found = plan(replace(PROFILE, arguments={"tp-size": 2}), options=options)
    assert found.gpus == (6, 4)
    assert found.ports[0] == 31000
    assert found.environment["CUDA_VISIBLE_DEVICES"] == "6,4"
    assert found.environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert found.argv[-2:] == ("--port", "31000")


def test_base_gpu_id_counts_among_the_visible():
    profile = replace(PROFILE, arguments={"tp-size": 2, "base-gpu-id": 1})
    assert plan(profile, options=StartOptions(gpus=(4, 5, 6))).gpus == (5, 6)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"tp-size": 2}, 2),
        ({"tp-size": 2, "dp-size": 2}, 4),
        ({"tp-size": 4, "dp-size": 4, "enable-dp-attention": True}, 4),
        ({"tp-size": 2, "pp-size": 2}, 4),
        ({"device": "cpu"}, 0),
        ({}, 1),
    ],
)
def test_gpus_that_a_server_takes(arguments, count):
    assert len(plan(replace(PROFILE, arguments=arguments)).gpus or ()) == count


@pytest.mark.parametrize(
    ("arguments", "port", "ports"),
    [
        ({}, 30000, (30000,)),
        ({"dp-size": 2}, 30000, (30000,)),
        ({"dp-size": 2, "enable-dp-attention": True}, 30000, (30000, *range(30233, 30241))),
        ({"dp-size": 2, "enable-dp-attention": True}, 65400, (65400, *range(65167, 65175))),
        ({"nccl-port": 29500}, 30000, (30000, 29500)),
    ],
)
def test_ports_that_sglang_derives(arguments, port, ports):
    profile = replace(PROFILE, arguments=arguments)
    argv = server_argv(profile, python=("python",), port=port)
    assert derived_ports(parse_argv(argv), port) == ports


def test_a_taken_port_comes_with_a_free_one():
    taken = {30000: PortHolder(5), 30001: PortHolder(6), 30002: None}
    assert check(plan(reading=replace(READING, ports=taken)), "ports").next_step == (
        "--port 30002 is free."
    )


def test_free_gpus_are_suggested():
    busy = GpuProcess(9, 90 * GIB, "compute", "kb", "python")
    gpus = sample(*(gpu(n, *([busy] if n < 2 else [])) for n in range(8)))
    found = plan(replace(PROFILE, arguments={"tp-size": 2}), replace(READING, sample=gpus))
    assert check(found, "gpus").next_step == "Free: --gpus 2,3"


def test_small_holders_are_not_in_the_way():
    monitor = GpuProcess(9, 20 * 1024**2, "compute", "root", "dcgm")
    desktop = GpuProcess(8, None, "graphics", "root", "Xorg")
    gpus = sample(*(gpu(n, monitor, desktop) for n in range(8)))
    assert check(plan(reading=replace(READING, sample=gpus)), "gpus").level is Level.PASS


def test_a15_start_after_sigkill_offers_a_soak_and_runs_none():
    killed = LaunchRecord(
        "11110000", IDENTITY, port=30000, started_at_s=5.0, exit=ExitRecord(None, 9, 6.0),
        ready_after_s=0.5,
    )  # fmt: skip
    found = plan(reading=replace(READING, records=(killed,)))
    assert "specctl probe gpu8 --workload soak" in check(found, "soak").next_step
    assert [step.key for step in found.steps] == ["launch", "ready"]
    later = replace(killed, launch_id="2222", started_at_s=9.0, exit=ExitRecord(0, None, 10.0))
    assert all(
        c.name != "soak" for c in plan(reading=replace(READING, records=(killed, later))).checks
    )


def test_after_a_crash_at_the_start_no_soak_is_offered():
    crashed = LaunchRecord(
        "11110000", IDENTITY, port=30000, started_at_s=5.0, exit=ExitRecord(None, 9, 65.0)
    )

    def names(record):
        return {c.name for c in plan(reading=replace(READING, records=(record,))).checks}

    assert "soak" not in names(crashed)
    assert "soak" in names(replace(crashed, stop_asked_at_s=60.0))
    assert "soak" in names(replace(crashed, exit=ExitRecord(None, 9, 9000.0)))  # it was left alone
    assert "soak" in names(replace(crashed, started_at_s=None))


def test_corpora_are_a_step_of_their_own():
    profile = replace(PROFILE, corpora=(Corpus("std", "/srv/std.jsonl"),))
    assert plan(profile).steps[-1].key == "corpora"


def loaded(started, ready, **reached):
    milestones = tuple((Milestone(name), at) for name, at in reached.items())
    return LaunchRecord(
        f"{started}", IDENTITY, profile="kimi-ngram", started_at_s=started, ready_after_s=ready,
        reached=milestones,
    )  # fmt: skip


def test_expected_time_is_the_median_of_the_latest_loads():
    records = (loaded(0, 9000.0), *(loaded(n, 300.0 + n) for n in range(1, 8)))
    times = load_times(records, "kimi-ngram")
    assert times is not None
    assert (times.ready_s, times.loads) == (305.0, 5)
    found = plan(reading=replace(READING, records=records))
    assert found.expected_from == "5 earlier loads here"
    assert found.expected_s == 306.0
    assert load_times(records, "other") is None


def test_time_left_is_what_followed_that_milestone_before():
    times = LoadTimes(300.0, {Milestone.WEIGHTS: 20.0, Milestone.MEMORY_POOL: 250.0})
    assert times.remaining_s(Milestone.LAUNCHED, 10.0, 0.0) == 290.0
    assert times.remaining_s(Milestone.MEMORY_POOL, 410.0, 400.0) == 40.0
    assert times.remaining_s(Milestone.MEMORY_POOL, 900.0, 400.0) == 0.0


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


@pytest.mark.parametrize(
    ("arguments", "environment", "host_environment", "key"),
    [
        ({"api-key": "swordfish"}, {}, {}, "arguments.api-key"),
        ({"served-model-name": f"hf_{'x' * 20}"}, {}, {}, "arguments.served-model-name"),
        ({}, {"HF_TOKEN": "swordfish"}, {}, "env.HF_TOKEN"),
        ({}, {"AWS_SECRET_ACCESS_KEY": "swordfish"}, {}, "env.AWS_SECRET_ACCESS_KEY"),
        ({}, {}, {"WANDB_API_KEY": "swordfish"}, "env.WANDB_API_KEY"),
    ],
)
def test_a_secret_that_is_spelled_out_is_refused(arguments, environment, host_environment, key):
    profile = replace(
        PROFILE, arguments={**PROFILE.arguments, **arguments}, environment=environment
    )
    reading = replace(READING, host=Host("gpu8", environment=host_environment))
    found = check(plan(profile, reading), "secrets")
    assert found.level is Level.REFUSE
    assert key in found.words
    assert "swordfish" not in found.words


def test_an_empty_or_named_secret_is_not_spelled_out():
    named = replace(PROFILE, environment={"HF_TOKEN": ""}, secrets={"argument:api-key": "serving"})
    assert not plan(named).is_refused
