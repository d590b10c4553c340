"""specctl's own start, probe, compare and stop on a host whose Python has the lab's build."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from specctl.lab.dialects import VERSIONS
from tests.contract.standin import free_port, lay_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HOST = """\
transport = "local"
python = "{python}"
gpus = []
state_dir = "{folder}/state"
"""
BASE = """\
model = "{model}"
ready_timeout_s = 60
[arguments]
device = "cpu"
enable-metrics = true
decode-log-interval = 5
[env]
SPECCTL_LAB_HOST = "{lab_host}"
[placement]
port = {port}
"""
NGRAM = """\
extends = "base"
baseline = "base"
[speculation]
algorithm = "NGRAM"
num-draft-tokens = 8
"""
EAGLE = """\
extends = "base"
baseline = "base"
[speculation]
algorithm = "EAGLE3"
draft-model-path = "{draft}"
num-steps = 3
eagle-topk = 1
num-draft-tokens = 4
"""


@dataclass
class Desk:
    """An operator with a workspace, at home on the lab host that the servers run on."""

    folder: Path
    port: int

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {
            "HOME": str(self.folder / "home"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "SPECCTL_LAB_HOST": str(self.folder / "host"),
        }
        argv = [sys.executable, "-m", "specctl", "-C", str(self.folder / "ws"), *arguments]
        done = subprocess.run(
            argv, env=environment, capture_output=True, text=True, timeout=120, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == status, f"{done.returncode}\n{done.stderr}\n{done.stdout}"
        return done

    def json(self, *arguments: str, status: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", status=status).stdout)


@pytest.fixture(params=VERSIONS)
def desk(
    request: pytest.FixtureRequest, pythons: Callable[[str], Path], story: dict[str, Any],
    tmp_path: Path,
) -> Iterator[Desk]:  # fmt: skip
    host = lay_host(tmp_path / "host", story)
    for name in ("remotes", "profiles"):
        (tmp_path / "ws" / name).mkdir(parents=True)
    (tmp_path / "home").mkdir()
    port = free_port()
    words = {
        "python": pythons(request.param), "folder": tmp_path, "port": port,
        "lab_host": host.folder, "model": host.home / "models/target",
        "draft": host.home / "models/draft",
    }  # fmt: skip
    (tmp_path / "ws/remotes/here.toml").write_text(HOST.format(**words))
    for name, text in (("base", BASE), ("ngram", NGRAM), ("eagle", EAGLE)):
        (tmp_path / f"ws/profiles/{name}.toml").write_text(text.format(**words))
    lines = [{"prompt": f"Write function number {n}.", "max_tokens": 48} for n in range(4)]
    (tmp_path / "ws/mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    yield Desk(tmp_path, port)
    for record in tmp_path.glob("state/launches/*/launch.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            os.killpg(json.loads(record.read_text())["identity"]["pgid"], signal.SIGKILL)


def test_start_probe_stop_with_proof(desk: Desk) -> None:
    desk.run("start", "here", "eagle", "--yes")
    servers = desk.json("status", "here")["hosts"]["here"]["servers"]
    (server,) = [one for one in servers if one["port"] == desk.port]
    assert server["state"] == "ready"
    found = desk.json("probe", "here/eagle", "--workload", "mine.jsonl")
    assert found["void"] == []
    assert found["algorithm"] == "EAGLE3"
    assert 1.5 < found["accept_length"] < 4
    stopped = desk.json("stop", "here/eagle", "--yes")
    assert stopped["succeeded"] is True
    (proof,) = stopped["proofs"]
    assert (proof["gone"], proof["survivors"]) == (True, [])


@pytest.mark.parametrize("desk", VERSIONS[:1], indirect=True)
def test_compare(desk: Desk) -> None:
    """Base, n-grams and a drafter, launched one after the other and measured alike."""
    found = desk.json(
        "compare", "here", "base", "eagle", "--workload", "mine.jsonl", "--launches", "1", "--yes"
    )
    results = {arm["profile"]: arm["result"] for arm in found["arms"]}
    assert set(results) == {"base", "eagle"}
    assert results["base"]["accept_length"] is None
    assert results["eagle"]["accept_length"] > 1.5
    assert results["eagle"]["tokens_per_s"] > results["base"]["tokens_per_s"]
    standing = next(row for row in found["standings"] if row["profile"] == "eagle")
    assert standing["identical_outputs"] == standing["prompts"] == 4
    assert standing["speedup"] > 1
