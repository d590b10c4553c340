"""The source screen: algorithms, rules, flags and files of a build, and the line that says so."""

from __future__ import annotations

import time

import pytest
from textual.events import MouseScrollDown

from specctl.domain.errors import SpecctlError
from specctl.domain.source import Place
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.source import SourceScreen
from tests.tui import library, story
from tests.tui.driving import on, press, running, settled, shown, text_of, toasts

SIZES = [(120, 40), (80, 24), (200, 50)]


async def test_the_tree_is_read_once_it_is_asked_for_and_its_first_line_shown() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, fake):
        await settled(pilot)
        screen = on(app, SourceScreen)
        assert ("read_source", "pro6k-01", False) in fake.calls
        assert "EAGLE" in text_of(app)
        assert screen.desk.place == Place(library.ENUM, 15)
        assert "EAGLE = auto()" in text_of(app)


async def test_while_it_is_read_keys_work_and_the_screen_says_so() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.read_gate.clear()
        await press(pilot, "S", "j", "2", "tab")
        assert "Reading the tree on pro6k-01" in text_of(app)
        await press(pilot, "escape")
        on(app, FleetScreen)
        fake.read_gate.set()
        await settled(pilot)
        await press(pilot, "S")
        assert "EAGLE3" in text_of(app), "what was read while away is there at once"


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_an_error_is_shown_in_place_with_what_to_do(size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(), size=size) as (app, pilot, fake):
        fake.refuse = SpecctlError("pro6k-01 has no SGLang.", hint="Set python in its file.")
        await press(pilot, "S")
        await settled(pilot)
        assert "pro6k-01 has no SGLang." in text_of(app)
        assert "Set python in its file." in text_of(app)
        fake.refuse = None
        await press(pilot, "r")
        await settled(pilot)
        assert "NGRAM" in text_of(app)


async def test_the_other_panels_follow_the_algorithm() -> None:
    async with running(story.pro6k_01(), "S", "j", "j", "j") as (app, pilot, _):
        await settled(pilot)
        text = text_of(app)
        assert "NGRAM: what the source says" in text
        assert "no restriction" not in text.lower()
        assert on(app, SourceScreen).desk.flags[0].name == "--speculative-ngram-max-trie-depth"
        await press(pilot, "k")
        assert "No restriction of STANDALONE was found." in text_of(app)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_enter_on_a_rule_opens_its_line(size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(), "S", size=size) as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "j", "j", "j", "2", "enter")
        await settled(pilot)
        screen = on(app, SourceScreen)
        assert app.focused is screen.viewer
        assert screen.viewer.at == 1318, "what names the algorithm comes first"
        assert 'logger.warning("eagle-topk is set to' in text_of(app)


async def test_enter_on_a_flag_opens_where_it_is_declared() -> None:
    async with running(story.pro6k_01(), "S", "3", "slash", *"ngram-capacity", "enter") as (
        app,
        pilot,
        _,
    ):
        await settled(pilot)
        assert "1" in text_of(app)
        await press(pilot, "enter")
        await settled(pilot)
        assert on(app, SourceScreen).viewer.place() == Place(library.ARGUMENTS, 440)


async def test_files_fold_and_open() -> None:
    async with running(story.pro6k_01(), "S", "5") as (app, pilot, _):
        await settled(pilot)
        screen = on(app, SourceScreen)
        before = len(screen.desk.entries)
        await press(pilot, "h")
        assert len(screen.desk.entries) == before - 29
        await press(pilot, "l", "j", "enter")
        await settled(pilot)
        assert app.focused is screen.viewer
        assert screen.viewer.code is not None
        assert screen.viewer.code.name == library.ENUM


async def test_filtering_files_shows_paths_and_escape_clears_it() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "5", "slash", *"ngram.h", "enter")
        assert "srt/speculative/cpp_ngram/ngram.h" in text_of(app)
        assert on(app, SourceScreen).files.count() == 1
        await press(pilot, "escape")
        assert on(app, SourceScreen).files.count() > 1
        on(app, SourceScreen)


async def test_searching_a_file_goes_from_match_to_match_and_round() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "4", "slash", *"ngram", "enter")
        viewer = on(app, SourceScreen).viewer
        assert viewer.at == 17
        await press(pilot, "n")
        assert viewer.at == 36
        await press(pilot, "n")
        assert viewer.at == 17
        await press(pilot, "N")
        assert viewer.at == 36
        assert "/ngram 2 of 2" in text_of(app)


async def test_grep_asks_the_host_and_n_goes_through_what_it_found() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "ctrl+g", *"ngram", "enter")
        await settled(pilot)
        assert ("find_in_source", "pro6k-01", "ngram") in fake.calls
        screen = on(app, SourceScreen)
        assert "server_args.py:1318" in text_of(app)
        assert screen.viewer.place() == Place(library.ARGUMENTS, 1318)
        await press(pilot, "n", "n")
        await settled(pilot)
        assert screen.viewer.place() == Place(library.NGRAM, 4)
        await press(pilot, "escape")
        assert screen.desk.hits is None
        on(app, SourceScreen)


async def test_grep_that_finds_nothing_says_so() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "ctrl+g", *"zebra", "enter")
        await settled(pilot)
        assert "Nothing in the tree has zebra." in text_of(app)


async def test_letters_typed_into_a_search_do_nothing_else() -> None:
    async with running(story.pro6k_01(), "S", "ctrl+g", "s", "d", "q") as (app, _, fake):
        on(app, SourceScreen)
        assert not any(call[0] in {"plan_start", "find_in_source"} for call in fake.calls)


