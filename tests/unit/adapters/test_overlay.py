"""Which lab is believed to be up: the one whose process lives, by its number and its start."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from specctl.adapters import paths
from specctl.adapters.overlay import Overlay, read_overlay
from specctl.adapters.workspace import Workspace, find_workspace
from specctl.domain.errors import UsageError
from specctl.lab.activity import start_ticks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "SPECCTL_WORKSPACE"):
        monkeypatch.delenv(variable, raising=False)
    folder = paths.lab_dir()
    (folder / "remotes").mkdir(parents=True)
    (folder / "remotes/lab-1.toml").write_text('ssh = "lab-1"\n')
    return folder


def record(lab: Path, pid: int, ticks: int) -> None:
    (lab / "lab.json").write_text(json.dumps({"pid": pid, "start_ticks": ticks}))


def test_a_lab_whose_process_lives_is_up(lab, tmp_path):
    record(lab, os.getpid(), start_ticks(os.getpid()))
    assert read_overlay() == Overlay(lab, lab / "ssh_config")
    workspace = find_workspace(tmp_path)
    assert workspace.root == paths.own_workspace()
    host = workspace.host("lab-1")
    assert (host.is_simulated, host.ssh_config) == (True, str(lab / "ssh_config"))


def test_a_process_that_took_the_number_is_not_the_labs(lab, tmp_path):
    record(lab, os.getpid(), start_ticks(os.getpid()) - 1)
    assert read_overlay() is None
    with pytest.raises(UsageError, match="no workspace here"):
        find_workspace(tmp_path)


def test_a_process_that_has_ended_serves_nothing(lab):
    with subprocess.Popen(["sleep", "60"]) as serving:
        record(lab, serving.pid, start_ticks(serving.pid))
        assert read_overlay() is not None
        serving.kill()
    assert read_overlay() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x", "start_ticks": 1}', "{}"])
def test_a_damaged_record_is_no_lab(lab, text):
    (lab / "lab.json").write_text(text)
    assert read_overlay() is None


def test_hosts_of_a_lab_are_in_the_order_of_their_numbers(lab, tmp_path):
    for number in (2, 10):
        (lab / f"remotes/lab-{number}.toml").write_text(f'ssh = "lab-{number}"\n')
    workspace = Workspace(tmp_path, overlay=Overlay(lab, lab / "ssh_config"))
    assert list(workspace.hosts()) == ["lab-1", "lab-2", "lab-10"]
