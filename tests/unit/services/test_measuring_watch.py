"""Whether somebody measures a server is asked where something would be said of it, and rarely."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from specctl.domain.errors import DeadlineError
from specctl.domain.measured_on import MEASURING
from specctl.domain.state import Store
from specctl.services import measuring_watch
from specctl.services.locks import hold_locks
from specctl.services.measuring_watch import LOOK_EVERY_S, MeasuringWatch, find_measured
from specctl.services.watching import HostWatch
from tests.tui import parts
from tests.unit.services.test_locked_arm import Waiting

SERVER = parts.server()
OTHER = replace(SERVER, name="0000", port=40123, gpus=())


async def test_whoever_holds_a_lock_of_a_server_measures_it(connection, tmp_path, monkeypatch):
    monkeypatch.setattr("specctl.services.locks.DIRECTORY", str(tmp_path / "locks"))
    servers = [replace(SERVER, port=40122, gpus=(0, 1)), OTHER]
    assert await find_measured(connection, servers) == frozenset()
    assert list((tmp_path / "locks").iterdir()) == []  # who only looks leaves no lock behind
    async with hold_locks(connection, [f"{MEASURING}gpu-1"], "specctl compare"):
        assert await find_measured(connection, servers) == {SERVER.name}
    async with hold_locks(connection, ["port-40123"], "specctl start"):
        assert await find_measured(connection, servers) == frozenset()


async def test_it_is_asked_now_and_then_and_forgotten_when_nothing_is_in_question(monkeypatch):
    clock, answers = Waiting(), [frozenset({SERVER.name}), DeadlineError("late")]

    async def asked(connection, servers):
        answer = answers.pop(0)
        if isinstance(answer, DeadlineError):
            raise answer
        return answer

    monkeypatch.setattr(measuring_watch, "find_measured", asked)
    watch = MeasuringWatch(None, clock)  # type: ignore[arg-type]
    assert not watch.is_due([])
    assert watch.is_due([SERVER])
    await watch.look([SERVER])
    assert (watch.servers, watch.is_due([SERVER])) == (frozenset({SERVER.name}), False)
    await clock.sleep(LOOK_EVERY_S)
    assert watch.is_due([SERVER])
    await watch.look([SERVER])
    assert watch.servers == {SERVER.name}
    assert not answers
    assert not watch.is_due([])
    assert watch.servers == frozenset()


async def test_a_watch_asks_beside_everything_else(connection, monkeypatch):
    answered = asyncio.Event()

    async def asked(_, servers):
        await answered.wait()
        return frozenset(server.name for server in servers)

    monkeypatch.setattr(measuring_watch, "find_measured", asked)
    watch = HostWatch(
        connection, Store(), Waiting(), interval_s=1.0, keys=lambda *_: None,  # type: ignore[arg-type]
        ready_timeout_s=lambda _: None,
    )  # fmt: skip
    async with asyncio.TaskGroup() as group:
        watch._ask_who_measures(group, [SERVER])
        watch._ask_who_measures(group, [SERVER])  # the first answer is still to come
        assert watch.measured == frozenset()
        answered.set()
    assert watch.measured == {SERVER.name}
    async with asyncio.TaskGroup() as group:
        watch._ask_who_measures(group, [])
    assert watch.measured == frozenset()
