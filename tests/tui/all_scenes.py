"""Every scene: those of the parts, dialogs, what runs and hosts keep, a recording, a browser."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from textual.events import Paste

from specctl.adapters.recording import Recording, RecordingFile
from specctl.domain.recording import RecordingHead
from specctl.tui.replay import ReplayApp
from specctl.tui.settings import Settings
from tests.tui import parts, story
from tests.tui.driving import press, settled, shown, until
from tests.tui.fakes import DemoApp
from tests.tui.scenes import NORMAL, SMALL, Scene, rested
from tests.tui.trial_scenes import SCENES
from tests.unit.services.test_replaying import Hands

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from specctl.tui.application import SpecctlApp

__all__ = ["SCENES"]

TO_TRIAL = ("enter", "c", *"eagle", "enter")
TO_RUN = ("T", "t", "slash", *"probe measured", "enter")
LAUNCH = "python -m sglang.launch_server --model-path org/Big-Model --tp 8"


def _at_rest(keys: tuple[str, ...], size: tuple[int, int] = NORMAL, theme: str = "dark") -> Scene:
    return Scene(story.pro6k_01, size, keys, theme, after=rested)


@dataclass(frozen=True)
class Locked(Scene):
    """The screen as a browser shows it: nothing may be changed from it."""

    def app(self) -> SpecctlApp:
        app = DemoApp(self.events(), theme=self.theme, read_only=True)
        app.settings = replace(app.settings, is_locked=True)
        return app


@dataclass(frozen=True)
class Recorded(Scene):
    """The story written to a file and played, at its end."""

    def app(self) -> SpecctlApp:
        events = sorted(self.events(), key=lambda event: event.time_s)
        hosts = tuple(dict.fromkeys(event.host for event in events))
        with TemporaryDirectory() as folder:
            path = Path(folder) / "a.jsonl"
            head = RecordingHead(events[0].time_s, hosts, hosts)
            file = RecordingFile(path, head, most_bytes=1 << 30)
            for event in events:
                file.write(event)
            file.close()
            recording = Recording(path)
        return ReplayApp(
            recording,
            clock=Hands(),
            offset_s=parts.OFFSET_S,
            settings=Settings(self.theme),
            at_s=recording.length_s,
        )


async def played(pilot: Pilot[int]) -> None:
    """All of the file up to its end was taken in."""
    app = pilot.app
    assert isinstance(app, ReplayApp)
    await until(pilot, lambda: "pro6k-01" in app.store.state.hosts)
    await shown(pilot)
    await press(pilot, "enter")


async def pasted(pilot: Pilot[int]) -> None:
    """A launch command over the profiles."""
    await settled(pilot)
    pilot.app.screen.post_message(Paste(LAUNCH))
    await shown(pilot)


async def screened(pilot: Pilot[int]) -> None:
    """Two candidates, under way."""
    await settled(pilot)
    for key in (*["up"] * 9, *"kimi-k2.5-n", "tab", "enter"):
        await press(pilot, key)
        await settled(pilot)
    for key in ("enter", "right", "enter"):
        await press(pilot, key)


async def several(pilot: Pilot[int]) -> None:
    """The plan of a screening."""
    await settled(pilot)
    for key in (*["up"] * 9, *"kimi-k2.5-n", "tab", "enter"):
        await press(pilot, key)
        await settled(pilot)


SCENES |= {
    "host-250x60": Scene(story.pro6k_01, (250, 60), ("enter",)),
    "topology-120x40": _at_rest(("enter", "i")),
    "run-120x40": _at_rest((*TO_RUN, "enter")),
    "run-80x24": _at_rest((*TO_RUN, "enter"), SMALL),
    "runs-120x40": _at_rest(("T", "t")),
    "runs-80x24": _at_rest(("T", "t"), SMALL),
    "runs-against-120x40": _at_rest((*TO_RUN, "d", *"77aa0002", "enter")),
    "screening-120x40": _at_rest(("T", "slash", *"candidates", "enter", "enter")),
    "screening-80x24": _at_rest(("T", "slash", *"candidates", "enter", "enter"), SMALL),
    "screening-live-120x40": Scene(story.pro6k_01, keys=TO_TRIAL, after=screened),
    "screening-plan-120x40": Scene(story.pro6k_01, keys=TO_TRIAL, after=several),
    "compare-80x24": _at_rest(TO_TRIAL[:-1], SMALL),
    "compare-120x40": _at_rest(TO_TRIAL[:-1]),
    "choose-120x40": _at_rest(("n",)),
    "import-120x40": Scene(story.pro6k_01, keys=("P", "i"), after=pasted),
    "flush-120x40": _at_rest(("enter", "colon", *"flush", "enter")),
    "order-120x40": _at_rest(("T", "o")),
    "filter-alerts-80x24": Scene(story.fleet, SMALL, ("A", "slash", *"heat")),
    "log-search-80x24": _at_rest(("L", "slash", *"accept"), SMALL),
    "log-help-80x24": _at_rest(("L", "question_mark"), SMALL),
    "locked-120x40": Locked(story.pro6k_01, keys=("enter", "s")),
    "locked-help-120x40": Locked(story.pro6k_01, keys=("enter", "question_mark", *"start")),
    "replay-120x40": Recorded(
        lambda: story.pro6k_01("pro6k-01", simulated=True), NORMAL, after=played
    ),
    "replay-80x24": Recorded(
        lambda: story.pro6k_01("pro6k-01", simulated=True), SMALL, after=played
    ),
}
