"""Waiting in Pilot tests: for what is ready to run, not for a quiet processor."""

from __future__ import annotations

import asyncio

import pytest

from tests.tui.driving import drained

MOMENT_S = 0.002


async def let_run(*_seconds: float) -> None:
    """What runs by itself has run; what waits for a thread or a file has had a moment."""
    await drained()
    await asyncio.sleep(MOMENT_S)
    await drained()


@pytest.fixture(autouse=True)
def no_wait_for_an_idle_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's own takes 20 ms at least, four times a key, and more on a busy machine."""
    monkeypatch.setattr("textual.app.wait_for_idle", let_run)
    monkeypatch.setattr("textual.pilot.wait_for_idle", let_run)


@pytest.fixture(autouse=True)
def numbers_twice_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests wait for their frames."""
    monkeypatch.setattr("specctl.tui.bridge.NUMBERS_SHARE", 0.45)
