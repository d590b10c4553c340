"""The round trip to a host: timed by a question that costs nothing, and never by one answer."""

from __future__ import annotations

import asyncio

import pytest

from specctl.adapters.clock import SystemClock
from specctl.domain.errors import DeadlineError
from specctl.services.link_timing import KEPT, TIME_EVERY_S, LinkTiming
from tests.unit.services.test_locked_arm import Waiting


class Link:
    """An agent whose answers take what they are told to; None: there is no answer."""

    def __init__(self, clock: Waiting, *took_s: float | None) -> None:
        self.clock, self.took_s = clock, list(took_s)

    async def ping(self, *, timeout_s: float) -> None:
        if not self.took_s:
            raise asyncio.CancelledError
        took_s = self.took_s.pop(0)
        self.clock.now_s += timeout_s if took_s is None else took_s
        if took_s is None:
            raise DeadlineError("late")


async def timed(*took_s: float | None) -> tuple[float | None, float]:
    """What is known after these answers, and how long that took."""
    clock = Waiting()
    timing = LinkTiming(Link(clock, *took_s), clock)  # type: ignore[arg-type]
    with pytest.raises(asyncio.CancelledError):
        await timing.run()
    return timing.round_trip_s, clock.now_s


async def test_the_first_times_come_at_once_and_the_shortest_counts():
    assert (await timed(0.9, 0.95))[0] is None
    found, took_s = await timed(0.9, 2.5, 0.95)
    assert found == pytest.approx(0.9)
    assert took_s == pytest.approx(4.35 + TIME_EVERY_S)


async def test_older_times_are_forgotten():
    found, _ = await timed(0.02, 0.9, 0.9, 0.91)
    assert found == pytest.approx(0.9)


async def test_without_an_answer_nothing_is_known():
    assert (await timed(*[0.02] * KEPT, None))[0] is None
    assert (await timed(None, *[0.02] * KEPT))[0] == pytest.approx(0.02)


async def test_an_agent_answers_it_at_once(connection):
    await connection.agent.ping()
    timing = LinkTiming(connection.agent, SystemClock())
    assert [await timing.time() for _ in range(KEPT)] == [True] * KEPT
    await connection.agent.close()
    assert not await timing.time()
    assert timing.round_trip_s is None
