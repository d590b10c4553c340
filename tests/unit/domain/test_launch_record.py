from __future__ import annotations

import pytest

from specctl.domain.launch_record import (
    ExitRecord,
    choose_launch_id,
    identity_mapping,
    read_exit,
    read_identity,
    read_launch,
)
from specctl.domain.server import Identity, Milestone

IDENTITY = Identity("boot", 1, 2, 3, 4, "7c1e0000")
LAUNCH = {
    "schema": "specctl/launch/1",
    "launch_id": "7c1e0000",
    "identity": identity_mapping(IDENTITY),
    "started_at_s": 5.0,
}


def test_a_launch_is_not_called_as_another_is():
    known = read_launch({"state_dir": "/s", "launch": LAUNCH})
    assert known is not None
    assert choose_launch_id(["7c1e9999", "8a000001"], [known]) == "8a000001"
    assert choose_launch_id(["7c1e9999"], [known]) == "7c1e9999"


def test_identity_comes_back():
    assert read_identity(identity_mapping(IDENTITY)) == IDENTITY


def test_least_and_most():
    least = read_launch({"state_dir": "/s", "launch": LAUNCH})
    assert least is not None
    assert (least.name, least.directory, least.exit) == ("7c1e", "/s/launches/7c1e0000", None)
    most = read_launch(
        {
            "state_dir": "/s",
            "launch": {**LAUNCH, "profile": "p", "port": 1, "gpus": [0], "is_adopted": True},
            "ready": {"reached": {"weights": 3.0}, "ready_after_s": 9.0},
            "stop": {"time_s": 11.0},
            "exit": {"status": None, "signal": 9, "time_s": 12.0},
        }
    )
    assert most is not None
    assert most.reached == ((Milestone.WEIGHTS, 3.0),)
    assert most.exit == ExitRecord(None, 9, 12.0)
    assert most.exit.shell_status == 137
    assert (most.stop_asked_at_s, most.gpus, most.is_adopted) == (11.0, (0,), True)


@pytest.mark.parametrize(
    "launch",
    [
        None,
        [],
        {},
        {**LAUNCH, "schema": "specctl/launch/2"},
        {**LAUNCH, "identity": {}},
        {**LAUNCH, "identity": {**identity_mapping(IDENTITY), "pid": "x"}},
        {**LAUNCH, "started_at_s": "soon"},
        {**LAUNCH, "started_at_s": float("nan")},
        {**LAUNCH, "started_at_s": 10**400},
        {**LAUNCH, "port": float("inf")},
        {**LAUNCH, "gpus": ["zero"]},
        {**LAUNCH, "members": ["nobody"]},
    ],
)
def test_what_cannot_be_understood_is_none(launch):
    assert read_launch({"state_dir": "/s", "launch": launch}) is None


@pytest.mark.parametrize(
    "part", [{"ready": ["reached"]}, {"ready": {"reached": [1]}}, {"exit": {"time_s": "late"}}]
)
def test_a_damaged_part_is_no_record(part):
    assert read_launch({"state_dir": "/s", "launch": LAUNCH, **part}) is None


def test_an_age_that_was_not_told_is_none():
    found = read_launch({"state_dir": "/s", "launch": {**LAUNCH, "started_at_s": None}})
    assert found is not None
    assert found.started_at_s is None


def test_what_is_shown_of_a_record_is_made_safe():
    hostile = "a\x1b[2J\u202eb\nc"
    changed = {"profile": hostile, "model": hostile, "launched_by": hostile, "argv": [hostile]}
    found = read_launch({"state_dir": "/s", "launch": {**LAUNCH, **changed}})
    assert found is not None
    shown = (found.profile, found.model, found.launched_by, *found.argv)
    assert shown == ("ab c",) * 4


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ({"status": 3, "signal": None, "time_s": 1.0}, 3),
        ({"status": None, "signal": 9, "time_s": 1.0}, 137),
        ({"status": "three", "time_s": 1.0}, None),
        ({"status": float("inf"), "time_s": 1.0}, None),
        ({"status": 3}, None),
        ([], None),
        (None, None),
    ],
)
def test_how_a_process_ended(value, status):
    found = read_exit(value)
    assert (found.shell_status if found else None) == status
