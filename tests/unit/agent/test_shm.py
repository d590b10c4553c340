from __future__ import annotations

import os

import pytest

from specctl.agent import shm
from specctl.domain.doctor import Level, judge_shm
from specctl.domain.preflight import SpaceReading
from specctl.domain.start_checks import check_shm
from specctl.facts.preflight import read_space

MIB = 2**20


def test_a15_whose_files_fill_it(tmp_path):
    for number in range(3):
        (tmp_path / f"psm_{number}").write_bytes(b"x" * MIB)
    answer = shm.read_shm(str(tmp_path))
    (owner,) = answer["owners"]
    assert owner["uid"] == os.getuid()
    assert owner["files"] == 3
    assert owner["bytes"] >= 3 * MIB
    assert answer["is_cut"] is False
    space = read_space("/dev/shm", answer)
    assert space.total_bytes
    assert space.owners[0].endswith("GiB in 3 files")


def test_a_huge_directory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(shm, "ENTRIES_MAX", 2)
    for number in range(4):
        (tmp_path / str(number)).touch()
    answer = shm.read_shm(str(tmp_path))
    assert answer["is_cut"] is True
    assert sum(owner["files"] for owner in answer["owners"]) == 2


@pytest.mark.parametrize("owners", [(), ("aw 18.0 GiB in 852 files",)])
def test_a15_a_full_one_names_who_holds_it(owners):
    full = SpaceReading("/dev/shm", 20 * 2**30, 2**20, owners=owners)
    row, check = judge_shm(full), check_shm(full)
    assert row.level is Level.FAIL
    assert row.next_step == check.next_step
    assert ("Held by aw 18.0 GiB in 852 files." in row.next_step) is bool(owners)


def test_answers_without_owners_are_read():
    assert read_space("/dev/shm", {"total": 1, "free": 1}).owners == ()
    hostile = {
        "total": 1,
        "free": 1,
        "owners": [{"bytes": "x"}, 3, {"bytes": 5, "owner": "\x1b[2J"}],
    }
    assert all("\x1b" not in words for words in read_space("/dev/shm", hostile).owners)
