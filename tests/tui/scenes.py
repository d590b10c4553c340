"""Every screen worth a picture: its events, its size, and the keys that lead to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.events import LogRead, PlanProgressed
from specctl.tui.application import SpecctlApp
from tests.tui import library, parts, plans, story
from tests.tui.driving import press, settled, shown, until
from tests.tui.fakes import DemoApp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.pilot import Pilot

    from specctl.domain.events import Event
    from specctl.domain.source import Tree

NORMAL, SMALL, WIDE = (120, 40), (80, 24), (200, 50)


async def _nothing(pilot: Pilot[int]) -> None:
    del pilot


@dataclass(frozen=True)
class Scene:
    """One picture."""

    events: Callable[[], Sequence[Event]]
    size: tuple[int, int] = NORMAL
    keys: tuple[str, ...] = ()
    theme: str = "dark"
    options: dict[str, bool] = field(default_factory=dict)
    after: Callable[[Pilot[int]], Awaitable[None]] = _nothing

    def app(self) -> SpecctlApp:
        """A fresh app on the events."""
        return DemoApp(self.events(), theme=self.theme, **self.options)

    async def prepare(self, pilot: Pilot[int]) -> None:
        """Press the keys once there are services, then do what keys cannot."""
        app = pilot.app
        if isinstance(app, DemoApp):
            await until(pilot, lambda: app.fake is not None)
        for key in self.keys:
            await press(pilot, key)
            if self.after is rested:
                await settled(pilot)
        await self.after(pilot)


def first_run() -> SpecctlApp:
    """No workspace."""
    return SpecctlApp(None, clock=lambda: parts.NOW_S, folder="~/work", offset_s=parts.OFFSET_S)


@dataclass(frozen=True)
class FirstRun(Scene):
    """The app without a workspace."""

    def app(self) -> SpecctlApp:
        return first_run()


BEGAN_S = parts.NOW_S - 320


def _progress(
    step: str, status: str, words: str, after_s: float, left_s: float | None = None
) -> PlanProgressed:
    return PlanProgressed(
        "pro6k-01", BEGAN_S + after_s, "9b02aa17", step, status, words, after_s, left_s
    )


async def launching(pilot: Pilot[int]) -> None:
    """Five phases in, graphs being captured."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.apply_gate.clear()
    app.now_s = BEGAN_S
    app.repaint()
    app.work.carry_out(plans.start_plan(), "pro6k-01")
    app.store.apply(_progress("stop 7c1e", "begun", "stopping 7c1e", 0))
    app.store.apply(_progress("stop 7c1e", "done", "7c1e ended by itself", 8))
    app.store.apply(_progress("prove 7c1e", "begun", "proving that it is gone", 8))
    app.store.apply(_progress("prove 7c1e", "done", "Gone: 11 of 11 processes", 12))
    app.store.apply(_progress("launch", "begun", "launching kimi-k2.5-ngram", 12))
    app.store.apply(_progress("launch", "done", "launched as pid 51002", 12.6))
    app.store.apply(_progress("ready", "begun", "waiting until ready", 12.6, 340))
    for milestone, after_s in plans.REACHED[1:]:
        at_s = 12.6 + after_s
        app.store.apply(
            _progress(
                "ready",
                "progress",
                f"{int(after_s) // 60}:{int(after_s) % 60:02} {milestone}",
                at_s,
                22,
            )
        )
    app.store.apply(_progress("ready", "progress", "graph capture, 14 of 51", 320, 22))
    app.store.apply(LogRead("pro6k-01", parts.NOW_S, "9b02", parts.LOG[:6]))
    app.now_s = parts.NOW_S
    app.repaint()
    await shown(pilot)


async def crashed(pilot: Pilot[int]) -> None:
    """It died there."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.outcome = plans.crashed_outcome()
    await launching(pilot)
    app.store.apply(_progress("ready", "failed", "Out of GPU memory", 320))
    app.fake.apply_gate.set()
    await shown(pilot)


async def unplanned(pilot: Pilot[int]) -> None:
    """A plan that could not be made."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.refuse = SpecctlError(
        "pro6k-01 lost the connection while its ports were read.",
        hint="r reconnects, then s again.",
    )
    app.work.plan_start("pro6k-01", "kimi-k2.5-ngram")
    await shown(pilot)


async def typing(pilot: Pilot[int]) -> None:
    """A start over a running server, its host's name half typed."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    app.work.plan_start("pro6k-01", "kimi-k2.5-ngram")
    await shown(pilot)
    for key in ("p", "r", "o", "6", "k", "minus", "0"):
        await press(pilot, key)


async def refused(pilot: Pilot[int]) -> None:
    """A start that is known to fail."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.plan = plans.refused_plan()
    app.work.plan_start("pro6k-01", "kimi-k2.5-ngram")
    await shown(pilot)


