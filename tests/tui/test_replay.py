"""A recording on the screens: the same panels, marked everywhere, moved by its own keys."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial

import pytest
from textual.binding import Binding

from specctl.adapters.recording import Recording, RecordingFile
from specctl.domain.events import HostSampled, LinkChanged
from specctl.domain.recording import RecordingHead
from specctl.services.replaying import Standing
from specctl.tui.actions import ACTIONS, BY_ID, Kind
from specctl.tui.panel import Painted
from specctl.tui.render.fleet import subject_of
from specctl.tui.render.lines import plain, width
from specctl.tui.render.replay import off_in_replay, replay_bar
from specctl.tui.replay import BINDINGS, ReplayApp
from tests.tui import parts, story
from tests.tui.driving import press, toasts, until
from tests.unit.services.test_replaying import Hands


@pytest.fixture
def recording(tmp_path):
    events = sorted(story.pro6k_01("lab-1", simulated=True), key=lambda event: event.time_s)
    file = RecordingFile(
        tmp_path / "a.jsonl",
        RecordingHead(events[0].time_s, ("lab-1",), ("lab-1",)),
        most_bytes=1 << 30,
    )
    for event in events:
        file.write(event)
    file.close()
    with Recording(tmp_path / "a.jsonl") as found:
        yield found


@asynccontextmanager
async def replaying(recording, *keys, size=(120, 40), **options):
    clock = Hands()
    app = ReplayApp(recording, clock=clock, offset_s=parts.OFFSET_S, **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.services is not None)
        await press(pilot, *keys)
        yield app, pilot, clock


def screen(app) -> str:
    painted = [w for w in app.screen.query(Painted) if w.display and w.size.height]
    return "\n".join(plain(widget.build(*widget.size)) for widget in painted)


async def test_values_of_a_slow_recording_are_of_now_until_the_third_is_missing(tmp_path):
    host, head = "slow", RecordingHead(parts.NOW_S, ("slow",), interval_s=10.0)
    file = RecordingFile(tmp_path / "slow.jsonl", head, most_bytes=1 << 20)
    for event in (
        LinkChanged(host, parts.NOW_S, "up"),
        HostSampled(host, parts.NOW_S, parts.host_sample(())),
        LinkChanged("other", parts.NOW_S + 60, "up"),
    ):
        file.write(event)
    file.close()
    with Recording(tmp_path / "slow.jsonl") as recording:
        async with replaying(recording) as (app, pilot, clock):
            for at_s, is_stale in ((29.0, False), (32.0, True)):
                clock.at_s = at_s
                now_s = parts.NOW_S + at_s
                await until(pilot, partial(_is_at, app, now_s))
                assert app.scene.is_stale(host) is is_stale
                assert subject_of(app.scene, host, with_evens=False).is_stale is is_stale


def _is_at(app, now_s):
    return app.scene.now_s >= now_s


def at_end(recording):
    return {"at_s": recording.length_s}


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_what_was_recorded_is_shown_and_every_screen_says_that_it_is_a_replay(
    recording, size
):
    async with replaying(recording, size=size, **at_end(recording)) as (app, pilot, _):
        await until(pilot, lambda: "53.6" in screen(app))
        for keys in ((), ("enter",), ("question_mark",)):
            await press(pilot, *keys)
            text = screen(app)
            assert "REPLAY" in text
            assert "● live" not in text
            assert "SIMULATED" in text or keys == ("question_mark",)
            assert "■ at the end" in text or keys == ("question_mark",)


async def test_its_keys_move_it(recording):
    async with replaying(recording) as (app, pilot, clock):
        player = app.player
        clock.at_s = 2
        assert player.at_s == pytest.approx(2)
        await press(pilot, "space")
        clock.at_s = 50
        assert player.at_s == pytest.approx(2)
        assert "‖ paused" in screen(app)
        await press(pilot, "full_stop", "full_stop")
        assert player.at_s == pytest.approx(4)
        await press(pilot, "comma")
        assert player.at_s == pytest.approx(3)
        await press(pilot, "greater_than_sign")
        assert player.at_s == pytest.approx(63)
        await press(pilot, "less_than_sign", "space", "right_parenthesis")
        assert (player.speed, player.is_paused) == (2.0, False)
        await press(pilot, "left_parenthesis", "left_parenthesis", "f")
        assert (player.speed, player.is_paused) == (0.5, True)


async def test_nothing_can_be_acted_on_and_the_keys_say_why(recording):
    async with replaying(recording, "enter", **at_end(recording)) as (app, pilot, _):
        for keys in (*"sxparPST", ("colon", *"stop", "enter")):
            app.clear_notifications()
            await press(pilot, *keys)
            assert len(app.screen_stack) == 2, keys
            assert any("This is a replay" in words for words in toasts(app)), keys


async def test_a_jump_back_forgets_what_was_later(recording):
    async with replaying(recording, "enter", **at_end(recording)) as (app, pilot, _):
        await until(pilot, lambda: bool(app.recent.logs))
        app.player.seek(0)
        await until(pilot, lambda: not app.recent.logs)


async def test_its_logs_are_those_that_were_recorded(recording):
    async with replaying(recording, "enter", **at_end(recording)) as (app, pilot, _):
        await until(pilot, lambda: bool(app.recent.logs))
        await press(pilot, "L")
        await until(pilot, lambda: "accept len" in screen(app))
        assert "REPLAY" in screen(app)
        app.player.seek(0)
        await until(pilot, lambda: "accept len" not in screen(app))


def test_every_action_that_changes_something_is_off_and_moving_is_not():
    for action in ACTIONS:
        if action.changes:
            assert off_in_replay(action)
        if action.kind in {Kind.MOVE, Kind.TOOL}:
            assert not off_in_replay(action)
    assert not off_in_replay(BY_ID["copy.selection"])


def test_no_key_of_a_replay_is_one_of_the_screens_it_can_show():
    own = {binding.key for binding in BINDINGS if isinstance(binding, Binding)}
    others = [a for a in ACTIONS if not (a.verb or "replay" in a.where or off_in_replay(a))]
    taken = {key for action in others for key in action.keys}
    assert own & taken <= {"full_stop", "space"}


@pytest.mark.parametrize("cells", [80, 100, 120, 200])
@pytest.mark.parametrize("paused", [True, False])
def test_the_bar_fits(cells, paused):
    line = replay_bar(Standing(4980.0, 86_400.0, 4.0, paused, is_over=False), cells)
    text = plain([line])
    assert width(line) <= cells
    assert " REPLAY " in text
    assert "1:23:00 of 24:00:00" in text
    assert "4x" in text
    assert ("goes on" if paused else "pauses") in text
