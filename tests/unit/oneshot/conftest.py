"""One-shots run as they are on a host: streamed into a fresh interpreter."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import zlib
from pathlib import Path

import pytest

import specctl.agent
from specctl.agent.bootstrap import BOOT

AGENT = Path(specctl.agent.__file__).parent
MARKER = "f00dfeed"


class OneShotError(Exception):
    pass


def payload(name, request=None):
    modules = {
        "specctl_agent" + "".join(f".{part}" for part in _module(path)): path.read_text()
        for path in AGENT.rglob("*.py")
    }
    body = {"modules": modules, "main": f"specctl_agent.oneshot.{name}"}
    if request is not None:
        body["request"] = request
    data = zlib.compress(json.dumps(body).encode())
    header = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return json.dumps(header).encode() + b"\n" + data


def _module(path):
    parts = path.relative_to(AGENT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def answer_in(output):
    framed = output.partition(b"\n" + MARKER.encode() + b" ")[2]
    answer = json.loads(framed.splitlines()[0])
    if "error" in answer:
        raise OneShotError(answer["error"]["message"])
    return answer["ok"]


def run_oneshot(name, request, *, prefix=(), env=None, python=sys.executable):
    done = subprocess.run(
        [*prefix, python, "-I", "-u", "-c", BOOT, MARKER],
        input=payload(name, request),
        capture_output=True,
        timeout=30,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return answer_in(done.stdout)


def wait_until(condition, timeout_s=30.0):
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)
    return found


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill_group(pgid):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pgid, signal.SIGKILL)


@pytest.fixture
def launches(tmp_path):
    """Starts servers through the launcher and ends their groups afterwards."""
    started = []

    def launch(script, *, launch_id=None, prefix=(), env=None, python=sys.executable, **request):
        launch_id = launch_id or os.urandom(4).hex()
        asked = {
            "launch_id": launch_id,
            "argv": [sys.executable, "-c", textwrap.dedent(script)],
            "environment": {},
            "state_dir": str(tmp_path / "state"),
            "record": {"profile": "tiny", "argv": ["python"], "port": 1},
            **request,
        }
        answer = run_oneshot("launcher", asked, prefix=prefix, env=env, python=python)
        started.append(answer["identity"]["pgid"])
        return answer

    yield launch
    for pgid in started:
        kill_group(pgid)
