"""The profiles screen: marks beside the lines, the exact command, the editor, differences."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.domain.errors import SpecctlError, UsageError
from specctl.domain.events import ServersSeen
from specctl.domain.source import Place
from specctl.tui.reading import ProfileSheet
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.drift import DriftDialog
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.plan import PlanDialog
from specctl.tui.screens.profiles import ProfilesScreen
from specctl.tui.screens.source import SourceScreen
from tests.tui import library, parts, recipes, story
from tests.tui.driving import on, press, running, settled, text_of, toasts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.tui.fakes import DemoApp

SIZES = [(120, 40), (80, 24), (200, 50)]
EAGLE = "kimi-k2.5-eagle3"


async def test_every_profile_is_checked_against_the_host_that_was_looked_at() -> None:
    async with running(story.pro6k_01(), "P") as (app, pilot, fake):
        await settled(pilot)
        asked = [call for call in fake.calls if call[0] == "read_profile"]
        assert asked[0] == ("read_profile", "kimi-k2.5-baseline", "pro6k-01")
        assert {call[1] for call in asked} == {entry.name for entry in recipes.ENTRIES}
        text = text_of(app)
        assert "✗1 ▲2" in text
        assert "for SGLang 0.5.23" in text


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_marks_stand_at_their_lines_and_the_words_under_them(size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(), "P", "j", size=size) as (app, pilot, _):
        await settled(pilot)
        lines = text_of(app).splitlines()
        at = next(i for i, line in enumerate(lines) if "cuda-graph-max-bs   = 16" in line)
        assert lines[at].strip().startswith("9 ✗")
        assert "└ gone since 0.5.20" in lines[at + 1]


async def test_profiles_that_cannot_be_read_again_stand_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(story.pro6k_01(), "P") as (app, pilot, fake):
        await settled(pilot)

        async def gone() -> None:
            raise UsageError("the workspace ~/ws is gone", hint="Put it back.")

        monkeypatch.setattr(fake, "list_profiles", gone)
        await press(pilot, "r")
        await settled(pilot)
        assert any("the workspace ~/ws is gone" in str(one) for one in toasts(app))
        assert EAGLE in text_of(app)


async def test_a_finding_is_told_in_full_when_it_is_chosen() -> None:
    async with running(story.pro6k_01(), "P", "j", "n", "n") as (app, pilot, _):
        await settled(pilot)
        screen = on(app, ProfilesScreen)
        assert app.focused is screen.text
        await press(pilot, "g", "n")
        text = text_of(app)
        assert "write cuda-graph-max-bs-decode = 16" in text
        assert "error, removed-flag, 0.5.20 and later" in text
        assert "srt/server_args.py:1084" in text


async def test_enter_on_a_finding_opens_the_line_that_says_so() -> None:
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, _):
        await settled(pilot)
        await press(pilot, "3", "g", "n", "enter")
        await settled(pilot)
        screen = on(app, SourceScreen)
        assert screen.viewer.place() == Place(library.ARGUMENTS, 1084)
        await press(pilot, "escape")
        on(app, ProfilesScreen)


async def test_the_exact_command_is_shown_and_copied() -> None:
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, _):
        await settled(pilot)
        assert "--speculative-num-draft-tokens 6" in text_of(app)
        await press(pilot, "y")
        assert app.clipboard == recipes.recipe(EAGLE, "pro6k-01").command


async def test_the_recipe_says_where_each_value_came_from() -> None:
    async with running(story.pro6k_01(), "P", "j", "5", "G") as (app, pilot, _):
        await settled(pilot)
        text = text_of(app)
        assert "toml:20" in text
        assert "default" in text
        await press(pilot, "g", "y")
        assert app.clipboard == 'model = "moonshotai/Kimi-K2.5"'


async def test_git_state_and_expectation_are_told() -> None:
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, _):
        await settled(pilot)
        text = text_of(app)
        assert "4f2c1e9, edited since" in text
        assert "accept ≥ 2.5, speedup ≥ 1.3×" in text
        await press(pilot, "G")
        assert "not in git yet" in text_of(app)


async def test_a_profile_that_cannot_be_used_says_why_and_makes_no_command() -> None:
    async with running(story.pro6k_01(), "P", "G") as (app, pilot, _):
        await settled(pilot)
        text = text_of(app)
        assert "not TOML: expected '=' after a key" in text
        assert "None: what is wrong above comes first." in text
        await press(pilot, "y")
        assert any("Nothing to copy" in toast for toast in toasts(app))


async def test_s_shows_the_plan_of_starting_it_here() -> None:
    async with running(story.pro6k_01(), "P", "j", "s") as (app, pilot, fake):
        await settled(pilot)
        on(app, PlanDialog)
        assert ("plan_start", "pro6k-01", EAGLE, True) in fake.calls


async def test_enter_chooses_the_host_first() -> None:
    async with running(story.fleet(), "P", "j", "enter") as (app, pilot, fake):
        await settled(pilot)
        on(app, ChoiceDialog)
        await press(pilot, *"pro6k-02", "enter")
        await settled(pilot)
        on(app, PlanDialog)
        assert ("plan_start", "pro6k-02", EAGLE, True) in fake.calls


async def test_read_only_refuses_the_start_and_says_the_way_out() -> None:
    async with running(story.pro6k_01(read_only=True), "P", "j", "s") as (app, pilot, fake):
        await settled(pilot)
        assert not any(call[0] == "plan_start" for call in fake.calls)
        assert any("read-only" in toast for toast in toasts(app))
        await press(pilot, "enter", "enter")
        on(app, ChoiceDialog)


@contextmanager
def lent(app: DemoApp) -> Iterator[None]:
    """A terminal that can be lent, which a test has not."""
    yield


async def test_e_edits_the_file_and_checks_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, editor = tmp_path / "kimi.toml", tmp_path / "editor"
    file.write_text("num-draft-tokens = 6\n")
    editor.write_text('#!/bin/sh\nprintf "edited\\n" > "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"{editor} --wait")
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, fake):
        await settled(pilot)
        fake.edited = file
        monkeypatch.setattr(app, "suspend", lambda: lent(app))
        fake.sheets[EAGLE] = replace(recipes.sheet(EAGLE, "pro6k-01"), findings=())
        fake.calls.clear()
        await press(pilot, "e")
        await settled(pilot)
        assert file.read_text() == "edited\n"
        assert ("list_profiles",) in fake.calls
        assert ("read_profile", EAGLE, "pro6k-01") in fake.calls
        assert "✓ for SGLang 0.5.23" in text_of(app)


async def test_a_full_stop_applies_the_fix_after_it_was_shown() -> None:
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "3", "g", "n", "full_stop")
        await settled(pilot)
        on(app, ConfirmDialog)
        assert "- cuda-graph-max-bs   = 16" in text_of(app)
        assert "+ cuda-graph-max-bs-decode   = 16" in text_of(app)
        await press(pilot, "escape")
        assert not any(call[0] == "rewrite_profile" for call in fake.calls)
        await press(pilot, "full_stop")
        await settled(pilot)
        await press(pilot, "enter")
        await settled(pilot)
        call = next(call for call in fake.calls if call[0] == "rewrite_profile")
        assert call[1:3] == (EAGLE, recipes.PROFILE_TEXT)
        assert "cuda-graph-max-bs-decode   = 16" in str(call[3])


async def test_a_finding_without_another_spelling_says_what_to_do() -> None:
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "3", "G", "N", "full_stop")
        await settled(pilot)
        assert any("Nothing to apply" in toast for toast in toasts(app))
        assert not any(call[0] == "rewrite_profile" for call in fake.calls)


async def test_a_makes_a_new_profile_of_this_one_and_turns_to_it() -> None:
    async with running(story.pro6k_01(), "P", "j") as (app, pilot, fake):
        await settled(pilot)
        await press(pilot, "a", *"mine", "enter")
        await settled(pilot)
        assert ("new_profile", "mine", EAGLE) in fake.calls
        chosen = on(app, ProfilesScreen).shelf.chosen
        assert chosen is not None
        assert chosen.name == "mine"
        assert on(app, ProfilesScreen).list.chosen == chosen
        fake.refuse = SpecctlError("profiles/mine.toml exists already", hint="another name")
        await press(pilot, "a", *"mine", "enter")
        await settled(pilot)
        assert any("exists already" in toast for toast in toasts(app))


async def test_a_terminal_that_cannot_be_lent_says_so() -> None:
    async with running(story.pro6k_01(), "P", "j", "e") as (app, pilot, _):
        await settled(pilot)
        assert any("Edit is off" in toast for toast in toasts(app))


async def test_a_read_only_session_edits_and_makes_nothing() -> None:
    keys = ("P", "j", "e", "a", "full_stop")
    async with running(story.pro6k_01(), *keys, read_only=True) as (app, pilot, fake):
        await settled(pilot)
        writing = {"profile_path", "new_profile", "rewrite_profile"}
        assert not any(call[0] in writing for call in fake.calls)
        assert on(app, ProfilesScreen).prompt is None
        assert any("read-only" in toast for toast in toasts(app))


async def test_an_editor_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    given_back: list[bool] = []

    @contextmanager
    def lent_once() -> Iterator[None]:
        yield
        given_back.append(True)  # as Textual: not after an exception

    async with running(story.pro6k_01(), "P", "j") as (app, pilot, _):
        await settled(pilot)
        monkeypatch.setattr(app, "suspend", lent_once)
        await press(pilot, "e")
        await settled(pilot)
        assert given_back
        assert any("/nowhere/editor cannot be started" in toast for toast in toasts(app))


async def test_two_profiles_are_held_against_each_other() -> None:
    async with running(story.pro6k_01(), "P", "j", "d", *"ngram", "enter") as (app, pilot, _):
        await settled(pilot)
        on(app, DifferenceScreen)
        text = text_of(app)
        assert "speculation.algorithm" in text
        assert 'algorithm        = "EAGLE3"' in text
        assert 'algorithm        = "NGRAM"' in text


async def test_a_profile_is_held_against_what_runs() -> None:
    argv = (*recipes.ARGV[:-4], "--speculative-num-draft-tokens", "4", "--port", "30001")
    servers = (parts.server(argv=argv),)
    events = [*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, servers)]
    async with running(events, "P", "j", "d", *"what", "enter") as (app, pilot, _):
        await settled(pilot)
        on(app, DifferenceScreen)
        text = text_of(app)
        assert "--speculative-num-draft-tokens" in text
        assert "--port" in text
        assert "--tp-size" not in text


async def test_filter_narrows_the_list_and_escape_clears_it() -> None:
    async with running(story.pro6k_01(), "P", "slash", *"qwen", "enter") as (app, pilot, _):
        await settled(pilot)
        screen = on(app, ProfilesScreen)
        assert [entry.name for entry in screen.list.found] == ["qwen3-4b-ngram"]
        assert "qwen3-4b-ngram.toml" in text_of(app)
        await press(pilot, "escape")
        assert len(screen.list.found) == len(recipes.ENTRIES)
        await press(pilot, "escape")
        on(app, FleetScreen)


async def test_braces_check_against_the_next_host() -> None:
    async with running(story.fleet(), "P") as (app, pilot, fake):
        await settled(pilot)
        first = on(app, ProfilesScreen).shelf.host
        fake.calls.clear()
        await press(pilot, "right_curly_bracket")
        await settled(pilot)
        host = on(app, ProfilesScreen).shelf.host
        assert host != first
        assert ("read_profile", "kimi-k2.5-baseline", host) in fake.calls


async def test_what_was_not_checked_against_the_build_says_why() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.sheets["kimi-k2.5-baseline"] = ProfileSheet(
            "kimi-k2.5-baseline", "pro6k-01", text="a = 1\n", unchecked="pro6k-01 is not connected"
        )
        await press(pilot, "P")
        await settled(pilot)
        assert "without a host's build" in text_of(app)
        panel = on(app, ProfilesScreen).text
        assert "pro6k-01 is not connected" in str(panel.frame(80))


async def test_profiles_that_cannot_be_listed_say_why() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.refuse = SpecctlError("profiles/ cannot be read.", hint="")
        await press(pilot, "P")
        await settled(pilot)
        assert "profiles/ cannot be read." in text_of(app)


async def test_a_click_chooses_a_profile_and_a_finding() -> None:
    async with running(story.pro6k_01(), "P") as (app, pilot, _):
        await settled(pilot)
        await pilot.click("#profiles", offset=(6, 3))
        await settled(pilot)
        screen = on(app, ProfilesScreen)
        assert screen.shelf.chosen is not None
        assert screen.shelf.chosen.name == EAGLE
        await pilot.click("#text", offset=(10, 11))
        await settled(pilot)
        assert screen.text.finding is not None
        assert "removed-flag" in screen.text.finding.rule


async def test_the_command_line_opens_profiles() -> None:
    async with running(story.fleet(), "colon", *"profiles", "space", *"h100-a2", "enter") as (
        app,
        pilot,
        _,
    ):
        await settled(pilot)
        assert on(app, ProfilesScreen).shelf.host == "h100-a2"


async def test_drift_is_explained_with_its_causes() -> None:
    async with running(story.pro6k_01(), "enter", "d") as (app, pilot, fake):
        await settled(pilot)
        on(app, DriftDialog)
        assert ("read_drift", "pro6k-01", "7c1e") in fake.calls
        text = text_of(app)
        assert "speculative-num-steps" in text
        assert "changed in the profile since. profiles/kimi-k2.5-eagle3.toml:15" in text
        assert "REWRITTEN BY THE ENGINE" in text
        assert "environment was not compared: no permission" in text
        await press(pilot, "y")
        assert "max-running-requests" in app.clipboard
        await press(pilot, "escape")


async def test_drift_that_cannot_be_read_says_so() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, fake):
        fake.refuse = SpecctlError("pro6k-01 lost the connection.", hint="r reconnects.")
        await press(pilot, "d")
        await settled(pilot)
        assert "pro6k-01 lost the connection." in text_of(app)
        assert "r reconnects." in text_of(app)


async def test_drift_needs_a_server() -> None:
    async with running([*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, ())], "d") as (
        app,
        _,
        fake,
    ):
        assert not any(call[0] == "read_drift" for call in fake.calls)
        assert any("No server on pro6k-01." in toast for toast in toasts(app))
