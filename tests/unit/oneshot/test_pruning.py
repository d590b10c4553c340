"""Old launches: which are removed, and which are never."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from specctl.agent.oneshot import proc, pruning
from tests.unit.oneshot.conftest import wait_until

SLEEP = "import time; time.sleep(60)"


class State:
    """A state directory with launches of chosen ages."""

    def __init__(self, folder):
        self.root = str(folder)
        (folder / "launches").mkdir(parents=True)

    def __call__(self, name, age_min, identity=None, **record):
        """Make a launch; returns its directory."""
        directory = Path(self.root) / "launches" / name
        directory.mkdir()
        if identity is not None:
            value = {"launch_id": name, "identity": identity, **record}
            (directory / "launch.json").write_text(json.dumps(value))
            (directory / "server.log").write_text("lines\n")
        at_s = time.time() - 60 * age_min
        os.utime(directory, (at_s, at_s))
        return directory


@pytest.fixture
def state(tmp_path):
    """Makes launches; knows its directory."""
    return State(tmp_path / "state")


def own(**changed):
    """The identity of this very process, which lives."""
    stat = proc.read_stat(os.getpid())
    assert stat is not None
    return {**proc.identity(stat, ""), **changed}


def dead(**changed):
    return {"boot_id": proc.boot_id(), "pid": 4, "start_ticks": 5, "pgid": 6, "sid": 7, **changed}


def test_the_oldest_that_ended_go_with_their_logs(state):
    directories = [state(f"{n:08x}", age_min=n, identity=dead()) for n in range(6)]
    assert pruning.prune(state.root, kept=4) == ["00000005", "00000004"]
    assert [d.exists() for d in directories] == [True] * 4 + [False] * 2
    assert pruning.prune(state.root, kept=4) == []


@pytest.mark.parametrize(
    ("name", "identity", "members"),
    [
        ("main", own(), []),
        ("group", dead(pgid=own()["pgid"], sid=own()["sid"]), []),
        ("member", dead(), [own()]),
        ("damaged", dead(), ["no identity", 7]),
        ("reused", own(start_ticks=1, pgid=1, sid=0), []),
        ("restarted", own(boot_id="another"), []),
    ],
)
def test_what_lives_is_never_removed(state, name, identity, members):
    directory = state("0ld", age_min=9, identity=identity, members=members)
    pruning.prune(state.root, kept=0)
    assert directory.exists() is (name in ("main", "group", "member"))


def test_a_survivor_that_carries_the_mark_keeps_its_launch(launches):
    answer = launches(SLEEP)
    record = Path(answer["directory"], "launch.json")
    value = json.loads(record.read_text())
    record.write_text(json.dumps({**value, "identity": dead()}))
    state_dir = answer["state_dir"]
    assert pruning.prune(state_dir, kept=0) == []
    os.killpg(answer["identity"]["pgid"], 9)
    wait_until(lambda: Path(answer["directory"], "exit.json").exists())
    assert pruning.prune(state_dir, kept=0) == [answer["identity"]["marker"]]


def test_a_launch_under_way_and_what_is_no_launch_stay(state, tmp_path):
    fresh, stuck = state("fresh", age_min=1), state("stuck", age_min=600)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    odd = state("not.a-launch", age_min=600, identity=dead())
    link = odd.parent / "link"
    link.symlink_to(elsewhere)
    pruning.prune(state.root, kept=0)
    assert [p.exists() for p in (fresh, stuck, odd, link, elsewhere)] == [
        True, False, True, True, True,
    ]  # fmt: skip


def test_one_launch_does_not_pay_for_a_thousand(state, monkeypatch):
    monkeypatch.setattr(pruning, "AT_ONCE", 2)
    for n in range(5):
        state(f"{n:08x}", age_min=n, identity=dead())
    assert len(pruning.prune(state.root, kept=0)) == 2


def test_starting_a_server_removes_what_is_too_old(launches, tmp_path):
    folder = tmp_path / "state" / "launches"
    for n in range(pruning.KEPT + 3):
        directory = folder / f"{n:08x}"
        directory.mkdir(parents=True)
        (directory / "launch.json").write_text(json.dumps({"identity": dead()}))
        os.utime(directory, (n, n))
    answer = launches(SLEEP)
    left = {path.name for path in folder.iterdir()}
    assert len(left) == pruning.KEPT
    assert answer["identity"]["marker"] in left
    assert "00000000" not in left
