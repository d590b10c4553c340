"""A watched host: when its records are read, and which servers are asked."""

from __future__ import annotations

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
    http, pause_s = "200", 0.0

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
