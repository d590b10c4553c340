"""The log's own screen: followed, searched, read back, explained, saved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.errors import ConnectionLostError
from specctl.domain.events import LinkChanged
from specctl.services.log_paging import LogPart
from specctl.tui.render.lines import plain
from specctl.tui.screens import log as log_screen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.log import LogScreen
from tests.tui import parts, story
from tests.tui.driving import on, press, running, shown, text_of, toasts, until
from tests.tui.log_fakes import PATH

NUMBERED = [f"line {n}" for n in range(3000)]


def part(*lines: str, **values) -> LogPart:
    return LogPart(PATH, lines, 0, 10, 7, **values)


async def opened(app, pilot, *keys):
    await press(pilot, "L", *keys)
    await until(pilot, lambda: len(on(app, LogScreen).log_panel.reel) > 0)
    await shown(pilot)
    return on(app, LogScreen)


async def test_it_follows_and_stands_still_while_it_is_looked_at():
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.log_lines = NUMBERED
        screen = await opened(app, pilot)
        assert "following" in text_of(app)
        fake.new_lines.put_nowait(part("fresh"))
        await until(pilot, lambda: "fresh" in text_of(app))
        await press(pilot, "k", "k")
        assert "2 lines back" in text_of(app)
        fake.new_lines.put_nowait(part("later"))
        await until(pilot, lambda: "3 lines back" in text_of(app))
        assert "later" not in text_of(app)
        await press(pilot, "f")
        assert "later" in text_of(app)
        await press(pilot, "f")
        assert not screen.log_panel.follows
        await press(pilot, "G")
        assert screen.log_panel.follows
        await press(pilot, "escape")
        on(app, HostScreen)


async def test_scrolling_up_beyond_the_first_line_reads_what_was_before():
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.log_lines = NUMBERED
        screen = await opened(app, pilot, "g")
        reel = screen.log_panel.reel
        assert "k reads what was before" in text_of(app)
        assert len(reel) == 1000
        await press(pilot, "k")
        await until(pilot, lambda: len(reel) == 2000)
        assert "line 2000" in text_of(app)
        await press(pilot, "g", "k")
        await until(pilot, lambda: len(reel) == 3000)
        await press(pilot, "g")
        assert "the beginning of the log" in text_of(app)
        assert [call for call in fake.calls if call[0] == "log_before"] == [
            ("log_before", "pro6k-01", 2000), ("log_before", "pro6k-01", 1000)
        ]  # fmt: skip


async def test_a_search_counts_marks_and_goes_round():
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.log_lines = ["alpha", "beta one", "gamma", "beta two", "delta", "beta three"]
        screen = await opened(app, pilot, "slash", *"beta")
        assert "3 lines" in str(screen._bar(120))
        await press(pilot, "enter")
        assert "/beta 3 of 3" in text_of(app)
        await press(pilot, "n")
        assert "/beta 1 of 3" in text_of(app)
        await press(pilot, "N", "N")
        assert "/beta 2 of 3" in text_of(app)
        await press(pilot, "y")
        assert app.clipboard == "beta two"
        await press(pilot, "escape")
        assert "/beta" not in text_of(app)
        await press(pilot, "n")
        assert toasts(app)[-1] == "No match: / searches the log."


async def test_times_and_wrapping_are_turned_on_and_off():
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.log_lines = ["[2026-04-08 14:05:21 TP0] " + "word " * 60 + "end"]
        screen = await opened(app, pilot)
        assert "14:05:21" in text_of(app)
        assert "end" not in plain(screen.log_panel.build(120, 38)).split()
        await press(pilot, "w")
        assert "end" in plain(screen.log_panel.build(120, 38)).split()
        await press(pilot, "t")
        assert "14:05:21" not in text_of(app)
        fake.new_lines.put_nowait(part("arrived"))
        await until(pilot, lambda: "14:05:32   arrived" in text_of(app))
        await press(pilot, "t", "t", "w")
        assert "14:05:21" in text_of(app)
        await press(pilot, "l", "l")
        assert "word word word" in text_of(app)


async def test_the_launch_before_and_back():
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.runs_before = [["it crashed"]]
        screen = await opened(app, pilot)
        await press(pilot, "p")
        await until(pilot, lambda: "it crashed" in text_of(app))
        assert screen.crumbs()[-1] == "Log, launch -1"
        assert "ended" in text_of(app)
        await press(pilot, "p")
        await until(pilot, lambda: "no launch before this one" in text_of(app))
        await press(pilot, "p")
        await until(pilot, lambda: len(screen.log_panel.reel) == len(parts.LOG))
        assert screen.back == 0


CRASH = [
    "[2026-04-08 14:05:20 TP0] Load weight end.",
    "[2026-04-08 14:05:21 TP0] Scheduler hit an exception: Traceback (most recent call last):",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 94.97 GiB of which 490.69 MiB is free.",
]


async def test_the_first_cause_is_gone_to_however_far_back_it_is():
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.log_lines = [*CRASH, *NUMBERED[:2500]]
        screen = await opened(app, pilot, "exclamation_mark")
        await until(pilot, lambda: screen.log_panel.standing.cause[0] != "")
        text = text_of(app)
        assert "CUDA out of memory" in text
        assert "GPU memory ran out" in text
        await press(pilot, "escape")
        assert "GPU memory ran out" not in text_of(app)


async def test_where_nothing_failed_it_says_so():
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        await opened(app, pilot, "exclamation_mark")
        await until(pilot, lambda: bool(toasts(app)))
        assert toasts(app)[-1].startswith("Nothing in it explains a failure")


async def test_all_of_it_is_saved_and_no_file_is_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with running(story.pro6k_01("lab-1", simulated=True), "enter") as (app, pilot, fake):
        fake.log_lines = NUMBERED
        await opened(app, pilot, "ctrl+s", "enter")
        await until(pilot, lambda: bool(toasts(app)))
        (saved,) = tmp_path.iterdir()
        lines = saved.read_text().splitlines()
        assert lines[0] == "# SIMULATED: lab-1 is a practice host of the lab"
        assert lines[1:] == NUMBERED
        assert saved.name in toasts(app)[-1]
        await press(pilot, "ctrl+s", "enter")
        await until(pilot, lambda: len(toasts(app)) == 2)
        assert "is there already" in toasts(app)[-1]
        assert saved.read_text().splitlines() == lines


async def test_a_lost_link_is_said_and_reading_goes_on_when_it_is_back(monkeypatch):
    monkeypatch.setattr(log_screen, "AGAIN_S", 0.0)
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        screen = await opened(app, pilot)
        app.store.apply(LinkChanged("pro6k-01", parts.NOW_S, "lost", "gone"))
        fake.new_lines.put_nowait(ConnectionLostError("the connection was lost"))
        await until(pilot, lambda: "not followed" in text_of(app))
        count = len(screen.log_panel.reel)
        app.store.apply(LinkChanged("pro6k-01", parts.NOW_S, "up"))
        fake.new_lines.put_nowait(part("after the gap"))
        await until(pilot, lambda: "after the gap" in text_of(app))
        assert len(screen.log_panel.reel) == count + 1
        assert "following" in text_of(app)


async def test_a_log_that_cannot_be_followed_is_not_asked_for_at_every_frame(monkeypatch):
    monkeypatch.setattr(log_screen, "AGAIN_S", 3600.0)
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        await opened(app, pilot)
        for _ in range(3):
            fake.new_lines.put_nowait(ConnectionLostError("server.log is gone"))
        await until(pilot, lambda: "not followed" in text_of(app))
        for _ in range(3):
            app.repaint()
            await shown(pilot)
        assert [call[0] for call in fake.calls].count("follow_log") == 1


async def test_a_rotated_log_begins_anew():
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        screen = await opened(app, pilot)
        fake.new_lines.put_nowait(replace(part("new file"), begins_anew=True))
        await until(pilot, lambda: len(screen.log_panel.reel) == 1)


async def test_the_next_host_has_its_own_log():
    async with running(story.fleet(), "enter") as (app, pilot, _):
        await press(pilot, "L", "right_curly_bracket")
        assert on(app, LogScreen).host == app.host_order()[1]


HOSTILE = [
    "[/x] [bold]",
    "\x1b]0;t\x07\x1b[2J",
    "a\rb\rc",
    "x" * (1 << 20),
    "\u202e שלום 日本",
    "\ud800",
]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_nothing_in_it_is_acted_on(size):
    from tests.tui.test_hostile import assert_safe

    async with running(story.pro6k_01(), "enter", size=size) as (app, pilot, fake):
        fake.log_lines = HOSTILE
        await opened(app, pilot)
        for key in ("w", "t", "t", "g", "slash", "x", "enter", "n", "l", "w", "l"):
            await press(pilot, key)
            assert_safe(app)
