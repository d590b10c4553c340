"""A watched host: when its records are read, and which servers are asked."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from specctl.domain.events import Event, ServerSampled
from specctl.domain.server import Identity, ServerProcess, ServerState
from specctl.domain.state import Store
from specctl.services import watching
from specctl.services.measured_server import Keys
from specctl.services.server_watch import ServerWatch
from specctl.services.watching import HostWatch
from tests.tui import parts
from tests.unit.services.test_locked_arm import Waiting


def host_watch(store: Store) -> HostWatch:
    connection: Any = SimpleNamespace(host=SimpleNamespace(name="h"), agent=None)
    return HostWatch(
        connection,
        store,
        Waiting(),
        interval_s=1.0,
        keys=lambda _host, _server: Keys(),
        ready_timeout_s=lambda _server: None,
    )


def process(marker: str) -> ServerProcess:
    return ServerProcess(Identity("boot", 7, 1, 7, 7, marker), 1, 0, "op", (), "python")


async def test_records_are_read_when_a_launch_comes_and_when_one_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[int] = []

    async def read(_connection: object) -> tuple[object, ...]:
        reads.append(1)
        return (SimpleNamespace(launch_id="a"), SimpleNamespace(launch_id="b"))

    monkeypatch.setattr(watching, "list_records", read)
    watch = host_watch(Store())

    async def look(*markers: str) -> int:
        reads.clear()
        await watch._read_records(tuple(process(marker) for marker in markers))
        return len(reads)

    assert [await look("a"), await look("a"), await look("a", "b")] == [1, 0, 0]
    assert [await look("a", ""), await look("a")] == [1, 0]
    assert await look("a", "c") == 1


class EndedError(Exception):
    """Of a loop that a test ends."""


class Poller:
    http, pause_s, has_waited = "200", 0.0, False

    async def rest(self) -> None:
        """Nothing is heard."""

    async def poll(self) -> object:
        return parts.server_sample(50.0, 1.5)


async def test_the_port_of_a_server_that_ended_is_not_asked() -> None:
    store, heard = Store(), list[Event]()
    watch = host_watch(store)
    store.subscribe(lambda event, _state: heard.append(event))
    server = ServerWatch(parts.server(), Waiting())
    sleeps: list[float] = []

    async def sleep(seconds: float) -> None:
        sleeps.append(seconds)
        if len(sleeps) == 2:
            server.server = replace(server.server, state=ServerState.CRASHED)
        if len(sleeps) == 4:
            raise EndedError

    clock: Any = SimpleNamespace(sleep=sleep, now=lambda: 1.0)
    poller: Any = Poller()
    watch._clock = clock
    with pytest.raises(EndedError):
        await watch._poll_on(server, poller)

    assert [type(event) for event in heard] == [ServerSampled, ServerSampled]


def gpu_sample(*pids: int) -> Any:
    gpus = parts.pro6k_gpus()
    [one, *_] = gpus[0].processes or ()
    held = tuple(replace(one, pid=pid) for pid in pids)
    return parts.host_sample((replace(gpus[0], processes=held), *gpus[1:]))


async def test_other_processes_on_a_gpu_are_looked_at_at_once() -> None:
    watch = host_watch(Store())
    outside: Any = SimpleNamespace(explain=lambda sample: sample)
    watch._outside = outside
    looks: list[bool] = []
    unread = replace(gpu_sample(7, 8), gpus=(replace(gpu_sample(7).gpus[0], processes=None),))
    samples = (gpu_sample(7), gpu_sample(7), gpu_sample(7, 8), unread, gpu_sample(7, 8))
    for sample in (*samples, gpu_sample(8), gpu_sample()):
        watch._look_now.clear()
        watch._show(sample)
        looks.append(watch._look_now.is_set())

    assert looks == [True, False, True, False, False, True, True]


async def test_what_is_asked_for_during_a_look_brings_another_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = host_watch(Store())
    watch._is_quiet = True
    looks: list[float] = []

    async def look(_group: object) -> None:
        looks.append(time.monotonic())
        if len(looks) == 1:
            watch.look_now()
        else:
            raise EndedError

    monkeypatch.setattr(watch, "look", look)
    watch._first_sample.set()
    group: Any = None
    with pytest.raises(EndedError):
        await watch._look_on(group)
    assert looks[1] - looks[0] < watching.LOOK_EVERY_S / 2


@pytest.mark.parametrize(("is_quiet", "pauses"), [(True, watching.MOST_PAUSES), (False, 1)])
async def test_looks_are_left_out_while_all_is_quiet(
    monkeypatch: pytest.MonkeyPatch, is_quiet: bool, pauses: int
) -> None:
    monkeypatch.setattr(watching, "LOOK_EVERY_S", 0.05)
    watch = host_watch(Store())
    watch._is_quiet = is_quiet
    before_s = time.monotonic()
    await watch._until_next_look()
    assert time.monotonic() - before_s == pytest.approx(pauses * 0.05, abs=0.045)

    watch._is_quiet = True
    watch.look_now()
    before_s = time.monotonic()
    await watch._until_next_look()
    assert time.monotonic() - before_s < 0.04


async def test_a_server_that_answers_otherwise_is_looked_at_at_once_and_one_that_begins_soon() -> (
    None
):
    watch = host_watch(Store())
    server = ServerWatch(parts.server(), Waiting())
    poller: Any = Poller()
    poller.sample = parts.server_sample(50.0, 1.5)

    async def poll(http: str, running: int) -> tuple[bool, bool]:
        watch._look_now.clear()
        watch._is_quiet = True
        poller.answer = http, replace(parts.server_sample(50.0, 1.5), running_requests=running)
        await watch._poll_once(server, poller)
        return watch._look_now.is_set(), watch._is_quiet

    async def answered() -> object:
        poller.http, sample = poller.answer
        return sample

    poller.poll = answered
    assert await poll("200", 3) == (False, False)
    assert await poll("200", 2) == (False, True)
    assert await poll("200", 0) == (False, False)
    assert await poll("503", 0) == (True, True)
    assert await poll("503", 0) == (False, True)
