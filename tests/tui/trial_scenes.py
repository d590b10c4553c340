"""Pictures of the trial screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.events import PlanProgressed, ProbeProgressed
from tests.tui import parts, story, trials
from tests.tui.driving import press, settled, shown
from tests.tui.fakes import DemoApp
from tests.tui.scenes import NORMAL, SCENES, SMALL, WIDE, Scene

__all__ = ["SCENES"]

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

BEGAN_S = parts.NOW_S - 2200.0


async def under_way(pilot: Pilot[int]) -> None:
    """Seven launches in, the eighth being measured."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    sheet = trials.live()
    app.fake.sheets_of_trials.insert(0, sheet)
    app.now_s = BEGAN_S
    app.repaint()
    app.work.trials.sheets[sheet.plan.id] = sheet
    app.work.begin_trial(trials.proposal(sheet.plan))
    app.now_s = parts.NOW_S
    app.store.apply(ProbeProgressed("pro6k-01", parts.NOW_S - 2, "7c1e", "measuring", 9, 24))
    app.repaint()
    await shown(pilot)


async def loading(pilot: Pilot[int]) -> None:
    """The first launch is not there yet."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    app.now_s = parts.NOW_S - 84.0
    app.repaint()
    app.work.begin_trial(trials.proposal())
    app.now_s = parts.NOW_S
    step = PlanProgressed(
        "pro6k-01", parts.NOW_S - 1, "aa", "ready", "progress", "1:12 weights, 40 of 62"
    )
    app.store.apply(step)
    app.repaint()
    await shown(pilot)


async def decided(pilot: Pilot[int]) -> None:
    """One of the list."""
    await settled(pilot)
    await press(pilot, "enter")
    await settled(pilot)


async def faster(pilot: Pilot[int]) -> None:
    """One that pays."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.sheets_of_trials[0] = trials.decided(cost=1.31, accept=2.73)
    await press(pilot, "T")
    await decided(pilot)


async def asked(pilot: Pilot[int]) -> None:
    """The plan of one."""
    for key in ("c", *"eagle", "enter"):
        await press(pilot, key)
    await settled(pilot)


async def leaving(pilot: Pilot[int]) -> None:
    """esc, while it is under way."""
    await under_way(pilot)
    await press(pilot, "escape")


def _scene(
    after: Callable[[Pilot[int]], Awaitable[None]],
    size: tuple[int, int] = NORMAL,
    theme: str = "dark",
    keys: tuple[str, ...] = (),
    **options: bool,
) -> Scene:
    return Scene(story.pro6k_01, size, keys, theme, options, after)


SCENES |= {
    "trial-live-120x40": _scene(under_way),
    "trial-live-80x24": _scene(under_way, SMALL),
    "trial-live-200x50": _scene(under_way, WIDE),
    "trial-live-mono-120x40": _scene(under_way, theme="mono"),
    "trial-live-light-120x40": _scene(under_way, theme="light"),
    "trial-loading-120x40": _scene(loading),
    "trial-leaving-120x40": _scene(leaving),
    "trial-plan-120x40": _scene(asked, keys=("enter",)),
    "trial-plan-80x24": _scene(asked, SMALL, keys=("enter",)),
    "trial-verdict-120x40": _scene(decided, keys=("T",)),
    "trial-verdict-80x24": _scene(decided, SMALL, keys=("T",)),
    "trial-verdict-200x50": _scene(decided, WIDE, keys=("T",)),
    "trial-verdict-cvd-120x40": _scene(decided, theme="cvd", keys=("T",)),
    "trial-verdict-ascii-120x40": _scene(decided, keys=("T",), is_ascii=True),
    "trial-faster-120x40": _scene(faster),
    "trials-120x40": _scene(settled, keys=("T",)),
    "trials-80x24": _scene(settled, SMALL, keys=("T",)),
}
