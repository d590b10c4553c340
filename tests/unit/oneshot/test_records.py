from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

from specctl.agent.oneshot import proc
from specctl.domain.launch_record import read_launch
from specctl.domain.server import Milestone
from tests.schemas import assert_valid
from tests.unit.oneshot.conftest import OneShotError, run_oneshot, wait_until

SLEEP = "import time; time.sleep(60)"


def read(tmp_path):
    env = {**os.environ, "XDG_STATE_HOME": "", "HOME": str(tmp_path / "home")}
    request = {"action": "read", "state_dir": str(tmp_path / "state")}
    answer = run_oneshot("records", request, env=env)
    mine = [r for r in answer["records"] if r["state_dir"].startswith(str(tmp_path))]
    return [read_launch(record) for record in mine]


def test_records_come_back_as_they_were_written(launches, tmp_path):
    record = {"profile": "tiny", "argv": ["python", "-m"], "port": 31001, "gpus": [0, 1]}
    answer = launches(SLEEP, record=record)
    launch_id = answer["identity"]["marker"]
    written = {"reached": {"weights": 4.5}, "ready_after_s": 12.5}
    for part, value in (("ready", written), ("stop", {"asked_by": "aw@laptop"})):
        request = {
            "action": "write",
            "part": part,
            "value": value,
            "state_dir": answer["state_dir"],
            "launch_id": launch_id,
        }
        run_oneshot("records", request)
    for part in ("ready", "stop"):
        assert_valid(json.loads(Path(answer["directory"], f"{part}.json").read_text()))
    (found,) = read(tmp_path)
    assert found is not None
    assert found.launch_id == launch_id
    assert found.identity.pid == answer["identity"]["pid"]
    assert (found.profile, found.port, found.gpus) == ("tiny", 31001, (0, 1))
    assert found.reached == ((Milestone.WEIGHTS, 4.5),)
    assert found.ready_after_s == 12.5
    assert found.stop_asked_at_s is not None
    assert found.exit is None
    assert found.log_path == answer["log_path"] == found.directory + "/server.log"


def test_e02_record_of_a_server_that_ended_says_how(launches, tmp_path):
    answer = launches("raise SystemExit(1)")
    wait_until(lambda: os.path.exists(answer["directory"] + "/exit.json"))
    (found,) = read(tmp_path)
    assert found is not None
    assert found.exit is not None
    assert found.exit.shell_status == 1
    assert_valid(json.loads(Path(answer["directory"], "exit.json").read_text()))
    assert found.stop_asked_at_s is None


def test_garbage_among_the_records_is_named_and_skipped(launches, tmp_path):
    answer = launches("pass")
    broken = Path(answer["state_dir"], "launches", "broken00")
    broken.mkdir()
    (broken / "launch.json").write_text("{half")
    request = {"action": "read", "state_dir": answer["state_dir"]}
    found = run_oneshot("records", request)
    assert str(broken) in found["unreadable"]
    assert len(read(tmp_path)) == 1


def test_only_the_operators_parts_are_written(launches):
    answer = launches("pass")
    request = {
        "action": "write",
        "part": "exit",
        "value": {},
        "state_dir": answer["state_dir"],
        "launch_id": answer["identity"]["marker"],
    }
    with pytest.raises(OneShotError, match="not a part that an operator writes"):
        run_oneshot("records", request)


def test_adopting_records_the_process_and_those_around_it(tmp_path):
    child = subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True)
    wait_until(lambda: Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text())
    found = proc.read_stat(child.pid)
    assert found is not None
    request = {
        "action": "adopt",
        "pid": child.pid,
        "start_ticks": found.start_ticks,
        "launch_id": "ad0bc0de",
        "state_dir": str(tmp_path / "state"),
        "record": {"profile": None, "port": 30000},
    }
    answer = run_oneshot("records", request)
    assert answer["identity"]["pid"] == child.pid
    (record,) = read(tmp_path)
    assert record is not None
    assert record.is_adopted
    assert record.started_at_s == pytest.approx(time.time(), abs=10)
    assert record.uid == os.getuid()
    assert len(record.members) == 2
    mode = os.stat(answer["directory"] + "/launch.json").st_mode
    assert stat.S_IMODE(mode) == 0o600
    with pytest.raises(OneShotError, match="belongs to another process"):
        run_oneshot("records", {**request, "start_ticks": 1})
    os.killpg(child.pid, 9)
    child.wait()
    with pytest.raises(OneShotError, match="there is no process"):
        run_oneshot("records", request)


