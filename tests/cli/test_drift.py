"""`specctl drift` as a user runs it, against a stand-in build on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.schemas import assert_valid

BUILD = Path(__file__).parents[1] / "unit/services/fake_build"


def set_version(packages, version):
    for old in packages.glob("sglang-*.dist-info"):
        shutil.rmtree(old)
    metadata = packages / f"sglang-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n")


@pytest.fixture
def packages(tmp_path):
    """The site-packages of an environment with the stand-in, of a while ago."""
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    found = next(home.glob("lib/python*/site-packages"))
    shutil.copytree(BUILD / "sglang", found / "sglang")
    set_version(found, "0.5.23")
    return found


@pytest.fixture
def profile(workspace, packages, tmp_path):
    """A profile of this machine; whatever was started from it ends with the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "model").mkdir()
    python = packages.parents[2] / "bin/python"
    (workspace / "remotes/here.toml").write_text(
        f'transport = "local"\npython = "{python}"\ngpus = []\nstate_dir = "{tmp_path}/state"\n'
    )
    file = workspace / "profiles/tiny.toml"
    file.write_text(
        f'model = "{tmp_path}/model"\n[arguments]\ndevice = "cpu"\ntp-size = 1\n'
        f'[env]\nOMP_NUM_THREADS = "1"\n[placement]\nport = {port}\n'
    )
    yield file
    for record in tmp_path.glob("state/launches/*/launch.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            os.killpg(json.loads(record.read_text())["identity"]["pgid"], signal.SIGKILL)


def date_later(file):
    """As if it had been written a minute from now: within a second of the start does not count."""
    later = time.time() + 60
    os.utime(file, (later, later))


def drift_of(run, name, *, status):
    """The rows and the whole of one server; others of the machine are none of this test's."""
    ran = run("drift", f"here/{name}", "--json")
    assert ran.status == status, (ran.out, ran.err)
    found = json.loads(ran.out)
    assert_valid(found)
    (server,) = found["servers"]
    assert found["drifted"] == ([server["server"]] if status else [])
    return {(row["key"], row["cause"]): row for row in server["rows"]}, server


@pytest.fixture
def started(run, profile, tmp_path):
    """The short name of a server started from the profile."""
    ran = run("start", "here", "tiny", "--yes")
    assert ran.status == 0, ran.err
    (record,) = tmp_path.glob("state/launches/*/launch.json")
    kept = json.loads(record.read_text())
    assert kept["version"] == "0.5.23"
    assert re.fullmatch("[0-9a-f]{32}", kept["tree_hash"])
    return record.parent.name[:4]


def test_nothing_differs_after_the_start_though_a_file_was_touched(run, started, packages):
    date_later(packages / "sglang/srt/utils/server_args_config_parser.py")
    rows, server = drift_of(run, started, status=0)
    assert server["build"]["changed_files"] == 1
    assert rows == {}
    assert server["missing"] == {}
    assert server["build"]["version"] == server["version"] == "0.5.23"
    text = run("drift", f"here/{started}")
    assert (text.status, text.out) == (
        0, f"here/{started}  profile tiny, SGLang 0.5.23\n  no difference\n",
    )  # fmt: skip


def test_what_changed_since_the_start_and_why(run, profile, packages, started):
    profile.write_text(
        profile.read_text().replace("tp-size = 1", "tp-size = 2").replace('= "1"', '= "4"')
    )
    rows, _ = drift_of(run, started, status=5)
    row = rows["tp-size", "profile"]
    assert (row["profile"], row["launched"], row["origin"]) == ("2", "1", "profiles/tiny.toml:4")
    row = rows["env:OMP_NUM_THREADS", "profile"]
    assert (row["profile"], row["running"]) == ("4", "1")
    assert len(rows) == 2

    changed = packages / "sglang/srt/utils/server_args_config_parser.py"
    changed.write_text("changed = True\n")
    date_later(changed)
    rows, _ = drift_of(run, started, status=5)
    row, words = rows["tree", "upgraded"], rows["tree", "upgraded"]["words"]
    assert row["launched"] != row["resolved"]
    assert words.endswith("changed after the start: srt/utils/server_args_config_parser.py")
    set_version(packages, "0.5.24")
    rows, _ = drift_of(run, started, status=5)
    row = rows["version", "upgraded"]
    assert (row["launched"], row["running"], row["resolved"]) == ("0.5.23", "0.5.23", "0.5.24")
    text = run("drift", f"here/{started}")
    assert text.status == 5
    assert "  upgraded under the running server\n" in text.out
    assert "2 in profiles/tiny.toml:4, 1 launched" in text.out
    assert "0.5.23 runs, 0.5.24 is installed now" in text.out


def test_a_server_started_by_hand_follows_no_profile(run, profile, packages, tmp_path):
    python = packages.parents[2] / "bin/python"
    port = re.search(r"port = (\d+)", profile.read_text())
    assert port is not None
    argv = [
        str(python), "-m", "sglang.launch_server", "--model-path", str(tmp_path / "model"),
        "--tp-size", "4", "--port", port[1],
    ]  # fmt: skip
    by_hand = subprocess.Popen(argv, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", int(port[1]))),
            ):
                break
            time.sleep(0.05)
        rows, server = drift_of(run, f"pid-{by_hand.pid}", status=0)
        assert rows["tp-size", "engine"]["resolved"] == "1"
        assert {"profile", "record"} <= server["missing"].keys()
    finally:
        os.killpg(by_hand.pid, signal.SIGKILL)
        by_hand.wait()


def test_a_server_that_is_not_there(run, profile):
    ran = run("drift", "here/beef")
    assert ran.status == 2
    assert "no server called beef" in ran.err
