from __future__ import annotations

import contextlib
import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specctl.agent.bootstrap import BOOT
from tests.unit.oneshot.conftest import (
    OneShotError,
    is_alive,
    payload,
    run_oneshot,
    wait_until,
)

SLEEP = "import time; time.sleep(60)"


def read_exit(answer):
    path = Path(answer["directory"], "exit.json")
    return wait_until(lambda: json.loads(path.read_text()) if path.exists() else None)


def log_of(answer):
    return Path(answer["log_path"]).read_text()


def wait_for_log(answer, text):
    return wait_until(lambda: log_of(answer) if text in log_of(answer) else None)


def test_identity_is_the_running_process(launches):
    answer = launches(SLEEP)
    identity = answer["identity"]
    pid = identity["pid"]
    assert identity["pgid"] == identity["sid"] == pid
    assert os.getsid(pid) == os.getpgid(pid) == pid
    assert identity["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    assert identity["start_ticks"] == int(fields[19])
    environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert f"SPECCTL_LAUNCH={identity['marker']}".encode() in environ


def test_c10_answer_comes_at_once_and_nothing_holds_the_channel(launches):
    # run() returns at the end of stdout and stderr: a child that kept either would hold it.
    began = time.monotonic()
    answer = launches(SLEEP)
    assert time.monotonic() - began < 5
    assert answer["took_s"] < 0.3
    targets = {
        name: os.readlink(f"/proc/{answer['identity']['pid']}/fd/{name}")
        for name in os.listdir(f"/proc/{answer['identity']['pid']}/fd")
    }
    assert targets == {"0": "/dev/null", "1": answer["log_path"], "2": answer["log_path"]}


def test_c10_survives_the_death_of_the_session_that_launched(tmp_path):
    request = {
        "launch_id": "0badc0de",
        "argv": [sys.executable, "-c", SLEEP],
        "state_dir": str(tmp_path),
        "record": {},
    }
    shell = subprocess.Popen(
        [sys.executable, "-I", "-u", "-c", BOOT, "m"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert shell.stdin is not None
    shell.stdin.write(payload("launcher", request))
    shell.stdin.close()
    record = tmp_path / "launches/0badc0de/launch.json"
    pid = wait_until(lambda: json.loads(record.read_text()) if record.exists() else None)[
        "identity"
    ]["pid"]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(shell.pid, signal.SIGHUP)
    shell.wait()
    time.sleep(0.1)
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_recorder_stands_outside_the_group_of_the_server(launches):
    answer = launches(SLEEP)
    recorder, pid = answer["recorder"], answer["identity"]["pid"]
    assert os.getsid(recorder) != os.getsid(pid)
    assert os.getpgid(recorder) != os.getpgid(pid)
    assert b"SPECCTL_LAUNCH" not in Path(f"/proc/{recorder}/environ").read_bytes()
    os.killpg(pid, signal.SIGKILL)
    assert read_exit(answer)["signal"] == signal.SIGKILL


@pytest.mark.parametrize(
    ("script", "status", "number"),
    [
        ("pass", 0, None),
        ("raise SystemExit(3)", 3, None),
        ("import os; os.kill(os.getpid(), 15)", None, 15),
        ("import os; os.abort()", None, 6),
    ],
)
def test_exit_is_recorded(launches, script, status, number):
    answer = launches(script)
    recorded = read_exit(answer)
    assert (recorded["status"], recorded["signal"]) == (status, number)
    assert recorded["launch_id"] == answer["identity"]["marker"]
    assert abs(recorded["time_s"] - time.time()) < 30
    assert stat.S_IMODE(os.stat(answer["directory"] + "/exit.json").st_mode) == 0o600
    wait_until(lambda: not is_alive(answer["recorder"]))


def test_e03_each_launch_has_its_own_log_that_begins_with_its_id(launches):
    answer = launches("import sys; print('out'); print('err', file=sys.stderr)")
    read_exit(answer)
    lines = log_of(answer).splitlines()
    assert lines[0] == f"specctl launch {answer['identity']['marker']}"
    assert sorted(lines[1:]) == ["err", "out"]
    with pytest.raises(OneShotError, match="exists already"):
        launches("pass", launch_id=answer["identity"]["marker"])


def test_state_is_private_and_the_server_keeps_the_login_umask(launches, tmp_path):
    made = tmp_path / "made"
    answer = launches(
        f"open({str(made)!r}, 'w').close()", prefix=("sh", "-c", 'umask 027; exec "$@"', "sh")
    )
    read_exit(answer)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in Path(answer["directory"]).iterdir()}
    assert modes == {"launch.json": 0o600, "server.log": 0o600, "exit.json": 0o600}
    assert stat.S_IMODE(os.stat(answer["directory"]).st_mode) == 0o700
    assert stat.S_IMODE(made.stat().st_mode) == 0o640


def test_environment_is_the_login_environment_and_what_was_given(launches, tmp_path):
    token = tmp_path / "token"
    token.write_text("from-a-file\n")
    answer = launches(
        "import os, signal; print(os.environ['A'], os.environ['B'], os.environ['T'], os.getcwd(),"
        " signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN)",
        env={**os.environ, "A": "login", "B": "login"},
        environment={"B": "given"},
        environment_files={"T": str(token)},
    )
    read_exit(answer)
    # Python ignores SIGPIPE itself; /proc says what it inherited.
    assert "login given from-a-file / True" in log_of(answer)


def test_ignored_signals_are_not_inherited(launches):
    answer = launches("", argv=["sleep", "60"])
    status = Path(f"/proc/{answer['identity']['pid']}/status").read_text()
    ignored = next(line for line in status.splitlines() if line.startswith("SigIgn"))
    reserved = 1 << 31 | 1 << 32  # glibc's own, which no program can set
    assert int(ignored.split()[1], 16) & ~reserved == 0


def test_what_the_caller_ignores_is_not_inherited(launches):
    """As under nohup, or in the background of a shell without job control."""
    before = {n: signal.signal(n, signal.SIG_IGN) for n in (signal.SIGHUP, signal.SIGQUIT)}
    try:
        test_ignored_signals_are_not_inherited(launches)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_secrets_are_neither_in_argv_nor_in_the_record(launches):
    answer = launches(SLEEP, environment={"TOKEN": "s3cret"}, keys={"api-key": "k3y"})
    for path in (
        f"/proc/{answer['identity']['pid']}/cmdline",
        answer["directory"] + "/launch.json",
    ):
        text = Path(path).read_bytes()
        assert b"s3cret" not in text
        assert b"k3y" not in text
    assert b"s3cret" not in Path(f"/proc/{answer['recorder']}/environ").read_bytes()


def test_key_file_is_private_and_removed_once_read(launches):
    answer = launches(
        """
        import os, sys, time
        path = sys.argv[sys.argv.index('--config') + 1]
        print(oct(os.stat(path).st_mode), flush=True)
        print(open(path).read(), flush=True)
        print(open(path).read(), flush=True)
        time.sleep(60)
        """,
        keys={"api-key": 'a"b: #c', "admin-api-key": "ä"},
    )
    path = Path(answer["directory"], "keys.yaml")
    text = wait_for_log(answer, "admin-api-key")
    assert "0o100600" in text
    assert 'api-key: "a\\"b: #c"\nadmin-api-key: "\\u00e4"' in text
    wait_until(lambda: not path.exists())
    assert is_alive(answer["identity"]["pid"])


def test_key_file_is_removed_when_the_server_ends_without_reading_it(launches):
    answer = launches("pass", keys={"api-key": "k"})
    read_exit(answer)
    assert not Path(answer["directory"], "keys.yaml").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"argv": ["/nowhere/python"]}, "/nowhere/python: No such file"),
        ({"argv": ["/etc/passwd"]}, "/etc/passwd: Permission denied"),
        ({"environment_files": {"T": "/nowhere"}}, "/nowhere for T: No such file"),
        ({"launch_id": "../up"}, "not a launch id"),
    ],
)
def test_what_cannot_be_started_is_said(launches, change, words):
    with pytest.raises(OneShotError, match=words):
        launches("pass", **change)


