"""Real SGLang on this machine's CPU, driven over a real sshd by the specctl that users run."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.subject import Ended
from tests.ssh.sshd import Sshd, SshLab, free_port, make_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from specctl.domain.probe import ProbeResult

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".sglang-cpu"
PYTHON = ENVIRONMENT / "bin" / "python"
MODELS = ROOT / "tests" / "sglang_cpu" / "models"

WITH_SERVERS = ("test_contract", "test_servers")
"""Modules whose launches follow one another on one worker; their measurements are compared."""

REMOTE = """\
ssh = "gpu"
python = "{python}"
state_dir = "{state}"
hf_home = "{environment}/hf"
gpus = []
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Two groups for two workers, before xdist reads them: real servers, and all else beside.

    What names its group itself comes first.
    """
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    for item in items:
        is_live = item.path.parent == Path(__file__).parent
        if is_live and item.get_closest_marker("xdist_group") is None:
            group = "servers" if item.path.stem in WITH_SERVERS else "beside"
            item.add_marker(pytest.mark.xdist_group(group))


@dataclass(frozen=True)
class Ran:
    """What one run of specctl said and how it ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Operator:
    """A user with a workspace, whose ssh alias `gpu` is a real sshd on loopback."""

    folder: Path
    sshd: Sshd
    port: int

    @property
    def environment(self) -> dict[str, str]:
        paths = os.pathsep.join(p for p in sys.path if p)
        return {
            "HOME": str(self.folder / "home"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONPATH": paths,
        }

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "specctl", "-C", str(self.folder / "ws"), *arguments]

    def run(self, *arguments: str, timeout_s: float = 180) -> Ran:
        done = subprocess.run(
            self.argv(*arguments), env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=timeout_s, check=False, cwd=self.folder,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str, timeout_s: float = 180) -> Ran:
        ran = self.run(*arguments, timeout_s=timeout_s)
        assert ran.status == 0, f"{arguments} ended with {ran.status}:\n{ran.err}\n{ran.out}"
        return ran

    def start(self, profile: str) -> Ran:
        return self.ok("start", "gpu", profile, "--port", str(self.port), "--yes")

    def servers(self) -> list[dict[str, Any]]:
        host = self.ok("status", "gpu", "--json").json["hosts"]["gpu"]
        return [server for server in host["servers"] if server["port"] == self.port]

    def server(self) -> dict[str, Any]:
        (server,) = self.servers()
        return server

    def get(self, path: str) -> str:
        """What the server answers to `path`, asked directly."""
        from urllib.request import urlopen

        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return str(answer.read().decode())

    def counter(self, name: str) -> float:
        """The sum of a counter in the server's own /metrics."""
        rows = [line for line in self.get("/metrics").splitlines() if line.startswith(name)]
        return sum(float(row.rpartition(" ")[2]) for row in rows)


def run_out(command: Sequence[str | Path], words: Sequence[str], model: str, **more: str) -> Ended:
    """A start that ends by itself."""
    done = subprocess.run(
        [*command, *(word.replace("MODEL", model) for word in words)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=120, env={**os.environ, "COLUMNS": "80", **more},
    )  # fmt: skip
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Ended(status, done.stdout)


@pytest.fixture(scope="session")
def twins() -> list[ProbeResult]:
    """What the suite measured on launches with the arguments of `tiny-ngram`, one each."""
    return []


@pytest.fixture
async def operator(tmp_path: Path) -> AsyncIterator[Operator]:
    if not PYTHON.exists():
        pytest.fail("real SGLang is not built: run `make sglang-cpu`")
    lab = SshLab(tmp_path, make_key(tmp_path / "user"))
    lab.config.touch()
    lab.known_hosts.touch()
    sshd = await lab.server("gpu")
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "config").write_text(f"Include {lab.config}\n")
    _write_workspace(tmp_path)
    made = Operator(tmp_path, sshd, free_port())
    try:
        yield made
    finally:
        end_leftovers(tmp_path)
        lab.stop()


def _write_workspace(folder: Path) -> None:
    remotes, profiles = folder / "ws" / "remotes", folder / "ws" / "profiles"
    remotes.mkdir(parents=True)
    profiles.mkdir()
    (remotes / "gpu.toml").write_text(
        REMOTE.format(python=PYTHON, state=folder / "state", environment=ENVIRONMENT)
    )
    for profile in (ROOT / "profiles").glob("tiny-*.toml"):
        text = profile.read_text().replace("{workspace}", str(ROOT))
        (profiles / profile.name).write_text(text)
    shutil.copytree(ROOT / "schema", folder / "ws" / "schema", dirs_exist_ok=True)


def launches_of(folder: Path) -> Iterator[int]:
    """Processes whose launch this test's state directory recorded."""
    ids = {path.name for path in (folder / "state" / "launches").glob("*")}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                variables = (process / "environ").read_bytes().split(b"\0")
                if any(v.decode("utf-8", "replace") in {f"SPECCTL_LAUNCH={i}" for i in ids}
                       for v in variables):  # fmt: skip
                    yield int(process.name)


def end_leftovers(folder: Path) -> None:
    """A test that fails half-way must not leave its server behind."""
    for pid in tuple(launches_of(folder)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
