"""What the benches measure against: loopback sshd, eight GPUs that are not there, a workspace."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from specctl.adapters.workspace import Workspace
from specctl.domain.state import Store
from specctl.services.fleet import open_fleet
from tests import fake_nvml
from tests.ssh.operator_side import OperatorSide
from tests.ssh.sshd import SshLab, make_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from specctl.services.fleet import Fleet

MANY_LOGINS = ("MaxStartups 200:100:300", "LogLevel ERROR")
OPPONENTS = ("ssh", "sshd", "ssh-keygen", "gcc", "make", "tmux")


class MissingOpponentError(Exception):
    """A program that a bench compares with, or needs, is not installed."""


def require(programs: Sequence[str] = OPPONENTS) -> None:
    """Raise when one is missing: a comparison with nothing is no row."""
    places = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [name for name in programs if not shutil.which(name, path=places)]
    if missing:
        raise MissingOpponentError(f"not installed: {', '.join(missing)}; `make system` says how")


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A short-lived directory with a short name: ssh's control sockets allow 100 characters."""
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        yield Path(made)


@asynccontextmanager
async def operator(names: Sequence[str]) -> AsyncIterator[OperatorSide]:
    """One sshd that every name leads to, and an operator whose workspace has them all."""
    with folder() as made:
        lab = SshLab(made, make_key(made / "user"))
        lab.known_hosts.touch()
        try:
            server = await lab.server("sshd", *MANY_LOGINS)
            side = OperatorSide(lab)
            variables = fake_nvml.environment("h100x8")
            env = {name: variables[name] for name in ("LD_LIBRARY_PATH", "FAKE_NVML_CONF")}
            for name in names:
                lab.entry(name, server.port)
                side.write_host(name, env=env, state_dir=str(made / "state"))
            yield side
        finally:
            lab.stop()


@asynccontextmanager
async def fleet_of(side: OperatorSide) -> AsyncIterator[Fleet]:
    """The fleet of an operator, in this process, which takes its home for that while."""
    with mock.patch.dict(os.environ, HOME=str(side.home), SSH_AUTH_SOCK=""):
        async with open_fleet(Workspace(side.workspace), Store()) as fleet:
            yield fleet
