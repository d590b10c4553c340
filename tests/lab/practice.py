"""A lab that is up, and specctl as its operator runs it: own process, own home, no workspace."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import mock

from specctl.adapters.overlay import Overlay
from specctl.adapters.workspace import Workspace
from specctl.domain.state import Store
from specctl.lab.faults import read_parameters
from specctl.lab.folder import LabFolder
from specctl.services.fleet import open_fleet
from specctl.services.measured_server import Keys
from specctl.services.readout import read_out
from tests.ssh.operator_side import Ran

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from specctl.domain.state import HostState
    from specctl.lab.place import LabHost
    from specctl.services.fleet import Fleet

RUN_S = 55
SIMULATED = "SIMULATED"


@dataclass(frozen=True)
class Practice:
    """An operator's home with a lab in it."""

    home: Path

    @property
    def lab(self) -> LabFolder:
        return LabFolder(self.home / ".local/state/specctl/lab")

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def run(self, *arguments: str, timeout_s: float = RUN_S, **variables: str) -> Ran:
        """Run specctl to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "specctl", *arguments],
            cwd=self.home,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout_s,
        )
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in ran.err, ran.err
        return ran

    def up(self, *arguments: str) -> None:
        ran = self.run("lab", "up", *arguments)
        assert ran.status == 0, ran.err

    def host(self, name: str = "lab-1") -> LabHost:
        return self.lab.host(name)

    @contextmanager
    def fault(self, name: str, *pairs: str, host: str = "lab-1") -> Iterator[None]:
        """A fault in force while the block runs, once every look of the lab has seen it."""
        place = self.host(host)
        place.set_fault(name, read_parameters(name, pairs))
        time.sleep(0.25)
        try:
            yield
        finally:
            place.clear_fault(name)
            time.sleep(0.25)

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.home / "ws", overlay=Overlay(self.lab.root, self.lab.ssh_config))

    @asynccontextmanager
    async def fleet(self) -> AsyncIterator[Fleet]:
        """The operator's fleet, in this process, which takes the home for that while."""
        with mock.patch.dict(os.environ, HOME=str(self.home), SSH_AUTH_SOCK=""):
            async with open_fleet(self.workspace, Store()) as fleet:
                yield fleet

    async def look(self, host: str = "lab-1") -> HostState:
        """What `status` finds out about a host."""
        async with self.fleet() as fleet:
            await read_out(fleet, [host], lambda _host, _server: Keys())
            return fleet.store.state.host(host)

    def on_host(self, command: str, host: str = "lab-1") -> subprocess.Popen[bytes]:
        """A command on a lab host, as somebody at a shell there runs it."""
        from specctl.lab.shells import arguments, environment

        place = self.host(host)
        return subprocess.Popen(
            arguments(place, command),
            env=environment(place, "a-shell"),
            cwd=place.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )


def wait_for(condition: Callable[[], object], timeout_s: float = 15.0) -> None:
    """Until it holds; the test fails when it never does."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)
