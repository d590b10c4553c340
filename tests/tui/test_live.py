"""Live values on the screens that have them: old ones grey, spans, pauses, a past that stays."""

from __future__ import annotations

import pytest

from specctl.domain.events import HostSampled, ServerSampled
from specctl.domain.history import Span
from specctl.tui.panel import Painted
from specctl.tui.render.lines import Line, plain
from tests.tui import parts, story
from tests.tui.driving import press, running

LIVE = {"fleet": (), "host": ("enter",)}
SPANS = {Span.MINUTE: "1 min", Span.MINUTES_5: "5 min", Span.MINUTES_30: "30 min"}
ELSEWHERE = ("P", "escape", "T", "escape", "S", "escape", "L", "escape", "at", "escape")
HOST, SERVER = "pro6k-01", "7c1e"


def painted(app) -> list[Line]:
    widgets = [w for w in app.screen.query(Painted) if w.display and w.size.height]
    return [line for widget in widgets for line in widget.build(*widget.size)]


def text(app) -> str:
    return plain(painted(app))


def sampled(app, tokens_per_s: float) -> None:
    """A second goes by, and everything is measured again."""
    app.now_s += 1
    gpus = tuple(parts.gpu(n) for n in range(8))
    app.store.apply(HostSampled(HOST, app.now_s, parts.host_sample(gpus)))
    app.store.apply(ServerSampled(HOST, app.now_s, SERVER, parts.server_sample(tokens_per_s, 1.5)))


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
@pytest.mark.parametrize("where", LIVE)
async def test_what_is_old_is_grey_with_its_age_and_stays(where, size):
    async with running(story.pro6k_01(), *LIVE[where], size=size) as (app, _, _):
        assert not any(token.startswith("stale") for line in painted(app) for _, token in line)
        app.now_s += 42
        app.repaint()
        assert any(token.startswith("stale") for line in painted(app) for _, token in line)
        assert "43 s" in text(app)
        assert "● live" not in text(app)
        sampled(app, 51.7)
        app.repaint()
        assert not any(token.startswith("stale") for line in painted(app) for _, token in line)


@pytest.mark.parametrize("where", LIVE)
async def test_the_past_is_still_there_after_other_screens(where):
    async with running(story.pro6k_01(), *LIVE[where]) as (app, pilot, _):
        before = text(app)
        await press(pilot, *ELSEWHERE)
        assert text(app) == before


async def test_what_happens_while_another_screen_is_in_front_is_not_missed():
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        await press(pilot, "P")
        for _ in range(30):
            sampled(app, 99.0)
        await press(pilot, "escape")
        app.repaint()
        assert "99.0" in text(app)
        key = (HOST, f"server {SERVER}", "tokens_per_s")
        values = app.scene.history.values(_key(key), Span.MINUTE, app.now_s, 30)
        assert [value for value in values[-12:] if value is not None] == [99.0] * 12


def _key(values):
    from specctl.domain.history import Key

    return Key(*values)


@pytest.mark.parametrize("where", LIVE)
async def test_three_spans_go_round_and_are_kept_between_screens(where):
    async with running(story.pro6k_01(), *LIVE[where]) as (app, pilot, _):
        for _ in SPANS:
            await press(pilot, "t")
            assert f"-{SPANS[app.span]}" in text(app)
        await press(pilot, "t")
        span = app.span
        await press(pilot, "P", "escape")
        assert app.span is span
        assert f"-{SPANS[span]}" in text(app)


@pytest.mark.parametrize("where", LIVE)
async def test_a_pause_holds_the_picture_and_its_end_jumps_to_now(where):
    async with running(story.pro6k_01(), *LIVE[where]) as (app, pilot, _):
        await press(pilot, "f")
        sampled(app, 77.0)
        app.repaint()
        assert "77.0" not in text(app)
        assert "‖ paused" in text(app)
        await press(pilot, "f")
        assert "77.0" in text(app)
        assert "‖ paused" not in text(app)


@pytest.mark.parametrize("where", LIVE)
async def test_what_is_not_known_is_a_dash_and_never_a_zero(where):
    async with running(story.pro6k_01(), *LIVE[where]) as (app, _, _):
        app.now_s += 1
        app.store.apply(ServerSampled(HOST, app.now_s, SERVER, parts.server_sample(None, None)))
        app.repaint()
        shown = text(app)
        assert "—" in shown
        assert "0.0 tok/s" not in shown
        assert "accept length 0" not in shown