async def test_what_could_not_be_read_is_listed_with_its_place() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.trees["pro6k-01"] = library.damaged_tree()
        await press(pilot, "S")
        await settled(pilot)
        text = text_of(app)
        assert "▲2 not read" in text
        assert "▲ invalid syntax" in text
        assert "NGRAM             —      —  —" in text, "unknown is never a zero"


async def test_a_build_without_speculation_says_so() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.trees["pro6k-01"] = library.tree(
            version="0.4.1", algorithms=(), flags=(), has_speculation=False
        )
        await press(pilot, "S")
        await settled(pilot)
        assert "0.4.1 has no speculation at all." in text_of(app)


async def test_a_file_that_cannot_be_read_says_so() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "5", "j", "j", "enter")
        await settled(pilot)
        assert "is gone from pro6k-01." in text_of(app)


async def test_braces_turn_to_the_next_hosts_tree() -> None:
    async with running(story.fleet(), "G", "k", "S") as (app, pilot, fake):
        await settled(pilot)
        assert on(app, SourceScreen).desk.host == "gb10-lab"
        await press(pilot, "right_curly_bracket")
        await settled(pilot)
        assert on(app, SourceScreen).desk.host == "lab-1"
        assert ("read_source", "lab-1", False) in fake.calls


async def test_a_tree_that_is_the_same_keeps_what_was_read_of_it() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, fake):
        await settled(pilot)
        fake.calls.clear()
        await press(pilot, "r")
        await settled(pilot)
        assert fake.calls == [("read_source", "pro6k-01", True)]
        fake.trees["pro6k-01"] = library.older_tree()
        await press(pilot, "r")
        await settled(pilot)
        assert not on(app, SourceScreen).desk.codes


async def test_two_builds_are_held_against_each_other() -> None:
    async with running(story.fleet(), "G", "k", "S") as (app, pilot, fake):
        fake.trees["h100-a1"] = library.older_tree()
        await settled(pilot)
        await press(pilot, "d")
        on(app, ChoiceDialog)
        await press(pilot, *"h100-a1", "enter")
        await settled(pilot)
        on(app, DifferenceScreen)
        text = text_of(app)
        assert "DSPARK" in text
        assert "--speculative-ngram-capacity" in text
        assert "10000000" in text
        await press(pilot, "G")
        await settled(pilot)
        assert on(app, DifferenceScreen).lines.file == library.ENUM
        await press(pilot, "escape")
        on(app, SourceScreen)


async def test_a_host_that_cannot_be_reached_is_not_chosen() -> None:
    async with running(story.fleet(), "G", "k", "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "d", *"l40s-08", "enter")
        on(app, ChoiceDialog)
        assert any("lost" in toast for toast in toasts(app))


async def test_copy_takes_the_path_and_line() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "j", "j", "j", "2", "y")
        assert app.clipboard == (
            "/opt/sglang-0.5.23/lib/python3.12/site-packages/sglang/srt/server_args.py:1319"
        )


async def test_coming_back_shows_what_was_looked_at() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "j", "j", "j", "2", "enter")
        await settled(pilot)
        await press(pilot, "escape", "S")
        await settled(pilot)
        screen = on(app, SourceScreen)
        assert screen.algorithms.at == 3
        assert screen.viewer.place() == Place(library.ARGUMENTS, 1319)


async def test_a_click_chooses_and_a_double_click_opens() -> None:
    async with running(story.pro6k_01(), "S") as (app, pilot, _):
        await settled(pilot)
        await pilot.click("#algorithms", offset=(6, 6))
        await settled(pilot)
        screen = on(app, SourceScreen)
        assert screen.desk.algorithm is not None
        assert screen.desk.algorithm.name == "NGRAM"
        await pilot.click("#rules", offset=(6, 1), times=2)
        await settled(pilot)
        assert app.focused is screen.viewer
        assert screen.viewer.at == 1318


async def test_the_wheel_scrolls_the_file() -> None:
    async with running(story.pro6k_01(), "S", "j", "j", "j", "2", "enter") as (app, pilot, _):
        await settled(pilot)
        viewer = on(app, SourceScreen).viewer
        before = viewer.at
        await pilot._post_mouse_events([MouseScrollDown], "#viewer")
        await shown(pilot)
        assert viewer.at == before + 3


async def test_the_command_line_opens_the_source_of_a_host() -> None:
    async with running(story.fleet(), "colon", *"source", "space", *"pro6k-01", "enter") as (
        app,
        pilot,
        _,
    ):
        await settled(pilot)
        assert on(app, SourceScreen).desk.host == "pro6k-01"


async def test_a_file_of_ten_thousand_lines_stays_smooth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(library.TEXTS, library.ARGUMENTS, library.arguments_text(12_000))
    async with running(story.pro6k_01(), "S", "j", "j", "j", "2", "enter") as (app, pilot, _):
        await settled(pilot)
        viewer = on(app, SourceScreen).viewer
        assert viewer.count() == 12_000
        took = []
        for key in ("ctrl+d", "G", "g", "ctrl+f", "j") * 4:
            begun = time.perf_counter()
            await pilot.press(key)
            took.append(time.perf_counter() - begun)
        assert viewer.at > 0
        assert len(viewer.code.spans if viewer.code else ()) < 1000, "only what was seen was read"
        assert sorted(took)[len(took) // 2] < 0.25, "generous: other work may run here"
