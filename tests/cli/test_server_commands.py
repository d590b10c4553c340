"""start, stop, adopt and server as a user runs them, against a stand-in on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.schemas import assert_valid

BUILD = Path(__file__).parents[1] / "unit/services/fake_build"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An interpreter whose packages hold the stand-in."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    shutil.copytree(BUILD / "sglang", packages / "sglang")
    (packages / "sglang-0.5.23.dist-info").mkdir()
    return str(home / "bin/python")


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def here(workspace, python, tmp_path, port):
    """A workspace with this machine as a host and one profile."""
    (tmp_path / "model").mkdir()
    (workspace / "remotes/here.toml").write_text(
        f'transport = "local"\npython = "{python}"\ngpus = []\nstate_dir = "{tmp_path}/state"\n'
    )
    (workspace / "profiles/tiny.toml").write_text(
        f'model = "{tmp_path}/model"\n[arguments]\ndevice = "cpu"\n[placement]\nport = {port}\n'
    )
    yield workspace
    for record in tmp_path.glob("state/launches/*/launch.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            os.killpg(json.loads(record.read_text())["identity"]["pgid"], signal.SIGKILL)


def launches(tmp_path):
    return sorted(path.name for path in tmp_path.glob("state/launches/*"))


def test_dry_run_prints_the_plan_and_does_nothing(run, here, tmp_path, port):
    ran = run("start", "here", "tiny", "--dry-run")
    assert ran.status == 0
    assert ran.out.startswith("Start tiny on here\n")
    assert f"--port {port}" in ran.out
    shown = run("start", "here", "tiny", "--dry-run", "--json")
    plan = json.loads(shown.out)
    assert_valid(plan)
    assert (plan["kind"], plan["default_is_safe"], plan["ports"]) == ("start", True, [port])
    assert launches(tmp_path) == []


def test_start_stop_and_again(run, here, tmp_path):
    started = run("start", "here", "tiny", "--yes")
    assert started.status == 0, started.err
    assert started.out.startswith("Ready in 0:0")
    assert "weights" in started.err
    again = run("start", "here", "tiny", "--yes")
    assert again.status == 0
    assert "runs this profile already" in again.out
    (launch,) = launches(tmp_path)
    stopped = run("stop", f"here/{launch[:4]}", "--yes", "--json")
    assert stopped.status == 0, stopped.err
    outcome = json.loads(stopped.out)
    assert_valid(outcome)
    records = tmp_path / "state/launches" / launch
    for part in ("launch", "ready", "stop", "exit"):
        assert_valid(json.loads((records / f"{part}.json").read_text()))
    assert outcome["proofs"][0]["gone"] is True
    gone = run("stop", f"here/{launch[:4]}", "--yes")
    assert (gone.status, gone.out) == (0, f"{launch[:4]} is gone already.\n")


def test_without_a_terminal_yes_is_needed(run, here, tmp_path):
    ran = run("start", "here", "tiny")
    assert ran.status == 2
    assert "--yes" in ran.err
    assert launches(tmp_path) == []


def test_read_only_refuses(run, here, tmp_path):
    for arguments in (("start", "here", "tiny", "--yes"), ("adopt", "here", "12345", "--yes")):
        ran = run("--read-only", *arguments)
        assert ran.status in (1, 2), ran.err
    assert "here is read-only" in run("--read-only", "start", "here", "tiny", "--yes").err
    assert launches(tmp_path) == []


def test_failed_start_says_the_first_cause_and_keeps_the_log(run, here, tmp_path):
    profile = here / "profiles/tiny.toml"
    text = profile.read_text()
    profile.write_text(text + '[env]\nFAKE_FAIL = "torch.OutOfMemoryError: CUDA out of memory."\n')
    ran = run("start", "here", "tiny", "--yes")
    assert ran.status == 1
    assert "OutOfMemoryError" in ran.err
    assert "hint:" in ran.err
    (launch,) = launches(tmp_path)
    assert (tmp_path / "state/launches" / launch / "server.log").exists()


def test_taken_port_is_refused_with_its_holder(run, here, port):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        ran = run("start", "here", "tiny", "--yes")
    assert ran.status == 1
    assert f"ports: {port} is held by pid {os.getpid()}" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("start", "here", "tinny"), "no profile called tinny"),
        (("start", "nowhere", "tiny"), "no host called nowhere"),
        (("start", "here", "tiny", "--gpus", "0-x"), "is no GPU index"),
        (("stop", "here/nothing", "--yes"), "no server called nothing runs there"),
        (("adopt", "here", str(os.getpid()), "--yes"), "is no process of an SGLang server"),
        (("server", "here/nothing", "flush", "--yes"), "no server called nothing runs there"),
    ],
)
def test_wrong_words_are_told(run, here, arguments, words):
    ran = run(*arguments)
    assert ran.status == 2
    assert words in ran.err
    assert "hint:" in ran.err


def test_server_is_told_what_to_do(run, here, tmp_path):
    assert run("start", "here", "tiny", "--yes").status == 0
    (launch,) = launches(tmp_path)
    target = f"here/{launch[:4]}"
    assert "flushed" in run("server", target, "flush", "--yes").out
    added = run("server", target, "corpus", "add", "std", "/srv/std.jsonl", "--yes")
    assert "1,234 tokens" in added.out
    listed = run("server", target, "corpus", "list", "--json")
    assert_valid(json.loads(listed.out))
    assert json.loads(listed.out)["corpora"] == {"std": 1234}
    assert run("server", target, "corpus", "remove", "std", "--yes").status == 0
    assert "aborted" in run("server", target, "abort", "--yes").out
    assert (
        "accept length counts afresh"
        in run("server", target, "thresholds", "--single", "0.9", "--yes").out
    )
    refused = run("server", target, "flush")
    assert refused.status == 2
    assert "--yes" in refused.err


def test_adopt_writes_a_profile(run, here, python, tmp_path, port):
    process = subprocess.Popen(
        [python, "-m", "sglang.launch_server", "--model-path", str(tmp_path / "model"),
         "--device", "cpu", "--port", str(port)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, cwd="/",
    )  # fmt: skip
    try:
        refused = run("stop", "here", "--pid", str(process.pid + 1), "--yes")
        assert refused.status == 2
        ran = run("adopt", "here", str(process.pid), "--write-profile", "found", "--yes")
        assert ran.status == 0, ran.err
        assert ran.out.startswith(f"Adopted pid {process.pid} as here/")
        assert f"port = {port}" in (here / "profiles/found.toml").read_text()
        (launch,) = launches(tmp_path)
        record = tmp_path / "state/launches" / launch / "launch.json"
        assert_valid(json.loads(record.read_text()))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