def test_keys_can_be_removed_from_outside(launches):
    answer = launches(SLEEP, keys={"api-key": "k"})
    request = {
        "action": "forget",
        "state_dir": answer["state_dir"],
        "launch_id": answer["identity"]["marker"],
    }
    assert run_oneshot("records", request) == {"removed": True}
    assert run_oneshot("records", request) == {"removed": False}


@pytest.mark.parametrize(
    ("cgroups", "session"),
    [
        ("0::/user.slice/user-1000.slice/session-42.scope\n", "42"),
        ("0::/user.slice/user-1000.slice/session-c3.scope/inner\n", "c3"),
        ("1:name=systemd:/user.slice/user-0.slice/session-7.scope\n0::/\n", "7"),
        ("0::/user.slice/user-1000.slice/user@1000.service/specctl-19dc951b.scope\n", None),
        ("0::/system.slice/ssh.service\n", None),
    ],
)
def test_c11_the_login_session_is_read_from_the_control_group(cgroups, session):
    assert proc.login_session_of(cgroups) == session


@pytest.mark.parametrize(
    ("open_sessions", "session", "is_closed"),
    [(["41"], "42", True), (["41", "42"], "42", False), (None, "42", False), ([], None, False)],
)
def test_c11_a_session_that_logind_has_no_more_is_closed(
    tmp_path, monkeypatch, open_sessions, session, is_closed
):
    monkeypatch.setattr(proc, "OPEN_SESSIONS", str(tmp_path / "sessions"))
    if open_sessions is not None:
        (tmp_path / "sessions").mkdir()
        for name in open_sessions:
            (tmp_path / "sessions" / name).touch()
    assert proc.is_session_closed(session) is is_closed


def test_c11_a_server_that_a_restart_of_the_host_ended_is_told_so(launches, tmp_path):
    answer = launches(SLEEP)
    path = Path(answer["directory"], "launch.json")
    (found,) = read(tmp_path)
    assert (found.host_restarted, found.ended_with) == (False, None)
    record = json.loads(path.read_text())
    record["identity"]["boot_id"] = "another"
    path.write_text(json.dumps(record))
    (found,) = read(tmp_path)
    assert (found.host_restarted, found.ended_with) == (True, "the host was restarted")


@pytest.mark.skipif(os.getuid() != 0, reason="giving a directory away needs root")
def test_what_another_user_wrote_is_no_record_of_ours(launches, tmp_path):
    answer = launches("pass")
    assert len(read(tmp_path)) == 1
    os.chown(answer["state_dir"], 65534, 65534)
    assert read(tmp_path) == []


@pytest.mark.parametrize("text", ["[" * 100_000, '{"launch_id": "another0"}', "\0", "NaN"])
def test_a_record_that_is_none_or_of_another_launch_is_named_and_skipped(tmp_path, text):
    directory = tmp_path / "state" / "launches" / "f0r9ed00"
    directory.mkdir(parents=True)
    (directory / "launch.json").write_text(text)
    request = {"action": "read", "state_dir": str(tmp_path / "state")}
    found = run_oneshot("records", request)
    assert str(directory) in found["unreadable"]
    assert read(tmp_path) == []


def test_a_pipe_in_the_place_of_a_record_holds_nobody_up(launches, tmp_path):
    answer = launches("pass")
    os.mkfifo(answer["directory"] + "/ready.json")
    assert len(read(tmp_path)) == 1


def test_the_newest_come_first_whatever_stands_for_the_time(tmp_path):
    for name, started in (("a", 5), ("b", None), ("c", 1e9), ("d", "9"), ("e", 1e8)):
        directory = tmp_path / "state" / "launches" / name
        directory.mkdir(parents=True)
        value = {"launch_id": name, "started_at_s": started}
        (directory / "launch.json").write_text(json.dumps(value))
    answer = run_oneshot("records", {"action": "read", "state_dir": str(tmp_path / "state")})
    mine = [r for r in answer["records"] if r["state_dir"].startswith(str(tmp_path))]
    assert [row["launch"]["launch_id"] for row in mine] == ["c", "e", "a", "b", "d"]


def test_pid_1_is_never_put_under_care_nor_is_what_descends_from_it(tmp_path):
    init = proc.read_stat(1)
    assert init is not None
    request = {
        "action": "adopt",
        "pid": 1,
        "start_ticks": init.start_ticks,
        "launch_id": "ad0bc0de",
        "state_dir": str(tmp_path / "state"),
        "record": {},
    }
    with pytest.raises(OneShotError, match="not put under care"):
        run_oneshot("records", request)
    forged = {**proc.identity(init, ""), "pgid": -1, "sid": -1}
    assert proc.find_members(forged, []) == []
