from __future__ import annotations

import pytest
from rich.cells import cell_len

from specctl.tui.render.chrome import hints
from specctl.tui.render.fleet import Table, draw_fleet
from specctl.tui.render.glyphs import SPINNER, STATES, ascii_line, ascii_text
from specctl.tui.render.gpus import draw_gpus
from specctl.tui.render.lines import Line, plain, spread, width
from specctl.tui.render.server import draw_server
from specctl.tui.render.throughput import draw_throughput
from tests.tui import parts, story
from tests.unit.tui.scenes import scene_of

EMOJI = "⚠✔▶⏸▪"
FLEET = scene_of(story.fleet())


def drawn() -> list[Line]:
    """Every panel of the story."""
    out = draw_fleet(FLEET, Table(FLEET.hosts, "pro6k-01"), 116, 30)[0].body
    for scene in (
        scene_of(story.pro6k_01()),
        scene_of(story.cut_off()),
        scene_of(story.crossing()),
    ):
        out += draw_gpus(scene, "pro6k-01", 116, 12).body
        out += draw_throughput(scene, "pro6k-01", parts.server(), 68, 15).body
        out += draw_server(scene, "pro6k-01", parts.server(), 44, 15).body
    return out


@pytest.mark.parametrize("glyph", [*(glyph for glyph, _ in STATES.values()), *SPINNER])
def test_a_state_is_one_cell_and_no_emoji(glyph: str) -> None:
    assert cell_len(glyph) == 1
    assert glyph not in EMOJI


def test_ascii_leaves_nothing_outside_latin_1() -> None:
    text = "".join(part for line in drawn() for part, _ in ascii_line(line))

    assert {char for char in text if ord(char) > 0xFF} == set()


def test_ascii_is_as_wide_as_what_it_stands_for() -> None:
    for line in drawn():
        assert width(ascii_line(line)) == width(line), plain([line])


@pytest.mark.parametrize(
    ("text", "ascii_"),
    [
        ("≠ 48", "<>48"),
        ("6 → 4", "6 ->4"),
        ("accept ≥ 2.5", "accept >=2.5"),
        ("━━╸──", "==---"),
        ("● ready", "* ready"),
        ("⠉⣀", "'_"),
    ],
)
def test_ascii_stand_ins(text: str, ascii_: str) -> None:
    assert ascii_text(text) == ascii_


def test_what_ascii_makes_longer_is_taken_from_the_next_wide_gap() -> None:
    keys = hints([("← →", "choose"), ("enter", "do it")])
    line = spread(keys, [("  Cancel  esc  ", "chosen"), ("   ", ""), ("  Stop  ", "button")], 60)

    said = ascii_line(line)
    assert width(said) == 60
    assert plain([said]).startswith("< -> choose  enter do it   ")
    assert plain([said]).endswith("Cancel  esc       Stop")


def test_states_differ_without_colour() -> None:
    seen = {(glyph, state) for state, (glyph, _) in STATES.items()}

    assert len(seen) == len(STATES)
