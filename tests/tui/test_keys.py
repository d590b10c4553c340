"""Keys that move, look and choose."""

from __future__ import annotations

from textual.command import CommandList

from specctl.domain.events import HostDescribed, HostSampled, LogRead, ServerSampled, ServersSeen
from specctl.domain.history import Span
from specctl.tui.panel import Panel
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.prompts import ProfilesDialog
from tests.tui import parts, story
from tests.tui.driving import on, press, running, shown, spans, text_of, toasts, until


async def test_the_cursor_moves_and_the_preview_follows() -> None:
    async with running(story.fleet(), "j", "j") as (app, pilot, _):
        on(app, FleetScreen)
        assert on(app, FleetScreen).hosts.selected == "h200-b1"
        assert "kimi-k2.5-eagle3 crashed: out of memory" in text_of(app)
        await press(pilot, "G")
        assert on(app, FleetScreen).hosts.selected == "lab-1"
        await press(pilot, "g", "k")
        assert on(app, FleetScreen).hosts.selected == "h100-a1"


async def test_the_cursor_stays_on_its_host_when_others_appear() -> None:
    async with running(story.fleet(), "j") as (app, pilot, _):
        app.store.apply(HostDescribed("aaa", parts.NOW_S, labels={"group": "aaa"}))
        await shown(pilot)
        assert "aaa" in on(app, FleetScreen).hosts.names()
        assert on(app, FleetScreen).hosts.selected == "h100-a2"


async def test_enter_opens_and_escape_goes_back_one_a_press() -> None:
    async with running(story.fleet(), "enter") as (app, pilot, _):
        on(app, HostScreen)
        assert on(app, HostScreen).host == "h100-a1"
        await press(pilot, "plus")
        assert on(app, HostScreen).zoomed == "throughput"
        await press(pilot, "escape")
        assert on(app, HostScreen).zoomed is None
        await press(pilot, "escape")
        on(app, FleetScreen)
        await press(pilot, "minus")
        on(app, HostScreen)


async def test_braces_turn_to_the_next_host() -> None:
    async with running(story.fleet(), "enter", "right_curly_bracket") as (app, pilot, _):
        on(app, HostScreen)
        assert on(app, HostScreen).host == "h100-a2"
        await press(pilot, "left_curly_bracket", "left_curly_bracket")
        assert on(app, HostScreen).host == "lab-1"


async def test_numbers_and_tab_focus_panels() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        assert app.focused is not None
        assert app.focused.id == "throughput"
        await press(pilot, "1")
        assert app.focused.id == "gpus"
        await press(pilot, "tab")
        assert app.focused.id == "throughput"
        await press(pilot, "5")
        assert app.focused.id == "processes"
        assert not app.screen.query_one("#log").display


async def test_on_a_short_screen_three_panels_share_a_slot() -> None:
    async with running(story.pro6k_01(), "enter", size=(80, 24)) as (app, pilot, _):
        assert app.screen.query_one("#server").display
        await press(pilot, "4")
        assert app.screen.query_one("#log").display
        assert not app.screen.query_one("#server").display
        await press(pilot, "3")
        assert app.screen.query_one("#server").display


async def test_left_and_right_choose_among_servers() -> None:
    servers = (parts.server("aaaa"), parts.server("bbbb", port=30010))
    events = [*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, servers)]
    async with running(events, "enter", "l") as (app, pilot, _):
        on(app, HostScreen)
        assert on(app, HostScreen).crumbs() == ["Fleet", "pro6k-01", "bbbb"]
        await press(pilot, "h")
        assert on(app, HostScreen).crumbs()[-1] == "aaaa"


async def test_the_log_scrolls_back_and_follows_again() -> None:
    async with running(story.pro6k_01(), "enter", "4", "plus", "g") as (app, pilot, _):
        lines = tuple(f"line {i}" for i in range(200))
        app.store.apply(LogRead("pro6k-01", parts.NOW_S, "7c1e", lines))
        await shown(pilot)
        await press(pilot, "k", "k")
        assert "2 lines back" in text_of(app)
        await press(pilot, "G")
        assert "line 199" in text_of(app)
        assert "following" in text_of(app)


async def test_span_goes_round() -> None:
    async with running(story.pro6k_01(), "enter", "t") as (app, pilot, _):
        assert spans(app) == [Span.MINUTES_30]
        await press(pilot, "t", "t")
        assert spans(app) == [Span.MINUTES_5]


