from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.plan import refused
from specctl.tui.render.lines import plain, width
from specctl.tui.render.plan import (
    Choice,
    command_lines,
    draw_plan,
    is_allowed,
    natural_rows,
    title,
)
from tests.tui import parts, plans, story
from tests.unit.tui.scenes import scene_of

SCENE = scene_of(story.pro6k_01())
PLAN = plans.start_plan()


def text_of(choice: Choice = Choice(), rows: int = 40, cells: int = 92) -> str:  # noqa: B008
    return plain(draw_plan(SCENE, PLAN, cells, rows, choice).body)


def test_a_plan_says_what_stops_what_is_done_and_what_was_checked() -> None:
    text = text_of()

    assert "STOPS" in text
    assert "kimi-k2.5-eagle3  pid 48213  port 30000  started by aw  up 2 h 01 min" in text
    assert "1 request is running on it" in text
    assert "about 6 min (3 earlier loads here)" in text
    assert "▲  The engine sets speculative-eagle-topk to 10" in text
    assert "5 passed  tab list" in text


def test_the_command_is_whole_and_secrets_are_masked() -> None:
    lines = text_of().split("COMMAND")[1]
    words = lines.replace(" \\\n", " ").split()

    assert [word for word in words if word in plans.COMMAND] == list(plans.COMMAND)
    assert "HF_TOKEN=••••" in lines


@pytest.mark.parametrize("cells", [76, 88, 92, 100])
@pytest.mark.parametrize("rows", [12, 22, 30, 50])
def test_the_buttons_are_always_in_the_last_row(cells: int, rows: int) -> None:
    drawing = draw_plan(SCENE, PLAN, cells, rows, Choice())

    assert len(drawing.body) == rows
    assert "Cancel  esc" in plain(drawing.body[-1:])
    assert all(width(line) <= cells for line in drawing.body)


def test_natural_rows_show_everything() -> None:
    rows = natural_rows(SCENE, PLAN, 92, Choice())

    assert draw_plan(SCENE, PLAN, 92, rows, Choice()).note == []
    assert draw_plan(SCENE, PLAN, 92, rows - 1, Choice()).note != []


@pytest.mark.parametrize(
    ("typed", "allowed"),
    [("", False), ("pro6k-0", False), ("pro6k-01 ", False), ("pro6k-01", True)],
)
def test_only_the_whole_name_allows_it(typed: str, *, allowed: bool) -> None:
    assert is_allowed(PLAN, typed) is allowed


def test_a_refused_plan_cannot_be_allowed_and_says_why() -> None:
    plan = plans.refused_plan()
    text = plain(draw_plan(SCENE, plan, 92, 40, Choice()).body)

    assert not is_allowed(plan, plan.needs_typed or "")
    assert "✗  Port 30000 is held by pid 5123 of mkl." in text
    assert "Choose another with --port." in text
    assert "Refused: Port 30000" in text
    assert "Cancel" not in text


def test_the_last_row_of_a_plan_refused_twice_counts_the_other_reason() -> None:
    plan = plans.refused_plan()
    more = replace(plan, checks=(*plan.checks, refused("disk", "No room.", "Free some.")))
    drawn = draw_plan(SCENE, more, 92, 40, Choice()).body

    assert "Refused (and 1 more): Port 30000" in plain(drawn[-1:])
    assert "Free some." in plain(drawn)


def test_a_plan_without_steps_says_that_it_is_so_already() -> None:
    text = plain(draw_plan(SCENE, replace(PLAN, steps=(), stops=()), 92, 40, Choice()).body)

    assert "Nothing to do: it is so already." in text
    assert "Close" in text


def test_the_chosen_button_is_the_reversed_one() -> None:
    calm = draw_plan(SCENE, PLAN, 92, 40, Choice(typed="pro6k-01")).body[-1]
    ready = draw_plan(SCENE, PLAN, 92, 40, Choice(typed="pro6k-01", on_action=True)).body[-1]

    assert ("  Cancel  esc  ", "chosen") in calm
    assert ("  Stop and start  ", "chosen") in ready


def test_y_is_offered_only_where_it_copies() -> None:
    asks = plain(draw_plan(SCENE, PLAN, 92, 40, Choice()).body)
    free = plain(draw_plan(SCENE, replace(PLAN, needs_typed=None), 92, 40, Choice()).body)

    assert PLAN.needs_typed is not None
    assert "y copy" not in asks
    assert "y copy" in free


def test_titles() -> None:
    assert title(PLAN) == "Start kimi-k2.5-ngram on pro6k-01"
    assert title(replace(PLAN, kind="stop", profile=None)) == "Stop 7c1e on pro6k-01"


def test_a_foreign_server_is_marked() -> None:
    foreign = parts.server(is_ours=False)
    text = plain(draw_plan(SCENE, replace(PLAN, stops=(foreign,)), 92, 40, Choice()).body)

    assert "specctl did not start it" in text


def test_a_hostile_command_stays_on_its_lines() -> None:
    lines = command_lines(("python", "--model-path", "\x1b[2J/models/\u202e", "x" * 500), 60)

    assert all(part.isprintable() for line in lines for part, _ in line)
