"""A replay goes as fast as it is asked to, stands still, steps, and jumps."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from specctl.adapters.recording import Recording
from specctl.domain.events import LinkChanged
from specctl.domain.state import Link, Store
from specctl.services.replaying import Player
from tests.unit.adapters.test_recording import BEGAN_S, sampled, written

LENGTH_S = 4000


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at_s = 0.0

    def now(self) -> float:
        return self.at_s

    def monotonic(self) -> float:
        return self.at_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.at_s += seconds


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("replay") / "a.jsonl"
    events = [
        LinkChanged("gpu", BEGAN_S, "up"),
        *(sampled(n, cpu=n % 100) for n in range(LENGTH_S + 1)),
    ]
    written(path, events)
    return path


@asynccontextmanager
async def playing(path, **options):
    store, clock, begun = Store(), Hands(), []
    with Recording(path) as recording:
        player = Player(recording, store, clock, begin_anew=lambda: begun.append(1), **options)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(player.run())
            yield player, store, clock, begun
            task.cancel()


async def until(found):
    async with asyncio.timeout(10):
        while not found():
            await asyncio.sleep(0.001)


def at(store):
    sample = store.state.host("gpu").sample
    return None if sample is None else sample.time_s - BEGAN_S


async def test_it_goes_as_time_goes(path):
    async with playing(path) as (player, store, clock, _):
        await until(lambda: at(store) == 0)
        clock.at_s = 7.5
        await until(lambda: at(store) == 7)
        assert player.at_s == 7.5


async def test_it_goes_faster(path):
    async with playing(path, speed=4) as (player, store, clock, _):
        await until(lambda: at(store) == 0)
        clock.at_s = 10
        await until(lambda: at(store) == 40)
        player.faster(1)
        clock.at_s = 11
        await until(lambda: at(store) == 48)


async def test_it_stands_still_and_steps(path):
    async with playing(path) as (player, store, clock, _):
        await until(lambda: at(store) == 0)
        player.pause(paused=True)
        clock.at_s = 100
        assert player.at_s == 0
        player.step(1)
        await until(lambda: at(store) == 1)
        player.step(-1)
        await until(lambda: at(store) == 0)
        player.pause(paused=False)
        clock.at_s = 103
        await until(lambda: at(store) == 3)


async def test_a_jump_begins_anew_and_keeps_what_was_true(path):
    async with playing(path) as (player, store, _, begun):
        await until(lambda: at(store) == 0)
        player.seek(3900)
        await until(lambda: at(store) == 3900)
        assert store.state.host("gpu").link is Link.UP
        player.seek(5)
        await until(lambda: at(store) == 5)
        assert len(begun) == 3


async def test_at_the_end_it_waits_and_going_on_begins_again(path):
    async with playing(path) as (player, store, clock, _):
        await until(lambda: at(store) == 0)
        player.seek(1e9)
        await until(lambda: at(store) == LENGTH_S)
        assert player.is_over
        player.pause(paused=False)
        await until(lambda: at(store) == 0)
        clock.at_s += 2
        await until(lambda: at(store) == 2)


async def test_a_jump_samples_half_an_hour_before_it(path):
    async with playing(path) as (player, store, _, _):
        times = []
        await until(lambda: at(store) == 0)
        store.subscribe(lambda event, _state: times.append(event.time_s - BEGAN_S))
        player.seek(3000)
        await until(lambda: at(store) == 3000)
        assert times[:2] == [0.0, 1200.0]
        assert times[-1] == 3000