async def test_pause_freezes_the_picture_while_sampling_goes_on() -> None:
    async with running(story.pro6k_01(), "enter", "f") as (app, pilot, _):
        before = text_of(app)
        app.now_s += 60
        fresh = parts.server_sample(99.9, 2.9)
        app.store.apply(ServerSampled("pro6k-01", app.now_s, "7c1e", fresh))
        app.store.apply(LogRead("pro6k-01", app.now_s, "7c1e", ("a new line",)))
        app.repaint()
        await shown(pilot)
        assert text_of(app) == before
        assert app.scene.paused_at_s == parts.NOW_S
        await press(pilot, "f")
        assert "99.9" in text_of(app)
        assert "a new line" in text_of(app)


async def test_filter_is_typed_over_the_footer_and_escape_clears_it() -> None:
    async with running(story.fleet(), "slash", *"pro6k") as (app, pilot, _):
        on(app, FleetScreen)
        assert on(app, FleetScreen).hosts.names() == ["pro6k-01", "pro6k-02", "pro6k-03"]
        await press(pilot, "enter", "j")
        assert on(app, FleetScreen).hosts.selected == "pro6k-02"
        await press(pilot, "escape")
        assert len(on(app, FleetScreen).hosts.names()) == 12


async def test_letters_typed_into_a_filter_do_nothing_else() -> None:
    async with running(story.fleet(), "slash", "s", "x", "q") as (app, _, fake):
        on(app, FleetScreen)
        assert on(app, FleetScreen).hosts.terms == "sxq"
        assert fake.calls == []


async def test_order_goes_worst_first_and_back() -> None:
    async with running(story.fleet(), "o", "o") as (app, pilot, _):
        on(app, FleetScreen)
        assert on(app, FleetScreen).hosts.names()[0] == "h200-b1"
        await press(pilot, "o", "h")
        assert on(app, FleetScreen).hosts.names()[0] == "h100-a1"


async def test_read_again_asks_the_service() -> None:
    async with running(story.pro6k_01(), "r") as (_, _, fake):
        assert fake.calls == [("read_again", "pro6k-01")]


async def test_copy_goes_to_the_terminals_clipboard() -> None:
    async with running(story.pro6k_01(), "enter", "y") as (app, _, _fake):
        assert "52.0 tok/s" in app.clipboard
        assert any("Copied panel 2" in toast for toast in toasts(app))


async def test_toasts_are_never_more_than_three() -> None:
    async with running(story.pro6k_01(read_only=True), *("s",) * 6) as (app, _, _fake):
        assert len(app._notifications) <= 3


async def test_a_small_terminal_says_so_and_keys_still_work() -> None:
    async with running(story.pro6k_01(), size=(70, 20)) as (app, pilot, _):
        assert not any(panel.display for panel in app.screen.query(Panel))
        await press(pilot, "s")
        on(app, ProfilesDialog)


async def test_resizing_rearranges() -> None:
    async with running(story.pro6k_01(), "enter") as (app, pilot, _):
        assert app.screen.query_one("#log").display
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not app.screen.query_one("#log").display)
        await pilot.resize_terminal(200, 50)
        await until(pilot, lambda: bool(app.screen.query_one("#processes").display))


async def test_a_click_selects_and_a_double_click_opens() -> None:
    async with running(story.fleet()) as (app, pilot, _):
        await pilot.click("#hosts", offset=(8, 4))
        await shown(pilot)
        on(app, FleetScreen)
        assert on(app, FleetScreen).hosts.selected == "h100-a2"
        await pilot.click("#hosts", offset=(8, 4), times=2)
        await shown(pilot)
        on(app, HostScreen)


async def test_the_cursor_moves_over_more_gpus_than_are_in_sight() -> None:
    gpus = tuple(parts.gpu(i) for i in range(64))
    events = [*story.pro6k_01(), HostSampled("pro6k-01", parts.NOW_S, parts.host_sample(gpus))]
    async with running(events, "enter", "1", "j", "j") as (app, _, _fake):
        on(app, HostScreen)
        assert on(app, HostScreen).gpus.at == 2


async def test_the_palette_offers_what_can_be_done_here() -> None:
    async with running(story.fleet()) as (app, _, _fake):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert "start (s)" in titles
        assert "host pro6k-01" in titles
        assert "theme mono" in titles
        assert not any(title.startswith("adopt") for title in titles)


async def test_before_the_workspace_is_read_keys_say_so() -> None:
    async with running(story.pro6k_01()) as (app, pilot, _):
        app.services = None
        await press(pilot, "s")
        assert any("still being read" in toast for toast in toasts(app))


async def test_the_palette_opens_and_runs_what_is_chosen() -> None:
    async with running(story.fleet(), "ctrl+p") as (app, pilot, _):
        await press(pilot, *"theme mono")
        found = app.screen.query_one(CommandList)
        await until(pilot, lambda: found.option_count == 1)
        await press(pilot, "down", "enter")
        await until(pilot, lambda: app.theme == "specctl-mono")
