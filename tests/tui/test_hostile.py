"""Text from elsewhere on every screen: markup, escapes, wide, right to left, endless."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.recipe import Recipe, Row
from specctl.domain.drift import Cause, DriftRow, ServerDrift
from specctl.domain.errors import SpecctlError
from specctl.domain.events import (
    AlertsChanged,
    HostDescribed,
    HostSampled,
    LinkChanged,
    LogRead,
    ServerSampled,
    ServersSeen,
)
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess
from specctl.domain.source import (
    Algorithm,
    Flag,
    Place,
    ReadingProblem,
    Restriction,
    Tree,
    TreeFile,
)
from specctl.tui.panel import Painted
from specctl.tui.reading import ProfileSheet
from tests.tui import library, parts, recipes, story
from tests.tui.driving import press, running, settled, shown
from tests.tui.fakes import DemoApp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark.structures import ParameterSet

TEXTS = (
    "[/foo] [bold]x[/bold] list[int] [N/A]",
    "\x1b[2J\x1b]0;owned\x07\x1b[31mred",
    "a\rb\x08\x00\x9b31m\nc",
    "\u202eright to left\u2066\u200b",
    "日本語のモデル名" * 9,
    "e\u0301" * 200,
    "x" * 1_000_000,
)
SIZES = ((120, 40), (80, 24), (200, 50))


def at_sizes(first: int) -> Iterator[ParameterSet]:
    """Every text at one size, which differs from text to text; at the others in `make soak`."""
    for number, text in enumerate(TEXTS):
        for place, size in enumerate(SIZES):
            is_now = place == (first + number) % len(SIZES)
            marks = () if is_now else (pytest.mark.soak,)
            yield pytest.param(text, size, id=f"{number}-{size[0]}x{size[1]}", marks=marks)


def events(text: str) -> list[object]:
    """A host whose every text is hostile."""
    server = parts.server(
        text[:200],
        profile=text,
        model=text,
        owner=text,
        version=text[:300],
        why=text,
        launched_by=text,
        launch_id=text,
        argv=("--speculative-algorithm", text),
        log_path=text,
        missing={"log_path": Missing(Why.ERROR, text)},
    )
    process = GpuProcess(1, None, "compute", text, text)
    gpu = replace(
        parts.gpu(0, text), throttle=(text,), processes=(process,), utilization_percent=math.nan
    )
    sample = parts.server_sample(math.nan, math.inf, token_usage=math.nan)
    return [
        HostDescribed("h", parts.NOW_S, labels={"group": text, text[:50]: text}),
        LinkChanged("h", parts.NOW_S, "up", text, text),
        HostSampled("h", parts.NOW_S, parts.host_sample((gpu,))),
        ServersSeen("h", parts.NOW_S, (server,)),
        ServerSampled("h", parts.NOW_S, server.name, sample),
        LogRead("h", parts.NOW_S, server.name, (text, f"[2026-01-01 00:00:00 TP0] {text}")),
        AlertsChanged(
            "h",
            parts.NOW_S,
            "rule",
            is_open=True,
            words=text,
            server=server.name,
            value=text,
            hint=text,
        ),
    ]


@pytest.mark.parametrize(("text", "size"), at_sizes(0))
async def test_nothing_reaches_the_terminal_that_it_would_act_on(
    text: str, size: tuple[int, int]
) -> None:
    app = DemoApp(events(text))  # type: ignore[arg-type]
    async with app.run_test(size=size, notifications=True) as pilot:
        await shown(pilot)
        for keys in (
            (),
            ("enter",),
            ("5",),
            ("L",),
            ("A",),
            ("escape", "escape", "escape", "question_mark"),
            ("escape", "colon"),
        ):
            await press(pilot, *keys)
            assert_safe(app)
        await press(pilot, "escape")
        app.tell(text[:3000], text[:3000])
        app.store.apply(LinkChanged("h", parts.NOW_S, "refused", text, text))
        await shown(pilot)
        assert_safe(app)


def assert_safe(app: DemoApp) -> None:
    for widget in app.screen.query(Painted):
        if not widget.display or not widget.size.area:
            continue
        for y in range(widget.size.height):
            strip = widget.render_line(y)
            assert strip.text.isprintable(), repr(strip.text)
            assert strip.cell_length == widget.size.width


async def test_an_error_with_markup_in_it_is_shown_as_it_is() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.refuse = SpecctlError("[/red] \x1b[2J", hint="[link]")
        await press(pilot, "s", "enter")
        assert_safe(app)


def hostile_tree(text: str) -> Tree:
    """A tree whose every text is hostile."""
    file = text[:300] or "x"
    place = Place(file, 1)
    algorithm = Algorithm(
        text[:100], (text,), f"{file}:{text}", (text,), (file,), 3, (text,),
        (Restriction(text, text, place, text, text),), text, place,
    )  # fmt: skip
    flag = Flag(f"--speculative-{text}", text, text, (text,), (text,), place, text)
    return library.tree(
        version=text, tree_hash=text, algorithms=(algorithm,), flags=(flag,),
        files={file: TreeFile(9, text, 2)}, problems=(ReadingProblem(place, text),), commit=text,
    )  # fmt: skip


def hostile_sheet(text: str) -> ProfileSheet:
    """A profile whose every text is hostile."""
    finding = Finding(Severity.ERROR, text, text, text, text, text, Place(text, 2), text, "f", 1)
    rows = (Row(text, text, text), Row("placement.port", 1, None))
    made = Recipe(text, text, text, rows, (text, "--x", text), {text: text}, {text: text}, text)
    return ProfileSheet("scratch", text, "f", f"{text}\n{text}", (finding,), text, text, made)


@pytest.mark.parametrize(("text", "size"), at_sizes(1))
async def test_neither_a_tree_nor_a_profile_reaches_the_terminal_as_it_is(
    text: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = hostile_tree(text)
    monkeypatch.setitem(library.TEXTS, next(iter(tree.files)), f"{text}\n{text}")
    async with running(story.pro6k_01(), size=size) as (app, pilot, fake):
        fake.trees["pro6k-01"] = tree
        fake.sheets = {entry.name: hostile_sheet(text) for entry in recipes.ENTRIES}
        row = DriftRow(text, Cause.PROFILE, text, text, text, text, text, text)
        monkeypatch.setattr(
            recipes,
            "DRIFT",
            ServerDrift("h", text, text, text, (row,), missing=recipes.DRIFT.missing),
        )
        ways = (
            ("S",), ("2",), ("3",), ("4", "slash", "x", "enter", "n"), ("5", "l", "j"),
            ("P",), ("3", "n"), ("4",), ("5",), ("d", "enter"), ("F", "d"),
        )  # fmt: skip
        for keys in ways:
            await press(pilot, *keys)
            await settled(pilot)
            assert_safe(app)
