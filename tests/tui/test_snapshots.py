"""Whole screens, cell by cell, as the pictures in docs show them.

After a wanted change: `pytest tests/tui/test_snapshots.py --snapshot-update`, then look at them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tui.all_scenes import SCENES
from tests.tui.driving import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

NAMES = (
    "fleet-120x40",
    "fleet-80x24",
    "fleet-empty-120x40",
    "alerts-120x40",
    "host-120x40",
    "host-80x24",
    "host-200x50",
    "host-mono-120x40",
    "host-light-120x40",
    "host-stale-120x40",
    "host-crossing-120x40",
    "host-cpu-120x40",
    "plan-120x40",
    "plan-error-120x40",
    "crash-120x40",
    "help-120x40",
    "first-run-120x40",
    "source-120x40",
    "source-80x24",
    "source-damaged-120x40",
    "source-found-120x40",
    "source-against-120x40",
    "profiles-screen-120x40",
    "profiles-screen-80x24",
    "profiles-screen-mono-120x40",
    "drift-120x40",
    "log-120x40",
    "commands-120x40",
    "fleet-64-120x40",
    "trial-live-120x40",
    "trial-verdict-120x40",
    "trial-verdict-80x24",
    "replay-120x40",
)


@pytest.mark.parametrize("name", NAMES)
def test_screen(name: str, snap_compare: Callable[..., bool]) -> None:
    scene = SCENES[name]

    async def prepare(pilot: Pilot[int]) -> None:
        await shown(pilot)
        await scene.prepare(pilot)
        await shown(pilot)

    assert snap_compare(scene.app(), terminal_size=scene.size, run_before=prepare)
