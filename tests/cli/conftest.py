"""specctl run as a user runs it: its own process, an empty home."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """What one run said and how it ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home directory."""
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace, the directory that specctl runs in."""
    path = tmp_path / "ws"
    (path / "remotes").mkdir(parents=True)
    (path / "profiles").mkdir()
    return path


@pytest.fixture
def run(home: Path, workspace: Path) -> Callable[..., Ran]:
    """Run specctl with `arguments`; `inside` is its directory, `given` its standard input."""

    def _run(*arguments: str, inside: Path = workspace, given: str = "", **variables: str) -> Ran:
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            **variables,
        }
        done = subprocess.run(
            [sys.executable, "-m", "specctl", *arguments],
            cwd=inside, env=environment, input=given.encode(), capture_output=True, check=False,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return _run
