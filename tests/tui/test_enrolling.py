"""A host is added from the fleet, a profile imported on its screen; nothing is written unasked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import Paste

from specctl.adapters.hostkeys import KnownKey
from specctl.domain.doctor import Level, Row
from specctl.domain.errors import HostKeyUnknownError, UnreachableError
from specctl.tui.enrolling import found_question, launch_text
from specctl.tui.render.lines import plain
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.profiles import ProfilesScreen
from tests.tui import story
from tests.tui.driving import on, press, running, settled, shown, text_of, toasts, until
from tests.tui.newcomer_fakes import ROWS
from tests.tui.test_tending import KEY

UNKNOWN = HostKeyUnknownError("host new-1: its key is not known", hint="specctl trust new-1")


async def test_a_host_is_looked_over_and_written_when_that_is_agreed_to():
    async with running(story.pro6k_01(), "n") as (app, pilot, fake):
        assert "new-1" in text_of(app)
        await press(pilot, *"new-1", "enter")
        await settled(pilot)
        assert "64 MiB of /dev/shm" in text_of(app)
        assert "→ Start the container with --shm-size 16g." in text_of(app)
        assert fake.added == []
        await press(pilot, "enter")
        await until(pilot, lambda: fake.added == ["new-1"])
        await settled(pilot)
        assert toasts(app)[-1] == "Wrote remotes/new-1.toml: It is watched from now on."


async def test_what_is_no_alias_can_be_typed():
    async with running(story.pro6k_01(), "n", *"box", "enter") as (app, pilot, fake):
        await settled(pilot)
        assert ("look_over", "box") in fake.calls
        await press(pilot, "escape")
        assert fake.added == []
        on(app, FleetScreen)


async def test_a_new_key_is_asked_about_first():
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.unknown_keys = [(UNKNOWN, KEY)]
        await press(pilot, "n", *"new-1", "enter")
        await settled(pilot)
        assert "SHA256:abcdef" in text_of(app)
        await press(pilot, "right", "enter")
        await until(pilot, lambda: ("trust", "SHA256:abcdef") in fake.calls)
        await until(pilot, lambda: "64 MiB of /dev/shm" in text_of(app))
        await press(pilot, "enter")
        await until(pilot, lambda: fake.added == ["new-1"])


async def test_a_different_key_is_never_written():
    other = KnownKey(KEY.file, 7, "key", "ssh-ed25519", "SHA256:123456")
    changed = replace(KEY, known=(other,))
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.unknown_keys = [(UNKNOWN, changed)]
        await press(pilot, "n", *"new-1", "enter")
        await settled(pilot)
        assert "another key is trusted" in text_of(app)
        await press(pilot, "right", "enter")
        assert not any(call[0] == "trust" for call in fake.calls)


async def test_a_machine_that_does_not_answer_is_not_written():
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.refuse = UnreachableError("host new-1 does not answer", hint="Check sshd.")
        await press(pilot, "n", *"new-1", "enter")
        await settled(pilot)
        assert "does not answer" in plain(on(app, ConfirmDialog).panel.build(96, 10))
        await press(pilot, "right", "enter")
        assert fake.added == []


def test_one_that_lacks_what_is_needed_cannot_be_written():
    row = Row("python", Level.FAIL, "no Python 3.8 or newer", "Install one.")
    question = found_question([*ROWS, row], is_usable=False)
    assert question.off == "It cannot be used yet; nothing was written."
    assert "✗ python" in plain(list(question.body))


async def test_a_read_only_session_adds_and_imports_nothing():
    async with running(story.pro6k_01(), "n", read_only=True) as (app, pilot, fake):
        assert toasts(app)[-1] == "Add is off: This session is read-only."
        await press(pilot, "P", "i")
        assert toasts(app)[-1] == "Import is off: This session is read-only."
        assert not {"look_over", "import_profile"} & {call[0] for call in fake.calls}


async def test_a_pasted_command_becomes_a_profile_whose_name_is_asked_for():
    async with running(story.pro6k_01(), "P") as (app, pilot, fake):
        await settled(pilot)
        command = "python -m sglang.launch_server --model-path org/Big-Model --tp 8"
        await press(pilot, "i")
        screen = on(app, ProfilesScreen)
        screen.post_message(Paste(command.replace(" --tp", " \\\n  --tp")))
        await shown(pilot)
        await press(pilot, "enter")
        assert "big-model" in str(screen._bar(120))
        await press(pilot, "enter")
        await settled(pilot)
        assert ("import_profile", "big-model", command) in fake.calls
        assert "Secrets were left out: api-key." in toasts(app)[-1]


def test_a_file_is_read_and_gives_the_name(tmp_path):
    path = tmp_path / "launch kimi.sh"
    path.write_text("#!/bin/sh\nsglang serve\n")
    assert launch_text(str(path)) == ("#!/bin/sh\nsglang serve\n", "launch-kimi")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sglang serve --model a/B-1.5", "b-1.5"),
        ("sglang serve --model-path=/models/Kimi/", "kimi"),
        ("docker run x", "imported"),
    ],
)
def test_a_command_gives_the_name_of_its_model(text, name):
    assert launch_text(text) == (text, name)