async def probed(pilot: Pilot[int]) -> None:
    """A probe with its result."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.result = plans.probe_result()
    await press(pilot, "p", "enter")


async def rated(pilot: Pilot[int]) -> None:
    """A probe at a rate that the server does not keep up with."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    await probed(pilot)
    (run,) = app.work.probes.values()
    run.result = plans.rate_result()
    app.repaint()
    await shown(pilot)


SCENES: dict[str, Scene] = {
    "fleet-120x40": Scene(story.fleet),
    "fleet-80x24": Scene(story.fleet, SMALL),
    "fleet-200x50": Scene(story.fleet, WIDE),
    "fleet-mono-80x24": Scene(story.fleet, SMALL, theme="mono"),
    "fleet-empty-120x40": Scene(tuple),
    "fleet-mono-120x40": Scene(story.fleet, theme="mono"),
    "fleet-light-120x40": Scene(story.fleet, theme="light"),
    "fleet-filter-120x40": Scene(story.fleet, keys=("/", *"gpu.utl<5 acc>x")),
    "fleet-order-80x24": Scene(story.fleet, SMALL, ("o",)),
    "fleet-by-rate-120x40": Scene(story.fleet, keys=("o", "t", "b", "b")),
    "fleet-64-120x40": Scene(story.many),
    "fleet-64-80x24": Scene(story.many, SMALL, ("o", "o", "j")),
    "fleet-64-200x50": Scene(story.many, WIDE, ("/", *"gpu.util>90 !alert=any", "enter")),
    "alerts-64-120x40": Scene(story.many, keys=("A", "G")),
    "alerts-120x40": Scene(story.fleet, keys=("A", "j", "j", "space")),
    "alerts-80x24": Scene(story.fleet, SMALL, ("A",)),
    "alerts-mono-120x40": Scene(story.fleet, keys=("A",), theme="mono"),
    "alerts-empty-120x40": Scene(story.cpu_host, keys=("A",)),
    "host-120x40": Scene(story.fleet, keys=("j", "j", "j", "j", "j", "j", "j", "j", "enter")),
    "host-80x24": Scene(story.pro6k_01, SMALL, ("enter",)),
    "host-200x50": Scene(story.pro6k_01, WIDE, ("enter",)),
    "host-90x40": Scene(story.pro6k_01, (90, 40), ("enter",)),
    "host-stale-120x40": Scene(story.cut_off, keys=("enter",)),
    "host-crossing-120x40": Scene(story.crossing, keys=("enter",)),
    "host-readonly-120x40": Scene(
        lambda: story.pro6k_01("lab-1", simulated=True, read_only=True), keys=("enter", "s")
    ),
    "host-light-120x40": Scene(story.pro6k_01, keys=("enter",), theme="light"),
    "host-mono-120x40": Scene(story.pro6k_01, keys=("enter",), theme="mono"),
    "host-contrast-120x40": Scene(story.pro6k_01, keys=("enter",), theme="contrast"),
    "host-cvd-120x40": Scene(story.pro6k_01, keys=("enter",), theme="cvd"),
    "host-ascii-120x40": Scene(story.pro6k_01, keys=("enter",), options={"is_ascii": True}),
    "host-cpu-120x40": Scene(story.cpu_host, keys=("enter",)),
    "host-processes-120x40": Scene(story.pro6k_01, keys=("enter", "5")),
    "plan-120x40": Scene(story.pro6k_01, keys=("enter",), after=typing),
    "plan-80x24": Scene(story.pro6k_01, SMALL, ("enter",), after=typing),
    "plan-refused-120x40": Scene(story.pro6k_01, keys=("enter",), after=refused),
    "plan-error-120x40": Scene(story.pro6k_01, keys=("enter",), after=unplanned),
    "profiles-120x40": Scene(story.pro6k_01, keys=("enter", "s")),
    "launch-120x40": Scene(story.pro6k_01, after=launching),
    "crash-120x40": Scene(story.pro6k_01, after=crashed),
    "crash-80x24": Scene(story.pro6k_01, SMALL, after=crashed),
    "probe-plan-120x40": Scene(story.pro6k_01, keys=("enter", "p")),
    "probe-120x40": Scene(story.pro6k_01, keys=("enter",), after=probed),
    "probe-rate-120x40": Scene(story.pro6k_01, keys=("enter",), after=rated),
    "help-120x40": Scene(story.pro6k_01, keys=("enter", "question_mark")),
    "help-80x24": Scene(story.pro6k_01, SMALL, ("enter", "question_mark")),
    "command-120x40": Scene(
        story.fleet, keys=("colon", *"start", "space", *"pro6k-03", "space", *"kimi")
    ),
    "first-run-120x40": FirstRun(tuple),
    "first-run-80x24": FirstRun(tuple, SMALL),
    "small-70x20": Scene(story.pro6k_01, (70, 20)),
}
DOWN_TO_NGRAM = ("j", "j", "j")