def test_c12_state_directory_is_the_first_that_takes_a_write(launches, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    xdg = tmp_path / "xdg"
    answer = launches(
        "pass",
        state_dir=str(blocked),
        env={**os.environ, "XDG_STATE_HOME": str(xdg), "HOME": str(tmp_path / "home")},
    )
    assert answer["state_dir"] == str(xdg / "specctl")
    assert answer["state_dir_failures"] == [f"{blocked}: mkdir: EEXIST File exists"]


def test_c12_full_file_system_is_found_by_writing(tmp_path):
    mount = tmp_path / "full"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(mount)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, "mounting needs root: " + done.stderr.decode()
    try:
        env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "xdg")}
        answer = run_oneshot(
            "launcher",
            {
                "launch_id": os.urandom(4).hex(),
                "argv": ["true"],
                "state_dir": str(mount),
                "record": {},
            },
            env=env,
        )
        assert answer["state_dir_failures"] == [f"{mount}: write: ENOSPC No space left on device"]
        assert answer["state_dir"] == str(tmp_path / "xdg/specctl")
        wait_until(lambda: not is_alive(answer["recorder"]))
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_c12_nothing_is_executed_from_the_state_directory(tmp_path):
    mount = tmp_path / "noexec"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", str(mount)], check=True)
    try:
        answer = run_oneshot(
            "launcher",
            {
                "launch_id": os.urandom(4).hex(),
                "argv": [sys.executable, "-c", "print('ran')"],
                "state_dir": str(mount),
                "record": {},
            },
        )
        assert read_exit(answer)["status"] == 0
        wait_until(lambda: not is_alive(answer["recorder"]))
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_c12_home_that_cannot_be_written_as_an_ordinary_user(tmp_path):
    uid = pwd.getpwnam("nobody").pw_uid
    os.chmod(tmp_path, 0o755)
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    prefix = ("setpriv", f"--reuid={uid}", "--regid=65534", "--clear-groups")
    answer = run_oneshot(
        "launcher",
        {"launch_id": os.urandom(4).hex(), "argv": ["true"], "state_dir": None, "record": {}},
        prefix=prefix,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        python="/usr/bin/python3",
    )
    assert answer["state_dir"] == f"/var/tmp/specctl-{uid}"
    assert answer["state_dir_failures"] == [
        f"{home}/.local/state/specctl: mkdir: EACCES Permission denied"
    ]
    wait_until(lambda: not is_alive(answer["recorder"]))
    subprocess.run(["rm", "-r", answer["directory"]], check=True)


def test_orphans_come_to_the_recorder_and_are_reaped(launches):
    answer = launches(
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            print('orphan', os.getpid(), flush=True)
            time.sleep(0.3)
            os._exit(0)
        time.sleep(0.1)
        """
    )
    orphan = int(wait_for_log(answer, "orphan").split()[-1])
    read_exit(answer)
    wait_until(lambda: not Path(f"/proc/{orphan}").exists())
    wait_until(lambda: not is_alive(answer["recorder"]))
