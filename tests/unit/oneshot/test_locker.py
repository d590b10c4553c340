from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from typing import Any

import pytest

from specctl.agent.bootstrap import BOOT
from specctl.agent.oneshot import locker
from tests.unit.oneshot.conftest import (
    MARKER,
    OneShotError,
    answer_in,
    payload,
    run_oneshot,
    wait_until,
)

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3")


@pytest.fixture
def directory(tmp_path):
    for path in tmp_path.parents:
        if path.name.startswith(("pytest", "popen")):  # pytest's own: others may pass through
            os.chmod(path, 0o755)
    os.chmod(tmp_path, 0o1777)
    return str(tmp_path / "locks")


@pytest.fixture
def holders(directory):
    """Opens holders as an operator's channel does; all end with the test."""
    opened: list[Any] = []

    def hold(*keys, who="aw@laptop", python=(sys.executable,), token="t1"):
        process = subprocess.Popen(
            [*python, "-I", "-u", "-c", BOOT, MARKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        opened.append(process)
        request = {
            "keys": list(keys),
            "token": token,
            "directory": directory,
            "holder": {"who": who, "process": "specctl start, pid 7"},
        }
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(payload("holder") + json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        return process, answer_in(b"\n" + process.stdout.readline())

    yield hold
    for process in opened:
        with contextlib.ExitStack() as ends:
            ends.callback(process.stdout.close)
            ends.callback(process.wait, timeout=10)
            ends.callback(process.stdin.close)


def held(directory, *keys, token="t1"):
    return locker.is_held({"keys": keys, "token": token, "directory": directory})


def test_held_lock_is_refused_with_its_holder(holders, directory):
    first, answer = holders("gpu-0", "gpu-1", "port-30000")
    assert answer["held"] is True
    assert held(directory, "gpu-0", "gpu-1", "port-30000") == ""
    _, refused = holders("gpu-1", "gpu-2", who="kb@desk", token="t2")
    assert refused["held"] is False
    assert refused["key"] == "gpu-1"
    assert refused["holder"]["who"] == "aw@laptop"
    assert refused["holder"]["process"] == "specctl start, pid 7"
    assert refused["holder"]["pid"] == first.pid
    assert refused["holder"]["since_s"] > 0


def test_refusal_keeps_none_of_the_locks(holders):
    holders("gpu-1")
    holders("gpu-0", "gpu-1", token="t2")
    assert holders("gpu-0", token="t3")[1]["held"] is True


def test_lock_ends_with_the_channel(holders, directory):
    process, _ = holders("gpu-0")
    process.stdin.close()
    assert process.wait(timeout=10) == 0
    assert held(directory, "gpu-0") == "the lock gpu-0 was lost"
    assert holders("gpu-0", token="t2")[1]["held"] is True


def test_lock_of_a_killed_holder_is_taken(holders):
    process, _ = holders("gpu-0")
    process.kill()
    process.wait()
    assert holders("gpu-0", token="t2")[1]["held"] is True


def test_several_servers_share_a_host(holders):
    assert holders("gpu-0", "port-30000")[1]["held"] is True
    assert holders("gpu-1", "port-30001", token="t2")[1]["held"] is True


def test_another_users_lock_can_be_seen_and_taken_after_it(holders, directory):
    process, answer = holders("gpu-0", who="nobody@desk", python=AS_NOBODY)
    assert answer["held"] is True
    assert holders("gpu-0", token="t2")[1]["holder"]["who"] == "nobody@desk"
    process.stdin.close()
    process.wait(timeout=10)
    owner, answer = holders("gpu-0", token="t2")
    assert answer["held"] is True
    assert holders("gpu-0", python=AS_NOBODY, token="t3")[1]["held"] is False
    owner.stdin.close()
    owner.wait(timeout=10)
    assert holders("gpu-0", python=AS_NOBODY, token="t3")[1]["held"] is True
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o1777
    assert stat.S_IMODE(os.stat(directory + "/gpu-0").st_mode) == 0o666


def test_protected_regular_does_not_stop_a_second_user(holders, directory, monkeypatch):
    # fs.protected_regular refuses O_CREAT on another's file in a sticky directory: an open with
    # it on a file that exists is what must not happen.
    holders("gpu-0", python=AS_NOBODY)[0].stdin.close()
    flags_seen = []
    real = os.open

    def watched(path, flags, *rest, **named):
        flags_seen.append(flags)
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", watched)
    opened = locker.open_directory(directory)
    os.close(locker.open_file(opened, "gpu-0"))
    os.close(opened)
    assert not any(flags & os.O_CREAT for flags in flags_seen)
    assert all(flags & os.O_NOFOLLOW and flags & os.O_CLOEXEC for flags in flags_seen)


def test_links_are_not_followed(holders, directory, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.mkdir(directory)
    os.chmod(directory, 0o1777)
    os.symlink(victim, directory + "/gpu-0")
    os.link(victim, directory + "/gpu-1")
    for key in ("gpu-0", "gpu-1"):
        with pytest.raises(OneShotError, match=f"lock file {key}"):
            holders(key)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("make", ["link", "private", "file"])
def test_directory_that_is_not_shared_is_refused(holders, directory, tmp_path, make):
    if make == "link":
        (tmp_path / "real").mkdir(mode=0o777)
        os.symlink(tmp_path / "real", directory)
    elif make == "private":
        os.mkdir(directory, 0o700)
    else:
        open(directory, "w").close()
    with pytest.raises(OneShotError, match=r"locks (is no directory|belongs to uid 0)"):
        holders("gpu-0")


def test_what_a_file_says_is_only_words(holders, directory):
    process, _ = holders("gpu-0")
    with open(directory + "/gpu-0", "w") as file:
        file.write('["not an object"] ' + "x" * 10000)
    _, refused = holders("gpu-0", token="t2")
    assert refused["holder"] == {"pid": process.pid}


def test_replaced_file_is_noticed(holders, directory):
    holders("gpu-0")
    os.unlink(directory + "/gpu-0")
    assert held(directory, "gpu-0") == "the lock gpu-0 was lost"


def test_launch_is_refused_without_its_lock(holders, directory, tmp_path):
    request = {
        "launch_id": "00000001",
        "argv": ["true"],
        "state_dir": str(tmp_path / "state"),
        "record": {},
        "lock": {"keys": ["gpu-0"], "token": "t1", "directory": directory},
    }
    process, _ = holders("gpu-0", who="kb@desk", token="other")
    with pytest.raises(OneShotError, match="gpu-0 is now locked by kb@desk"):
        run_oneshot("launcher", request)
    process.stdin.close()
    process.wait(timeout=10)
    with pytest.raises(OneShotError, match="nothing was started: the lock gpu-0 was lost"):
        run_oneshot("launcher", request)
    assert not (tmp_path / "state").exists()
    holders("gpu-0", token="t1")
    answer = run_oneshot("launcher", request)
    wait_until(lambda: os.path.exists(answer["directory"] + "/exit.json"))


def test_looking_names_the_holders_and_keeps_nothing(holders, directory):
    process, _ = holders("gpu-0", "port-30000")
    request = {"keys": ["gpu-0", "gpu-1", "port-30000"], "directory": directory}
    held = run_oneshot("locker", request)["held"]
    assert [row["key"] for row in held] == ["gpu-0", "port-30000"]
    assert {row["holder"]["who"] for row in held} == {"aw@laptop"}
    assert {row["holder"]["pid"] for row in held} == {process.pid}
    assert holders("gpu-1", token="t2")[1]["held"] is True
