"""What is typed by name alone: keys trusted, ports opened, caches emptied, requests ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from specctl.adapters.hostkeys import KnownKey
from specctl.adapters.trust import OfferedKey
from specctl.domain.errors import RefusedError
from specctl.domain.events import LinkChanged, ServerSampled
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.fleet import FleetScreen
from tests.tui import parts, story
from tests.tui.driving import on, press, running, settled, text_of, toasts, until

KEY = OfferedKey(
    "host pro6k-01", "192.0.2.7", 22, "ssh-ed25519", "SHA256:abcdef", "ssh-ed25519 AAAA", (),
    Path("/home/op/.ssh/known_hosts"),
)  # fmt: skip
OTHER = KnownKey(Path("/home/op/.ssh/known_hosts"), 7, "key", "ssh-ed25519", "SHA256:123456")


def typed(command: str) -> tuple[str, ...]:
    return ("colon", *("space" if c == " " else c for c in command), "enter")


async def test_a_key_is_shown_and_written_only_when_it_is_agreed_to() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.keys = [KEY, KEY]
        await press(pilot, *typed("trust"))
        await settled(pilot)
        on(app, ConfirmDialog)
        assert "SHA256:abcdef" in text_of(app)
        await press(pilot, "enter")
        await settled(pilot)
        on(app, FleetScreen)
        assert not any(call[0] == "trust" for call in fake.calls), "enter alone agrees to nothing"
        await press(pilot, *typed("trust"))
        await settled(pilot)
        await press(pilot, "right", "enter")
        await settled(pilot)
        assert ("trust", "SHA256:abcdef") in fake.calls
        assert ("read_again", "pro6k-01") in fake.calls
        assert any("known_hosts" in toast for toast in toasts(app))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ((replace(OTHER, fingerprint="SHA256:abcdef"),), "Nothing to do: the key is known."),
        ((OTHER,), "another key is trusted"),
        ((replace(OTHER, kind="revoked", fingerprint="SHA256:abcdef"),), "marked as revoked"),
    ],
)
async def test_a_known_other_or_revoked_key_is_never_written(
    known: tuple[KnownKey, ...], words: str
) -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.keys = [replace(KEY, known=known)]
        await press(pilot, *typed("trust"))
        await settled(pilot)
        assert words in text_of(app)
        await press(pilot, "right", "enter")
        await settled(pilot)
        assert not any(call[0] == "trust" for call in fake.calls)


async def test_a_host_that_refuses_the_link_can_be_trusted() -> None:
    events = [*story.pro6k_01(), LinkChanged("pro6k-01", parts.NOW_S, "refused", "key not known")]
    async with running(events) as (app, pilot, fake):
        fake.keys = [KEY]
        await press(pilot, *typed("trust pro6k-01"))
        await settled(pilot)
        on(app, ConfirmDialog)


async def test_an_abort_names_ones_own_probe() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        fake.probe_gate.clear()
        await press(pilot, "p", "enter", "escape", *typed("abort"))
        on(app, ConfirmDialog)
        assert "Your probe of it is under way." in text_of(app)


async def test_flush_asks_first() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        await press(pilot, *typed("flush"))
        await settled(pilot)
        assert "1 request running or waiting." in text_of(app)
        await press(pilot, "right", "enter")
        await settled(pilot)
        assert ("flush", "pro6k-01", "7c1e") in fake.calls
        assert any("caches are empty" in toast for toast in toasts(app))


async def test_ending_others_requests_needs_the_hosts_name() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        await press(pilot, *typed("abort"))
        await settled(pilot)
        await press(pilot, "right", "enter")
        on(app, FleetScreen)
        assert not any(call[0] == "abort" for call in fake.calls)
        await press(pilot, *typed("abort"))
        await settled(pilot)
        await press(pilot, *"pro6k", "minus", "0", "enter")
        on(app, ConfirmDialog)
        await press(pilot, "1", "enter")
        await settled(pilot)
        assert ("abort", "pro6k-01", "7c1e") in fake.calls


async def test_an_idle_server_needs_no_name() -> None:
    idle = parts.server_sample(0.0, None, running_requests=0)
    events = [*story.pro6k_01(), ServerSampled("pro6k-01", parts.NOW_S, "7c1e", idle)]
    async with running(events) as (app, pilot, fake):
        await press(pilot, *typed("abort"))
        await settled(pilot)
        assert "No request is running." in text_of(app)
        await press(pilot, "right", "enter")
        await settled(pilot)
        assert ("abort", "pro6k-01", "7c1e") in fake.calls


async def test_what_the_service_refuses_is_told() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        await press(pilot, *typed("flush"))
        await settled(pilot)
        fake.refuse = RefusedError("requests are running", hint="Wait until it is idle.")
        await press(pilot, "right", "enter")
        await settled(pilot)
        assert any("requests are running Wait until it is idle." in toast for toast in toasts(app))


async def test_a_port_is_opened_copied_and_closed_again() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        await press(pilot, *typed("forward"))
        await until(pilot, lambda: app.clipboard == "http://127.0.0.1:40123")
        assert any("leads to pro6k-01 port 30000" in toast for toast in toasts(app))
        await press(pilot, *typed("forward"))
        await until(pilot, lambda: ("forward closed", "pro6k-01", "7c1e") in fake.calls)
        assert not app.work.tending.forwards


async def test_a_port_is_closed_when_the_app_ends() -> None:
    async with running(story.pro6k_01()) as (app, pilot, fake):
        await press(pilot, *typed("forward"))
        await until(pilot, lambda: bool(app.clipboard))
    assert ("forward closed", "pro6k-01", "7c1e") in fake.calls


@pytest.mark.parametrize("command", ["trust", "forward", "flush", "abort"])
async def test_read_only_refuses_each(command: str) -> None:
    async with running(story.pro6k_01(read_only=True), *typed(command)) as (app, _, fake):
        assert fake.calls == []
        assert any("read-only" in toast for toast in toasts(app))
