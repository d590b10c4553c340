"""specctl as a user runs it against the lab's servers: own process, own home, own workspace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.toml_writing import to_toml

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ssh.sshd import SshLab

RUN_S = 90


@dataclass(frozen=True)
class Ran:
    """What one run said and how it ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Its one JSON document."""
        return dict(json.loads(self.out))

    @property
    def events(self) -> list[dict[str, Any]]:
        """Its JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def must_fail(self, status: int, *words: str, hint: str) -> None:
        """One sentence, one hint, nothing on stdout, and that exit status."""
        assert self.status == status, (self.status, self.out, self.err)
        assert self.out == ""
        sentence, advice = self.err.splitlines()
        assert sentence.startswith("specctl: error: "), self.err
        assert advice.startswith("hint: "), self.err
        assert hint in advice
        for word in words:
            assert word in sentence


class OperatorSide:
    """A home whose ssh configuration is the lab's, and a workspace."""

    def __init__(self, lab: SshLab) -> None:
        self.lab = lab
        self.home, self.workspace = lab.folder / "home", lab.folder / "ws"
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh" / "config").write_text(f"Include {lab.config}\n")
        (self.workspace / "remotes").mkdir(parents=True)
        (self.workspace / "profiles").mkdir()

    def write_host(self, name: str, **fields: object) -> Path:
        """The host's file; without further fields its ssh alias is its name."""
        values = {"ssh": name, "python": sys.executable, **fields}
        path = self.workspace / "remotes" / f"{name}.toml"
        path.write_text(to_toml({k: v for k, v in values.items() if v is not None}))
        return path

    def run(self, *arguments: str, inside: Path | None = None, given: str = "") -> Ran:
        """Run specctl to its end."""
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        done = subprocess.run(
            [sys.executable, "-m", "specctl", *arguments],
            cwd=inside or self.workspace,
            env=environment,
            input=given.encode(),
            capture_output=True,
            check=False,
            timeout=RUN_S,
        )
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ran.err, ran.err
        return ran
