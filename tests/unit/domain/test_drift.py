from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.command import server_argv
from specctl.domain.drift import (
    BuildNow,
    Cause,
    DriftSources,
    Rewrite,
    ServerDrift,
    find_drift,
)
from specctl.domain.host import Host
from specctl.domain.launch_record import LaunchRecord
from specctl.domain.profile import Origin, Placement, Profile, Speculation
from specctl.domain.server import Identity

PROFILE = Profile(
    "kimi", "/models/kimi", arguments={"tp-size": 8, "enable-metrics": True},
    speculation=Speculation("NGRAM", {"num-draft-tokens": 8}),
    environment={"NCCL_ALGO": "Ring"}, placement=Placement(gpus=(0, 1), port=30000),
    origins={
        "arguments.tp-size": Origin("profiles/kimi.toml", 3),
        "speculation.num-draft-tokens": Origin("profiles/base.toml", 7),
        "env.NCCL_ALGO": Origin("profiles/kimi.toml", 9),
    },
)  # fmt: skip
ARGV = server_argv(PROFILE, python=("/opt/bin/python",), port=30005)
RECORD = LaunchRecord(
    "5c0ffee1", Identity("b", 7, 1, 7, 7, "5c0ffee1"), profile="kimi", profile_hash="9d1c",
    argv=ARGV, port=30005, version="0.5.22", tree_hash="aa",
)  # fmt: skip
SAME = DriftSources(
    profile=PROFILE,
    profile_hash="9d1c",
    host=Host("gpu8"),
    record=RECORD,
    argv=(*ARGV, "--config", "/state/keys.yaml"),
    environment={"NCCL_ALGO": "Ring", "CUDA_VISIBLE_DEVICES": "4,5"},
    server_version="0.5.22",
    build=BuildNow("/opt/sglang", "0.5.22"),
)


def rows(**changes):
    return {(row.key, row.cause): row for row in find_drift(replace(SAME, **changes))}


def test_a_server_as_its_profile_says_has_no_difference():
    """Port, GPUs and the file of keys are of the launch."""
    assert rows() == {}


def test_what_was_changed_in_the_profile_since_with_its_line():
    changed = replace(
        PROFILE,
        arguments={"tp-size": 4, "log-level": "debug"},
        environment={"NCCL_ALGO": "Tree"},
    )
    found = rows(profile=changed, profile_hash="77aa")
    assert {key for key, _ in found} == {"tp-size", "log-level", "enable-metrics", "env:NCCL_ALGO"}
    assert {cause for _, cause in found} == {Cause.PROFILE}
    row = found["tp-size", Cause.PROFILE]
    assert (row.profile, row.launched, row.origin) == ("4", "8", "profiles/kimi.toml:3")
    row = found["enable-metrics", Cause.PROFILE]
    assert (row.profile, row.launched) == (None, "on")
    row = found["env:NCCL_ALGO", Cause.PROFILE]
    assert (row.profile, row.running, row.origin) == ("Tree", "Ring", "profiles/kimi.toml:9")


def test_a_recipe_that_differs_in_nothing_seen_is_said_too():
    (key,) = rows(profile_hash="77aa", environment=None)
    assert key == ("recipe", Cause.PROFILE)


def test_what_was_started_by_hand_is_against_the_launch():
    found = rows(argv=(*ARGV, "--tp-size", "4", "--log-level", "debug"))
    assert {key for key, _ in found} == {"tp-size", "log-level"}
    row = found["tp-size", Cause.BY_HAND]
    assert (row.launched, row.running) == ("8", "4")
    assert found["log-level", Cause.BY_HAND].launched is None


def test_an_adopted_server_is_held_against_its_profile():
    adopted = replace(RECORD, is_adopted=True, profile_hash="", argv=(*ARGV, "--tp-size", "4"))
    found = rows(record=adopted, argv=adopted.argv, environment={"NCCL_ALGO": "Tree"})
    assert {key for key, _ in found} == {"tp-size", "env:NCCL_ALGO"}
    assert {cause for _, cause in found} == {Cause.BY_HAND}
    row = found["tp-size", Cause.BY_HAND]
    assert (row.profile, row.running, row.origin) == ("8", "4", "profiles/kimi.toml:3")


def test_an_overwritten_command_line_and_no_profile_say_nothing():
    assert rows(argv=()) == {}
    assert rows(profile=None, profile_hash=None, record=None) == {}


def test_an_upgrade_under_a_running_server():
    found = rows(build=BuildNow("/opt/sglang", "0.5.23", 4000, ("_version.py",), "bb"))
    row = found["version", Cause.UPGRADED]
    assert (row.launched, row.running, row.resolved) == ("0.5.22", "0.5.22", "0.5.23")
    assert len(found) == 1


def test_a_tree_that_changed_without_its_version():
    changed = BuildNow("/opt/sglang", "0.5.22", 2, ("srt/server_args.py", "srt/x.py"))
    row = rows(build=changed)["tree", Cause.UPGRADED]
    assert row.words == (
        "2 files of /opt/sglang changed after the start: srt/server_args.py, srt/x.py"
    )
    assert rows(build=replace(changed, tree_hash="aa")) == {}, "touched, not changed"
    row = rows(build=BuildNow("/opt/sglang", "0.5.22", tree_hash="bb"))["tree", Cause.UPGRADED]
    assert (row.launched, row.resolved) == ("aa", "bb")


def test_a_version_that_nobody_says_is_not_compared():
    assert rows(server_version=None, record=replace(RECORD, version=None, tree_hash=None)) == {}
    assert rows(build=None) == {}
    assert rows(build=BuildNow("/opt/sglang")) == {}


@pytest.mark.parametrize(
    ("at_run_time", "cause"), [(False, Cause.ENGINE), (True, Cause.AT_RUN_TIME)]
)
def test_only_what_a_new_start_would_change_has_drifted(at_run_time, cause):
    rewrite = Rewrite("speculative-eagle-topk", "4", "10", "the breadth", at_run_time)
    found = find_drift(replace(SAME, rewrites=(rewrite,)))
    assert [(row.running, row.resolved, row.words, row.cause) for row in found] == [
        ("4", "10", "the breadth", cause)
    ]
    drift = ServerDrift("gpu8", "5c0f", "kimi", "5c0ffee1", found)
    assert bool(drift.drifted) is at_run_time
    assert bool(drift.rewritten) is not at_run_time
    assert cause.words
