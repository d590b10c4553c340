"""A host that has to be entered: a pid and mount namespace of the test stands in for docker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import fake_nvml
from tests.ssh.operator_side import OperatorSide
from tests.ssh.sshd import free_port

BUILD = Path(__file__).parents[1] / "unit" / "services" / "fake_build"
SCENARIO = """\
gpus = 1
driver_version = 570.124.06
[gpu]
name = NVIDIA H100 80GB HBM3
mem.total = 80G
mem.used = 60G
mem.reserved = 500M
util.gpu = 97
proc.0 = {pid} C 60G
"""


def program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.fail(f"{name} is missing: install the package util-linux")
    return found


@pytest.fixture
def entering(tmp_path: Path):
    """A script that runs its arguments inside the namespaces, as `docker exec -i NAME` does."""
    if os.geteuid() != 0:
        pytest.skip("namespaces of one's own need root")
    flags = ["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    container = subprocess.Popen([program("unshare"), *flags, "sleep", "600"])
    try:
        inner = _first_child(container.pid)
        script = tmp_path / "enter.sh"
        nsenter = f"{program('nsenter')} --target {inner} --mount --pid --wd=/"
        script.write_text(f'#!/bin/sh\nexec {nsenter} -- "$@"\n')
        script.chmod(0o755)
        yield str(script)
    finally:
        container.send_signal(signal.SIGKILL)
        container.wait()


def _first_child(pid: int) -> int:
    deadline = time.monotonic() + 10
    children = Path(f"/proc/{pid}/task/{pid}/children")
    while not (found := children.read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return int(found[0])


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter with the stand-in build."""
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    shutil.copytree(BUILD / "sglang", packages / "sglang")
    metadata = packages / "sglang-0.5.23.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.23\n")
    return str(home / "bin" / "python")


@pytest.fixture
async def operator(lab) -> OperatorSide:
    await lab.server("gpu")
    return OperatorSide(lab)


def test_owners_of_gpus_are_unknown_inside_not_foreign(operator, entering, tmp_path):
    """The driver numbers processes as the host does; inside, the same number is someone else."""
    scenario = tmp_path / "one.ini"
    scenario.write_text(SCENARIO.format(pid=1))
    variables = fake_nvml.environment(scenario)
    env = {name: variables[name] for name in ("LD_LIBRARY_PATH", "FAKE_NVML_CONF")}
    operator.write_host("gpu", enter=[entering], env=env)
    shown = operator.run("status", "gpu", "--json")
    assert shown.status == 0, shown.err
    (gpu,) = shown.json["hosts"]["gpu"]["sample"]["gpus"]
    (process,) = gpu["processes"]
    assert process["pid_is_local"] is False
    assert process["user"] is None
    assert process["name"] is None
    assert shown.json["hosts"]["gpu"]["servers"] == []


def test_a_server_is_started_and_stopped_inside(operator, entering, python, tmp_path):
    model, port = tmp_path / "model", free_port()
    model.mkdir()
    (model / "config.json").write_text("{}")
    state = tmp_path / "state"
    operator.write_host("gpu", enter=[entering], python=python, gpus=[], state_dir=str(state))
    profile = operator.workspace / "profiles" / "tiny.toml"
    profile.write_text(
        f'model = "{model}"\nready_timeout_s = 60\n[arguments]\ndevice = "cpu"\n'
        f"[placement]\nport = {port}\n"
    )
    started = operator.run("start", "gpu", "tiny", "--yes")
    assert started.status == 0, started.err
    shown = operator.run("status", "gpu", "--json").json["hosts"]["gpu"]
    (server,) = [s for s in shown["servers"] if s["port"] == port]
    assert server["is_ours"]
    assert server["identity"]["pid"] < 1000, "a pid of the inner namespace"
    stopped = operator.run("stop", f"gpu/{port}", "--yes")
    assert stopped.status == 0, stopped.err
    assert stopped.out.startswith("Gone: ")
    assert not _launched(state)


def _launched(state: Path) -> list[str]:
    """Processes of any namespace that carry a marker of this test's launches."""
    markers = [f"SPECCTL_LAUNCH={p.name}".encode() for p in (state / "launches").iterdir()]
    assert markers
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            found += [process.name for marker in markers if marker in environment]
    return found
