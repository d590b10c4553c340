"""From `S` to a frame of the source screen: the first time, and with a tree that is known."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from textual import events

from specctl.services.inspection import read_tree_here
from specctl.tui.screens.source import SourceScreen
from tests.bench.fleet_screen import SIZE, SOON_S, FleetApp, Terminal
from tests.bench.inspecting import require
from tests.bench.measure import Measured, Side
from tests.live.conftest import PYTHON
from tests.tui.fakes import FakeServices

if TYPE_CHECKING:
    from specctl.domain.source import Tree

VISITS, GOAL_MS, REST_S = 15, 100.0, 0.6
FRAME, TREE = "Algorithms", "NGRAM"
"""What is written of the screen at once, and of a tree only once it is known."""


class Read(Terminal):
    """A terminal that keeps what it was told."""

    seen = ""

    def write(self, data: str) -> None:
        """One more piece."""
        super().write(data)
        self.seen += data


def source_screen() -> list[Measured]:
    """Both rows."""
    require()
    tree = asyncio.run(read_tree_here(PYTHON.parents[1]))
    first, known = asyncio.run(_visits(tree))
    note = f"{SIZE[0]}x{SIZE[1]}, 64 hosts, frames rendered and thrown away; "
    return [
        Measured("source screen: key to first paint", "ms", Side("specctl", first), None, GOAL_MS,
                 f"{note}the tree is not read yet"),
        Measured("source screen: key to its tree", "ms", Side("specctl", known), None, GOAL_MS,
                 f"{note}{len(tree.files):,} files, looked at before"),
    ]  # fmt: skip


async def _visits(tree: Tree) -> tuple[tuple[float, ...], tuple[float, ...]]:
    app = FleetApp()
    app.driver_class = Read
    running = asyncio.ensure_future(app.run_async(size=SIZE, mouse=False))
    try:
        while app.services is None:
            await asyncio.sleep(SOON_S)
        app.begin()
        terminal, fake = app._driver, app.services
        assert isinstance(terminal, Read)
        assert isinstance(fake, FakeServices)
        fake.trees = dict.fromkeys(fake.hosts(), tree)
        first, known = [], []
        for _ in range(VISITS):
            fake.read_gate.clear()
            app.work.desks.clear()
            first.append(await _visit(app, terminal, FRAME))
            fake.read_gate.set()
            known.append(await _visit(app, terminal, TREE))
        return tuple(first), tuple(known)
    finally:
        app.exit()
        await running


async def _visit(app: FleetApp, terminal: Read, wanted: str) -> float:
    """Milliseconds from the key to the frame that has `wanted`; back at the fleet afterwards."""
    await asyncio.sleep(REST_S)
    terminal.seen = ""
    began_s = time.perf_counter()
    terminal.process_message(events.Key("S", "S"))
    while wanted not in terminal.seen:
        await asyncio.sleep(SOON_S)
    took_ms = (terminal.at_s - began_s) * 1000
    await asyncio.sleep(REST_S)
    assert isinstance(app.screen, SourceScreen)
    terminal.process_message(events.Key("escape", None))
    return took_ms


if __name__ == "__main__":
    for row in source_screen():
        print(row, row.ours.values)
