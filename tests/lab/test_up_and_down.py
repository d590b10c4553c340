"""Bringing the lab up and taking it down: what is there in between, and that nothing is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specctl.lab.processes import processes_of
from specctl.lab.up import take_down
from tests.lab.practice import Practice, wait_for


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


def mentioning(folder: Path) -> list[str]:
    """The command lines of processes that name the folder, or carry it in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            told = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in told and int(path.name) != os.getpid():
            found.append(told.replace(b"\0", b" ").decode(errors="replace"))
    return found


def test_up_says_simulated_and_is_private_to_its_user(home):
    ran = home.run("lab", "up", "--hosts", "2")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines() == ["lab-1  SIMULATED", "lab-2  SIMULATED"]
    assert "2 SIMULATED host(s)" in ran.err
    assert home.lab.root.stat().st_mode & 0o777 == 0o700
    assert modes(home.lab.root)["id_ed25519"] == 0o600
    status = home.run("lab", "status")
    assert [line.split()[0] for line in status.out.splitlines()] == ["HOST", "lab-1", "lab-2"]
    home.run("lab", "fault", "clock-skew:seconds=5", "--host", "lab-2")
    told = home.run("lab", "status", "--json").json
    assert (told["schema"], told["simulated"]) == ("specctl/lab/1", True)
    assert [host["faults"] for host in told["hosts"]] == [[], ["clock-skew:seconds=5.0"]]


def test_keys_are_fresh_each_time(home):
    keys = set()
    for _ in range(2):
        home.up()
        keys.add((home.lab.key.read_text(), home.lab.known_hosts.read_text()))
        assert home.run("lab", "down").status == 0
    assert len(keys) == 2


def test_down_ends_what_runs_on_the_hosts_and_leaves_nothing(home):
    home.up("--hosts", "2")
    home.on_host("setsid sleep 300 & setsid sh -c 'trap \"\" TERM; sleep 301' & echo started")
    wait_for(lambda: len(processes_of(home.lab.root / "hosts")) >= 3)
    ran = home.run("lab", "down")
    assert ran.status == 0
    assert "the lab is down" in ran.err
    assert mentioning(home.lab.root) == []
    assert not home.lab.root.exists()
    assert [p for p in home.home.rglob("*") if not p.is_dir()] == []


def test_down_touches_no_stranger(home, tmp_path):
    home.up()
    elsewhere = {**os.environ, "SPECCTL_LAB_HOST": str(home.lab.root) + "-of-somebody-else"}
    strangers = [
        subprocess.Popen(["sleep", "300"], env=elsewhere),
        subprocess.Popen(["sleep", "301"], cwd=home.lab.root),
    ]
    try:
        assert home.run("lab", "down").status == 0
        assert [stranger.poll() for stranger in strangers] == [None, None]
    finally:
        for stranger in strangers:
            stranger.kill()
            stranger.wait()


def test_down_without_a_lab_is_no_failure(home):
    ran = home.run("lab", "down")
    assert (ran.status, ran.err) == (0, "specctl: the lab is not up\n")


def test_a_second_lab_is_refused(home):
    home.up()
    ran = home.run("lab", "up")
    assert ran.status == 2
    assert "the lab is up already" in ran.err
    assert home.lab.is_up()


def test_of_two_that_are_brought_up_at_once_one_is(home):
    argv = [sys.executable, "-m", "specctl", "lab", "up"]
    both = [
        subprocess.Popen(
            argv, env=home.environment, cwd=home.home, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=50)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    assert home.lab.is_up()
    assert home.run("status", "lab-1").status == 0


@pytest.mark.parametrize("name", ["my home", 'it\'s "my" $home'])
def test_a_home_with_blanks_and_quotes_in_its_name_is_no_matter(tmp_path, name):
    home = Practice(tmp_path / name)
    home.home.mkdir()
    try:
        home.up("--fault", "clock-skew")
        ran = home.run("doctor", "lab-1")
        assert "FAIL  clock" in ran.out
        assert "PASS  sglang" in ran.out
        assert home.run("status", "lab-1").status == 0
    finally:
        take_down(home.lab)
    assert not home.lab.root.exists()


def test_what_a_killed_lab_left_is_cleaned_away(home):
    home.up()
    home.on_host("sleep 300")
    wait_for(lambda: processes_of(home.lab.root / "hosts"))
    record = home.lab.record()
    assert record is not None
    os.kill(record.pid, signal.SIGKILL)
    wait_for(lambda: not home.lab.is_up())
    said = home.run("lab", "status")
    assert said.status == 5
    assert f"a killed one left {home.lab.root}" in said.err
    assert "no host called lab-1" in home.run("-C", str(home.home), "status", "lab-1").err
    home.up()
    assert processes_of(home.lab.root / "hosts") == []
    assert home.lab.record() != record


def test_a_folder_that_is_no_labs_is_neither_used_nor_removed(home):
    home.lab.root.mkdir(parents=True)
    precious = home.lab.root / "precious"
    precious.write_text("kept")
    assert home.run("lab", "up").status == 2
    assert home.run("lab", "down").status == 0
    assert precious.read_text() == "kept"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--scenario", "pcie-9"), "nearest: pcie-8"),
        (("--fault", "fish-shel"), "nearest: fish-shell"),
        (("--fault", "slow-link:delay=3"), "it has: delay_ms, kib_per_s"),
        (("--fault", "slow-link:delay_ms=much"), "is a number, not 'much'"),
        (("--sglang", "0.4.0"), "it does: 0.5.23"),
    ],
)
def test_what_it_cannot_be_asked_for_is_refused_in_words(home, arguments, words):
    ran = home.run("lab", "up", *arguments)
    assert ran.status == 2
    assert words in ran.err
    assert not home.lab.root.exists()


def test_without_gcc_gpus_are_read_through_nvidia_smi_and_it_says_so(home, tmp_path):
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("bash", "sh", "env"):
        (bare / name).symlink_to(str(shutil.which(name)))
    ran = home.run("lab", "up", PATH=str(bare))
    assert ran.status == 0, ran.err
    assert "no gcc here: GPUs are read through nvidia-smi" in ran.err
    status = home.run("status", "lab-1")
    assert "driver 580.95.05 through nvidia-smi" in status.out
    assert "8 × NVIDIA RTX PRO 6000 Blackwell" in status.out
    refused = home.run("lab", "fault", "clock-skew", PATH=str(bare))
    assert "fault clock-skew needs gcc" in refused.err


def test_in_the_foreground_it_ends_with_its_terminal(home):
    argv = [sys.executable, "-m", "specctl", "lab", "up", "--foreground"]
    with subprocess.Popen(
        argv, env=home.environment, cwd=home.home, stderr=subprocess.PIPE,
        # a background job of a shell ignores Ctrl-C, and so would this
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as staying:  # fmt: skip
        assert staying.stderr is not None
        while b"Ctrl-C takes it down" not in staying.stderr.readline():
            assert staying.poll() is None
        assert home.lab.is_up()
        staying.send_signal(signal.SIGINT)
        _, said = staying.communicate(timeout=20)
    assert staying.returncode == 0
    assert b"the lab is down" in said
    assert not home.lab.root.exists()