def _reading(
    keys: tuple[str, ...], size: tuple[int, int] = NORMAL, theme: str = "dark", **more: bool
) -> Scene:
    """A scene of the source or the profiles screen."""
    return Scene(story.pro6k_01, size, keys, theme, more, rested)


async def rested(pilot: Pilot[int]) -> None:
    """The cursor has rested, and what was asked for is here."""
    await settled(pilot)


async def damaged(pilot: Pilot[int]) -> None:
    """A tree that could not be read in full."""
    await _source_of(pilot, library.damaged_tree())


async def without_speculation(pilot: Pilot[int]) -> None:
    """A build from before there was any."""
    await _source_of(
        pilot, library.tree(version="0.4.1", algorithms=(), flags=(), has_speculation=False)
    )


async def _source_of(pilot: Pilot[int], tree: Tree) -> None:
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.trees["pro6k-01"] = tree
    await press(pilot, "S")
    await rested(pilot)


async def unreachable(pilot: Pilot[int]) -> None:
    """A tree that cannot be read at all."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.refuse = SpecctlError(
        "pro6k-01 has no SGLang: /opt/sglang-0.5.23/bin/python cannot find the package.",
        hint="Set python in remotes/pro6k-01.toml, or specctl doctor pro6k-01.",
    )
    await press(pilot, "S")
    await rested(pilot)


async def against_an_older_build(pilot: Pilot[int]) -> None:
    """Two builds."""
    app = pilot.app
    assert isinstance(app, DemoApp)
    assert app.fake is not None
    app.fake.trees["h100-a1"] = library.older_tree()
    for key in ("G", "k", "S", "d", *"h100-a1", "enter"):
        await press(pilot, key)
    await rested(pilot)


SCENES |= {
    "log-120x40": _reading(("enter", "L", "slash", *"accept", "enter", "N")),
    "log-80x24": _reading(("enter", "L", "w"), SMALL),
    "commands-120x40": _reading(("at", "w", "g", "j", "j")),
    "add-120x40": _reading(("n", *"new-1", "enter")),
    "source-damaged-120x40": Scene(story.pro6k_01, after=damaged),
    "source-none-120x40": Scene(story.pro6k_01, after=without_speculation),
    "source-error-120x40": Scene(story.pro6k_01, after=unreachable),
    "source-against-120x40": Scene(story.fleet, after=against_an_older_build),
    "source-120x40": _reading(("S", *DOWN_TO_NGRAM)),
    "source-80x24": _reading(("S", *DOWN_TO_NGRAM, "2"), SMALL),
    "source-200x50": _reading(("S", *DOWN_TO_NGRAM, "4", "slash", *"ngram", "enter"), WIDE),
    "source-light-120x40": _reading(("S", *DOWN_TO_NGRAM, "2", "j", "j"), theme="light"),
    "source-mono-120x40": _reading(("S", *DOWN_TO_NGRAM, "2", "j", "j"), theme="mono"),
    "source-contrast-120x40": _reading(("S", *DOWN_TO_NGRAM, "3", "j"), theme="contrast"),
    "source-ascii-120x40": _reading(("S", *DOWN_TO_NGRAM, "3", "j"), is_ascii=True),
    "source-files-120x40": _reading(("S", *DOWN_TO_NGRAM, "5", "j", "j")),
    "source-found-120x40": _reading(("S", "ctrl+g", *"ngram", "enter", "n")),
    "profiles-screen-120x40": _reading(("P", "j")),
    "profiles-screen-80x24": _reading(("P", "j"), SMALL),
    "profiles-screen-200x50": _reading(("P", "j", "3", "n", "n"), WIDE),
    "profiles-screen-light-120x40": _reading(("P", "j", "3", "n", "n"), theme="light"),
    "profiles-screen-mono-120x40": _reading(("P", "j", "3", "n"), theme="mono"),
    "profiles-screen-cvd-120x40": _reading(("P", "j", "5"), theme="cvd"),
    "profiles-against-120x40": _reading(("P", "j", "d", "down", "enter")),
    "profiles-start-120x40": _reading(("P", "j", "enter")),
    "drift-120x40": _reading(("enter", "d")),
    "drift-80x24": _reading(("enter", "d"), SMALL),
    "source-text-80x24": _reading(("S", *DOWN_TO_NGRAM, "2", "enter"), SMALL),
    "profiles-command-80x24": _reading(("P", "j", "4"), SMALL),
    "profiles-against-80x24": _reading(("P", "j", "d", "down", "enter"), SMALL),
    "abort-120x40": _reading(("enter", "colon", *"abort", "enter", *"pro6k")),
    "source-help-120x40": _reading(("S", "question_mark")),
}
SCENES["host-120x40"] = Scene(story.pro6k_01, keys=("enter",))
