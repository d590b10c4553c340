"""From the store to the screen: coalesced, paced, and painted only where it differs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from specctl.domain.events import HostSampled, LinkChanged, LogRead, ServerSampled, ServersSeen
from specctl.domain.server import ServerState
from specctl.domain.state import State, Store
from specctl.tui import bridge
from specctl.tui.bridge import (
    FRAME_S,
    REST,
    SLOWEST_FRAME_S,
    TICK_S,
    Pace,
    StateChanged,
    listen,
)
from specctl.tui.panel import Painted
from specctl.tui.scene import LINE_CHARACTERS, LOG_LINES, Recent
from tests.tui import parts, story
from tests.tui.driving import running
from tests.tui.fakes import DemoApp

if TYPE_CHECKING:
    from textual.geometry import Region

    from specctl.domain.events import Event
    from specctl.tui.panel import Kinds


def test_a_newer_state_replaces_one_that_waits() -> None:
    assert StateChanged(State()).can_replace(StateChanged(State()))
    numbers = StateChanged(State(), has_news=False)
    assert numbers.can_replace(StateChanged(State()))
    assert not StateChanged(State()).can_replace(numbers)


def test_every_event_is_recorded_even_when_its_frame_is_dropped() -> None:
    store, recent = Store(), Recent()
    posted: list[object] = []
    stop = listen(store, recent, posted.append)
    for event in story.pro6k_01():
        store.apply(event)
    count = len(posted)
    stop()
    store.apply(story.pro6k_01()[0])

    assert count == len(story.pro6k_01()) == len(posted)
    assert list(recent.logs["pro6k-01", "7c1e"]) == list(parts.LOG)


def test_logs_are_bounded() -> None:
    recent = Recent()
    lines = tuple(f"{i} {'x' * 5000}" for i in range(LOG_LINES + 10))
    recent.record(LogRead("h", 0.0, "s", lines))

    assert len(recent.logs["h", "s"]) == LOG_LINES
    assert max(map(len, recent.logs["h", "s"])) == LINE_CHARACTERS
    assert recent.log_counts["h", "s"] == LOG_LINES + 10


def test_the_pace_is_five_frames_a_second() -> None:
    now_s = 100.0
    pace = Pace(lambda: now_s)
    assert pace.wait_s() == 0
    pace.painted()
    now_s += 0.05
    assert pace.wait_s() == pytest.approx(FRAME_S - 0.05)
    now_s += 0.2
    assert pace.wait_s() == 0


def test_a_frame_that_costs_more_is_followed_by_a_longer_rest() -> None:
    now_s = 100.0
    pace = Pace(lambda: now_s)
    pace.painted(cost_s=0.001)
    assert pace.wait_s() == pytest.approx(FRAME_S)
    pace.painted(cost_s=0.012)
    assert pace.wait_s() == pytest.approx(REST * 0.012)
    pace.painted(cost_s=3.0)
    assert pace.wait_s() == pytest.approx(SLOWEST_FRAME_S)
    assert not pace.is_old
    now_s += SLOWEST_FRAME_S
    assert pace.is_old


def test_numbers_wait_for_their_own_rhythm_and_news_do_not() -> None:
    now_s = 100.0
    pace = Pace(lambda: now_s)
    pace.painted()
    assert pace.wait_s() == pytest.approx(FRAME_S)
    for interval_s in (0.5, 1.0, 2.0):
        pace.sampled_every_s = interval_s
        pace.heard.clear()
        assert pace.wait_s(has_news=False) == pytest.approx(bridge.REST_SHARE * interval_s)
        pace.heard.add(HostSampled)
        assert pace.wait_s(has_news=False) == pytest.approx(bridge.NUMBERS_SHARE * interval_s)
    pace.sampled_every_s = 0.05
    assert pace.wait_s(has_news=False) == pytest.approx(FRAME_S)
    now_s += 60.0
    assert pace.wait_s() == 0
    assert pace.wait_s(has_news=False) == bridge.GATHERED_S
    pace.painted()
    assert not pace.heard


def test_servers_that_are_as_they_were_are_no_news() -> None:
    store, posted = Store(), list[Any]()
    listen(store, Recent(), posted.append)
    server = parts.server()
    for state in (ServerState.READY, ServerState.READY, ServerState.CRASHED):
        store.apply(ServersSeen("h", 0.0, (replace(server, state=state),)))
    store.apply(ServersSeen("other", 0.0, ()))
    store.apply(ServersSeen("other", 0.0, ()))
    store.apply(ServersSeen("h", 0.0, ()))

    assert [message.has_news for message in posted] == [True, False, True, True, False, True]


async def test_numbers_are_painted_where_they_are_shown_and_clocks_once_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repaint, built = Painted.repaint, list[str]()

    def noted(self: Painted) -> None:
        built.append(self.id or type(self).__name__)
        repaint(self)

    async with running(story.pro6k_01(), "enter") as (app, _, _):
        monkeypatch.setattr(Painted, "repaint", noted)

        def painted(*kinds: type[Event]) -> set[str]:
            built.clear()
            app.repaint(frozenset(kinds) if kinds else None)
            return set(built) - {"TooSmall"}

        everything = painted()
        assert painted(HostSampled) == {"gpus"}
        assert painted(ServerSampled, LogRead) == {"throughput", "server"}
        for widget in app.screen.query(Painted):
            widget._built_at_s -= TICK_S
        assert painted(HostSampled) == everything


def test_what_is_measured_again_and_again_is_no_news() -> None:
    store, posted = Store(), list[Any]()
    listen(store, Recent(), posted.append)
    sample = parts.host_sample(parts.pro6k_gpus())
    store.apply(HostSampled("h", 0.0, sample))
    store.apply(LogRead("h", 0.0, "s", ("line",)))
    store.apply(LinkChanged("h", 0.0, "lost"))

    assert [message.has_news for message in posted] == [False, False, True]


def test_numbers_are_not_posted_while_a_frame_is_awaited_that_shows_them() -> None:
    store, posted = Store(), list[Any]()
    listen(store, Recent(), posted.append, lambda: True)
    store.apply(HostSampled("h", 0.0, parts.host_sample(parts.pro6k_gpus())))
    store.apply(LinkChanged("h", 0.0, "lost"))

    assert [message.has_news for message in posted] == [True]


async def test_a_burst_of_events_is_painted_at_most_five_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = DemoApp(story.fleet())
    painted: list[int] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        repaint = app.repaint

        def counted(heard: Kinds | None = None) -> None:
            painted.append(1)
            repaint(heard)

        monkeypatch.setattr(app, "repaint", counted)
        sample = parts.host_sample(parts.pro6k_gpus())
        for i in range(200):
            app.store.apply(HostSampled("pro6k-01", parts.NOW_S + i / 100, sample))
        await pilot.pause()
        assert len(painted) <= 2


async def test_only_lines_that_differ_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    app = DemoApp(story.pro6k_01())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        asked: dict[str, tuple[Region, ...]] = {}

        def refresh(self: Painted, *regions: Region, **more: Any) -> Painted:
            del more
            asked[self.id or type(self).__name__] = regions
            return self

        monkeypatch.setattr(Painted, "refresh", refresh)
        app.repaint()
        assert asked == {}
        app.store.apply(ServerSampled("pro6k-01", parts.NOW_S, "7c1e", parts.server_sample(53.0)))
        app.repaint()
        assert 1 <= len(asked["throughput"]) <= 5
        assert "gpus" not in asked


async def test_what_lies_behind_a_dialog_is_painted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(story.pro6k_01(), "enter", "s") as (app, _, _):
        assert app.screen.is_modal
        app.repaint()
        painted: list[str] = []

        def refresh(self: Painted, *regions: Region, **more: Any) -> Painted:
            del regions, more
            painted.append(self.id or "")
            return self

        monkeypatch.setattr(Painted, "refresh", refresh)
        app.store.apply(ServerSampled("pro6k-01", parts.NOW_S, "7c1e", parts.server_sample(53.0)))
        app.repaint()
        assert "throughput" in painted
