"""Alerts on the screens: the list, what is in place, the toast, the bell; and the fleet's mouse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from specctl.domain.events import ServerSampled
from specctl.tui.panel import Panel
from specctl.tui.render.lines import plain
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.profiles import ProfilesScreen
from tests.tui import parts, story
from tests.tui.driving import press, running, shown, text_of, toasts

if TYPE_CHECKING:
    from textual import events
    from textual.pilot import Pilot

    from tests.tui.fakes import DemoApp


def fleet_of(app: DemoApp) -> FleetScreen:
    screen = app.screen
    assert isinstance(screen, FleetScreen)
    return screen


def list_of(app: DemoApp) -> AlertsScreen:
    screen = app.screen
    assert isinstance(screen, AlertsScreen)
    return screen


def prompt_of(app: DemoApp) -> str:
    prompt = fleet_of(app).prompt
    assert prompt is not None
    return plain([prompt(120)])


async def test_the_list_has_what_is_wrong_and_what_was() -> None:
    async with running(story.fleet(), "A") as (app, _, _):
        text = text_of(app)
        words = (
            "crashed: out of memory ",
            "refused the connection ",
            "GPU 5 lost ",
            "by heat (hw) ",
        )
        order = [text.index(each) for each in words]
        assert order == sorted(order)
        assert "5 open, 1 cleared" in text
        assert "→ specctl logs h200-b1/7c1e" in text
        assert "✓  13:39  h100-a2" in text


async def test_the_rule_has_a_column_where_the_sentence_has_room_enough() -> None:
    for size, has_rule in (((160, 40), True), ((120, 40), False), ((80, 24), False)):
        async with running(story.fleet(), "A", size=size) as (app, _, _):
            assert ("RULE" in text_of(app)) is has_rule
            assert ("VALUE" in text_of(app)) is (size[0] > 80)


async def test_enter_goes_to_the_place() -> None:
    async with running(story.fleet(), "A", "j", "enter") as (app, pilot, _):
        assert isinstance(app.screen, HostScreen)
        assert app.screen.host == "l40s-08"
        await press(pilot, "escape", "g", "enter")
        assert app.target().host == "h200-b1"
        assert app.screen.where == "log"


async def test_a_seen_alert_is_listed_and_not_counted() -> None:
    async with running(story.fleet(), "A") as (app, pilot, _):
        assert "✗3" in text_of(app)
        await press(pilot, "space")
        assert len(app.scene.counted_alerts("h200-b1")) == 0
        assert "acknowledged" in text_of(app)
        await press(pilot, "space")
        assert len(app.scene.counted_alerts("h200-b1")) == 1


async def test_the_list_is_filtered_and_copied() -> None:
    async with running(story.fleet(), "A", "slash", *"pro6k", "enter") as (app, pilot, _):
        assert list_of(app).list.count() == 2
        await press(pilot, "y")
        assert app.clipboard.startswith("throttle pro6k-01: GPU 5 slowed by heat (hw)")
        assert "next: what is measured" in app.clipboard
        await press(pilot, "escape")
        assert list_of(app).list.count() == 6


async def test_a_practice_host_says_so_in_its_row() -> None:
    alert = story.raised("lab-1", 60, "memory", "GPU 3 uses 99% of memory")
    async with running([*story.fleet(), alert], "A") as (app, _, _):
        assert "SIMULATED GPU 3 uses 99% of memory" in text_of(app)


async def test_an_alert_is_told_once_and_the_bell_is_off_until_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rung: list[int] = []
    async with running(story.pro6k_01()) as (app, pilot, _):
        monkeypatch.setattr(app, "bell", lambda: rung.append(1))
        first = story.raised("pro6k-01", 0, "throttle", "GPU 5 slowed by heat (hw)")
        app.store.apply(first)
        app.repaint()
        await shown(pilot)
        assert [toast for toast in toasts(app) if "slowed by heat" in toast]
        app.clear_notifications()
        app.store.apply(replace(first, words="GPUs 5-6 slowed by heat (hw)"))
        app.repaint()
        assert toasts(app) == []
        await press(pilot, "colon", *"bell on", "enter")
        assert rung == [1]
        app.store.apply(story.raised("pro6k-01", 0, "memory", "GPU 5 uses 99% of memory"))
        app.repaint()
        assert rung == [1, 1]


async def test_what_was_raised_long_ago_is_not_told() -> None:
    async with running(story.fleet()) as (app, _, _):
        assert toasts(app) == []


async def test_alerts_are_in_place_on_the_hosts_panels() -> None:
    alerts = [
        story.raised("pro6k-01", 60, "throttle", "GPU 5 slowed by heat (hw)"),
        story.raised("pro6k-01", 60, "breakeven", "accept length 1.50 under 1.69", server="7c1e"),
    ]
    async with running([*story.pro6k_01(), *alerts], "enter") as (app, _, _):
        notes = {
            panel.id: panel.build(*panel.size)[-1]
            for panel in app.screen.query(Panel)
            if panel.display
        }
        gpus, throughput = ("".join(t for t, _ in notes[i]) for i in ("gpus", "throughput"))
        assert "▲ GPU 5 slowed by heat (hw)" in gpus
        assert "▲ accept length 1.50 under 1.69" in throughput


# ---------------------------------------------------------------- the fleet


async def test_a_letter_orders_by_a_column_and_again_turns_it() -> None:
    async with running(story.fleet(), "b", "b", "b") as (app, pilot, _):
        while fleet_of(app).hosts.order.group:
            await press(pilot, "b")
        await press(pilot, "o", "t")
        assert fleet_of(app).hosts.names()[:2] == ["h100-a1", "h100-a2"]
        await press(pilot, "o", "t")
        assert fleet_of(app).hosts.names()[0] == "gb10-lab"
        assert fleet_of(app).hosts.selected == "gb10-lab"


async def test_commands_order_and_group() -> None:
    async with running(story.fleet(), "colon", *"group none", "enter") as (app, pilot, _):
        await press(pilot, "colon", *"order tok/s rising", "enter")
        assert fleet_of(app).hosts.names()[0] == "gb10-lab"
        await press(pilot, "colon", *"order tok/s falling", "enter")
        assert fleet_of(app).hosts.names()[0] == "h100-a1"
        await press(pilot, "colon", *"filter gpu.util<5", "enter")
        assert set(fleet_of(app).hosts.names()) == {"h200-b1", "h200-b2", "pro6k-03"}


async def test_rows_do_not_move_under_the_cursor() -> None:
    async with running(story.fleet(), "o", "t") as (app, pilot, _):
        before = fleet_of(app).hosts.names()
        fast = parts.server_sample(9000.0, None)
        app.store.apply(ServerSampled("h100-a2", parts.NOW_S, "7c1e", fast))
        app.repaint()
        assert fleet_of(app).hosts.names() == before
        app.now_s += 11
        app.repaint()
        await shown(pilot)
        assert fleet_of(app).hosts.names()[0] == "h100-a2"


async def test_a_filter_says_what_is_wrong_while_it_is_typed() -> None:
    async with running(story.fleet(), "slash", *"gpu.utl<5") as (app, pilot, _):
        assert "no field gpu.utl. Nearest: gpu.util" in prompt_of(app)
        assert len(fleet_of(app).hosts.names()) == 12
        await press(pilot, *(["backspace"] * 3), "tab", *"<5")
        assert fleet_of(app).hosts.terms == "gpu.util<5"
        assert "3 match" in prompt_of(app)


# ---------------------------------------------------------------- ways


async def test_places_are_once_on_the_way_and_escape_goes_up() -> None:
    async with running(story.pro6k_01(), "enter", "P", "H", "P", "H") as (app, pilot, _):
        assert isinstance(app.screen, HostScreen)
        assert len(app.screen_stack) == 2
        await press(pilot, "P", "A")
        kinds = [type(screen) for screen in app.screen_stack]
        assert kinds == [FleetScreen, HostScreen, ProfilesScreen, AlertsScreen]
        await press(pilot, "escape", "escape", "escape")
        fleet_of(app)


# ---------------------------------------------------------------- the mouse


async def click(pilot: Pilot[int], panel: str, x: int, y: int, times: int = 1) -> None:
    await pilot.click(f"#{panel}", offset=(x, y), times=times)
    await shown(pilot)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_click_on_a_head_orders_and_one_on_a_row_selects(size: tuple[int, int]) -> None:
    async with running(story.fleet(), size=size) as (app, pilot, _):
        hosts = fleet_of(app).hosts
        head = "".join(text for text, _ in hosts.build(*hosts.size)[1])
        await click(pilot, "hosts", head.index("TOK/S") + 1, 1)
        assert hosts.order.by == "tok/s"
        await click(pilot, "hosts", head.index("TOK/S") + 1, 1)
        assert hosts.order.is_turned
        await click(pilot, "hosts", 6, 3)
        selected = hosts.selected
        assert selected is not None
        await click(pilot, "hosts", 6, 4, times=2)
        assert isinstance(app.screen, HostScreen)
        assert app.screen.host != selected


async def test_double_clicks_and_the_wheel_work_on_the_list_of_alerts() -> None:
    async with running(story.fleet(), "A") as (app, pilot, _):
        alerts = list_of(app).list
        alerts.on_mouse_scroll_down(cast("events.MouseScrollDown", Wheel()))
        assert alerts.at == 3
        alerts.on_mouse_scroll_up(cast("events.MouseScrollUp", Wheel()))
        assert alerts.at == 0
        await click(pilot, "alerts", 20, 7, times=2)
        assert isinstance(app.screen, HostScreen)


class Wheel:
    """As much of an event as its handlers use."""

    def stop(self) -> None:
        """Nobody else hears of it."""


async def test_the_mouse_is_left_to_the_terminal_and_taken_back() -> None:
    async with running(story.fleet(), "m") as (app, pilot, _):
        assert not app.switches.has_mouse
        assert any("The mouse is off" in toast for toast in toasts(app))
        await press(pilot, "colon", *"mouse on", "enter")
        assert app.switches.has_mouse


async def test_the_terminal_is_told_of_the_mouse() -> None:
    async with running(story.fleet()) as (app, pilot, _):
        told: list[str] = []
        driver = app._driver
        assert driver is not None
        driver._enable_mouse_support = lambda: told.append("on")  # type: ignore[attr-defined]
        driver._disable_mouse_support = lambda: told.append("off")  # type: ignore[attr-defined]
        await press(pilot, "m", "m")
        assert told == ["off", "on"]
        assert driver._mouse
