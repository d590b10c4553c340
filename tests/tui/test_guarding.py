"""A session that was opened read-only from outside stays so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.errors import RefusedError
from specctl.tui import app as composition
from specctl.tui.settings import read_settings
from tests.tui import story
from tests.tui.driving import press, shown, toasts
from tests.tui.fakes import DemoApp

LIFT = ("colon", *"readonly", "space", *"off", "enter")


async def test_a_locked_guard_is_not_lifted_from_the_screen() -> None:
    app = DemoApp(story.pro6k_01(), read_only=True)
    app.settings = replace(app.settings, is_locked=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shown(pilot)
        await press(pilot, *LIFT)
        assert any("specctl web --allow-changes" in toast for toast in toasts(app))
        assert app.read_only
        assert app.fake is not None
        assert app.fake.calls == []
        await press(pilot, "s")
        assert not any(":readonly off" in toast for toast in toasts(app))
        assert app.fake.calls == []


async def test_a_host_of_a_locked_session_can_still_be_guarded() -> None:
    app = DemoApp(story.pro6k_01())
    app.settings = replace(app.settings, is_locked=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shown(pilot)
        await press(pilot, "colon", *"readonly", "space", *"on", "enter")
        assert app.fake is not None
        assert app.fake.calls == [("set_read_only", "pro6k-01", True)]


def test_a_locked_session_makes_no_workspace(tmp_path) -> None:
    locked = read_settings({}, read_only=True, is_locked=True)
    with pytest.raises(RefusedError):
        composition._open(str(tmp_path / "ws"), create=True, settings=locked)
    assert not (tmp_path / "ws").exists()
    composition._open(str(tmp_path / "ws"), create=True, settings=read_settings({}))
    assert (tmp_path / "ws/remotes").is_dir()
