"""Drift put together from what is at hand; the whole way is in tests/cli."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from specctl.domain.command import server_argv
from specctl.domain.drift import BuildNow, Cause
from specctl.domain.host import Host
from specctl.domain.launch_record import LaunchRecord
from specctl.domain.missing import Missing, Why
from specctl.domain.profile import Placement, Profile, Speculation
from specctl.domain.server import Identity, Server, ServerState
from specctl.facts.server_info import parse_server_info
from specctl.services.drift import Looked, drift_of, interpreter_of, rules_of
from specctl.services.launch import recipe_hash

CAPTURE = Path(__file__).parents[2] / "data/captures/server_info/eagle-nightly-repaired.json"
PROFILE = Profile(
    "qwen", "/workspace/model",
    speculation=Speculation("NEXTN", {"num-steps": 3, "eagle-topk": 1, "num-draft-tokens": 24}),
    placement=Placement(port=30000),
)  # fmt: skip
ARGV = server_argv(PROFILE, python=("/opt/venv/bin/python",), port=30000)
IDENTITY = Identity("b", 7, 1, 7, 7, "5c0ffee1")
SERVER = Server(
    "5c0f", ServerState.READY, IDENTITY, is_ours=True, profile="qwen", launch_id="5c0ffee1",
    argv=ARGV, pids=(7,),
)  # fmt: skip
RECORD = LaunchRecord(
    "5c0ffee1", IDENTITY, profile="qwen", profile_hash=recipe_hash(PROFILE), argv=ARGV
)
INFO = parse_server_info(CAPTURE.read_text())
HOST = Host("gpu8")


def drift(**changes):
    given = {"host": HOST, "profile": PROFILE, "record": RECORD, "looked": Looked(INFO), **changes}
    return drift_of(SERVER, **given)


def test_a03_what_the_engine_rewrote_has_the_rule_of_its_version():
    found = drift()
    (row,) = found.rows
    assert (row.key, row.cause) == ("speculative-num-draft-tokens", Cause.ENGINE)
    assert (row.running, row.resolved) == ("24", "4")
    assert row.words == "it changes 24 to 4: num-steps + 1, for eagle-topk is 1"
    assert found.drifted == ()
    assert {name: why.why for name, why in found.missing.items()} == {
        "build": Why.NOT_YET, "environment": Why.NOT_YET,
    }  # fmt: skip


def test_a_changed_profile_is_seen_without_asking_anybody():
    faster = replace(PROFILE, arguments={"tp-size": 8})
    found = drift(profile=faster, looked=None)
    assert [(row.key, row.cause) for row in found.rows] == [("tp-size", Cause.PROFILE)]
    assert found.missing["resolved"].why is Why.NOT_YET


def test_what_was_not_had_is_said():
    gone = Missing(Why.ERROR, "no profile called qwen")
    looked = Looked(Missing(Why.UNAUTHORIZED, "a key"), BuildNow("/opt/sglang", "0.5.24"))
    found = drift(profile=gone, record=None, looked=looked)
    assert found.rows == ()
    assert found.missing.keys() == {"profile", "resolved", "environment", "record"}
    silent = drift_of(replace(SERVER, argv=()), host=HOST, profile=gone)
    assert "argv" in silent.missing


def test_a_look_at_what_is_at_hand_is_cheap_enough_for_every_frame():
    drift()
    begun_s = time.perf_counter()
    for _ in range(50):
        drift()
    assert (time.perf_counter() - begun_s) / 50 < 0.01


def test_rules_are_those_of_the_version_and_none_is_made_up():
    assert "speculative-num-draft-tokens" in rules_of(ARGV, "0.5.10")
    assert rules_of(("python", "train.py"), None) == {}


def test_the_interpreter_of_a_command_line():
    assert interpreter_of(ARGV) == "/opt/venv/bin/python"
    assert interpreter_of(("python3", "-m", "x")) is None
    assert interpreter_of(("/opt/venv/bin/sglang", "serve")) is None
    assert interpreter_of(()) is None
    assert interpreter_of(("python3", "-m", "x"), "/usr/bin/python3.12") == "/usr/bin/python3.12"
    assert interpreter_of(("python3",), "/usr/bin/perl") is None


def test_a_launch_whose_record_is_lost_is_not_called_somebody_elses():
    found = drift(record=None).missing["record"]
    assert (found.why, found.detail) == (
        Why.MALFORMED, "launch 5c0ffee1, whose record is gone or damaged",
    )  # fmt: skip
    foreign = replace(SERVER, identity=replace(IDENTITY, marker=""))
    found = drift_of(foreign, host=HOST, profile=PROFILE).missing["record"]
    assert found.detail == "specctl did not start it"
