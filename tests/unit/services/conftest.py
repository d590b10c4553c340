"""This machine as a host, with a build that behaves like SGLang and starts in no time."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specctl.adapters.clock import SystemClock
from specctl.adapters.secrets import Secrets
from specctl.domain.host import Host
from specctl.domain.profile import Placement, Profile
from specctl.domain.state import Store
from specctl.services import locks
from specctl.services.fleet import open_host

BUILD = Path(__file__).parent / "fake_build"
VERSION = "0.5.23"


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """An interpreter whose packages hold the stand-in."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    shutil.copytree(BUILD / "sglang", packages / "sglang")
    metadata = packages / f"sglang-{VERSION}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sglang\nVersion: {VERSION}\n")
    return str(home / "bin/python")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "config.json").write_text("{}")
    return str(path)


@pytest.fixture
def host(tmp_path, python):
    return Host(
        "here",
        transport="local",
        python=python,
        gpus=(),
        state_dir=str(tmp_path / "state"),
        file="remotes/here.toml",
    )


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def profile(model, port):
    return Profile(
        "tiny",
        model,
        arguments={"device": "cpu"},
        placement=Placement(port=port),
        ready_timeout_s=30,
    )


@pytest.fixture
async def connection(host):
    opened = await open_host(host)
    yield opened
    await opened.agent.close()
    await opened.session.close()


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def events(store):
    seen = []
    store.subscribe(lambda event, state: seen.append(event))
    return seen


@pytest.fixture
def clock():
    return SystemClock()


@pytest.fixture
def secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("SERVING_KEY", "k3y-serving")
    monkeypatch.setenv("ADMIN_KEY", "k3y-admin")
    on_host = tmp_path / "token"
    on_host.write_text("hf_onthehost\n")
    places = {
        "serving": ("env", "SERVING_KEY"),
        "admin": ("env", "ADMIN_KEY"),
        "hub": ("host_file", str(on_host)),
    }
    return Secrets("secrets.toml", places)


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path, monkeypatch):
    """Trees that tests look at are not kept among the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def locks_of_its_own(tmp_path, monkeypatch):
    """Tests that run beside each other do not lock each other out."""
    monkeypatch.setattr(locks, "DIRECTORY", str(tmp_path / "locks"))


@pytest.fixture(autouse=True)
def ends_what_it_started(tmp_path):
    """Every process of a launch that this test's state directory knows, born late or not."""
    yield
    launches = {path.name for path in (tmp_path / "state").glob("launches/*")}
    while marked := _marked(launches):
        for pid in marked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _marked(launches):
    """Living processes that carry the marker of one of `launches`."""
    markers = {f"SPECCTL_LAUNCH={launch}".encode() for launch in launches}
    found = []
    for entry in Path("/proc").iterdir() if markers else ():
        with contextlib.suppress(OSError):
            is_alive = (
                entry.name.isdigit() and b"\nState:\tZ" not in (entry / "status").read_bytes()
            )
            if is_alive and markers & set((entry / "environ").read_bytes().split(b"\0")):
                found.append(int(entry.name))
    return found
