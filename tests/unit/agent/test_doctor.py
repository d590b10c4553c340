from __future__ import annotations

import os
import pwd
import subprocess
import sys
import threading

import pytest

from specctl.agent import doctor
from specctl.agent.nvml import parse_module_version
from specctl.agent.session_survival import read_settings, read_survival
from specctl.agent.state_dirs import try_directory


def test_every_reading_answers_on_this_host(tmp_path):
    answer = doctor.doctor({"state_dirs": [str(tmp_path / "state")]}, threading.Event())
    failed = {name: row for name, row in answer.items() if isinstance(row, dict) and "error" in row}
    assert failed == {}
    assert answer["limits"]["nofile"][0] > 0
    assert answer["user"]["uid"] == os.getuid()
    assert answer["state_dirs"][0]["usable"] is True
    mask = os.umask(0o022)
    os.umask(mask)
    assert answer["umask"] == mask


def test_a_reading_that_fails_says_so_in_its_place(monkeypatch):
    def broken():
        raise PermissionError(13, "Permission denied", "/x")

    monkeypatch.setattr(doctor, "readings", lambda _: {"a": broken, "b": lambda: 1})
    assert doctor.doctor({}, threading.Event()) == {
        "a": {"error": {"kind": "no_permission", "message": "Permission denied /x"}},
        "b": 1,
    }


def _write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_c11_a_drop_in_that_kills_is_found_with_its_file(tmp_path):
    _write(tmp_path, "etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\nKillUserProcesses=no\n")
    _write(tmp_path, "usr/lib/systemd/logind.conf", "[Login]\nRemoveIPC=no\n")
    _write(tmp_path, "etc/systemd/logind.conf.d/10.conf", "[Login]\nKillUserProcesses=yes\n")
    _write(tmp_path, "usr/lib/systemd/logind.conf.d/05.conf", "[Login]\nRemoveIPC = yes\n")
    settings = read_settings(str(tmp_path))
    assert settings["KillUserProcesses"] == {
        "value": "yes",
        "file": str(tmp_path / "etc/systemd/logind.conf.d/10.conf"),
    }
    assert settings["RemoveIPC"]["value"] == "yes"


def test_c11_a_masked_drop_in_is_the_one_in_etc(tmp_path):
    _write(tmp_path, "etc/systemd/logind.conf.d/10.conf", "KillUserProcesses=no\n")
    _write(tmp_path, "usr/lib/systemd/logind.conf.d/10.conf", "KillUserProcesses=yes\n")
    assert read_settings(str(tmp_path))["KillUserProcesses"]["value"] == "no"


@pytest.mark.parametrize(("lingers", "expected"), [(True, True), (False, False)])
def test_c11_lingering_is_read_from_its_file(tmp_path, lingers, expected):
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    if lingers:
        _write(tmp_path, f"var/lib/systemd/linger/{pwd.getpwuid(os.getuid()).pw_name}", "")
    assert read_survival(str(tmp_path))["linger"] is expected


def test_c11_loginctl_is_asked_for_the_user_and_for_the_manager(tmp_path, monkeypatch):
    script = tmp_path / "bin" / "loginctl"
    _write(
        tmp_path,
        "bin/loginctl",
        "#!/bin/sh\n"
        'case "$*" in *Linger*) echo Linger=no ;;'
        " *KillUserProcesses*) echo KillUserProcesses=yes; echo RemoveIPC=yes ;; esac\n",
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    assert read_survival(str(tmp_path))["loginctl"] == {
        "Linger": "no",
        "KillUserProcesses": "yes",
        "RemoveIPC": "yes",
    }


def test_c11_without_systemd_lingering_is_not_a_question(tmp_path):
    survival = read_survival(str(tmp_path))
    assert (survival["systemd"], survival["linger"]) == (False, None)


def test_c12_a_trial_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a" / "b"
    row = try_directory(str(path))
    assert (row["usable"], row["call"], row["error"]) == (True, None, None)
    assert row["free"] > 0
    assert list(tmp_path.iterdir()) == []


def test_c12_what_was_there_stays(tmp_path):
    (tmp_path / "launches").mkdir()
    assert try_directory(str(tmp_path))["usable"] is True
    assert [path.name for path in tmp_path.iterdir()] == ["launches"]


TRY = """
import os, sys
sys.path.insert(0, {root!r})
from specctl.agent.state_dirs import try_directory
if {uid}: os.setuid({uid})
print(try_directory({path!r}))
"""


def _try_elsewhere(path, *, uid=0, prefix=()):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    code = TRY.format(root=root, uid=uid, path=str(path))
    argv = [*prefix, sys.executable, "-B", "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return eval(done.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_c12_another_users_directory_is_refused_by_mkdir(tmp_path):
    os.chmod(tmp_path, 0o700)
    row = _try_elsewhere(tmp_path / "state", uid=65534)
    assert (row["usable"], row["call"]) == (False, "mkdir")
    assert "EACCES" in row["error"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system of its own")
@pytest.mark.parametrize(
    ("options", "call", "error"),
    [("size=4k", "write", "ENOSPC"), ("ro", "mkdir", "EROFS"), ("size=1m", "statvfs", "free")],
)
def test_c12_full_and_read_only_file_systems_name_the_call(tmp_path, options, call, error):
    mount = tmp_path / "mount"
    mount.mkdir()
    fill = f"dd if=/dev/zero of={mount}/fill bs=4k count=1 2>/dev/null;" if "4k" in options else ""
    script = f'mount -t tmpfs -o {options} none {mount} && {{ {fill} exec "$@"; }}'
    prefix = ("unshare", "-m", "sh", "-c", script, "sh")
    try:
        row = _try_elsewhere(mount / "state", prefix=prefix)
    except subprocess.CalledProcessError as failed:
        if "unshare" in failed.stderr or "mount" in failed.stderr:
            pytest.skip("this machine lets nobody mount")
        raise
    assert (row["usable"], row["call"]) == (False, call)
    assert error in row["error"]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  520.56.06  Thu Oct  6 21:38:55 UTC\n",
            "520.56.06",
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
            "GCC version:  gcc version 12.2.0\n",
            "580.95.05",
        ),
        ("something else 1.2.3", None),
    ],
)
def test_b04_the_loaded_modules_version(text, version):
    assert parse_module_version(text) == version
