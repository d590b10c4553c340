"""The screens of docs/pictures, drawn again from the scripted story of the screen tests; the keys.

Nothing in them was measured, so every host of them is marked SIMULATED.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.domain.events import HostDescribed
from specctl.tui.key_table import page
from tests.tui.all_scenes import SCENES
from tests.tui.shoot import svg

if TYPE_CHECKING:
    from specctl.domain.events import Event
    from tests.tui.scenes import Scene

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
KEYS = FOLDER.parent / "keys.md"
NAMES = (
    "fleet-120x40", "host-120x40", "plan-120x40", "crash-120x40", "source-120x40",
    "profiles-screen-120x40", "trial-live-120x40", "trial-verdict-120x40", "alerts-120x40",
    "commands-120x40", "replay-120x40",
)  # fmt: skip


def simulated(event: Event) -> Event:
    """`event`, its host marked."""
    return replace(event, simulated=True) if isinstance(event, HostDescribed) else event


async def draw(scene: Scene) -> str:
    """One screen as SVG."""
    marked = replace(scene, events=lambda: [simulated(event) for event in scene.events()])
    app = marked.app()
    async with app.run_test(size=marked.size, notifications=True) as pilot:
        await pilot.pause()
        await marked.prepare(pilot)
        await pilot.pause()
        return svg(app, marked.size)


def main() -> None:
    """Write every picture, and the table of keys."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        text = asyncio.run(draw(SCENES[name]))
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
    KEYS.write_text(page() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
