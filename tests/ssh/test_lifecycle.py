"""Launches over a real sshd: they return at once and outlive everything that carried them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from specctl.adapters.oneshot import held_oneshot, run_oneshot
from specctl.domain.errors import HostError, RemoteFailedError

SLEEP = "import time; time.sleep(60)"
PYTHON = (sys.executable,)
EXEC_GOAL_S = 0.3


def is_alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


@pytest.fixture
def launch(tmp_path):
    """Launches through the real launcher and ends its groups afterwards."""
    groups = []

    async def start(session, *, python=PYTHON, **request):
        asked = {
            "launch_id": os.urandom(4).hex(),
            "argv": [sys.executable, "-c", SLEEP],
            "state_dir": str(tmp_path / "state"),
            "record": {},
            **request,
        }
        answer = await run_oneshot(session, python, "launcher", asked, timeout_s=20)
        groups.append(answer["identity"]["pgid"])
        return answer

    yield start
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


async def test_c10_launch_over_ssh_returns_at_once(session, launch):
    began_s = time.time()
    answer = await launch(session)
    assert answer["took_s"] < EXEC_GOAL_S
    record = json.loads(Path(answer["directory"], "launch.json").read_text())
    assert 0 <= record["started_at_s"] - began_s < 5
    assert is_alive(answer["identity"]["pid"])


async def test_c10_server_outlives_the_connection_and_the_sshd(lab, connected, launch):
    server = await lab.server("gpu")
    async with connected("gpu") as session:
        answer = await launch(session)
        with contextlib.suppress(HostError):
            server.process.kill()
            server.process.wait()
            await session.run(["true"], timeout_s=0.2)
    await asyncio.sleep(0.2)
    pid = answer["identity"]["pid"]
    assert is_alive(pid)
    assert is_alive(answer["recorder"])
    os.kill(pid, signal.SIGTERM)
    path = Path(answer["directory"], "exit.json")
    while not path.exists():
        await asyncio.sleep(0.01)
    assert json.loads(path.read_text())["signal"] == signal.SIGTERM


async def test_c11_launch_in_a_scope_of_the_user_manager(session, launch, tmp_path):
    # systemd-run --scope registers its own process with the manager and becomes the command.
    stand_in = tmp_path / "systemd-run"
    stand_in.write_text(
        '#!/bin/sh\necho "$@" > "$(dirname "$0")/asked"\n'
        'while [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n'
    )
    stand_in.chmod(0o755)
    scope = (str(stand_in), "--user", "--scope", "--quiet", "--collect", "--unit=specctl-x")
    answer = await launch(session, python=(*scope, *PYTHON))
    assert (tmp_path / "asked").read_text().startswith("--user --scope --quiet --collect")
    assert is_alive(answer["identity"]["pid"])


async def test_secrets_travel_on_stdin_only(session, launch):
    answer = await launch(
        session, environment={"TOKEN": "s3cret-on-stdin"}, keys={"api-key": "k3y-on-stdin"}
    )
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes()
                assert b"s3cret-on-stdin" not in words
                assert b"k3y-on-stdin" not in words
    environ = Path(f"/proc/{answer['identity']['pid']}/environ").read_bytes()
    assert b"TOKEN=s3cret-on-stdin" in environ


async def test_lock_ends_with_the_connection(lab, connected, tmp_path):
    await lab.server("gpu")
    request = {
        "keys": ["gpu-0"],
        "token": "t1",
        "directory": str(tmp_path / "locks"),
        "holder": {"who": "aw@laptop", "process": "specctl start"},
    }
    async with connected("gpu") as first, connected("gpu") as second:
        async with held_oneshot(first, PYTHON, "holder", request, timeout_s=10) as held:
            assert held["held"] is True
            asked = {**request, "token": "t2"}
            async with held_oneshot(second, PYTHON, "holder", asked, timeout_s=10) as refused:
                assert refused["holder"]["who"] == "aw@laptop"
            await first.close()
        while (await run_oneshot(second, PYTHON, "locker", request, timeout_s=10))["held"]:
            await asyncio.sleep(0.05)


async def test_what_the_launcher_says_arrives(session, launch):
    with pytest.raises(RemoteFailedError, match="/nowhere/python: No such file"):
        await launch(session, argv=["/nowhere/python"])
