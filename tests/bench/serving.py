"""How long from asking for a server to its exec, and from its end to the proof."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.adapters.secrets import Secrets
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Placement, Profile
from specctl.services import locks
from specctl.services.host_reading import read_host
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.stop import StopOptions, plan_stop, stop_server
from tests.bench.lab import fleet_of, operator
from tests.bench.measure import Measured, Side

if TYPE_CHECKING:
    from specctl.services.fleet import Fleet, HostConnection
    from tests.ssh.operator_side import OperatorSide

LAUNCHES = 7
BUILD = Path(__file__).parent.parent / "unit" / "services" / "fake_build"
STAMPING = """#!/bin/sh
case "$*" in *sglang.launch_server*) date +%s.%N > {stamp} ;; esac
exec {real} "$@"
"""
"""An interpreter that writes down when it was started as a server."""


def serving() -> list[Measured]:
    """Start and stop a stand-in server over ssh, several times."""
    return asyncio.run(_serving())


async def _serving() -> list[Measured]:
    async with operator([]) as side:
        stamp = side.lab.folder / "stamp"
        python = make_python(side.lab.folder / "venv", stamp)
        side.lab.entry("gpu", side.lab.servers[0].port)
        side.write_host("gpu", python=python, gpus=[], state_dir=str(side.lab.folder / "state"))
        usual, locks.DIRECTORY = locks.DIRECTORY, str(side.lab.folder / "locks")
        try:
            async with fleet_of(side) as fleet:
                bench = Serving(fleet, await fleet.connect("gpu"), make_profile(side), stamp)
                pairs = [await bench.one() for _ in range(LAUNCHES + 1)][1:]
        finally:
            locks.DIRECTORY = usual
    execs, proofs = zip(*pairs, strict=True)
    return [
        Measured("command to exec on the host", "s", Side("specctl", execs), None, 0.3,
                 "from applying the plan, locks and the second look included, to the exec"),
        Measured("proof after exit", "s", Side("specctl", proofs), None, 1.0,
                 "from the end of the last of its three processes to the proof"),
    ]  # fmt: skip


def make_python(home: Path, stamp: Path) -> str:
    """An interpreter whose packages hold a server that behaves like SGLang's."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    shutil.copytree(BUILD / "sglang", packages / "sglang")
    metadata = packages / "sglang-0.5.23.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.23\n")
    python = home / "bin" / "python"
    real = python.rename(home / "bin" / "python-itself")
    python.write_text(STAMPING.format(stamp=stamp, real=real))
    python.chmod(0o755)
    return str(python)


def make_profile(side: OperatorSide) -> Profile:
    """Of a model that is a directory, on a free port."""
    model = side.lab.folder / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Profile(
        "tiny", str(model), arguments={"device": "cpu"}, placement=Placement(port=port),
        ready_timeout_s=30,
    )  # fmt: skip


class Serving:
    """One profile started and stopped again and again."""

    def __init__(
        self, fleet: Fleet, connection: HostConnection, profile: Profile, stamp: Path
    ) -> None:
        self._fleet, self._connection = fleet, connection
        self._profile, self._stamp = profile, stamp
        self._secrets = Secrets("secrets.toml", {})

    async def one(self) -> tuple[float, float]:
        """Seconds to the exec, and from the last exit to the proof."""
        clock, store = self._fleet.clock, self._fleet.store
        plan = await plan_launch(
            self._connection, self._profile, StartOptions(), secrets=self._secrets, clock=clock
        )
        begun_s = time.time()
        outcome = await apply_launch(
            self._connection, plan, secrets=self._secrets, store=store, clock=clock
        )
        assert outcome.succeeded, outcome
        to_exec_s = float(self._stamp.read_text()) - begun_s
        server = (await read_host(self._connection)).server(outcome.server or "")
        stop = await plan_stop(self._connection, outcome.server, StopOptions(), clock=clock)
        exits = Exits(server.pids)
        ended = await stop_server(self._connection, stop, store=store, clock=clock)
        proved_s = time.monotonic()
        assert ended.succeeded, ended
        return to_exec_s, proved_s - exits.last_s()


class Exits:
    """When the last of some processes ended, by the kernel's word."""

    def __init__(self, pids: tuple[int, ...]) -> None:
        self._files = [os.pidfd_open(pid) for pid in pids]
        self._last_s = 0.0
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        left = set(self._files)
        while left:
            left -= set(select.select(list(left), [], [])[0])
            self._last_s = time.monotonic()

    def last_s(self) -> float:
        """By the monotonic clock."""
        self._thread.join()
        for file in self._files:
            os.close(file)
        return self._last_s
