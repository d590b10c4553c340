"""How long it takes to read what a build can do: over ssh, against importing its arguments."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from specctl.adapters.source_cache import SourceCache
from specctl.services.inspection import open_tree
from tests.bench.lab import MissingOpponentError, fleet_of, operator
from tests.bench.measure import Measured, Side
from tests.live.conftest import PYTHON
from tests.trees.releases import release

if TYPE_CHECKING:
    from pathlib import Path

    from specctl.services.inspection import OpenTree

VERSION = "0.5.23"
REPEATS = 7
IMPORTS = 3


def require() -> None:
    """Raise when the environment is missing whose imports are the opponent."""
    if not PYTHON.exists():
        raise MissingOpponentError("not built: .sglang-cpu; `make sglang-cpu` builds it")


def inspecting() -> list[Measured]:
    """First looks and second looks at one tree, and imports, in turns."""
    return asyncio.run(_inspecting())


async def _inspecting() -> list[Measured]:
    async with operator([]) as side:
        python = _environment(side.lab.folder / "venv")
        side.lab.entry("gpu", side.lab.servers[0].port)
        side.write_host("gpu", python=python, gpus=[])
        async with fleet_of(side) as fleet:
            connection = await fleet.connect("gpu")
            first: list[OpenTree] = []
            second: list[OpenTree] = []
            imports: list[float] = []
            for turn in range(REPEATS + 1):  # the first fills the system's own cache
                cache = SourceCache(side.lab.folder / f"cache{turn}")
                first.append(await open_tree(connection, cache=cache))
                second.append(await open_tree(connection, cache=cache))
                if turn < IMPORTS:
                    imports.append(await asyncio.to_thread(_import_s))
    looks = tuple(one.cost.seconds for one in first[1:])
    received = f"{first[-1].cost.received_bytes / 1e6:.2f} MB received"
    return [
        Measured("first look at a build", "s", Side("specctl", looks), None, 1.0,
                 f"SGLang {VERSION} over ssh, after connect; {received}"),
        Measured("first look at a build, against importing it", "s", Side("specctl", looks),
                 Side("import sglang.srt.server_args", tuple(imports)), 0.1),
        Measured("second look at a build", "s",
                 Side("specctl", tuple(one.cost.seconds for one in second[1:])), None, 0.2,
                 "nothing is transferred"),
    ]  # fmt: skip


def _environment(home: Path) -> str:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    for part in release(VERSION).iterdir():
        shutil.copytree(part, packages / part.name)
    return str(home / "bin/python")


def _import_s() -> float:
    begun_s = time.perf_counter()
    subprocess.run([PYTHON, "-c", "import sglang.srt.server_args"], check=True, capture_output=True)
    return time.perf_counter() - begun_s
