"""The command log on its screen: changes stand out, reads are grouped, all of it can be copied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.tui.render.commands import command_line, detail_lines, matches
from specctl.tui.render.lines import plain, width
from specctl.tui.screens.commands import CommandsScreen
from tests.tui import parts, story
from tests.tui.driving import on, press, running, text_of
from tests.tui.log_fakes import DONE, LAUNCH

LAUNCHER, FLUSH, PROBE = (
    next(one for one in DONE if one.what == what)
    for what in ("launcher", "POST /flush_cache", "probe")
)


async def test_changes_are_shown_and_reads_on_request():
    async with running(story.pro6k_01(), "at") as (app, pilot, _):
        text = text_of(app)
        assert "launcher" in text
        assert "✗ 400" in text
        assert "GET /v1/loads" not in text
        assert "3 reads hidden" in text
        await press(pilot, "w")
        text = text_of(app)
        assert "GET /v1/loads ×874" in text
        assert text.index("agent") < text.index("launcher") < text.index("GET /v1/loads")


async def test_the_newest_is_followed_until_another_is_chosen():
    async with running(story.pro6k_01(), "at") as (app, pilot, fake):
        screen = on(app, CommandsScreen)
        assert screen.list.chosen == PROBE
        newer = replace(LAUNCHER, time_s=parts.NOW_S)
        fake.done.append(newer)
        app.repaint()
        assert screen.list.chosen == newer
        await press(pilot, "k", "k")
        chosen = screen.list.chosen
        fake.done.append(replace(newer, time_s=parts.NOW_S + 1))
        app.repaint()
        assert screen.list.chosen == chosen
        await press(pilot, "G")
        assert screen.list.chosen == fake.done[-1]


async def test_the_exact_command_line_is_unfolded_and_copied():
    async with running(story.pro6k_01(), "at", "g", "j") as (app, pilot, _):
        assert on(app, CommandsScreen).list.chosen == LAUNCHER
        assert "/opt/sglang/bin/python -I -c" in text_of(app)
        await press(pilot, "y")
        assert app.clipboard.startswith("/opt/sglang/bin/python -I -c 'import sys' specctl-9f")
        assert "--speculative-algorithm" in app.clipboard
        await press(pilot, "enter")
        assert "/opt/sglang/bin/python -I -c" not in text_of(app)


async def test_it_is_filtered_and_esc_clears_that_first():
    async with running(story.pro6k_01(), "at", "slash", *"flush", "enter") as (app, pilot, _):
        assert on(app, CommandsScreen).list.found == [FLUSH]
        await press(pilot, "escape")
        assert len(on(app, CommandsScreen).list.found) == 4
        await press(pilot, "escape")
        assert not isinstance(app.screen, CommandsScreen)


async def test_without_any_it_says_so():
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.done = []
        await press(pilot, "at")
        assert "Nothing was done on any host" in text_of(app)
        fake.done = [DONE[0]]
        app.repaint()
        assert "w shows reads" in text_of(app)


@pytest.mark.parametrize("cells", [76, 100, 116, 196])
@pytest.mark.parametrize("command", DONE, ids=lambda one: one.what)
def test_every_entry_fits_and_says_what_it_was(command, cells):
    line = command_line(command, cells, 0)
    assert width(line) <= cells
    assert command.what[:12] in plain([line])
    assert all(width(row) <= cells for row in detail_lines(command, cells))


def test_a_practice_host_is_simulated_in_its_row():
    assert "SIMULATED" in plain([command_line(replace(LAUNCHER, simulated=True), 116, 0)])


@pytest.mark.parametrize(
    ("terms", "found"),
    [
        ("launcher eagle3", True),
        ("pro6k", True),
        ("!launcher", False),
        ("!stat", True),
        ("x9", False),
    ],
)
def test_words_find_entries_and_leave_them_out(terms, found):
    assert matches(LAUNCHER, terms) is found


def test_what_a_start_ran_is_what_its_row_says():
    assert LAUNCHER.brief.startswith(" ".join(LAUNCH[:3]))
